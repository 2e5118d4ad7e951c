"""What was asked, decided and done: for `replay --messages`, and for `search --archive`."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import orjson
import typer
from rich.text import Text

from holdfast.cli.input_args import print_note, require_transcript
from holdfast.cli.output import (
    CliError,
    format_one_line,
    make_console,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import find_session, open_user_store, translate_errors
from holdfast.clock import format_minute
from holdfast.session.digest import ArchiveMatch, build_digest, export_archived_rows, search_archive
from holdfast.session.replay import locate_rows

if TYPE_CHECKING:
    from holdfast.cli.input_args import SessionInput
    from holdfast.session.digest import DigestEntry


_STYLES = {"user": "bold", "decision": "magenta", "task": "cyan", "compaction": "yellow"}
_COMPACTION = re.compile(r"c([1-9]\d*)")
_TIME = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?")


def show_messages(subject: SessionInput, first: str, last: str, as_json: bool) -> None:
    with translate_errors(), _find_rows_file(subject) as (path, archived):
        told = build_digest(path, loads=orjson.loads)
        low, high = _bound(told, first, path, 0), _bound(told, last, path, len(told))
    if archived:
        print_note("the transcript no longer exists; showing the archived rows")
    shown = [one for one in told if _within(one, low, high)]
    if as_json:
        print_json([one._asdict() for one in shown])
        return

    out = make_console()
    for one in shown:
        style = _STYLES.get(one.kind, "") if one.ok else "red"
        head = Text(f"{one.line:>6}  {format_minute(one.time)}  ", style="dim")
        head += Text(f"{one.kind:<10} ", style=style)
        limit = 1_200 if one.kind == "user" else 240
        out.print(head + Text(format_one_line(one.text, limit)), soft_wrap=True)
    if not shown:
        out.print("No messages in this range.")


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
            "`holdfast replay --list` shows rows and lines.",
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


def search_archives(
    words: list[str], session: str, project: str, limit: int, as_json: bool
) -> None:
    found: list[ArchiveMatch] = []
    with open_user_store() as store:
        sessions = (
            [find_session(store, session)]
            if session
            else list(store.sessions(project=project, limit=10_000))
        )
        for one in sessions:
            if len(found) >= limit:
                break
            left = limit - len(found)
            found += search_archive(store, one.id, words, left, loads=orjson.loads)
    if as_json:
        print_json({"query": " ".join(words), "rows": [one._asdict() for one in found]})
        return

    out = make_console()
    for hit in found:
        name = Text(f"{hit.session_id[:8]}:{hit.row[:8]}  ", style="cyan")
        out.print(
            name
            + Text(f"{format_minute(hit.time)}  ", style="dim")
            + Text(replace_control_chars(hit.excerpt)),
            soft_wrap=True,
        )
    if not found:
        typer.echo("Nothing found in the archives. Rows are archived at compactions.")
