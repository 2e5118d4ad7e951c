"""One hook call, from stdin to stdout: reads the payload, picks the path, prints once.

The fast path answers from the session's directory and imports next to nothing; everything else
is for the full path. A test holds the imports of both.
"""

from __future__ import annotations

import os

from holdfast.clients.claude_code.fastpath import hook_payload
from holdfast.files import exists
from holdfast.hooks import fast
from holdfast.paths import CONNECTION_FILE, data_dir_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.clients.claude_code.fastpath.hook_payload import HookPayload
    from holdfast.hooks.fast import HookResult

# At these the client speaks of a subagent's own context: the main thread's state stays out.
COMPACTION_EVENTS = frozenset(("PreCompact", "PostCompact", "SessionStart"))


def handle_hook(event: str) -> None:
    _exit_zero_on_sigterm()
    if event.startswith("native-"):
        _handle_module(event)
        return
    if event == "statusline":
        from holdfast.hooks import statusline

        write_stdout(statusline.render_statusline(_stdin(), os.environ))
        return
    if os.environ.get("CLAUDE_PLUGIN_ROOT"):
        from holdfast.hooks.plugin_conflict import are_settings_hooks_installed

        if are_settings_hooks_installed(os.environ):
            return
    payload = hook_payload.parse_payload(_stdin(), event)
    data = data_dir_from(os.environ)
    if payload is None or not data:
        return
    if event in COMPACTION_EVENTS and _is_subagent_compaction(payload, data):
        return
    answer = fast.handle_fast(payload, data)
    if answer is None:
        import gc

        gc.disable()  # over in a moment, and all of it is given back with the process
        from holdfast.hooks import full

        answer = full.handle_full(payload, data, fast.client_process())
    _print(answer)
    later = answer.background
    if exists(f"{data}/{CONNECTION_FILE}"):
        from holdfast.hooks import spawn_sync

        later = spawn_sync.then_sync(later, payload, data)
    _detach(later)


def _handle_module(event: str) -> None:
    """The plugin's native module asks, in its own words."""
    from holdfast.hooks import compaction_module

    data = data_dir_from(os.environ)
    if not data:
        return
    answer = compaction_module.handle_module(event, _stdin(), data)
    _print(answer)
    _detach(answer.background)


def _print(answer: HookResult) -> None:
    write_stdout(answer.text)
    if answer.on_printed is not None:
        answer.on_printed()


def _detach(work: Callable[[], None] | None) -> None:
    if work is not None:
        from holdfast.hooks.detach import run_detached

        run_detached(work)


def _is_subagent_compaction(payload: HookPayload, data: str) -> bool:
    if payload.event == "SessionStart" and payload.source != "compact":
        return bool(payload.agent_id)
    from holdfast.hooks.compaction_owner import belongs_to_subagent

    return belongs_to_subagent(payload, data)


def write_stdout(text: str) -> None:
    """All of it in one go, at the very end: half an answer is worse than none."""
    rest = text.encode("utf-8", "replace")
    while rest:
        rest = rest[os.write(1, rest) :]


def _stdin() -> bytes:
    pieces = []
    left = hook_payload.MAX_PAYLOAD_BYTES
    while left > 0 and (piece := os.read(0, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _exit_zero_on_sigterm() -> None:
    """The client ends a hook that takes too long; that is no error of the session's."""
    import _signal  # type: ignore[import-not-found]  # the C part; `signal` brings in enum

    _signal.signal(_signal.SIGTERM, lambda *_: os._exit(0))
