"""fold(state, event) -> state: the one way in which anything becomes known.

Pure and incremental: folding in pieces gives what folding at once gives, and the state that
is passed in is never changed. Which kind of fact listens to which event is one table here;
what it makes of it is in its own module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from holdfast import events as ev
from holdfast.path_spelling import join_path, spell_path
from holdfast.state import (
    commands,
    dead_ends,
    decisions,
    errors,
    git_handlers,
    identifiers,
    lookups,
    next_step,
    plans,
    replies,
    requests,
    rules,
    skills,
    subagents,
    suite_runs,
    symbols,
    tasks,
    touched_files,
    usage_history,
)
from holdfast.state.facts import STEP_EVENTS, MutableTable, Position
from holdfast.state.model import EMPTY_STATE, SessionInfo, State, Usage

Handler = Callable[[Any, Any, Any], Any]

_HANDLERS: dict[type, tuple[tuple[str, Handler], ...]] = {
    ev.UserSaid: (
        ("requests", requests.on_user_said),
        ("rules", rules.on_user_said),
        ("decisions", decisions.on_user_said),
        ("identifiers", identifiers.on_user_said),
        ("symbols", symbols.on_user_said),
    ),
    ev.AgentSaid: (
        ("replies", replies.on_agent_said),
        ("decisions", decisions.on_agent_said),
        ("identifiers", identifiers.on_agent_said),
        ("next_step", next_step.on_agent_said),
        ("symbols", symbols.on_agent_said),
    ),
    ev.CommandRan: (
        ("commands", commands.on_command_ran),
        ("suite_runs", suite_runs.on_command_ran),
        ("errors", errors.on_command_ran),
        ("dead_ends", dead_ends.on_command_ran),
        ("files", touched_files.on_command_ran),
        ("identifiers", identifiers.on_command_ran),
        ("symbols", symbols.on_command_ran),
        ("lookups", lookups.on_command_ran),
        ("git_work", git_handlers.on_command_ran),
    ),
    ev.FileTouched: (
        ("files", touched_files.on_file_touched),
        ("symbols", symbols.on_file_touched),
        ("lookups", lookups.on_file_touched),
        ("dead_ends", dead_ends.on_file_touched),
        ("git_work", git_handlers.on_file_touched),
    ),
    ev.Searched: (
        ("files", touched_files.on_searched),
        ("symbols", symbols.on_searched),
        ("lookups", lookups.on_searched),
    ),
    ev.ToolRan: (("lookups", lookups.on_tool_ran),),
    ev.ToolRefused: (("dead_ends", dead_ends.on_tool_refused),),
    ev.NoteTaken: (
        ("decisions", decisions.on_note_taken),
        ("dead_ends", dead_ends.on_note_taken),
    ),
    ev.TaskCreated: (("tasks", tasks.on_task_created),),
    ev.TaskChanged: (("tasks", tasks.on_task_changed),),
    ev.TasksListed: (("tasks", tasks.on_tasks_listed),),
    ev.TodosSet: (("tasks", tasks.on_todos_set),),
    ev.PlanSet: (
        ("plans", plans.on_plan_set),
        ("symbols", symbols.on_plan_set),
        ("dead_ends", dead_ends.on_plan_set),
    ),
    ev.SubagentStarted: (("subagents", subagents.on_subagent_started),),
    ev.SubagentEnded: (
        ("subagents", subagents.on_subagent_ended),
        ("symbols", symbols.on_subagent_ended),
    ),
    ev.JobStarted: (("subagents", subagents.on_job_started),),
    ev.JobEnded: (("subagents", subagents.on_job_ended),),
    ev.CommandInvoked: (
        ("requests", requests.on_command_invoked),
        ("skills", skills.on_command_invoked),
    ),
    ev.SummaryGiven: (("replies", replies.on_summary_given),),
    ev.SessionSeen: (
        ("identifiers", identifiers.on_session_seen),
        ("git_work", git_handlers.on_session_seen),
    ),
    ev.LinkSeen: (
        ("identifiers", identifiers.on_link_seen),
        ("git_work", git_handlers.on_link_seen),
    ),
    ev.UsageMeasured: (("usage_history", usage_history.on_usage_measured),),
}

# What a subagent does is known of the subagent, never taken for the main thread's state; but the
# work tree is one, whoever edits and commits in it.
_SUBAGENT_HANDLERS: dict[type, tuple[tuple[str, Handler], ...]] = {
    ev.FileTouched: (
        ("subagents", subagents.on_subagent_action),
        ("git_work", git_handlers.on_file_touched),
    ),
    ev.CommandRan: (
        ("subagents", subagents.on_subagent_action),
        ("git_work", git_handlers.on_command_ran),
    ),
    ev.SubagentStarted: (("subagents", subagents.on_subagent_started),),
    ev.SubagentEnded: (("subagents", subagents.on_subagent_ended),),
}

_INDEX = {field: index for index, field in enumerate(State._fields)}
_SESSION, _POSITION, _USAGE = _INDEX["session"], _INDEX["position"], _INDEX["usage"]

# A record from its values, a third of the time of calling the class: two for every event.
_make = tuple.__new__


def fold(state: State, event: ev.Event) -> State:
    values: list[Any] = list(state)
    _advance(values, (event,))
    if not event.at.agent:
        values[_SESSION] = _at_time(values[_SESSION], event.at.time, event.at.time)
    return _make(State, values)


def fold_all(events: Sequence[ev.Event], state: State = EMPTY_STATE) -> State:
    folding = FoldSession(state)
    folding.apply(events)
    return folding.state()


class FoldSession:
    """A fold of many events in a row: the same as `fold` one by one, in half the time.

    Its tables are its own and are changed in place (`facts.MutableTable`), and no state is made
    until one is asked for.
    """

    __slots__ = ("_first", "_latest", "_values")

    def __init__(self, state: State) -> None:
        self._values: list[Any] = [
            MutableTable(value) if type(value) is dict else value for value in state
        ]
        self._first = ""
        self._latest = state.session.updated

    def apply(self, events: Sequence[ev.Event]) -> None:
        latest = self._latest
        for event in events:
            at = event.at
            if at.time > latest and not at.agent:
                latest = at.time
                self._first = self._first or latest
        self._latest = latest
        _advance(self._values, events)

    def state(self) -> State:
        """What is known by now, safe to keep."""
        values: list[Any] = [dict(v) if type(v) is MutableTable else v for v in self._values]
        values[_SESSION] = _at_time(values[_SESSION], self._first, self._latest)
        return _make(State, values)


def _at_time(place: SessionInfo, first: str, latest: str) -> SessionInfo:
    if latest <= place.updated:
        return place
    return place._replace(started=place.started or first, updated=latest)


def _advance(values: list[Any], events: Sequence[ev.Event]) -> None:
    """Write into the values of a state what events make of them, but for their time.

    Each kind of fact hears them all in order; which kind hears them first is all the same, since
    none looks at another. So those that read code take their turn before the rest: each turn's
    program and tables then stay in the processor's caches, a twentieth of the time.
    """
    heard = []
    for event in events:
        kind = type(event)
        spell = _SPELL.get(kind)
        if spell is not None:
            event = spell(event, values[_SESSION].cwd)
        if event.at.agent:
            turns = _INDEXED_SUBAGENT_HANDLERS.get(kind)
        else:
            about_session, turns = _INDEXED_HANDLERS.get(kind, _NO_HANDLERS)
            if about_session is not None:
                about_session(values, event)
        if turns is not None:
            heard.append((event, values[_POSITION], turns))
    for turn in _TURNS:
        for event, position, turns in heard:
            for index, handler in turns[turn]:
                table = values[index]
                new = handler(table, event, position)
                if new is not table:
                    values[index] = MutableTable(new) if type(table) is MutableTable else new


def _spell_touched(event: ev.FileTouched, cwd: str) -> ev.FileTouched:
    path = event.path if event.path[:1] == "/" and cwd[:1] == "/" else join_path(cwd, event.path)
    return event if path == event.path else event._replace(path=path)


def _spell_searched(event: ev.Searched, cwd: str) -> ev.Searched:
    if cwd[:1] == "/" or not event.where:
        return event
    return event._replace(where=spell_path(event.where, cwd))


def _spell_plan(event: ev.PlanSet, cwd: str) -> ev.PlanSet:
    return event if event.path[:1] == "/" else event._replace(path=spell_path(event.path, cwd))


def _spell_seen(event: ev.SessionSeen, cwd: str) -> ev.SessionSeen:
    return event if event.cwd[:1] == "/" else event._replace(cwd=spell_path(event.cwd))


# One file has one path, however it was written; all kinds of facts hear the same one.
_SPELL: dict[type, Callable[[Any, str], Any]] = {
    ev.FileTouched: _spell_touched,
    ev.Searched: _spell_searched,
    ev.PlanSet: _spell_plan,
    ev.SessionSeen: _spell_seen,
}


def _step_taken(values: list[Any], event: ev.Event) -> None:
    turn, step, epoch = values[_POSITION]
    values[_POSITION] = _make(Position, (turn, step + 1, epoch))


def _user_said(values: list[Any], event: ev.UserSaid) -> None:
    if event.source in ("prompt", "queued"):
        position = values[_POSITION]
        values[_POSITION] = position._replace(turn=position.turn + 1)


def _command_invoked(values: list[Any], event: ev.CommandInvoked) -> None:
    if event.by == "user" and not skills.is_control(event.name):
        position = values[_POSITION]
        values[_POSITION] = position._replace(turn=position.turn + 1)


def _session_seen(values: list[Any], event: ev.SessionSeen) -> None:
    place = values[_SESSION]
    folders = place.folders
    if event.cwd and event.cwd not in folders:
        folders = (*folders, event.cwd)[-12:]
    values[_SESSION] = place._replace(
        session_id=event.session_id or place.session_id,
        client=event.client or place.client,
        cwd=event.cwd or place.cwd,
        branch=event.branch or place.branch,
        folders=folders,
    )


def _title_set(values: list[Any], event: ev.TitleSet) -> None:
    values[_SESSION] = values[_SESSION]._replace(title=event.title[:200])


def _usage_measured(values: list[Any], event: ev.UsageMeasured) -> None:
    before = values[_USAGE]
    same = (event.model, event.requested) == (before.model, before.requested)
    values[_USAGE] = _make(
        Usage,
        (
            event.model,
            event.context,
            event.output,
            event.at.time,
            event.requested,
            event.window or before.window,
            max(event.context, before.peak if same else 0),
        ),
    )


def _compacted(values: list[Any], event: ev.Compacted) -> None:
    position = values[_POSITION]
    values[_POSITION] = position._replace(epoch=position.epoch + 1)
    # The context was just emptied: until the next answer nobody knows how full it is.
    values[_USAGE] = values[_USAGE]._replace(context=0, output=0, time="")


# What an event says of the session itself, written into the values of the next state.
_ABOUT_SESSION: dict[type, Callable[[list[Any], Any], None]] = {
    ev.UserSaid: _user_said,
    ev.CommandInvoked: _command_invoked,
    ev.SessionSeen: _session_seen,
    ev.TitleSet: _title_set,
    ev.UsageMeasured: _usage_measured,
    ev.Compacted: _compacted,
}


_Handlers = tuple[tuple[int, Handler], ...]
_AboutSession = Callable[[list[Any], Any], None] | None
_READS_CODE = frozenset(("files", "symbols"))
_TURNS = (0, 1)


def _indexed(listeners: tuple[tuple[str, Handler], ...]) -> tuple[_Handlers, _Handlers]:
    """Those of the first turn and those of the second, by their place in the state."""
    first, second = (
        tuple(
            (_INDEX[field], handler)
            for field, handler in listeners
            if (field in _READS_CODE) == reads_code
        )
        for reads_code in (True, False)
    )
    return first, second


# The tables above, in the shape in which one look-up per event is enough.
_INDEXED_HANDLERS: dict[type, tuple[_AboutSession, tuple[_Handlers, _Handlers]]] = {
    kind: (
        _ABOUT_SESSION.get(kind, _step_taken if kind in STEP_EVENTS else None),
        _indexed(_HANDLERS.get(kind, ())),
    )
    for kind in {*_HANDLERS, *_ABOUT_SESSION, *STEP_EVENTS}
}
_INDEXED_SUBAGENT_HANDLERS = {kind: _indexed(heard) for kind, heard in _SUBAGENT_HANDLERS.items()}
_NO_HANDLERS: tuple[_AboutSession, None] = (None, None)
