"""Writes the guards of a session: which rules in force a tool call can be checked against.

Read again only when the rules changed. `state.guards` finds them, `fastpath.guards` matches.
"""

from collections.abc import Sequence
from contextlib import suppress

from holdfast.fastpath.guards import Guard
from holdfast.fastpath.pending_texts import checksum
from holdfast.fastpath.session_dir import GUARDS_FILE, NEW_PROMPT_FILE
from holdfast.files import read, remove
from holdfast.session.context import SessionContext
from holdfast.state import State
from holdfast.state.rules import list_standing
from holdfast.store.protocol import Delivery


def list_guards(state: State, deliveries: Sequence[Delivery]) -> list[dict[str, str]]:
    """The rules that are guards, and when each last spoke; `deliveries` latest first."""
    spoke: dict[str, str] = {}
    for delivery in deliveries:
        kind, _, about = delivery.kind.partition(":")
        if kind == "guard":
            spoke.setdefault(about.partition(" ")[0], delivery.time)
    found = {one.id: one.sentence for one in _read_guards(state)}
    return [
        {"id": name, "sentence": sentence, "reminded": spoke.get(name, "")}
        for name, sentence in found.items()
    ]


def update_guards(ctx: SessionContext, state: State) -> None:
    """`state` knows all prompts so far."""
    folder = ctx.session_dir.path
    mode, rules = ctx.config.settings.text("guard"), list_standing(state.rules)
    remove(f"{folder}/{NEW_PROMPT_FILE}")
    first = f"{mode} {state.position.epoch} {checksum(repr(rules)):016x}"
    there = (read(f"{folder}/{GUARDS_FILE}") or b"").decode("utf-8", "replace")
    if there.partition("\n")[0] == first:
        return
    # To find guards, many patterns are compiled.
    lines = [one.encode() for one in _read_guards(state)] if mode != "off" and rules else []
    if not lines:
        remove(f"{folder}/{GUARDS_FILE}")
        return
    with suppress(OSError):  # no space: nothing reminds
        ctx.session_dir.write(GUARDS_FILE, "\n".join([first, *lines]).encode("utf-8", "replace"))


def _read_guards(state: State) -> list[Guard]:
    """Each with the sentence it reminds of, and with what was said of the same thing since."""
    from holdfast.state.guards import read_guards  # many patterns, compiled at import

    rules = list_standing(state.rules)
    later = {key: words for key, _, words in rules if words}
    return [
        one._replace(sentence=f'{one.sentence}" and later "{later[one.id]}')
        if one.id in later
        else one
        for one in read_guards((key, text) for key, text, _ in rules)
    ]
