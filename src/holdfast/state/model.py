"""The state of a session: everything that is known, by kind, and the table of those kinds.

Values only; `fold.py` makes the next state from an event, `codec.py` turns it into a document. In
the state a table maps a key to a record, latest last unless its module says otherwise.

A kind is described once, by the `KIND` of its module. Everything that handles facts of any kind
(codec, gap, report, recall, command line, service, dashboard) reads `KINDS`, which lists them in
the order in which a person would want to read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state import (
    calls,
    check_results,
    commands,
    dead_ends,
    decisions,
    git_printed,
    git_seen,
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
    symbols,
    task_summary,
    tasks,
    touched_files,
    usage_history,
)
from holdfast.state.facts import Fact, FactKind, Position


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
    mode: str = ""  # what the agent may do without asking, in the client's word


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
    suite_runs: dict[str, check_results.SuiteRun] = {}
    errors: dict[str, check_results.Error] = {}
    dead_ends: dict[str, dead_ends.DeadEnd] = {}
    decisions: dict[str, decisions.Decision] = {}
    files: dict[str, touched_files.TouchedFile] = {}
    commands: dict[str, commands.Command] = {}
    identifiers: dict[str, identifiers.Identifier] = {}
    subagents: dict[str, subagents.Subagent] = {}
    skills: dict[str, skills.Skill] = {}
    next_step: dict[str, next_step.NextStep] = {}
    git_printed: git_printed.Table = {}
    symbols: symbols.Table = {}
    usage_history: usage_history.Table = {}
    lookups: lookups.Table = {}
    calls: calls.Table = {}
    # Not folded and never saved with the state: laid over it for display.
    git_seen: git_seen.GitSeen | None = None
    notes: notes.Table = {}
    task_summaries: dict[str, task_summary.TaskSummary] = {}


# The default tables above are shared between states: nothing may write into a table.
# `fold` never does, and tests/state folds the corpus twice to hold it.

EMPTY_STATE = State()

_MODULES = (
    requests,
    rules,
    tasks,
    plans,
    check_results,
    dead_ends,
    decisions,
    touched_files,
    commands,
    identifiers,
    git_printed,
    subagents,
    skills,
    notes,
    next_step,
    replies,
)
_MADE: list[tuple[FactKind, ModuleType]] = [
    (kind, module)
    for module in _MODULES
    for kind in (module.KINDS if hasattr(module, "KINDS") else (module.KIND,))
]
KINDS = {kind.name: kind for kind, _ in _MADE}
# By table of the state, the module that makes its records of events.
MAKERS = {kind.table: module for kind, module in _MADE} | {
    "calls": calls,
    "symbols": symbols,
    "usage_history": usage_history,
    "lookups": lookups,
}


def list_facts(state: State) -> Iterator[Fact]:
    """Every fact of the state, by kind."""
    for kind in KINDS.values():
        yield from kind.list_facts(getattr(state, kind.table))


_FACT_ID = lazy_compile(rf"(?:{'|'.join(kind.letter for kind in KINDS.values())})[a-z]?\d+")


def is_fact_id(name: str) -> bool:
    return _FACT_ID.fullmatch(name) is not None


def kind_name(kind: str) -> str:
    """One of the kind, within a sentence: `dead end`."""
    return KINDS[kind].one.lower() if kind in KINDS else kind.replace("_", " ")


def kind_heading(kind: str) -> str:
    """Many of the kind, over a list: `Dead ends`."""
    return KINDS[kind].many if kind in KINDS else kind


def count_kind(count: int, kind: str) -> str:
    """`1 dead end`, `2 dead ends`."""
    name = kind_name(kind) if count == 1 or kind not in KINDS else KINDS[kind].many.lower()
    return f"{count:,} {name}"
