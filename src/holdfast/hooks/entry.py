"""One hook call, from stdin to stdout: reads the payload, picks the path, prints once.

The fast path answers from the session's directory and imports next to nothing; everything else
is for the full path. A test holds the imports of both.
"""

from __future__ import annotations

import os

from holdfast.clients.claude_code.fastpath import hook_payload
from holdfast.clients.claude_code.fastpath.subagent_compaction import (
    must_be_subagent_compaction,
    payload_has_agent_id,
)
from holdfast.fastpath.hook_json import MAX_PAYLOAD_BYTES
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import exists, read, remove
from holdfast.hooks import fast
from holdfast.paths import CONNECTION_FILE, data_dir_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.clients.client_protocol import HookPayload
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
    if os.environ.get("CLAUDE_PLUGIN_ROOT") and are_settings_hooks_installed(os.environ):
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

    return belongs_to_subagent(payload, data)


def write_stdout(text: str) -> None:
    """All of it in one go, at the very end: half an answer is worse than none."""
    rest = text.encode("utf-8", "replace")
    while rest:
        rest = rest[os.write(1, rest) :]


def _stdin() -> bytes:
    pieces = []
    left = MAX_PAYLOAD_BYTES
    while left > 0 and (piece := os.read(0, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _exit_zero_on_sigterm() -> None:
    """The client ends a hook that takes too long; that is no error of the session's."""
    import _signal  # type: ignore[import-not-found]  # the C part; `signal` brings in enum

    _signal.signal(_signal.SIGTERM, lambda *_: os._exit(0))


# The plugin beside `holdfast install`: whose hooks answer when both are there.
#
# The settings' do, so that nothing is steered, saved or delivered twice; the plugin's answer only
# where no settings file names a launcher whose Holdfast is still on the disk. Looks for paths in
# the text and does not parse: this runs at every hook of the plugin.

LAUNCHER_NAME = "holdfast-hook"
SCRIPT_SUFFIX = "/holdfast/hooks/main.py"
MAX_SETTINGS_BYTES = 4 * 1024 * 1024


def are_settings_hooks_installed(environ: Mapping[str, str]) -> bool:
    return any(_names_holdfast(path) for path in _settings_files(environ))


def _settings_files(environ: Mapping[str, str]) -> list[str]:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    config = environ.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
    project = environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    files = [f"{config}/settings.json"] if config else []
    return [*files, f"{project}/.claude/settings.json", f"{project}/.claude/settings.local.json"]


def _names_holdfast(path: str) -> bool:
    text = (read(path, most=MAX_SETTINGS_BYTES) or b"").decode("utf-8", "replace")
    text = text.replace("\\\\", "/")
    # The status line's command goes on behind the launcher; an entry's ends there.
    for launcher in _paths_ending(text, f"/{LAUNCHER_NAME}", '"'):
        code = (read(launcher) or b"").decode("utf-8", "replace")
        if any(exists(script) for script in _paths_ending(code, SCRIPT_SUFFIX, "='")):
            return True
    # On Windows an entry names the script itself.
    return any(exists(script) for script in _paths_ending(text, SCRIPT_SUFFIX, '"'))


def _paths_ending(text: str, end: str, before: str) -> list[str]:
    """The paths with this end, each from the nearest of the characters in `before`."""
    found = []
    at = text.find(end)
    while at >= 0:
        start = max(text.rfind(mark, 0, at) for mark in before) + 1
        found.append(text[start:at] + end)
        at = text.find(end, at + 1)
    return found


# Whose compaction a hook was called for: the main thread's, or a subagent's own.
#
# New clients say so. For older ones the transcripts tell, and a mark of ours: only the user can ask
# for a compaction, and only of the main thread, but SessionStart does not say who asked.

MANUAL_FILE = "asked"


def belongs_to_subagent(payload: HookPayload, data: str) -> bool:
    """For PreCompact, SessionStart(compact) and PostCompact."""
    if payload.agent_id:
        return True
    session_dir = SessionDir(data, payload.session_id)
    if payload.trigger == "manual":
        if payload.event == "PreCompact" and not payload_has_agent_id(payload.transcript_path):
            _remember(session_dir)
        return False
    mark = f"{session_dir.path}/{MANUAL_FILE}"
    if payload.event == "SessionStart" and exists(mark):
        remove(mark)
        return False
    return must_be_subagent_compaction(payload.transcript_path)


def _remember(session_dir: SessionDir) -> None:
    try:  # noqa: SIM105  contextlib costs 3 ms
        session_dir.write(MANUAL_FILE, b"")
    except OSError:
        pass  # without it the transcripts alone decide
