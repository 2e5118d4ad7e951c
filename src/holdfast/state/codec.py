"""A state as a JSON-able document and back.

Records become arrays, so that a document is small and quick to read. A newer version may
add fields at the end of a record, or tables: an older document then loads with the defaults.
Anything else is a new VERSION, and on loading an older one the transcript is folded again.
"""

from __future__ import annotations

from typing import Any

from holdfast.events import Origin
from holdfast.state.commands import Command
from holdfast.state.dead_ends import DeadEnd
from holdfast.state.decisions import Decision
from holdfast.state.errors import Error
from holdfast.state.facts import Position
from holdfast.state.git_work import decode_git_work as git_work_from_values
from holdfast.state.identifiers import Identifier
from holdfast.state.lookups import Lookup
from holdfast.state.model import SessionInfo, State, Usage
from holdfast.state.next_step import NextStep
from holdfast.state.plans import Plan
from holdfast.state.replies import Reply
from holdfast.state.requests import Request
from holdfast.state.rules import Rule
from holdfast.state.skills import Skill
from holdfast.state.subagents import Subagent
from holdfast.state.suite_runs import SuiteRun
from holdfast.state.tasks import Task
from holdfast.state.touched_files import TouchedFile
from holdfast.state.usage_history import UsagePoint

STATE_VERSION = 3

_RECORDS: dict[str, Any] = {
    "requests": Request,
    "replies": Reply,
    "rules": Rule,
    "tasks": Task,
    "plans": Plan,
    "suite_runs": SuiteRun,
    "errors": Error,
    "dead_ends": DeadEnd,
    "decisions": Decision,
    "files": TouchedFile,
    "commands": Command,
    "identifiers": Identifier,
    "subagents": Subagent,
    "skills": Skill,
    "next_step": NextStep,
}
# Every record says where it came from, in the field of this name.
ORIGIN_INDEX = {name: cls._fields.index("at") for name, cls in _RECORDS.items()}
# First, because pages of many sessions read these and no more (`store.queries`): by
# how many of them do, the large ones last.
_FIRST = "session position usage requests tasks subagents skills decisions files commands".split()
_ORDER = (*_FIRST, *(name for name in State._fields if name not in _FIRST))
_VALUES: dict[str, Any] = {"session": SessionInfo, "position": Position, "usage": Usage}


class UnreadableState(ValueError):
    """The document is not a state of this version: fold the transcript again."""


def encode_state(state: State) -> dict[str, Any]:
    document: dict[str, Any] = {"version": STATE_VERSION}
    for name in _ORDER:
        document[name] = getattr(state, name)
    return document


def decode_state(document: Any) -> State:
    try:
        if document["version"] != STATE_VERSION:
            raise UnreadableState(
                f"state version {document['version']!r}, expected {STATE_VERSION}"
            )
        fields: dict[str, Any] = {
            name: cls(*map(_frozen, document[name]))
            for name, cls in _VALUES.items()
            if name in document
        }
        for name, cls in _RECORDS.items():
            rows = document.get(name, {})
            at = ORIGIN_INDEX[name]
            fields[name] = {key: _record(cls, at, values) for key, values in rows.items()}
        heats, life = document.get("symbols", {}), document.get("usage_history", {})
        fields["symbols"] = {word: tuple(heat) for word, heat in heats.items()}
        fields["usage_history"] = {key: UsagePoint(*values) for key, values in life.items()}
        lookups = document.get("lookups", {})
        fields["lookups"] = {key: Lookup(*map(_frozen, row)) for key, row in lookups.items()}
        if "git_work" in document:
            fields["git_work"] = git_work_from_values(document["git_work"])
        return State(**fields)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise UnreadableState(f"not a state document: {error!r}") from error


def _record(cls: Any, at: int, values: list[Any]) -> Any:
    frozen = [_frozen(value) for value in values]
    frozen[at] = Origin(*frozen[at])
    return cls(*frozen)


def _frozen(value: Any) -> Any:
    """Lists back to the tuples they were; tables of symbols stay dicts."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return value
