"""Subagents and background jobs: what was handed out, whether it came back, and with what."""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import (
    CommandRan,
    FileTouched,
    JobEnded,
    JobStarted,
    Origin,
    SubagentEnded,
    SubagentStarted,
)
from holdfast.redact.safe_truncation import truncate_output_safely, truncate_safely
from holdfast.state.facts import CANCELLED, DONE, OPEN, Fact, Position, next_number, put_record

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


Table = dict[str, Subagent]


def _start(
    table: Table, agent: str, role: str, about: str, position: Position, at: Origin
) -> Table:
    known = table.get(agent)
    number = known.number if known else next_number(table)
    subagent = Subagent(
        number, agent, role, truncate_safely(about, 300), "", OPEN, 0, (), position.step, at
    )
    return put_record(table, agent, subagent, MAX_SUBAGENTS, lambda s: s.status != OPEN)


def _end(
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
        table = _start(table, agent, "", "", position, at)
        known = table[agent]
    ended = known._replace(
        result=truncate_output_safely(result.strip(), MAX_RESULT_CHARS) or known.result,
        status=CANCELLED if ok is False else DONE,
        step=position.step,
        at=at,
        tools=tools or known.tools,
    )
    return put_record(table, agent, ended, MAX_SUBAGENTS, lambda s: s.status != OPEN)


def on_subagent_started(table: Table, event: SubagentStarted, position: Position) -> Table:
    about = event.about or event.prompt
    return _start(table, event.agent, event.role, about, position, event.at)


def on_subagent_ended(table: Table, event: SubagentEnded, position: Position) -> Table:
    return _end(table, event.agent, event.ok, event.result, position, event.at, event.tools)


def on_job_started(table: Table, event: JobStarted, position: Position) -> Table:
    return _start(table, event.job, "job", event.command, position, event.at)


def on_job_ended(table: Table, event: JobEnded, position: Position) -> Table:
    return _end(table, event.job, event.ok, event.output, position, event.at)


def on_subagent_action(table: Table, event: FileTouched | CommandRan, position: Position) -> Table:
    """Something a subagent did itself, seen in its own rows."""
    known = table.get(event.at.agent)
    if known is None:
        return table
    changed = known.changed
    if isinstance(event, FileTouched) and event.ok and event.action != "read":
        changed = tuple(dict.fromkeys((*changed, event.path)))[-20:]
    return {
        **table,
        event.at.agent: known._replace(
            actions=known.actions + 1, changed=changed, step=position.step
        ),
    }


def list_facts(table: Table) -> Iterator[Fact]:
    for subagent in table.values():
        text = f"{subagent.role or 'subagent'}: {subagent.about}".strip(": ")
        detail = "; ".join(filter(None, (subagent.result, " ".join(subagent.changed))))
        yield Fact(f"s{subagent.number}", "subagent", text, subagent.status, subagent.at, detail)
