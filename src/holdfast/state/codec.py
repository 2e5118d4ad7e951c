"""A state as a JSON-able document and back.

Records become arrays, so that a document is small and quick to read. A newer version may
add fields at the end of a record, or tables: an older document then loads with the defaults.
Anything else is a new VERSION, and on loading an older one the transcript is folded again.
"""

from holdfast.events import Origin
from holdfast.records import Any
from holdfast.state.calls import Call
from holdfast.state.facts import Position
from holdfast.state.lookups import Lookup
from holdfast.state.model import KINDS, SessionInfo, State, Usage
from holdfast.state.usage_history import UsagePoint

STATE_VERSION = 5

_RECORDS: dict[str, Any] = {kind.table: kind.record for kind in KINDS.values() if kind.record}
# Every record says where it came from, in the field of this name.
ORIGIN_INDEX = {name: cls._fields.index("at") for name, cls in _RECORDS.items()}
# First, because pages of many sessions read these and no more (`store.queries`): by
# how many of them do, the large ones last.
_FIRST = (
    "session position usage requests tasks subagents skills decisions files commands calls".split()
)
_ORDER = (*_FIRST, *(name for name in State._fields if name not in _FIRST))
_make = tuple.__new__
_VALUES: dict[str, Any] = {"session": SessionInfo, "position": Position, "usage": Usage}


class UnreadableState(ValueError):
    """The document is not a state of this version: fold the transcript again."""


def encode_state(state: State) -> dict[str, Any]:
    return {"version": STATE_VERSION} | {name: getattr(state, name) for name in _ORDER}


def decode_state(document: Any) -> State:
    try:
        if document["version"] != STATE_VERSION:
            raise UnreadableState(
                f"state version {document['version']!r}, expected {STATE_VERSION}"
            )
        fields: dict[str, Any] = {
            name: cls(*map(_freeze_lists, document[name]))
            for name, cls in _VALUES.items()
            if name in document
        }
        for name, cls in _RECORDS.items():
            rows = document.get(name, {})
            at = ORIGIN_INDEX[name]
            fields[name] = {key: _decode_record(cls, at, values) for key, values in rows.items()}
        heats, life = document.get("symbols", {}), document.get("usage_history", {})
        fields["symbols"] = {word: (*heat[:2], heat[-1]) for word, heat in heats.items()}
        fields["usage_history"] = {key: UsagePoint(*values) for key, values in life.items()}
        lookups = document.get("lookups", {})
        fields["lookups"] = {key: Lookup(*map(_freeze_lists, row)) for key, row in lookups.items()}
        fields["calls"] = {key: Call(*row) for key, row in document.get("calls", {}).items()}
        return State(**fields)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise UnreadableState(f"not a state document: {error!r}") from error


def _decode_record(cls: Any, at: int, values: list[Any]) -> Any:
    # Most values are words and numbers: a call for each took a third of the time of loading.
    frozen = [
        _freeze_lists(value) if value.__class__ in (list, dict) else value for value in values
    ]
    frozen[at] = Origin(*frozen[at])
    # One that this version wrote has all its fields: half the time of calling the class.
    return _make(cls, frozen) if len(frozen) == len(cls._fields) else cls(*frozen)


def _freeze_lists(value: Any) -> Any:
    """Lists back to the tuples they were; tables of symbols stay dicts."""
    if isinstance(value, list):
        return tuple(map(_freeze_lists, value))
    if isinstance(value, dict):
        return {key: _freeze_lists(item) for key, item in value.items()}
    return value
