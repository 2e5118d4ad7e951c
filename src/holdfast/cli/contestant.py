"""The product's brief as a contestant of the survival benchmark.

Owns the way from a boundary to the state before it. It stands here and not in `survival/`,
because the judge imports nothing of what it judges. Worker processes import it by name.
"""

from __future__ import annotations

import orjson

from holdfast.brief.compose import compose
from holdfast.clients.claude_code.rows import Adapter
from holdfast.clients.protocol import Row
from holdfast.lifecycle.boundaries import boundaries
from holdfast.lifecycle.native import instant_text
from holdfast.lifecycle.track import catch_up
from holdfast.state import EMPTY, State, fold
from holdfast.survival import Case, Contestant

_STATE = "holdfast state"


def state_before(case: Case) -> State:
    """The state at a boundary, folded once for all sizes and contestants of it."""
    kept: State | None = case.scratch.get(_STATE)
    if kept is None:
        kept = case.scratch[_STATE] = _folded(case)
    return kept


def _folded(case: Case) -> State:
    for boundary in boundaries(case.path, loads=orjson.loads):
        if boundary.row == case.boundary_uuid:
            return catch_up(case.path, until=boundary.start, loads=orjson.loads, final=True).state
    # Only a copy of the transcript holds the boundary: the merged rows are all there is.
    state, adapter = EMPTY, Adapter(None)
    for number, data in enumerate(case.rows_before):
        for event in adapter.events(Row(data, number, number + 1)):
            state = fold(state, event)
    return state


def brief(case: Case, max_chars: int) -> str:
    """The text of `holdfast brief FILE --compactions`, at the same size."""
    return compose(state_before(case), max_chars).text


def brief_of_summary_size(case: Case, max_chars: int) -> str:
    """As many characters as the client's own summary took, to stand in its place."""
    return brief(case, min(max_chars, len(case.summary or "")))


HOLDFAST = Contestant("Holdfast", brief)
# It is told the summary for its length only.
IN_ITS_PLACE = Contestant(
    "Holdfast, as long as the summary", brief_of_summary_size, wants_summary=True
)


def instant(case: Case, max_chars: int) -> str:
    """The state text of an instant compaction, no longer than the summary that it stands for.

    Without the messages that it also keeps word for word: the client's summary has its own.
    """
    room = min(max_chars, len(case.summary or ""))
    return instant_text(state_before(case), "", room=room).text


INSTANT = Contestant("Holdfast, instant", instant, wants_summary=True)
