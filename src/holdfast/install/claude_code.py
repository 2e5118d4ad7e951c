"""Installing into Claude Code: its settings files, the administrator's included, and plugins.

Owns where these files are, which hooks there are, the client's list of plugins and the shape of a
plugin's hook file, and our marked block in a CLAUDE.md: put in at the end, renewed where it
stands, taken out. That works on bytes and keeps everything outside the markers as it was. The
opening marker says what was put before it (`after=n`: line breaks, the first of which may end the
last line; `crlf`: of two characters), so taking it out gives the file back byte for byte.
"""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast import clients
from holdfast.clients.claude_code.client import (
    DEFAULT_WINDOW_TOKENS,
    MAX_WINDOW_TOKENS,
    build_window_config,
    is_on,
    read_variables,
)
from holdfast.clients.client_protocol import RunningModel
from holdfast.clients.json_fields import as_object, read_settings
from holdfast.install.hook_entries import parse_root
from holdfast.install.installation import (
    AutoCompact,
    DisablingSwitch,
    HookSpec,
    InstructionsDamaged,
    Plugin,
    Scope,
    SettingsSource,
)
from holdfast.install.installer import Installer
from holdfast.install.launcher import Launcher

OWN_PLUGIN_NAME = "holdfast"
ROOT_VARIABLE = "${CLAUDE_PLUGIN_ROOT}"

_MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode",
    "win32": "C:\\Program Files\\ClaudeCode",
}
_MANAGED_ELSEWHERE = "/etc/claude-code"
_START = re.compile(rb"<!-- holdfast:compact-instructions start after=((?:[0-2]|new)(?:crlf)?) -->")
_END = b"<!-- holdfast:compact-instructions end -->"
HEADING = "## Compact Instructions"


class ClaudeCodeInstaller(Installer):
    client = clients.get("claude-code")
    # Synchronous hooks hold up the agent, so their limit is short; they end within a tenth of it.
    # The client ends the whole of SessionEnd after 1.5 s unless a settings file asks for more.
    hooks = (
        HookSpec("SessionStart"),
        HookSpec("UserPromptSubmit"),
        HookSpec("UserPromptExpansion"),
        HookSpec("PreToolUse", "Bash|Edit|Write|MultiEdit|NotebookEdit|Grep"),
        HookSpec("PostToolUseFailure", "Bash"),
        HookSpec("PostToolBatch", run_async=True, timeout_seconds=60),
        HookSpec("Stop", run_async=True, timeout_seconds=60),
        # Brings the summary of a compaction before SessionStart asks for the brief, so it is waited
        # for. After an ordinary subagent the work goes on detached.
        HookSpec("SubagentStop"),
        HookSpec("PreCompact"),
        HookSpec("PostCompact"),
        HookSpec("PostModelSwitch"),
        HookSpec("SessionEnd", timeout_seconds=5),
    )
    next_steps = ("Claude Code picks them up without a restart: open a session and work as usual.",)
    scopes = ("user", "project", "local")
    project_folder = ".claude"
    prefix = ""
    has_statusline = True
    runs_trial = True
    off_switch = "disableAllHooks"

    def settings_path(
        self, scope: Scope, environ: Mapping[str, str], home: str, project: str
    ) -> str:
        if scope == "local":
            return os.path.join(project, self.project_folder, "settings.local.json")
        return super().settings_path(scope, environ, home, project)

    def list_settings_files(
        self, environ: Mapping[str, str], home: str, project: str, managed: str
    ) -> list[tuple[str, str]]:
        places = super().list_settings_files(environ, home, project, managed)
        return [*places, *(("managed", path) for path in _managed_files(managed))]

    def build_entry(self, spec: HookSpec, launcher: Launcher) -> dict[str, Any]:
        """Exec form: no shell between the client and the launcher, so nothing to quote."""
        command, *args = launcher.build_argv(spec.event)
        entry: dict[str, Any] = {"type": "command", "command": command, "args": args}
        if spec.run_async:
            entry["async"] = True
        return {**entry, "timeout": spec.timeout_seconds}

    def list_disabling_switches(
        self, environ: Mapping[str, str], sources: Sequence[SettingsSource]
    ) -> list[DisablingSwitch]:
        off = super().list_disabling_switches(environ, sources)
        # Claude Code 2.1.325 obeys this one in managed settings only.
        for source in (one for one in sources if one.usable and one.scope == "managed"):
            if self.read_setting(source.text, "allowManagedHooksOnly") is True:
                text = f'"allowManagedHooksOnly" is on in {source.path}'
                off.append(DisablingSwitch(text, is_managed=True))
        if environ.get("CLAUDE_CODE_SIMPLE"):
            text = "CLAUDE_CODE_SIMPLE is set in this shell: clients started here do not run hooks"
            off.append(DisablingSwitch(text))
        return off

    def read_auto_compact(
        self, environ: Mapping[str, str], home: str, sources: Sequence[SettingsSource]
    ) -> AutoCompact:
        # Older clients keep the switch in their own file beside the settings.
        folder = environ.get("CLAUDE_CONFIG_DIR") or home
        remembered = read_settings(os.path.join(folder, ".claude.json")).get("autoCompactEnabled")
        documents = [
            as_object(parse_root(source.text).value(source.text))
            for source in sources
            if source.usable
        ]
        return build_auto_compact(environ, [{"autoCompactEnabled": remembered}, *documents])

    def list_enabled_plugins(self, config: str, sources: Sequence[SettingsSource]) -> list[Plugin]:
        switched: dict[str, object] = {}
        for source in sources:
            if source.usable:
                switched |= as_object(self.read_setting(source.text, "enabledPlugins"))
        return [
            Plugin(name, folder, name.partition("@")[0] == OWN_PLUGIN_NAME, _read_hooks(folder))
            for name, folder in self.client.paths.list_plugins(config)
            if switched.get(name, True)
        ]


