"""What an instant compaction would leave now: the state as text, and the messages that stay.

For `holdfast brief --instant`, from the transcript alone. Must not write.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast import clients
from holdfast.brief.verbatim_messages import select_verbatim
from holdfast.compaction.module_handlers import MAX_KEPT_CHARS, compose_instant_text
from holdfast.state import State
from holdfast.transcript.reader import Loads

EMPTY_MESSAGES = ("user: ", "assistant: ")  # a row of thoughts alone


class InstantPreview(NamedTuple):
    text: str  # in place of everything before
    messages: tuple[str, ...]  # word for word, each with who said it


def preview_instant_compaction(
    path: str, state: State, *, loads: Loads | None = None
) -> InstantPreview:
    client = clients.of_session(state.session.client)
    with client.open_transcript(path, loads=loads, final=True) as source:
        messages = client.read_messages(source.rows())
    kept = select_verbatim([one.message for one in messages], MAX_KEPT_CHARS)
    made = compose_instant_text(state, state.session.updated, path)
    told = (messages[place].text for place in kept)
    return InstantPreview(made.text, tuple(one for one in told if one not in EMPTY_MESSAGES))
