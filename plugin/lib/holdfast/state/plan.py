"""Plans: the one in force, and the fate of those before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import Origin, PlanSet
from holdfast.state.facts import CANCELLED, OPEN, SUPERSEDED, Fact, keep, next_number, put
from holdfast.state.moment import Moment

LIMIT = 5
TEXT = 6000


class Plan(NamedTuple):
    number: int
    text: str
    path: str
    standing: str  # open: approved; cancelled: turned down; superseded
    step: int
    at: Origin


def on_plan_set(table: dict[str, Plan], event: PlanSet, moment: Moment) -> dict[str, Plan]:
    number = next_number(table)
    standing = CANCELLED if event.standing == "refused" else OPEN
    if standing == OPEN:
        table = {
            key: plan._replace(standing=SUPERSEDED) if plan.standing == OPEN else plan
            for key, plan in table.items()
        }
    plan = Plan(number, keep(event.text, TEXT), event.path, standing, moment.step, event.at)
    return put(table, f"p{number}", plan, LIMIT, lambda p: p.standing != OPEN)


def facts(table: dict[str, Plan]) -> Iterator[Fact]:
    for key, plan in table.items():
        yield Fact(key, "plan", plan.text, plan.standing, plan.at, plan.path)
