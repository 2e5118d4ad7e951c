"""Finished work, summarised before it is lost: once per task, when context fills up.

Looks every so many turns, once context is past a share of its window, for tasks that are done
and that nobody has spoken of for a while; writes their summaries into the session's directory.
Reads the transcript only when the state knows of a candidate. Idempotent: a task that has a
summary is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast import clients
from holdfast.brief.section_lines import shorten_path
from holdfast.events import Event
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import read
from holdfast.state.facts import DONE
from holdfast.state.model import State
from holdfast.state.redaction_gate import redact_events
from holdfast.state.task_summary import (
    TaskSummary,
    TaskSummaryBuilder,
    decode_summary,
    encode_summary,
)
from holdfast.transcript.reader import TranscriptError

SUMMARIES_FILE = "tasks.json"
MAX_SUMMARIES = 100  # summaries of one session; the oldest give way

# Events that are heard at once.
BATCH_EVENTS = 1024


class SummaryLimits(NamedTuple):
    idle_turns: int = 20
    percent: int = 70
    every_turns: int = 10


class TaskSummaries(NamedTuple):
    """What is kept: the summaries, and the turn at which it was last looked."""

    summaries: tuple[TaskSummary, ...] = ()
    checked_at_step: int = 0


def load_summaries(session_dir: SessionDir) -> TaskSummaries:
    try:
        document: Any = json.loads(read(f"{session_dir.path}/{SUMMARIES_FILE}") or b"{}")
        found = [decode_summary(one) for one in document.get("summaries", ())]
        looked = document.get("looked", 0)
    except (ValueError, TypeError, AttributeError):
        return TaskSummaries()  # a damaged file: the next look writes a whole one
    good = tuple(one for one in found if one is not None)
    return TaskSummaries(good, looked if isinstance(looked, int) else 0)


def overlay_summaries(state: State, summaries: Sequence[TaskSummary]) -> State:
    """The state with the summaries of tasks that are still done."""
    still_open = {(t.task, t.subject) for t in state.tasks.values() if t.status != DONE}
    latest = {one.task: one for one in summaries}
    kept = {one.key: one for one in latest.values() if (one.task, one.subject) not in still_open}
    return state._replace(task_summaries=kept) if kept else state


def update_summaries(
    session_dir: SessionDir,
    transcript: str,
    state: State,
    abandoned: Sequence[tuple[int, int]],
    percent: int,
    limits: SummaryLimits,
    *,
    at_once: bool = False,
) -> tuple[TaskSummary, ...]:
    """Write summaries where they are due; answers all there are. `at_once` waives the waiting."""
    known = load_summaries(session_dir)
    step = state.position.step
    if percent < limits.percent:
        return known.summaries
    if not at_once and 0 <= step - known.checked_at_step < limits.every_turns:
        return known.summaries
    summaries = known.summaries
    if _has_candidates(state, summaries, limits.idle_turns):
        told = {one.key for one in summaries}
        fresh = [
            one
            for one in _summarize_idle_tasks(
                transcript, state.session.client, abandoned, limits.idle_turns
            )
            if one.key not in told
        ]
        summaries = (*summaries, *(_shorten_paths(one, state.session.folders) for one in fresh))[
            -MAX_SUMMARIES:
        ]
    document = {"looked": step, "summaries": [encode_summary(one) for one in summaries]}
    session_dir.write(
        SUMMARIES_FILE, json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    )
    return summaries


def _has_candidates(state: State, summaries: Sequence[TaskSummary], turns: int) -> bool:
    told = {(one.task, one.row) for one in summaries}
    return any(
        task.status == DONE
        and state.position.step - task.step >= turns
        and (task.task, task.at.row) not in told
        for task in state.tasks.values()
    )


def _summarize_idle_tasks(
    transcript: str, label: str, abandoned: Sequence[tuple[int, int]], turns: int
) -> list[TaskSummary]:
    """By one pass over the rows, without folding them."""
    listener = TaskSummaryBuilder()
    client = clients.of_session(label)
    adapter = client.adapter()
    events: list[Event] = []
    try:
        with client.open_transcript(transcript) as reader:
            for row in reader.rows():
                if any(start <= row.start < end for start, end in abandoned):
                    continue
                events += adapter.events(row)
                if len(events) >= BATCH_EVENTS:
                    _apply_events(listener, events)
                    events = []
        _apply_events(listener, events)
    except TranscriptError:
        return []
    return list(listener.list_idle(turns))


def _shorten_paths(one: TaskSummary, folders: tuple[str, ...]) -> TaskSummary:
    return one._replace(files=tuple(shorten_path(path, folders) for path in one.files))


def _apply_events(listener: TaskSummaryBuilder, events: list[Event]) -> None:
    for event in redact_events(events):
        listener.apply(event)
