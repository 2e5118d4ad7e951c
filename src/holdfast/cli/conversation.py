"""A session's conversation: what was asked, decided and done, from `holdfast show SESSION`.

From the transcript, or from what was archived of it. Must not write.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import orjson
from rich.text import Text

from holdfast.cli.input_args import print_note, require_transcript
from holdfast.cli.output import (
    CliError,
    format_one_line,
    make_console,
    print_indented,
)
from holdfast.cli.store_access import open_user_store, translate_errors
from holdfast.clock import format_minute
from holdfast.session.digest import build_digest, export_archived_rows
from holdfast.session.replay import locate_rows

if TYPE_CHECKING:
    from holdfast.cli.input_args import SessionInput
    from holdfast.session.digest import DigestEntry


MAX_LINE_CHARS = 240  # of what the agent did

_SPEAKERS = {
    "user": "User",
    "agent": "Agent",
    "decision": "Decision",
    "subagent": "Subagent",
    "compaction": "Compaction",
}
_STYLES = {
    "user": "bold green",
    "agent": "bold",
    "decision": "bold magenta",
    "subagent": "bold cyan",
    "compaction": "bold yellow",
}
_COMPACTION = re.compile(r"c([1-9]\d*)")
_TIME = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?")


def load_messages(subject: SessionInput, first: str, last: str) -> list[DigestEntry]:
    """The messages of a session, all or those of a range."""
    with translate_errors(), _find_rows_file(subject) as (path, archived):
        told = build_digest(path, loads=orjson.loads)
        low, high = _bound(told, first, path, 0), _bound(told, last, path, len(told))
    if archived:
        print_note("the transcript no longer exists; showing the archived rows")
    return [one for one in told if _within(one, low, high)]


def print_messages(messages: list[DigestEntry]) -> None:
    """Words under who said them and when; what the agent did as lines beneath."""
    out = make_console()
    for number, one in enumerate(messages):
        if one.kind in _SPEAKERS:
            if number:
                out.print()
            speaker = (_SPEAKERS[one.kind], _STYLES.get(one.kind, ""))
            moment = (f"  {format_minute(one.time)} UTC  {one.row[:8]}", "dim")
            out.print(Text.assemble(speaker, moment))
            print_indented(one.text.strip())
        else:
            text = format_one_line(one.text, MAX_LINE_CHARS)
            print_indented(text, "dim" if one.ok else "red", indent=4, first="  ·")


@contextmanager
def _find_rows_file(subject: SessionInput) -> Iterator[tuple[str, bool]]:
    """(a file of rows, whether it comes from the archive)."""
    if os.path.exists(subject.path) or not subject.session_id:
        yield require_transcript(subject), False
        return

    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        path = os.path.join(folder, "rows.jsonl")
        with open_user_store() as store:
            total = export_archived_rows(store, subject.session_id, path)
        if not total:
            raise CliError(
                f"The transcript of session {subject.session_id[:8]} no longer exists and was not "
                "archived",
                "Rows are archived at compactions.",
            )
        yield path, True


Bound = tuple[str, int | str]  # ("line", 12) or ("time", "2026-11-15T10")


def _bound(told: list[DigestEntry], name: str, path: str, missing: int) -> Bound:
    if not name:
        return ("line", missing if not missing else 1 << 60)
    compaction = _COMPACTION.fullmatch(name)
    if compaction is not None:
        found = [one.line for one in told if one.kind == "compaction"]
        number = int(compaction.group(1))
        if number > len(found):
            raise CliError(f"No compaction {number}: the session has {len(found)}")
        return ("line", found[number - 1])
    if _TIME.fullmatch(name):
        return ("time", name.replace(" ", "T"))

    rows = locate_rows(path, name, loads=orjson.loads)
    if len(rows) != 1:
        raise CliError(
            f"{name!r} matches {len(rows)} rows" if rows else f"No row named {name!r}",
            "`holdfast session replay FILE --list` shows rows and lines.",
        )
    return ("line", rows[0].line)


def _within(one: DigestEntry, low: Bound, high: Bound) -> bool:
    return _after(one, low) and _before(one, high)


def _after(one: DigestEntry, low: Bound) -> bool:
    kind, value = low
    return one.time >= str(value) if kind == "time" else one.line >= int(value)


def _before(one: DigestEntry, high: Bound) -> bool:
    kind, value = high
    if kind == "time":  # "to 10:22" includes that minute
        return one.time[: len(str(value))] <= str(value)
    return one.line <= int(value)
