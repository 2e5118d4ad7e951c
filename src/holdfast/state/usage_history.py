"""Life: how full the context was over the session, as a line that can be drawn.

One point for each answer of the main thread. The table is bounded: when it is full, the points
that lie closest to the line between their neighbours go first, so that the picture stays the
same; the last point before each compaction, which is the height of the drop, stays longest.
"""

from holdfast.events import UsageMeasured
from holdfast.records import NamedTuple
from holdfast.state.facts import Position, writable

MAX_POINTS = 200  # points kept: more than a screen shows apart
SPARE_POINTS = 100  # how far the table may outgrow LIMIT before it is thinned


class UsagePoint(NamedTuple):
    time: str
    context: int  # tokens
    epoch: int
    step: int


Table = dict[str, UsagePoint]  # by time: of two answers in one millisecond the last is kept

_make = tuple.__new__  # half the time of Point(...), for every answer


def on_usage_measured(table: Table, event: UsageMeasured, position: Position) -> Table:
    if not event.context:
        return table
    new = writable(table)
    time = event.at.time
    new[time] = _make(UsagePoint, (time, event.context, position.epoch, position.step))
    return _thin_out(new) if len(new) > MAX_POINTS + SPARE_POINTS else new


def _thin_out(table: Table) -> Table:
    names, points = list(table), list(table.values())
    weights = [(_weigh_point(points, place), place) for place in range(1, len(points) - 1)]
    expendable = {place for _, place in sorted(weights)[: len(points) - MAX_POINTS]}
    return {name: table[name] for place, name in enumerate(names) if place not in expendable}


def _weigh_point(points: list[UsagePoint], place: int) -> float:
    """How much the line would change without this point."""
    before, point, after = points[place - 1 : place + 2]
    if after.epoch != point.epoch:
        return float("inf")
    return abs(point.context - (before.context + after.context) / 2)
