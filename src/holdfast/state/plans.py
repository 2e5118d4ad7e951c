"""Plans: the one in force, and the fate of those before it."""

from collections.abc import Iterator

from holdfast.events import Origin, PlanSet
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.facts import CANCELLED, OPEN, SUPERSEDED, Fact, FactKind, Position

MAX_PLANS = 5
MAX_PLAN_CHARS = 12_000


class Plan(NamedTuple):
    number: int
    text: str
    path: str
    status: str  # open: approved or proposed; cancelled: turned down; superseded
    step: int
    at: Origin
    proposed: bool = False  # nobody was seen to approve it

    @property
    def title(self) -> str:
        return next((line for line in self.text.split("\n") if line.strip()), "").strip("# ")


def on_plan_set(table: dict[str, Plan], event: PlanSet, position: Position) -> dict[str, Plan]:
    number = facts.next_number(table)
    status = CANCELLED if event.status == "refused" else OPEN
    if status == OPEN:
        table = {
            key: plan._replace(status=SUPERSEDED) if plan.status == OPEN else plan
            for key, plan in table.items()
        }
    text, proposed = truncate_safely(event.text, MAX_PLAN_CHARS), event.status == "proposed"
    plan = Plan(number, text, event.path, status, position.step, event.at, proposed)
    return facts.put_record(table, KIND.fact_id(number), plan, MAX_PLANS, facts.is_past)


def list_facts(table: dict[str, Plan]) -> Iterator[Fact]:
    for key, plan in table.items():
        yield Fact(key, KIND.name, plan.text, plan.status, plan.at, plan.path)


# Not counted in reports: no summary repeats pages, so it would always count as lost.
KIND = FactKind(
    "plan",
    "p",
    Plan,
    list_facts,
    gap=facts.AskedInGap("Plan", most=1, rank=10),
    main=True,
    status_words={OPEN: "in force", CANCELLED: "rejected"},
)
