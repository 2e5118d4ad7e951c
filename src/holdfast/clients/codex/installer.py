"""Installing into Codex, for whoever asks the client for its `Installer`.

hooks.json is edited by the code that edits Claude Code's settings: the form is the same. Codex has
no status line of others, no switch that silences hooks in that file and no plugins that carry ours;
those questions have plain answers here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from holdfast.clients.codex import client_paths
from holdfast.clients.codex.context_window import compaction_point, read_config, read_window_config
from holdfast.clients.codex.install import hook_trust, recall_server
from holdfast.clients.codex.install.app_server import find_program
from holdfast.clients.codex.install.hook_table import CODEX_HOOKS, HOOKS, PREFIX, build_entry
from holdfast.clients.codex.install.hook_trust import list_untrusted
from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings import hook_edit, hook_entries, settings_file
from holdfast.clients.hook_settings.hook_entries import (
    is_holdfast_hook,
    list_hook_locations,
    parse_entries,
    parse_root,
    read_setting,
)
from holdfast.clients.hook_settings.install_receipt import read_install_version
from holdfast.clients.hook_settings.settings_file import (
    decode_settings,
    read_installed,
    uninstall,
)
from holdfast.clients.installation import (
    AutoCompact,
    DisablingSwitch,
    ForeignHook,
    HookEntry,
    HookFlags,
    InstallOutcome,
    Plugin,
    Scope,
    SettingsError,
    SettingsSource,
    UnsafeEdit,
)
from holdfast.paths import data_dir_from
from holdfast.settings import atomic_file

# Of what says where our data is, all that the client hands on to an MCP server.
_KEPT = ("HOME", "USERPROFILE", "LOCALAPPDATA")

HAS_TRIAL = False
NEXT_STEPS = (
    "Codex runs a hook only after you have trusted it, and does not say when it skips one.",
    "Start codex, type /hooks, look through Holdfast's entries and trust them; or run "
    "`holdfast install --client codex --trust`, which has Codex trust these entries alone.",
)

__all__ = [
    "HAS_TRIAL",
    "HOOKS",
    "NEXT_STEPS",
    "begin_uninstall",
    "build_direct_entries",
    "decode_settings",
    "finish_install",
    "install",
    "is_current",
    "list_disabling_switches",
    "list_enabled_plugins",
    "list_foreign_hooks",
    "list_instructions_files",
    "list_limits",
    "list_silent",
    "list_untrusted",
    "parse_entries",
    "put_instructions",
    "read_auto_compact",
    "read_hook_flags",
    "read_install_version",
    "read_installed",
    "read_plugin_hooks",
    "read_setting",
    "read_settings_sources",
    "remove_instructions",
    "settings_path",
    "uninstall",
]


def settings_path(scope: Scope, environ: Mapping[str, str], home: str, project: str) -> str:
    """The hooks.json of a scope. The client has no file of a project that is yours alone."""
    if scope == "user":
        return os.path.join(client_paths.config_dir(environ, home), "hooks.json")
    if scope == "local":
        raise SettingsError(
            "Codex has no private settings per project; use --scope user or project"
        )
    return os.path.join(project, ".codex", "hooks.json")


def install(
    path: str,
    *,
    data_dir: str,
    interpreter: str,
    script: str,
    dry_run: bool = False,
    statusline: bool = False,
) -> InstallOutcome:
    if statusline:
        raise SettingsError("Codex has no status line that a command could write")
    return settings_file.install(
        path,
        CODEX_HOOKS,
        data_dir=data_dir,
        interpreter=interpreter,
        script=script,
        dry_run=dry_run,
    )


def finish_install(
    path: str,
    *,
    environ: Mapping[str, str],
    home: str,
    project: str,
    data_dir: str,
    launcher: Launcher,
    recall: Sequence[str],
    trust: bool,
    dry_run: bool,
) -> list[str]:
    """Has the client trust what was installed, where the user asked for that, and start recall.

    Recall goes with the user's own hooks: the client's command knows no other place for it.
    """
    lines = _trust(path, environ, project, launcher, dry_run) if trust else []
    if recall and path == settings_path("user", environ, home, project):
        usual = data_dir_from({key: value for key, value in environ.items() if key in _KEPT})
        moved = {} if data_dir == usual else {"HOLDFAST_HOME": data_dir}
        config = _config_path(environ, home)
        lines += recall_server.add(environ, config, recall, moved, dry_run)
    return lines


def _trust(
    path: str, environ: Mapping[str, str], project: str, launcher: Launcher, dry_run: bool
) -> list[str]:
    commands = [str(build_entry(spec, launcher)["command"]) for spec in HOOKS]
    if find_program(environ) is None:
        raise SettingsError("--trust asks Codex itself, and there is no `codex` on the PATH")
    if dry_run:
        return ["Codex would be asked to trust these commands:", *commands]
    count = hook_trust.trust(environ, project, path, commands)
    if count < len(commands):
        return [
            f"Codex runs {count} of {len(commands)} of these commands. It does not list the others "
            "for this folder, or they were turned off in it; type /hooks in codex.",
            *commands,
        ]
    return ["Codex now trusts these commands, and runs them:", *commands]


def _config_path(environ: Mapping[str, str], home: str) -> str:
    return os.path.join(client_paths.config_dir(environ, home), "config.toml")


def begin_uninstall(
    path: str, *, environ: Mapping[str, str], home: str, data_dir: str, dry_run: bool
) -> list[str]:
    """Takes the trust of our entries out of config.toml, whoever gave it, and recall."""
    config = _config_path(environ, home)
    lines = _forget_trust(path, config, data_dir, dry_run)
    if path == settings_path("user", environ, home, ""):
        lines += recall_server.remove(environ, config, dry_run)
    return lines


def _forget_trust(path: str, config: str, data_dir: str, dry_run: bool) -> list[str]:
    try:
        changed = hook_trust.forget(path, config, data_dir, dry_run)
    except UnsafeEdit as error:
        return [f"The trust of these hooks stays in {config}, without effect: {error}."]
    if not changed:
        return []
    if dry_run:
        return [f"The trust that Codex keeps for these hooks would go from {config}."]
    return [f"Removed the trust that Codex kept for these hooks from {config}."]


def read_settings_sources(
    environ: Mapping[str, str], home: str, project: str, managed: str = ""
) -> list[SettingsSource]:
    scopes: tuple[Scope, ...] = ("user", "project")
    places = {settings_path(scope, environ, home, project): scope for scope in reversed(scopes)}
    return [_source(scope, path) for path, scope in reversed(places.items())]


def _source(scope: str, path: str) -> SettingsSource:
    try:
        text = decode_settings(atomic_file.read(os.path.realpath(path)))
        parse_root(text)
    except SettingsError as error:
        return SettingsSource(scope, path, problem=str(error))
    except OSError as error:
        return SettingsSource(scope, path, problem=error.strerror or str(error))
    return SettingsSource(scope, path, text)


def build_direct_entries(interpreter: str, script: str) -> list[HookEntry]:
    """Our hooks as they run without an install."""
    return hook_entries.build_direct_entries(HOOKS, interpreter, script, PREFIX)


def is_current(settings_text: str, launcher: Launcher) -> bool:
    """Whether an install with this launcher would leave the text as it is."""
    return hook_edit.add_hooks(settings_text, launcher, CODEX_HOOKS).text == settings_text


def list_foreign_hooks(settings_text: str) -> list[ForeignHook]:
    ours = {spec.event for spec in HOOKS}
    return [
        ForeignHook(
            place.event,
            place.matcher,
            str(place.value.get("type", "")),
            str(place.value.get("command", "")),
        )
        for place in list_hook_locations(settings_text)
        if place.event in ours and not is_holdfast_hook(place.value)
    ]


def read_hook_flags(settings_text: str) -> HookFlags:
    return HookFlags(disable_all_hooks=False, allow_managed_hooks_only=False)


def list_disabling_switches(
    environ: Mapping[str, str], sources: Sequence[SettingsSource]
) -> list[DisablingSwitch]:
    """`[features] hooks = false` in config.toml turns all of them off."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    path = os.path.join(client_paths.config_dir(environ, home), "config.toml")
    features = read_config(path).get("features")
    if isinstance(features, dict) and features.get("hooks") is False:
        return [DisablingSwitch(f'"hooks" is off under [features] in {path}')]
    return []


def read_auto_compact(
    environ: Mapping[str, str], home: str, sources: Sequence[SettingsSource]
) -> AutoCompact:
    chosen = read_window_config({**environ, "HOME": home or environ.get("HOME", "")}, "")
    if not (chosen.window or chosen.model_window):
        return AutoCompact()
    return AutoCompact(point=compaction_point(chosen, ""))


def list_enabled_plugins(config: str, sources: Sequence[SettingsSource]) -> list[Plugin]:
    return []


def read_plugin_hooks(plugin: Plugin) -> str:
    return ""


def list_limits(environ: Mapping[str, str], project: str) -> list[str]:
    return []


def list_instructions_files(project: str) -> list[str]:
    return [os.path.join(project, "AGENTS.md")]


def put_instructions(content: bytes | None, text: str) -> bytes:
    raise SettingsError("Codex does not read a project's instructions when it compacts")


def remove_instructions(content: bytes | None) -> bytes | None:
    return content


def list_silent(data_dir: str) -> list[str]:
    """Not told: each hook is a process of its own."""
    return []
