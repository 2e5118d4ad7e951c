"""Subagents and background jobs: what was handed out, whether it came back, and with what."""

from collections.abc import Iterator

from holdfast import events as ev
from holdfast.events import Origin
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_output_safely, truncate_safely
from holdfast.state import facts
from holdfast.state.facts import CANCELLED, DONE, OPEN, Fact, FactKind, Position

MAX_SUBAGENTS = 40
MAX_RESULT_CHARS = 700


class Subagent(NamedTuple):
    number: int
    agent: str  # the client's id
    role: str  # agent type, or "job" for a background command
    about: str
    result: str
    status: str  # open: running; done; cancelled: failed or killed
    actions: int  # tool calls seen of it
    changed: tuple[str, ...]  # files it changed
    step: int
    at: Origin
    tools: tuple[str, ...] = ()  # names of those it used, where the client tells

    @property
    def fact_id(self) -> str:
        return KIND.fact_id(self.number)


Table = dict[str, Subagent]


def _start_agent(
    table: Table, agent: str, role: str, about: str, position: Position, at: Origin
) -> Table:
    known = table.get(agent)
    number = known.number if known else facts.next_number(table)
    about = truncate_safely(about, 300)
    subagent = Subagent(number, agent, role, about, "", OPEN, 0, (), position.step, at)
    return facts.put_record(table, agent, subagent, MAX_SUBAGENTS, facts.is_past)


def _end_agent(
    table: Table,
    agent: str,
    ok: bool | None,
    result: str,
    position: Position,
    at: Origin,
    tools: tuple[str, ...] = (),
) -> Table:
    known = table.get(agent)
    if known is None:
        table = _start_agent(table, agent, "", "", position, at)
        known = table[agent]
    ended = known._replace(
        result=truncate_output_safely(result.strip(), MAX_RESULT_CHARS) or known.result,
        status=CANCELLED if ok is False else DONE,
        step=position.step,
        at=at,
        tools=tools or known.tools,
    )
    return facts.put_record(table, agent, ended, MAX_SUBAGENTS, facts.is_past)


def on_subagent_started(table: Table, event: ev.SubagentStarted, position: Position) -> Table:
    about = event.about or event.prompt
    return _start_agent(table, event.agent, event.role, about, position, event.at)


def on_subagent_ended(table: Table, event: ev.SubagentEnded, position: Position) -> Table:
    return _end_agent(table, event.agent, event.ok, event.result, position, event.at, event.tools)


def on_job_started(table: Table, event: ev.JobStarted, position: Position) -> Table:
    return _start_agent(table, event.job, "job", event.command, position, event.at)


def on_job_ended(table: Table, event: ev.JobEnded, position: Position) -> Table:
    return _end_agent(table, event.job, event.ok, event.output, position, event.at)


def on_subagent_action(
    table: Table, event: ev.FileTouched | ev.CommandRan, position: Position
) -> Table:
    """Something a subagent did itself, seen in its own rows."""
    known = table.get(event.at.agent)
    if known is None:
        return table
    changed = known.changed
    if isinstance(event, ev.FileTouched) and event.ok and event.action != "read":
        changed = tuple(dict.fromkeys((*changed, event.path)))[-20:]
    seen = known._replace(actions=known.actions + 1, changed=changed, step=position.step)
    return {**table, event.at.agent: seen}


def list_facts(table: Table) -> Iterator[Fact]:
    for subagent in table.values():
        text = f"{subagent.role or 'subagent'}: {subagent.about}".strip(": ")
        detail = "; ".join(filter(None, (subagent.result, " ".join(subagent.changed))))
        yield Fact(subagent.fact_id, KIND.name, text, subagent.status, subagent.at, detail)


KIND = FactKind(
    "subagent",
    "s",
    Subagent,
    list_facts,
    gap=facts.AskedInGap("Started in the background, no end seen", most=6, rank=9),
    counted_in="running",
    status_words={OPEN: "running", CANCELLED: "failed"},
)
