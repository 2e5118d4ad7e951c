"""What payloads say before the transcript does.

The client writes its transcript a little behind; a prompt or the agent's last words that a
payload carried are folded in for what is shown now. Never saved: the rows will come.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from holdfast.events import AgentSaid, CommandInvoked, Origin, UserSaid
from holdfast.redact import redact
from holdfast.state import State, fold
from holdfast.store.protocol import Delivery


class Noted(NamedTuple):
    """What the light hooks left in the spool."""

    prompts: tuple[tuple[str, str], ...] = ()  # (time, text), oldest first
    commands: tuple[tuple[str, str, str], ...] = ()  # (time, name, arguments)
    deliveries: tuple[Delivery, ...] = ()


def understood(lines: list[str], session_id: str) -> Noted:
    prompts: list[tuple[str, str]] = []
    commands: list[tuple[str, str, str]] = []
    deliveries: list[Delivery] = []
    for line in lines:
        try:
            fields = json.loads(line)
            what, time, text = fields["what"], str(fields["time"]), str(fields["text"])
            if what == "prompt":
                prompts.append((time, redact(text)))
                if text.startswith("/"):
                    commands += _typed(time, redact(text))
            elif what == "command":
                commands.append((time, text, redact(str(fields["arguments"]))))
            else:
                told = tuple(fact for fact in str(fields["facts"]).split(",") if fact)
                epoch, road = int(fields["epoch"]), str(fields["road"])
                deliveries.append(Delivery(session_id, epoch, str(what), road, time, text, told))
        except (ValueError, KeyError, TypeError):
            continue  # a line cut short by a full disk
    return Noted(tuple(prompts), tuple(commands), tuple(deliveries))


def unconfirmed(noted: Noted, state: State) -> tuple[tuple[str, str], ...]:
    """The prompts that the state does not know yet: later than all it knows, and in other words."""
    latest = list(state.requests.values())[-12:]
    known = {_plain(request.text) for request in latest}
    since = latest[-1].at.time[:19] if latest else ""  # to the second
    return tuple(
        (time, text)
        for time, text in dict.fromkeys(noted.prompts)
        if time[:19] >= since and not text.lstrip().startswith("/") and _plain(text) not in known
    )


def with_prompts(state: State, prompts: tuple[tuple[str, str], ...]) -> State:
    for time, text in prompts:
        state = fold(state, UserSaid(Origin("", 0, 0, time), text))
    return state


def with_commands(state: State, noted: Noted) -> State:
    """Commands that the transcript does not show yet, in force all the same."""
    for time, name, arguments in noted.commands:
        known = state.skills.get(name.lstrip("/"))
        if known is None or known.at.time[:19] < time[:19]:
            state = fold(state, CommandInvoked(Origin("", 0, 0, time), name, arguments, "user"))
    return state


def _typed(time: str, prompt: str) -> list[tuple[str, str, str]]:
    """`/name and arguments`; a path at the start of a prompt is no command."""
    name, _, arguments = prompt[1:].partition(" ")
    plain = name.replace(":", "").replace("-", "").replace("_", "").replace(".", "")
    return [(time, name, arguments.strip())] if plain.isalnum() else []


def with_last_words(state: State, text: str, time: str) -> State:
    known = state.next_step.get("next")
    text = redact(text.strip())
    if not text or (known is not None and _plain(text) == _plain(known.last_words)):
        return state
    return fold(state, AgentSaid(Origin("", 0, 0, time), text))


def _plain(text: str) -> str:
    """What two spellings of one prompt share, however it was clipped on the way."""
    return " ".join(text.split())[:300]
