"""Our own error log: what went wrong in a hook, for `holdfast doctor` to tell.

Bounded, for the user alone, one line per error. Says where and what kind; an error's own words
only where they cannot hold a secret. Never raises for want of a place to write: handlers and the
guard call it, and a disk that refuses something usually refuses the log too.
"""

from __future__ import annotations

import os
from contextlib import suppress

from holdfast.clock import format_now
from holdfast.files import append, file_size, make_private_dir, move
from holdfast.paths import data_dir_from

LOG_FILE = "holdfast.log"
MAX_LOG_BYTES = 256 * 1024
MAX_ERROR_CHARS = 300
MAX_FRAMES = 6


def log_exception(failure: object, event: str) -> None:
    data = data_dir_from(os.environ)
    if data:
        write_line(data, f"{event} {format_error(failure)}")


def write_line(data: str, line: str) -> None:
    path = f"{data}/{LOG_FILE}"
    stamp = format_now()
    text = f"{stamp} {os.getpid()} " + " ".join(line.split())
    with suppress(OSError):
        make_private_dir(data)
        if file_size(path) > MAX_LOG_BYTES:
            move(path, path + ".1")
        append(path, text.encode("utf-8", "replace") + b"\n")


def log_error(data: str, failure: object) -> None:
    write_line(data, format_error(failure))


def format_error(failure: object) -> str:
    from holdfast.redact.prefilter import suspicious

    words = str(failure)[:MAX_ERROR_CHARS]
    said = "(message withheld: it may contain a secret)" if suspicious(words) else words
    return f"{type(failure).__name__}: {said} [{_format_frames(failure)}]"


def _format_frames(failure: object) -> str:
    """The innermost calls, without the import cost of `traceback`."""
    trace = getattr(failure, "__traceback__", None)
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return " < ".join(reversed(found[-MAX_FRAMES:]))
