"""Installing into Gemini CLI, for whoever asks the client for its `Installer`.

As an extension: a folder of ours below the client's, with a manifest and a hooks.json of the form
that Claude Code's settings have, which the code for those edits. The client's own settings stay
as they are. It has no status line of others, and no scope but the user's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from holdfast.clients.gemini import client_paths
from holdfast.clients.gemini.client_settings import find_value, read_settings
from holdfast.clients.gemini.context_window import compaction_point, read_window_config
from holdfast.clients.gemini.install import manifest
from holdfast.clients.gemini.install.folder_trust import is_trusted
from holdfast.clients.gemini.install.hook_table import GEMINI_HOOKS, HOOKS, MILLISECONDS, PREFIX
from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings import hook_edit, hook_entries, settings_file
from holdfast.clients.hook_settings.hook_entries import parse_root, read_setting
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
)
from holdfast.clients.json_fields import as_object, as_texts
from holdfast.paths import data_dir_from
from holdfast.settings import atomic_file

# What says where our data is.
_PLACES = ("HOME", "USERPROFILE", "LOCALAPPDATA")

HAS_TRIAL = False
NEXT_STEPS = (
    "Gemini CLI loads it as an extension when it is started the next time.",
    "In a folder that you do not trust it offers no recall; /permissions changes that.",
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
    """The hooks.json of our extension."""
    if scope != "user":
        raise SettingsError("Gemini CLI has extensions of the user alone; use --scope user")
    extensions = os.path.join(client_paths.config_dir(environ, home), "extensions")
    return os.path.join(extensions, manifest.EXTENSION_NAME, "hooks", "hooks.json")


def install(
    path: str,
    *,
    data_dir: str,
    interpreter: str,
    script: str,
    dry_run: bool = False,
    statusline: bool = False,
) -> InstallOutcome:
    if os.name == "nt":
        raise SettingsError("Holdfast does not run in Gemini CLI on Windows yet")
    if statusline:
        raise SettingsError("Gemini CLI has no status line that a command could write")
    return settings_file.install(
        path,
        GEMINI_HOOKS,
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
    """Writes the manifest: with it the folder is an extension."""
    if trust:
        raise SettingsError("Gemini CLI trusts folders, not hooks; it asks you when it starts")
    usual = data_dir_from({key: value for key, value in environ.items() if key in _PLACES})
    moved = {} if data_dir == usual else {"HOLDFAST_HOME": data_dir}
    content = manifest.build(recall, moved)
    return manifest.write(manifest.manifest_path(path), content, dry_run)


def begin_uninstall(
    path: str, *, environ: Mapping[str, str], home: str, data_dir: str, dry_run: bool
) -> list[str]:
    """Removes the manifest; the folders go with the hooks."""
    return manifest.remove(manifest.manifest_path(path), dry_run)


def read_settings_sources(
    environ: Mapping[str, str], home: str, project: str, managed: str = ""
) -> list[SettingsSource]:
    path = settings_path("user", environ, home, project)
    try:
        text = decode_settings(atomic_file.read(os.path.realpath(path)))
        parse_root(text)
    except SettingsError as error:
        return [SettingsSource("user", path, problem=str(error))]
    except OSError as error:
        return [SettingsSource("user", path, problem=error.strerror or str(error))]
    return [SettingsSource("user", path, text)]


def parse_entries(settings_text: str) -> list[HookEntry]:
    """Our entries as the client would start them; raises InvalidSettings."""
    found = hook_entries.parse_entries(settings_text)
    return [entry._replace(timeout=entry.timeout / MILLISECONDS) for entry in found]


def build_direct_entries(interpreter: str, script: str) -> list[HookEntry]:
    """Our hooks as they run without an install."""
    return hook_entries.build_direct_entries(HOOKS, interpreter, script, PREFIX)


def is_current(settings_text: str, launcher: Launcher) -> bool:
    """Whether an install with this launcher would leave the text as it is."""
    return hook_edit.add_hooks(settings_text, launcher, GEMINI_HOOKS).text == settings_text


def list_foreign_hooks(settings_text: str) -> list[ForeignHook]:
    """The file is ours: hooks of others stand in the client's settings and do not meet ours."""
    return []


def read_hook_flags(settings_text: str) -> HookFlags:
    return HookFlags(disable_all_hooks=False, allow_managed_hooks_only=False)


def list_disabling_switches(
    environ: Mapping[str, str], sources: Sequence[SettingsSource]
) -> list[DisablingSwitch]:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    found = []
    enabled, path = find_value(environ, home, "", "hooksConfig.enabled")
    if enabled is False:
        found.append(DisablingSwitch(f'"hooksConfig.enabled" is off in {path}'))
    managed, path = find_value(environ, home, "", "experimental.contextManagement")
    if managed is True:
        text = f'"experimental.contextManagement" is on in {path}: it takes the place of the '
        found.append(DisablingSwitch(f"{text}compression after which Holdfast restores"))
    enablement = os.path.join(
        client_paths.config_dir(environ, home), "extensions", "extension-enablement.json"
    )
    rules = as_object(read_settings(enablement).get(manifest.EXTENSION_NAME)).get("overrides")
    if any(rule.startswith("!") for rule in as_texts(rules)[-1:]):
        found.append(DisablingSwitch(f"the extension is disabled in {enablement}"))
    return found


def read_auto_compact(
    environ: Mapping[str, str], home: str, sources: Sequence[SettingsSource]
) -> AutoCompact:
    chosen = read_window_config({**environ, "HOME": home or environ.get("HOME", "")}, "")
    return AutoCompact(point=compaction_point(chosen, "")) if chosen.percent else AutoCompact()


def list_enabled_plugins(config: str, sources: Sequence[SettingsSource]) -> list[Plugin]:
    return []


def read_plugin_hooks(plugin: Plugin) -> str:
    return ""


def list_untrusted(environ: Mapping[str, str], project: str) -> list[str]:
    """The client runs the hooks of extensions, also in a folder that is not trusted (seen)."""
    return []


def list_limits(environ: Mapping[str, str], project: str) -> list[str]:
    """In a folder that is not trusted no MCP server runs, and no session without a terminal."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    if is_trusted(environ, home, project) is not False:
        return []
    return [f"{project} is not trusted: there it offers no recall and needs a terminal"]


def list_silent(data_dir: str) -> list[str] | None:
    return []


def list_instructions_files(project: str) -> list[str]:
    return [os.path.join(project, "GEMINI.md")]


def put_instructions(content: bytes | None, text: str) -> bytes:
    raise SettingsError("Gemini CLI does not read a project's instructions when it compresses")


def remove_instructions(content: bytes | None) -> bytes | None:
    return content
