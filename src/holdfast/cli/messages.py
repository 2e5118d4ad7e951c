"""What was asked, decided and done: for `replay --messages`, and for `search --archive`."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from holdfast.cli.output import Trouble, answer, console, one_line, printable, when

if TYPE_CHECKING:
    from holdfast.cli.subject import Subject
    from holdfast.lifecycle.telling import Told

_STYLES = {"user": "bold", "decision": "magenta", "task": "cyan", "compaction": "yellow"}
_COMPACTION = re.compile(r"c([1-9]\d*)")
_TIME = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?")


def show_messages(subject: Subject, first: str, last: str, as_json: bool) -> None:
    import orjson

    from holdfast.cli.opening import foreseen
    from holdfast.cli.subject import note
    from holdfast.lifecycle.telling import important

    with foreseen(), _readable(subject) as (path, archived):
        told = important(path, loads=orjson.loads)
        low, high = _bound(told, first, path, 0), _bound(told, last, path, len(told))
    if archived:
        note("the transcript is gone; this is what was archived of it")
    shown = [one for one in told if _within(one, low, high)]
    if as_json:
        answer([one._asdict() for one in shown])
        return
    from rich.text import Text

    out = console()
    for one in shown:
        style = _STYLES.get(one.kind, "") if one.ok else "red"
        head = Text(f"{one.line:>6}  {when(one.time)}  ", style="dim")
        head += Text(f"{one.kind:<10} ", style=style)
        limit = 1_200 if one.kind == "user" else 240
        out.print(head + Text(one_line(one.text, limit)), soft_wrap=True)
    if not shown:
        out.print("Nothing of note in this stretch.")


@contextmanager
def _readable(subject: Subject) -> Iterator[tuple[str, bool]]:
    """(a file of rows, whether it comes from the archive)."""
    if os.path.exists(subject.path) or not subject.session_id:
        from holdfast.cli.subject import transcript_of

        yield transcript_of(subject), False
        return
    from holdfast.cli.opening import opened_store
    from holdfast.lifecycle.telling import archived_rows

    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        path = os.path.join(folder, "rows.jsonl")
        with opened_store() as store:
            total = archived_rows(store, subject.session_id, path)
        if not total:
            raise Trouble(
                f"The transcript of session {subject.session_id[:8]} is gone, and nothing was "
                "archived of it",
                "Rows are archived at compactions.",
            )
        yield path, True


Bound = tuple[str, int | str]  # ("line", 12) or ("time", "2026-11-15T10")


def _bound(told: list[Told], name: str, path: str, missing: int) -> Bound:
    if not name:
        return ("line", missing if not missing else 1 << 60)
    compaction = _COMPACTION.fullmatch(name)
    if compaction is not None:
        found = [one.line for one in told if one.kind == "compaction"]
        number = int(compaction.group(1))
        if number > len(found):
            raise Trouble(f"There are {len(found)} compactions, not {number}")
        return ("line", found[number - 1])
    if _TIME.fullmatch(name):
        return ("time", name.replace(" ", "T"))
    import orjson

    from holdfast.lifecycle.replay import spots

    rows = spots(path, name, loads=orjson.loads)
    if len(rows) != 1:
        raise Trouble(
            f"{len(rows)} rows are called {name!r}" if rows else f"No row is called {name!r}",
            "`holdfast replay --list` shows rows and lines.",
        )
    return ("line", rows[0].line)


def _within(one: Told, low: Bound, high: Bound) -> bool:
    return _after(one, low) and _before(one, high)


def _after(one: Told, low: Bound) -> bool:
    kind, value = low
    return one.time >= str(value) if kind == "time" else one.line >= int(value)


def _before(one: Told, high: Bound) -> bool:
    kind, value = high
    if kind == "time":  # "to 10:22" includes that minute
        return one.time[: len(str(value))] <= str(value)
    return one.line <= int(value)


def search_archives(
    words: list[str], session: str, project: str, limit: int, as_json: bool
) -> None:
    import orjson

    from holdfast.cli.opening import opened_store, session_named
    from holdfast.lifecycle.telling import Found, look_through

    found: list[Found] = []
    with opened_store() as store:
        sessions = (
            [session_named(store, session)]
            if session
            else list(store.sessions(project=project, limit=10_000))
        )
        for one in sessions:
            if len(found) >= limit:
                break
            left = limit - len(found)
            found += look_through(store, one.id, words, left, loads=orjson.loads)
    if as_json:
        answer({"query": " ".join(words), "rows": [one._asdict() for one in found]})
        return
    from rich.text import Text

    out = console()
    for hit in found:
        name = Text(f"{hit.session_id[:8]}:{hit.row[:8]}  ", style="cyan")
        out.print(
            name + Text(f"{when(hit.time)}  ", style="dim") + Text(printable(hit.excerpt)),
            soft_wrap=True,
        )
    if not found:
        typer.echo("Nothing found in the archives. Rows are archived at compactions.")
