"""A session as it is shown: brought up to date, with what its transcript does not say yet.

Owns the order of what is laid on top: prompts and commands from the spool, the agent's last words,
then the session's documents. Saves what was read; must not deliver anything.

The client writes its transcript a little behind; a prompt or the agent's last words that a payload
carried are folded in for what is shown now. Never saved: the rows will come. A prompt that the user
did not type (the end of background work, a wakeup) is no request: its own markup says so, or its
row in the transcript, which is believed as soon as it is there.
"""

import json

from holdfast import clients
from holdfast.clients.client_protocol import Client
from holdfast.events import AgentSaid, CommandInvoked, Origin, UserSaid
from holdfast.records import NamedTuple
from holdfast.redact import redact
from holdfast.session import documents
from holdfast.session.context import SessionContext
from holdfast.session.follow import FollowState
from holdfast.session.update import SessionView, update_session
from holdfast.state import State, fold
from holdfast.store.protocol import Delivery


def load_view(
    ctx: SessionContext, seconds: float, last_words: str = "", *, save_later: bool = False
) -> SessionView:
    """For a hook: with what the fast hooks left in the spool, and `last_words` of the payload."""
    spooled = store_spool(ctx)
    saved = update_session(
        ctx.store, ctx.session, seconds=seconds, on_error=ctx.on_error, save_later=save_later
    )
    waiting = list_unconfirmed_prompts(spooled, saved.followed)
    state = apply_prompts(saved.followed.state, waiting)
    state = apply_commands(state, spooled)
    if last_words:
        state = apply_last_message(state, last_words, ctx.now.text)
    return saved._replace(overlaid=documents.overlay_documents(ctx, saved.session, state))


def load_saved_view(ctx: SessionContext, seconds: float) -> SessionView:
    """For commands and recall, which leave the spool to the hooks."""
    saved = update_session(ctx.store, ctx.session, seconds=seconds, on_error=ctx.on_error)
    return saved._replace(
        overlaid=documents.overlay_documents(ctx, saved.session, saved.followed.state)
    )


def store_spool(ctx: SessionContext) -> "SpooledInput":
    """What the fast hooks noted since; the deliveries among it go to the store."""
    lines = ctx.session_dir.drain_spool(ctx.now.seconds, forget=ctx.store is not None)
    spooled = parse_spool(lines, ctx.session.id, ctx.client)
    if ctx.store is not None:
        for delivery in spooled.deliveries:
            ctx.store.record_delivery(delivery)
    return spooled


class SpooledPrompt(NamedTuple):
    time: str
    id: str  # the client's; the rows of the turn that it begins carry it
    text: str


class SpooledInput(NamedTuple):
    """What the fast hooks left in the spool."""

    prompts: tuple[SpooledPrompt, ...] = ()  # oldest first
    commands: tuple[tuple[str, str, str], ...] = ()  # (time, name, arguments)
    deliveries: tuple[Delivery, ...] = ()


def parse_spool(lines: list[str], session_id: str, client: Client) -> SpooledInput:
    prompts: list[SpooledPrompt] = []
    commands: list[tuple[str, str, str]] = []
    deliveries: list[Delivery] = []
    user_text = client.user_text
    for line in lines:
        try:
            fields = json.loads(line)
            what, time, text = fields["what"], str(fields["time"]), str(fields["text"])
            if what == "prompt":
                text = redact(user_text.extract_user_text(text))
                if text:
                    prompts.append(SpooledPrompt(time, str(fields.get("id", "")), text))
                if text.startswith("/"):
                    commands += _parse_slash_command(time, text)
            elif what == "command":
                commands.append((time, text, redact(str(fields["arguments"]))))
            else:
                fact_ids = tuple(fact for fact in str(fields["facts"]).split(",") if fact)
                epoch, channel = int(fields["epoch"]), str(fields["channel"])
                deliveries.append(
                    Delivery(session_id, epoch, str(what), channel, time, text, fact_ids)
                )
        except (ValueError, KeyError, TypeError):
            continue  # a line cut short by a full disk
    return SpooledInput(tuple(prompts), tuple(commands), tuple(deliveries))


def list_unconfirmed_prompts(
    spooled: SpooledInput, followed: FollowState
) -> tuple[tuple[str, str], ...]:
    """The prompts whose rows were not read yet.

    Told by the prompt's id. Clients that give none: later than all that is known, in other words.
    """
    latest = list(followed.state.requests.values())[-12:]
    client = clients.of_session(followed.state.session.client)
    read = client.recent_prompt_ids(followed.parser_state)
    known = {_normalize(request.text) for request in latest}
    since = latest[-1].at.time[:19] if latest else ""  # to the second
    return tuple(
        (prompt.time, prompt.text)
        for prompt in dict.fromkeys(spooled.prompts)
        if prompt.time[:19] >= since
        and prompt.id not in read
        and not prompt.text.startswith("/")
        and _normalize(prompt.text) not in known
    )


def apply_prompts(state: State, prompts: tuple[tuple[str, str], ...]) -> State:
    for time, text in prompts:
        state = fold(state, UserSaid(Origin("", 0, 0, time), text))
    return state


def apply_commands(state: State, spooled: SpooledInput) -> State:
    """Commands that the transcript does not show yet, in force all the same."""
    for time, name, arguments in spooled.commands:
        known = state.skills.get(name.lstrip("/"))
        if known is None or known.at.time[:19] < time[:19]:
            state = fold(state, CommandInvoked(Origin("", 0, 0, time), name, arguments, "user"))
    return state


def _parse_slash_command(time: str, prompt: str) -> list[tuple[str, str, str]]:
    """`/name and arguments`; a path at the start of a prompt is no command."""
    name, _, arguments = prompt[1:].partition(" ")
    plain = name.replace(":", "").replace("-", "").replace("_", "").replace(".", "")
    return [(time, name, arguments.strip())] if plain.isalnum() else []


def apply_last_message(state: State, text: str, time: str) -> State:
    known = state.next_step.get("next")
    text = redact(text.strip())
    if not text or (known is not None and _normalize(text) == _normalize(known.last_words)):
        return state
    return fold(state, AgentSaid(Origin("", 0, 0, time), text))


def _normalize(text: str) -> str:
    """What two spellings of one prompt share, however it was clipped on the way."""
    return " ".join(text.split())[:300]
