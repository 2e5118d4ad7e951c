"""One hook call, from stdin to stdout: reads the payload, picks the road, prints once.

The light road answers from the session's tray and imports next to nothing; everything else is
the heavy road's. A test holds the imports of both.
"""

from __future__ import annotations

import os

from holdfast.clients.claude_code import payloads
from holdfast.files import exists
from holdfast.hooks import light

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.clients.claude_code.payloads import Payload
    from holdfast.hooks.light import Answer

# In the data folder of a user who is connected to a team's service: see `lifecycle.service`.
SERVICE = "service.json"
# At these the client speaks of a subagent's own context: the main thread's state stays out.
COMPACTION = frozenset(("PreCompact", "PostCompact", "SessionStart"))


def main(event: str) -> None:
    _end_quietly_when_told()
    if event.startswith("native-"):
        _answer_module(event)
        return
    if event == "statusline":
        from holdfast.hooks import statusline

        say(statusline.main(_stdin(), os.environ))
        return
    if os.environ.get("CLAUDE_PLUGIN_ROOT"):
        from holdfast.hooks.beside import settings_hooks_answer

        if settings_hooks_answer(os.environ):
            return
    payload = payloads.parse(_stdin(), event)
    data = light.data_folder(os.environ)
    if payload is None or not data:
        return
    if event in COMPACTION and _is_subagents(payload, data):
        return
    answer = light.answer(payload, data)
    if answer is None:
        import gc

        gc.disable()  # over in a moment, and all of it is given back with the process
        from holdfast.hooks import heavy

        answer = heavy.answer(payload, data, light.client_process())
    _print(answer)
    later = answer.later
    if exists(f"{data}/{SERVICE}"):
        from holdfast.hooks import carrier

        later = carrier.after(later, payload, data)
    _detach(later)


def _answer_module(event: str) -> None:
    """The plugin's native module asks, in its own words."""
    from holdfast.hooks import native

    data = light.data_folder(os.environ)
    if not data:
        return
    answer = native.answer(event, _stdin(), data)
    _print(answer)
    _detach(answer.later)


def _print(answer: Answer) -> None:
    say(answer.text)
    if answer.printed is not None:
        answer.printed()


def _detach(work: Callable[[], None] | None) -> None:
    if work is not None:
        from holdfast.hooks.detach import detached

        detached(work)


def _is_subagents(payload: Payload, data: str) -> bool:
    if payload.event == "SessionStart" and payload.source != "compact":
        return bool(payload.agent_id)
    from holdfast.hooks.whose import is_subagents

    return is_subagents(payload, data)


def say(text: str) -> None:
    """All of it in one go, at the very end: half an answer is worse than none."""
    rest = text.encode("utf-8", "replace")
    while rest:
        rest = rest[os.write(1, rest) :]


def _stdin() -> bytes:
    pieces = []
    left = payloads.LARGEST
    while left > 0 and (piece := os.read(0, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _end_quietly_when_told() -> None:
    """The client ends a hook that takes too long; that is no error of the session's."""
    import _signal  # type: ignore[import-not-found]  # the C part; `signal` brings in enum

    _signal.signal(_signal.SIGTERM, lambda *_: os._exit(0))
