"""Subagents and background jobs: what was handed out, whether it came back, and with what."""

from __future__ import annotations

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
from holdfast.state.facts import CANCELLED, DONE, OPEN, Fact, keep, keep_ends, next_number, put
from holdfast.state.moment import Moment

LIMIT = 40
RESULT = 700


class Subagent(NamedTuple):
    number: int
    agent: str  # the client's id
    role: str  # agent type, or "job" for a background command
    about: str
    result: str
    standing: str  # open: running; done; cancelled: failed or killed
    deeds: int  # tool calls seen of it
    changed: tuple[str, ...]  # files it changed
    step: int
    at: Origin
    tools: tuple[str, ...] = ()  # names of those it used, where the client tells


Table = dict[str, Subagent]


def _start(table: Table, agent: str, role: str, about: str, moment: Moment, at: Origin) -> Table:
    known = table.get(agent)
    number = known.number if known else next_number(table)
    subagent = Subagent(number, agent, role, keep(about, 300), "", OPEN, 0, (), moment.step, at)
    return put(table, agent, subagent, LIMIT, lambda s: s.standing != OPEN)


def _end(
    table: Table,
    agent: str,
    ok: bool | None,
    result: str,
    moment: Moment,
    at: Origin,
    tools: tuple[str, ...] = (),
) -> Table:
    known = table.get(agent)
    if known is None:
        table = _start(table, agent, "", "", moment, at)
        known = table[agent]
    ended = known._replace(
        result=keep_ends(result.strip(), RESULT) or known.result,
        standing=CANCELLED if ok is False else DONE,
        step=moment.step,
        at=at,
        tools=tools or known.tools,
    )
    return put(table, agent, ended, LIMIT, lambda s: s.standing != OPEN)


def on_subagent_started(table: Table, event: SubagentStarted, moment: Moment) -> Table:
    about = event.about or event.prompt
    return _start(table, event.agent, event.role, about, moment, event.at)


def on_subagent_ended(table: Table, event: SubagentEnded, moment: Moment) -> Table:
    return _end(table, event.agent, event.ok, event.result, moment, event.at, event.tools)


def on_job_started(table: Table, event: JobStarted, moment: Moment) -> Table:
    return _start(table, event.job, "job", event.command, moment, event.at)


def on_job_ended(table: Table, event: JobEnded, moment: Moment) -> Table:
    return _end(table, event.job, event.ok, event.output, moment, event.at)


def on_own_deed(table: Table, event: FileTouched | CommandRan, moment: Moment) -> Table:
    """Something a subagent did itself, seen in its own rows."""
    known = table.get(event.at.agent)
    if known is None:
        return table
    changed = known.changed
    if isinstance(event, FileTouched) and event.ok and event.how != "read":
        changed = tuple(dict.fromkeys((*changed, event.path)))[-20:]
    return {
        **table,
        event.at.agent: known._replace(deeds=known.deeds + 1, changed=changed, step=moment.step),
    }


def facts(table: Table) -> Iterator[Fact]:
    for subagent in table.values():
        text = f"{subagent.role or 'subagent'}: {subagent.about}".strip(": ")
        detail = "; ".join(filter(None, (subagent.result, " ".join(subagent.changed))))
        yield Fact(f"s{subagent.number}", "subagent", text, subagent.standing, subagent.at, detail)
