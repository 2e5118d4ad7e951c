"""Finished work, summarised before it is lost: once per task, when context fills up.

Looks every so many turns, once context is past a share of its window, for tasks that are done
and that nobody has spoken of for a while; writes their summaries into the session's tray. Reads
the transcript only when the state knows of a candidate. Idempotent: a task that has a summary is
passed over.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.brief.paths import shorten
from holdfast.clients.claude_code.rows import Adapter
from holdfast.events import Event
from holdfast.files import read
from holdfast.lifecycle.tray import Tray
from holdfast.state.facts import DONE
from holdfast.state.finished import Finished, Listener, from_document, to_document
from holdfast.state.gate import without_secrets
from holdfast.state.model import State
from holdfast.transcript.reader import Reader, TranscriptError

FILE = "tasks.json"
MOST = 100  # summaries of one session; the oldest give way

# Events that are heard at once.
BATCH = 1024


class Limits(NamedTuple):
    cold_turns: int = 20
    percent: int = 70
    every_turns: int = 10


class Shelf(NamedTuple):
    """What is kept: the summaries, and the turn at which it was last looked."""

    summaries: tuple[Finished, ...] = ()
    looked: int = 0


def shelf(tray: Tray) -> Shelf:
    try:
        document: Any = json.loads(read(f"{tray.folder}/{FILE}") or b"{}")
        found = [from_document(one) for one in document.get("summaries", ())]
        looked = document.get("looked", 0)
    except (ValueError, TypeError, AttributeError):
        return Shelf()  # a damaged file: the next look writes a whole one
    good = tuple(one for one in found if one is not None)
    return Shelf(good, looked if isinstance(looked, int) else 0)


def laid_over(state: State, summaries: Sequence[Finished]) -> State:
    """The state with the summaries of tasks that are still done."""
    still_open = {(t.task, t.subject) for t in state.tasks.values() if t.standing != DONE}
    latest = {one.task: one for one in summaries}
    kept = {one.key: one for one in latest.values() if (one.task, one.subject) not in still_open}
    return state._replace(finished=kept) if kept else state


def look(
    tray: Tray,
    transcript: str,
    state: State,
    abandoned: Sequence[tuple[int, int]],
    percent: int,
    limits: Limits,
    *,
    at_once: bool = False,
) -> tuple[Finished, ...]:
    """Write summaries where they are due; answers all there are. `at_once` waives the waiting."""
    known = shelf(tray)
    step = state.moment.step
    if percent < limits.percent:
        return known.summaries
    if not at_once and 0 <= step - known.looked < limits.every_turns:
        return known.summaries
    summaries = known.summaries
    if _candidates(state, summaries, limits.cold_turns):
        told = {one.key for one in summaries}
        fresh = [
            one for one in _cold(transcript, abandoned, limits.cold_turns) if one.key not in told
        ]
        summaries = (*summaries, *(_short(one, state.place.folders) for one in fresh))[-MOST:]
    document = {"looked": step, "summaries": [to_document(one) for one in summaries]}
    tray.write(FILE, json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
    return summaries


def _candidates(state: State, summaries: Sequence[Finished], turns: int) -> bool:
    told = {(one.task, one.row) for one in summaries}
    return any(
        task.standing == DONE
        and state.moment.step - task.step >= turns
        and (task.task, task.at.row) not in told
        for task in state.tasks.values()
    )


def _cold(transcript: str, abandoned: Sequence[tuple[int, int]], turns: int) -> list[Finished]:
    """By one pass over the rows, without folding them."""
    listener = Listener()
    adapter = Adapter()
    events: list[Event] = []
    try:
        with Reader(transcript) as reader:
            for row in reader.rows():
                if any(start <= row.start < end for start, end in abandoned):
                    continue
                events += adapter.events(row)
                if len(events) >= BATCH:
                    _hear(listener, events)
                    events = []
        _hear(listener, events)
    except TranscriptError:
        return []
    return list(listener.cold(turns))


def _short(one: Finished, folders: tuple[str, ...]) -> Finished:
    return one._replace(files=tuple(shorten(path, folders) for path in one.files))


def _hear(listener: Listener, events: list[Event]) -> None:
    for event in without_secrets(events):
        listener.hear(event)
