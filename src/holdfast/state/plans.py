"""Plans: the one in force, and the fate of those before it."""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import Origin, PlanSet
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.facts import (
    CANCELLED,
    OPEN,
    SUPERSEDED,
    Fact,
    Position,
    next_number,
    put_record,
)

MAX_PLANS = 5
MAX_PLAN_CHARS = 6000


class Plan(NamedTuple):
    number: int
    text: str
    path: str
    status: str  # open: approved; cancelled: turned down; superseded
    step: int
    at: Origin


def on_plan_set(table: dict[str, Plan], event: PlanSet, position: Position) -> dict[str, Plan]:
    number = next_number(table)
    status = CANCELLED if event.status == "refused" else OPEN
    if status == OPEN:
        table = {
            key: plan._replace(status=SUPERSEDED) if plan.status == OPEN else plan
            for key, plan in table.items()
        }
    plan = Plan(
        number,
        truncate_safely(event.text, MAX_PLAN_CHARS),
        event.path,
        status,
        position.step,
        event.at,
    )
    return put_record(table, f"p{number}", plan, MAX_PLANS, lambda p: p.status != OPEN)


def list_facts(table: dict[str, Plan]) -> Iterator[Fact]:
    for key, plan in table.items():
        yield Fact(key, "plan", plan.text, plan.status, plan.at, plan.path)
