"""Installing into Gemini CLI: as an extension, a folder of ours below the client's.

It holds a manifest and a hooks.json of the form that Claude Code's settings have, with limits in
milliseconds. The client's own settings stay as they are. It blocks the prompt where a command ends
otherwise than with 0 or 1, 127 for a file that is gone among them (seen on 0.61). PreCompress is
left alone: it comes before every request, compressed or not.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import holdfast
from holdfast import clients
from holdfast.clients.gemini.hooks import SUBAGENT_TOOL
from holdfast.clients.json_fields import as_object, as_texts, read_settings
from holdfast.files import make_parents
from holdfast.install import installation
from holdfast.install.installer import Installer
from holdfast.install.launcher import Launcher
from holdfast.install.settings_file import settings_errors
from holdfast.path_spelling import is_inside
from holdfast.paths import home_from
from holdfast.settings import atomic_file

EXTENSION_NAME = "holdfast"
MANIFEST_NAME = "gemini-extension.json"
_TRUSTED_FOLDERS = "trustedFolders.json"


class GeminiInstaller(Installer):
    client = clients.get("gemini")
    hooks = (
        *map(installation.HookSpec, ("SessionStart", "BeforeAgent", "BeforeModel")),
        installation.HookSpec("BeforeTool", f"^{SUBAGENT_TOOL}$"),
        *map(installation.HookSpec, ("AfterTool", "AfterAgent")),
        installation.HookSpec("SessionEnd", timeout_seconds=5),
    )
    next_steps = (
        "Gemini CLI loads it as an extension when it is started the next time.",
        "In a folder that you do not trust it offers no recall; /permissions changes that.",
    )
    scopes = ("user",)
    settings_name = os.path.join("extensions", EXTENSION_NAME, "hooks", "hooks.json")
    timeout_unit = 1000

    def build_entry(self, spec: installation.HookSpec, launcher: Launcher) -> dict[str, Any]:
        entry = super().build_entry(spec, launcher)
        return {"type": entry.pop("type"), "name": EXTENSION_NAME, **entry}

    def require_supported(self, statusline: bool) -> None:
        if os.name == "nt":
            raise installation.SettingsError("Holdfast does not run in Gemini CLI on Windows yet")
        super().require_supported(statusline)

    def finish_install(self, path: str, options: installation.InstallOptions) -> list[str]:
        """Writes the manifest: with it the folder is an extension."""
        if options.trust:
            raise installation.SettingsError(
                "Gemini CLI trusts folders, not hooks; it asks you when it starts"
            )
        super().finish_install(path, options)
        content = _build_manifest(options.recall, options.moved_data)
        return _put_manifest(_manifest_path(path), content, options.dry_run)

    def begin_uninstall(self, path: str, options: installation.InstallOptions) -> list[str]:
        """Removes the manifest; the folders go with the hooks."""
        return _put_manifest(_manifest_path(path), None, options.dry_run)

    def list_disabling_switches(
        self, environ: Mapping[str, str], sources: Sequence[installation.SettingsSource]
    ) -> list[installation.DisablingSwitch]:
        home = home_from(environ)
        found = []
        name = "hooksConfig.enabled"
        enabled, path = self.client.paths.find_setting(environ, home, "", name)
        if enabled is False:
            found.append(f'"{name}" is off in {path}')
        name = "experimental.contextManagement"
        managed, path = self.client.paths.find_setting(environ, home, "", name)
        if managed is True:
            instead = "it takes the place of the compression after which Holdfast restores"
            found.append(f'"{name}" is on in {path}: {instead}')
        config = self.client.paths.config_dir(environ, home)
        enablement = os.path.join(config, "extensions", "extension-enablement.json")
        rules = as_object(read_settings(enablement).get(EXTENSION_NAME)).get("overrides")
        if any(rule.startswith("!") for rule in as_texts(rules)[-1:]):
            found.append(f"the extension is disabled in {enablement}")
        return [*map(installation.DisablingSwitch, found)]

    def list_limits(self, environ: Mapping[str, str], project: str) -> list[str]:
        """In a folder that is not trusted no MCP server runs, and no session without a terminal.

        Hooks of extensions do (seen).
        """
        if self._is_trusted(environ, project) is not False:
            return []
        return [f"{project} is not trusted: there it offers no recall and needs a terminal"]

    def _is_trusted(self, environ: Mapping[str, str], folder: str) -> bool | None:
        """None where the user was not asked yet: the client asks at its first start in a folder."""
        home = home_from(environ)
        enabled, _ = self.client.paths.find_setting(
            environ, home, "", "security.folderTrust.enabled"
        )
        if enabled is False:
            return True
        config = self.client.paths.config_dir(environ, home)
        path = environ.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
        folder = os.path.realpath(folder)
        best, answer = -1, None
        for named, level in read_settings(path or os.path.join(config, _TRUSTED_FOLDERS)).items():
            root = os.path.realpath(os.path.dirname(named) if level == "TRUST_PARENT" else named)
            if (folder == root or is_inside(folder, root)) and len(root) > best:
                best, answer = len(root), level != "DO_NOT_TRUST"
        return answer


def _manifest_path(hooks_path: str) -> str:
    """Beside the folder of the extension's hooks."""
    return os.path.join(os.path.dirname(os.path.dirname(hooks_path)), MANIFEST_NAME)


def _build_manifest(recall: Sequence[str], variables: Mapping[str, str]) -> bytes:
    """With `recall`, which starts our MCP server, where there is one."""
    fields: dict[str, object] = {
        "name": EXTENSION_NAME,
        "version": holdfast.__version__,
        "description": "Keeps the state of a session through compression.",
    }
    if recall:
        server: dict[str, object] = {"command": recall[0], "args": list(recall[1:])}
        if variables:
            server["env"] = dict(variables)
        fields["mcpServers"] = {EXTENSION_NAME: server}
    return json.dumps(fields, indent=2, ensure_ascii=False).encode() + b"\n"


def _put_manifest(path: str, content: bytes | None, dry_run: bool) -> list[str]:
    """Writes it, or deletes it for None; lines that say so, none where it is so already."""
    with settings_errors(path):
        before = atomic_file.read(path)
        if before == content:
            return []
        if dry_run:
            would = "go" if content is None else "be written"
            return [f"The extension's manifest would {would}: {path}."]
        if content is None:
            atomic_file.delete(path, before or b"")
            return [f"Removed the extension's manifest: {path}."]
        make_parents(path)
        atomic_file.replace(path, content, before)
    return [f"Wrote the extension's manifest: {path}."]


INSTALLER = GeminiInstaller()
