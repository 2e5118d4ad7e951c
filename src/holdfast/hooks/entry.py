"""One hook call, from stdin to stdout: reads the payload, picks the path, prints once.

The fast path answers from the session's directory and imports next to nothing; everything else
is for the full path. A test holds the imports of both.
"""

from __future__ import annotations

import os

from holdfast import clients
from holdfast.fastpath.hook_json import MAX_PAYLOAD_BYTES
from holdfast.files import exists
from holdfast.hooks import fast
from holdfast.paths import CONNECTION_FILE, data_dir_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.hooks.fast import HookResult


def handle_hook(argument: str) -> None:
    """`argument` is what the installed entry says: an event, behind the client's name and a colon
    where it is not the default's.
    """
    _exit_zero_on_sigterm()
    name, _, event = argument.rpartition(":")
    if event.startswith("native-"):
        _handle_module(event)
        return
    if event == "statusline":
        from holdfast.hooks import statusline

        write_stdout(statusline.render_statusline(_read_stdin(), os.environ))
        return
    client = clients.hook_client(name)
    if client.leaves_to_others(os.environ):
        return
    payload = client.parse_payload(_read_stdin(), event)
    data = data_dir_from(os.environ)
    if payload is None or not data:
        return
    payload.transcript_path = client.find_transcript(payload, os.environ)
    client.receive(payload, data)
    payload.client = client
    if client.is_subagents_own(payload, data):
        if exists(own := client.find_own_transcript(payload)):
            from holdfast.hooks import full

            _print_answer(full.handle_subagent(payload, data, own))
        return
    answer = fast.handle_fast(payload, data)
    if answer is None:
        import gc

        gc.disable()  # over in a moment, and all of it is given back with the process
        from holdfast.hooks import code_bundle, watchdog

        code_bundle.use()
        from holdfast.hooks import full

        watchdog.last_resort = lambda: _print_answer(fast.hand_over_what_lies_ready(payload, data))
        answer = full.handle_full(payload, data, fast.client_process(payload))
        watchdog.last_resort = None
        _print_answer(answer)
        code_bundle.keep()
    else:
        _print_answer(answer)
    later = answer.background
    if exists(f"{data}/{CONNECTION_FILE}"):
        from holdfast.hooks import spawn_sync

        later = spawn_sync.then_sync(later, payload, data)
    _detach_work(later)


def _handle_module(event: str) -> None:
    """The plugin's native module asks, in its own words."""
    from holdfast.hooks import compaction_module

    data = data_dir_from(os.environ)
    if not data:
        return
    answer = compaction_module.handle_module(event, _read_stdin(), data)
    _print_answer(answer)
    _detach_work(answer.background)


def _print_answer(answer: HookResult) -> None:
    write_stdout(answer.text)
    if answer.on_printed is not None:
        answer.on_printed()


def _detach_work(work: Callable[[], None] | None) -> None:
    if work is not None:
        from holdfast.hooks.detach import run_detached

        run_detached(work)


def write_stdout(text: str) -> None:
    """All of it in one go, at the very end: half an answer is worse than none."""
    rest = text.encode("utf-8", "replace")
    while rest:
        rest = rest[os.write(1, rest) :]


def _read_stdin() -> bytes:
    pieces = []
    left = MAX_PAYLOAD_BYTES
    while left > 0 and (piece := os.read(0, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _exit_zero_on_sigterm() -> None:
    """The client ends a hook that takes too long; this is not an error."""
    import _signal  # type: ignore[import-not-found]  # the C part; `signal` brings in enum

    _signal.signal(_signal.SIGTERM, lambda *_: os._exit(0))
