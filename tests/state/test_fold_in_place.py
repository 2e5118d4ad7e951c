"""Folding many events in a row changes only tables that nobody else holds."""

import json

from holdfast.events import AgentSaid, CommandRan, Event, FileTouched, Origin, UserSaid
from holdfast.state import EMPTY_STATE, FoldSession, encode_state, fold, fold_all


def _events() -> list[Event]:
    found: list[Event] = []
    for n in range(40):
        at = Origin(f"row-{n}", n, n + 1, f"2026-01-01T00:00:{n:02}Z")
        found += [
            UserSaid(at, f"Always run test_number_{n} first."),
            AgentSaid(at, f"We decided to use fooBar{n} instead of bazQux{n} because it is small."),
            FileTouched(at, f"/r/file{n % 7}.py", "changed", True, f"def some_name_{n}(): pass"),
            CommandRan(at, f"pytest tests/test_{n % 3}.py", f"{n} passed in 1s", True, 0),
        ]
    return found


def _told(state: object) -> str:
    return json.dumps(encode_state(state))  # type: ignore[arg-type]


def test_working_tables_give_the_state_that_folding_one_by_one_gives() -> None:
    one_by_one = EMPTY_STATE
    for event in _events():
        one_by_one = fold(one_by_one, event)
    assert _told(fold_all(_events())) == _told(one_by_one)


def test_a_state_that_was_opened_stays_as_it_was() -> None:
    events = _events()
    before = fold_all(events[:80])
    told = _told(before)
    after = fold_all(events[80:], before)
    assert _told(before) == told
    assert _told(after) == _told(fold_all(events))
    assert _told(EMPTY_STATE) == _told(type(EMPTY_STATE)())


def test_a_state_that_a_fold_gave_holds_plain_tables_that_later_events_do_not_reach() -> None:
    events = _events()
    folding = FoldSession(EMPTY_STATE)
    folding.apply(events[:80])
    kept = folding.state()
    told = _told(kept)
    folding.apply(events[80:])
    assert _told(kept) == told != _told(folding.state())
    plain = (dict, tuple, type(None))
    assert all(type(value) in plain or hasattr(value, "_fields") for value in kept)
