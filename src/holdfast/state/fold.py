"""fold(state, event) -> state: the one way in which anything becomes known.

Pure and incremental: folding in pieces gives what folding at once gives, and the state that
is passed in is never changed. A kind of fact hears an event by a function of its module that is
named after it: `on_user_said` hears `UserSaid`. Where one module makes several tables, the table's
name stands before it: `errors_on_command_ran`.
"""

from collections.abc import Callable, Sequence

from holdfast import events as ev
from holdfast.path_spelling import join_path, spell_path
from holdfast.records import Any
from holdfast.state import git_printed, skills, subagents
from holdfast.state.facts import STEP_EVENTS, MutableTable, Position
from holdfast.state.model import EMPTY_STATE, MAKERS, SessionInfo, State, Usage

Handler = Callable[[Any, Any, Any], Any]

_INDEX = {field: index for index, field in enumerate(State._fields)}
_SESSION, _POSITION = _INDEX["session"], _INDEX["position"]

# A record from its values, a third of the time of calling the class: one for every step.
_make = tuple.__new__


def fold(state: State, event: ev.Event) -> State:
    return fold_all((event,), state)


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
        place = values[_SESSION]
        if self._latest > place.updated:
            first = place.started or self._first
            values[_SESSION] = place._replace(started=first, updated=self._latest)
        return _make(State, values)


def _advance(values: list[Any], events: Sequence[ev.Event]) -> None:
    """Write into the values of a state what events make of them, but for their time."""
    for event in events:
        kind = type(event)
        spell = _SPELL.get(kind)
        if spell is not None:
            event = spell(event, values[_SESSION].cwd)
        heard = _SUBAGENT_HANDLERS.get(kind, ()) if event.at.agent else _HANDLERS.get(kind)
        if heard is None:
            heard = _HANDLERS[kind] = _find_handlers(kind)
        for index, handler in heard:
            table = values[index]
            new = handler(table, event, values[_POSITION])
            if new is not table:
                values[index] = MutableTable(new) if type(table) is MutableTable else new


# One file has one path, however it was written; all kinds of facts hear the same one. Most are
# written in full already, which is asked first.
_SPELL: dict[type, Callable[[Any, str], Any]] = {
    ev.FileTouched: lambda event, cwd: (
        event
        if event.path[:1] == cwd[:1] == "/"
        else event._replace(path=join_path(cwd, event.path))
    ),
    ev.Searched: lambda event, cwd: (
        event
        if cwd[:1] == "/" or not event.where
        else event._replace(where=spell_path(event.where, cwd))
    ),
    ev.PlanSet: lambda event, cwd: (
        event if event.path[:1] == "/" else event._replace(path=spell_path(event.path, cwd))
    ),
    ev.SessionSeen: lambda event, _: (
        event if event.cwd[:1] == "/" else event._replace(cwd=spell_path(event.cwd))
    ),
}


def _session_seen(place: SessionInfo, event: ev.SessionSeen, _: Position) -> SessionInfo:
    folders = place.folders
    if event.cwd and event.cwd not in folders:
        folders = (*folders, event.cwd)[-12:]
    return place._replace(
        session_id=event.session_id or place.session_id,
        client=event.client or place.client,
        cwd=event.cwd or place.cwd,
        branch=event.branch or place.branch,
        folders=folders,
    )


def _usage_measured(before: Usage, event: ev.UsageMeasured, _: Position) -> Usage:
    same = (event.model, event.requested) == (before.model, before.requested)
    return Usage(
        event.model,
        event.context,
        event.output,
        event.at.time,
        event.requested,
        event.window or before.window,
        max(event.context, before.peak if same else 0),
    )


# What an event says of the session itself; where it stands first, which the others are told.
_ABOUT_SESSION: dict[str, dict[type, Handler]] = {
    "position": {
        **dict.fromkeys(
            STEP_EVENTS, lambda at, _event, _: _make(Position, (at.turn, at.step + 1, at.epoch))
        ),
        ev.UserSaid: lambda at, event, _: at._replace(
            turn=at.turn + (event.source in ("prompt", "queued"))
        ),
        ev.CommandInvoked: lambda at, event, _: at._replace(
            turn=at.turn + (event.by == "user" and not skills.is_control(event.name))
        ),
        ev.Compacted: lambda at, _event, _: at._replace(epoch=at.epoch + 1),
    },
    "session": {
        ev.SessionSeen: _session_seen,
        ev.TitleSet: lambda place, event, _: place._replace(title=event.title[:200]),
        ev.ModeSet: lambda place, event, _: place._replace(mode=event.mode),
        # Planning is over; which mode follows, the client says later.
        ev.PlanSet: lambda place, event, _: (
            place._replace(mode="") if event.status == "approved" else place
        ),
    },
    "usage": {
        ev.UsageMeasured: _usage_measured,
        # The context was just emptied: until the next answer nobody knows how full it is.
        ev.Compacted: lambda usage, _event, _: usage._replace(context=0, output=0, time=""),
    },
}

_Handlers = tuple[tuple[int, Handler], ...]


# By event, so that one look-up is enough.
_HANDLERS: dict[type, "_Handlers"] = {}


def _find_handlers(event: type) -> _Handlers:
    """The functions that hear an event: in the modules of the tables, those named after it."""
    name = "on" + "".join(f"_{c.lower()}" if c.isupper() else c for c in event.__name__)
    found: dict[str, Handler | None] = {
        table: heard.get(event) for table, heard in _ABOUT_SESSION.items()
    }
    for table, module in MAKERS.items():
        found[table] = getattr(module, f"{table}_{name}", None) or getattr(module, name, None)
    return tuple((_INDEX[table], handler) for table, handler in found.items() if handler)


# What a subagent does is known of the subagent, never taken for the main thread's state; but
# what git printed to it was printed of the same work tree.
_SUBAGENTS, _GIT = _INDEX["subagents"], _INDEX["git_printed"]
_SUBAGENT_HANDLERS: dict[type, _Handlers] = {
    ev.FileTouched: ((_SUBAGENTS, subagents.on_subagent_action),),
    ev.CommandRan: (
        (_SUBAGENTS, subagents.on_subagent_action),
        (_GIT, git_printed.on_command_ran),
    ),
    ev.SubagentStarted: ((_SUBAGENTS, subagents.on_subagent_started),),
    ev.SubagentEnded: ((_SUBAGENTS, subagents.on_subagent_ended),),
}
