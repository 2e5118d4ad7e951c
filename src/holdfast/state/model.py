"""The state of a session: everything that is known, by kind.

Values only; `fold.py` makes the next state from an event, `codec.py` turns it into a
document. A table maps a key to a record, latest last unless its module says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.state import (
    commands,
    dead_ends,
    decisions,
    errors,
    git_work,
    identifiers,
    lookups,
    next_step,
    notes,
    plans,
    replies,
    requests,
    rules,
    skills,
    subagents,
    suite_runs,
    symbols,
    task_summary,
    tasks,
    touched_files,
    usage_history,
)
from holdfast.state.facts import Fact, Position


class SessionInfo(NamedTuple):
    """Where the session runs."""

    session_id: str = ""
    client: str = ""
    cwd: str = ""
    branch: str = ""
    title: str = ""
    folders: tuple[str, ...] = ()  # every working folder so far: paths are relative to these
    started: str = ""
    updated: str = ""


class Usage(NamedTuple):
    """Tokens of the last answer after the last compaction: how full the context is."""

    model: str = ""
    context: int = 0
    output: int = 0
    time: str = ""
    requested: str = ""  # the model that was asked for, which may name a longer window
    window: int = 0  # as the client told it; 0 where it does not
    peak: int = 0  # the most that this model has held, compacted since or not


class State(NamedTuple):
    session: SessionInfo = SessionInfo()
    position: Position = Position()
    usage: Usage = Usage()
    requests: dict[str, requests.Request] = {}
    replies: replies.Table = {}
    rules: dict[str, rules.Rule] = {}
    tasks: dict[str, tasks.Task] = {}
    plans: dict[str, plans.Plan] = {}
    suite_runs: dict[str, suite_runs.SuiteRun] = {}
    errors: dict[str, errors.Error] = {}
    dead_ends: dict[str, dead_ends.DeadEnd] = {}
    decisions: dict[str, decisions.Decision] = {}
    files: dict[str, touched_files.TouchedFile] = {}
    commands: dict[str, commands.Command] = {}
    identifiers: dict[str, identifiers.Identifier] = {}
    subagents: dict[str, subagents.Subagent] = {}
    skills: dict[str, skills.Skill] = {}
    next_step: dict[str, next_step.NextStep] = {}
    git_work: git_work.GitWork = git_work.NO_GIT_WORK
    symbols: symbols.Table = {}
    usage_history: usage_history.Table = {}
    lookups: lookups.Table = {}
    # Not folded and never saved with the state: laid over it for display.
    notes: notes.Table = {}
    task_summaries: dict[str, task_summary.TaskSummary] = {}


# The default tables above are shared between states: nothing may write into a table.
# `fold` never does, and tests/state/test_fold.py folds the corpus twice to hold it.

EMPTY_STATE = State()


def list_facts(state: State) -> Iterator[Fact]:
    """Every fact of the state, by kind."""
    yield from requests.list_facts(state.requests)
    yield from rules.list_facts(state.rules)
    yield from tasks.list_facts(state.tasks)
    yield from plans.list_facts(state.plans)
    yield from suite_runs.list_facts(state.suite_runs)
    yield from errors.list_facts(state.errors)
    yield from dead_ends.list_facts(state.dead_ends)
    yield from decisions.list_facts(state.decisions)
    yield from touched_files.list_facts(state.files)
    yield from commands.list_facts(state.commands)
    yield from identifiers.list_facts(state.identifiers)
    yield from subagents.list_facts(state.subagents)
    yield from skills.list_facts(state.skills)
    yield from next_step.list_facts(state.next_step)
    yield from git_work.list_facts(state.git_work)
    yield from replies.list_facts(state.replies)
    yield from notes.list_facts(state.notes)