def _read_hooks(folder: str) -> str:
    described = read_settings(os.path.join(folder, "hooks", "hooks.json"))
    hooks = as_object(described.get("hooks"))
    return json.dumps({"hooks": _expand_root(hooks, folder)}) if hooks else ""


def _managed_files(folder: str) -> list[str]:
    folder = folder or _MANAGED.get(sys.platform, _MANAGED_ELSEWHERE)
    dropped = os.path.join(folder, "managed-settings.d")
    try:
        names = sorted(name for name in os.listdir(dropped) if name.endswith(".json"))
    except OSError:
        names = []
    return [
        os.path.join(folder, "managed-settings.json"),
        *(os.path.join(dropped, name) for name in names),
    ]


def build_auto_compact(
    environ: Mapping[str, str], settings: Sequence[Mapping[str, Any]]
) -> AutoCompact:
    """Pure: what these settings, the weakest first, make the client do."""
    variables = read_variables(environ, settings)
    for name in ("DISABLE_COMPACT", "DISABLE_AUTO_COMPACT"):
        if is_on(variables.get(name, "")):
            return AutoCompact(name, never=name == "DISABLE_COMPACT")
    chosen = build_window_config(variables, settings)
    if not chosen.auto_compact:
        return AutoCompact("settings")
    window = clients.default().context_window
    sizes = (DEFAULT_WINDOW_TOKENS, MAX_WINDOW_TOKENS)
    earliest = tuple(window.compaction_point(chosen, RunningModel(window=one)) for one in sizes)
    said = [document.get("autoCompactWindow") for document in settings]
    asked = variables.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW") or [None, *filter(None, said)][-1]
    ignored = "" if chosen.window or asked in (None, "auto") else str(asked)
    point = earliest[-1] if chosen.window else None
    return AutoCompact("", False, chosen.percent, point, earliest, ignored)


def _expand_root(value: Any, folder: str) -> Any:
    if isinstance(value, str):
        return value.replace(ROOT_VARIABLE, folder)
    if isinstance(value, list):
        return [_expand_root(item, folder) for item in value]
    if isinstance(value, Mapping):
        return {key: _expand_root(item, folder) for key, item in value.items()}
    return value


def put_instructions(content: bytes | None, text: str) -> bytes:
    """The file with the block in it, once and up to date; raises InstructionsDamaged."""
    found = _find_block(content or b"")
    if content is not None and found is not None:
        start, end, mark = found
        return content[:start] + _format_block(text, mark) + content[end:]
    if not content:
        return _format_block(text, b"new" if content is None else b"0")
    crlf = b"crlf" if b"\r\n" in content else b""
    mark = (b"1" if content.endswith(b"\n") else b"2") + crlf
    return content + _line_break(mark) * int(mark[:1]) + _format_block(text, mark)


def remove_instructions(content: bytes | None) -> bytes | None:
    """The file without it; None when there was no file before, and nothing else is in it now."""
    found = _find_block(content or b"")
    if content is None or found is None:
        return content
    start, end, mark = found
    breaks = _line_break(mark) * (int(mark[:1]) if mark[:1].isdigit() else 0)
    if content[:start].endswith(breaks):  # else it was edited, and stays
        start -= len(breaks)
    rest = content[:start] + content[end:]
    return None if mark == b"new" and not rest else rest


def _format_block(text: str, mark: bytes) -> bytes:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    # No marker inside.
    plain = plain.replace("holdfast:compact-instructions", "compact-instructions")
    lines = [
        b"<!-- holdfast:compact-instructions start after=" + mark + b" -->",
        HEADING.encode(),
        b"",
        *plain.encode("utf-8", "replace").split(b"\n"),
        _END,
    ]
    return _line_break(mark).join(lines) + _line_break(mark)


def _find_block(content: bytes) -> tuple[int, int, bytes] | None:
    """Where the block is, with the line break that ends it, and its mark."""
    starts = list(_START.finditer(content))
    ends = content.count(_END)
    if not starts and not ends:
        return None
    if len(starts) != 1 or ends != 1 or content.find(_END) < starts[0].end():
        raise InstructionsDamaged("the markers of the compact instructions are unbalanced")
    mark = starts[0].group(1)
    end = content.find(_END) + len(_END)
    if content.startswith(_line_break(mark), end):
        end += len(_line_break(mark))
    return starts[0].start(), end, mark


def _line_break(mark: bytes) -> bytes:
    return b"\r\n" if mark.endswith(b"crlf") else b"\n"


INSTALLER = ClaudeCodeInstaller()
HOOKS = ClaudeCodeInstaller.hooks
