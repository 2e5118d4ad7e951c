"""Our own error log: what went wrong in a hook, for `holdfast doctor` to tell.

Bounded, for the user alone, one line per error. Says where and what kind; an error's own words
only where they cannot hold a secret. Never raises for want of a place to write: handlers and the
guard call it, and a disk that refuses something usually refuses the log too.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from holdfast.files import append, make_folder, move, size
from holdfast.lifecycle.tray import data_folder

NAME = "holdfast.log"
LIMIT = 256 * 1024
WORDS = 300
DEPTH = 6


def note(trouble: object, event: str) -> None:
    data = data_folder(os.environ)
    if data:
        write(data, f"{event} {described(trouble)}")


def write(data: str, line: str) -> None:
    path = f"{data}/{NAME}"
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = f"{stamp} {os.getpid()} " + " ".join(line.split())
    with suppress(OSError):
        make_folder(data)
        if size(path) > LIMIT:
            move(path, path + ".1")
        append(path, text.encode("utf-8", "replace") + b"\n")


def confess(data: str, trouble: object) -> None:
    write(data, described(trouble))


def described(trouble: object) -> str:
    from holdfast.redact.prefilter import suspicious

    words = str(trouble)[:WORDS]
    said = "(its words are withheld: they may hold a secret)" if suspicious(words) else words
    return f"{type(trouble).__name__}: {said} [{_places(trouble)}]"


def _places(trouble: object) -> str:
    """The innermost calls, without the import cost of `traceback`."""
    trace = getattr(trouble, "__traceback__", None)
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return " < ".join(reversed(found[-DEPTH:]))
