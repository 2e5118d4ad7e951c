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
    files,
    finished,
    git_work,
    identifiers,
    life,
    lookups,
    next_step,
    notes,
    plan,
    replies,
    requests,
    rules,
    skills,
    subagents,
    symbols,
    tasks,
    test_state,
)
from holdfast.state.facts import Fact
from holdfast.state.moment import Moment


class Place(NamedTuple):
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


class State(NamedTuple):
    place: Place = Place()
    moment: Moment = Moment()
    usage: Usage = Usage()
    requests: dict[str, requests.Request] = {}
    replies: replies.Table = {}
    rules: dict[str, rules.Rule] = {}
    tasks: dict[str, tasks.Task] = {}
    plans: dict[str, plan.Plan] = {}
    tests: dict[str, test_state.SuiteRun] = {}
    errors: dict[str, errors.Error] = {}
    dead_ends: dict[str, dead_ends.DeadEnd] = {}
    decisions: dict[str, decisions.Decision] = {}
    files: dict[str, files.File] = {}
    commands: dict[str, commands.Command] = {}
    identifiers: dict[str, identifiers.Identifier] = {}
    subagents: dict[str, subagents.Subagent] = {}
    skills: dict[str, skills.Skill] = {}
    next_step: dict[str, next_step.NextStep] = {}
    git_work: git_work.GitWork = git_work.EMPTY
    symbols: symbols.Table = {}
    life: life.Table = {}
    lookups: lookups.Table = {}
    # Not folded and never saved with the state: laid over it for whoever is shown it.
    notes: notes.Table = {}
    finished: dict[str, finished.Finished] = {}


# The default tables above are shared between states: nothing may write into a table.
# `fold` never does, and tests/state/test_fold.py folds the corpus twice to hold it.

EMPTY = State()


def facts(state: State) -> Iterator[Fact]:
    """Every fact of the state, by kind."""
    yield from requests.facts(state.requests)
    yield from rules.facts(state.rules)
    yield from tasks.facts(state.tasks)
    yield from plan.facts(state.plans)
    yield from test_state.facts(state.tests)
    yield from errors.facts(state.errors)
    yield from dead_ends.facts(state.dead_ends)
    yield from decisions.facts(state.decisions)
    yield from files.facts(state.files)
    yield from commands.facts(state.commands)
    yield from identifiers.facts(state.identifiers)
    yield from subagents.facts(state.subagents)
    yield from skills.facts(state.skills)
    yield from next_step.facts(state.next_step)
    yield from git_work.facts(state.git_work)
    yield from replies.facts(state.replies)
    yield from notes.facts(state.notes)
