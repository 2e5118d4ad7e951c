"""The plugin's hooks stay silent where a settings file names a Holdfast that is there."""

import json
from pathlib import Path

import pytest

from holdfast.clients.claude_code.hooks import are_settings_hooks_installed
from holdfast.clients.codex.hooks import HOOKS as codex
from holdfast.fastpath import installed_hooks
from holdfast.fastpath.installed_hooks import LAUNCHER_NAME, SCRIPT_SUFFIX
from holdfast.files import MAX_READ_BYTES, read
from holdfast.install import hook_edit
from holdfast.install import launcher as hook_launcher
from holdfast.install.codex import INSTALLER as CODEX
from holdfast.install.launcher import Launcher, LaunchTarget, format_launcher


def installed(folder: Path, script: Path, *, there: bool = True) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if there:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.touch()
    launcher = Launcher(str(folder / LAUNCHER_NAME), LaunchTarget("python3", str(script)))
    Path(launcher.path).write_bytes(format_launcher(launcher.target))
    command, *args = launcher.build_argv("Stop")
    entry = {"type": "command", "command": command, "args": args}
    settings = {"hooks": {"Stop": [{"hooks": [entry]}]}}
    (folder / "settings.json").write_text(json.dumps(settings))


def environ(home: Path, project: Path) -> dict[str, str]:
    return {"HOME": str(home), "CLAUDE_PROJECT_DIR": str(project)}


def test_the_users_and_the_projects_settings_count(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    script = tmp_path / "site/holdfast/hooks/main.py"
    assert not are_settings_hooks_installed(environ(home, project))
    installed(project / ".claude", script)
    assert are_settings_hooks_installed(environ(home, project))
    (project / ".claude/settings.json").unlink()
    installed(home / ".claude", script)
    assert are_settings_hooks_installed(environ(home, project))
    moved = {**environ(home, project), "CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert not are_settings_hooks_installed(moved)


def test_a_script_that_is_gone_and_a_damaged_file_do_not(tmp_path: Path) -> None:
    home = tmp_path / "home"
    installed(home / ".claude", tmp_path / "gone/holdfast/hooks/main.py", there=False)
    assert not are_settings_hooks_installed(environ(home, tmp_path))
    (home / ".claude/settings.json").write_bytes(b'\xff\xfe "/holdfast/hooks/main.py')
    assert not are_settings_hooks_installed(environ(home, tmp_path))


def test_a_launcher_that_is_gone_does_not_either(tmp_path: Path) -> None:
    home = tmp_path / "home"
    installed(home / ".claude", tmp_path / "site/holdfast/hooks/main.py")
    (home / ".claude" / LAUNCHER_NAME).unlink()
    assert not are_settings_hooks_installed(environ(home, tmp_path))


def test_a_folder_with_odd_letters_is_found(tmp_path: Path) -> None:
    home = tmp_path / "the user's = home"
    installed(home / ".claude", tmp_path / "a site/holdfast/hooks/main.py")
    assert are_settings_hooks_installed(environ(home, tmp_path))


def test_the_names_are_those_of_the_install() -> None:
    assert LAUNCHER_NAME == hook_launcher.LAUNCHER_NAME
    assert SCRIPT_SUFFIX == hook_launcher.SCRIPT_PATH_END


@pytest.mark.parametrize("name", ["home", "a home"])
def test_codex_leaves_to_an_install_that_was_trusted(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    script = tmp_path / "site/holdfast/hooks/main.py"
    installed(home, script)
    launcher = Launcher(str(home / LAUNCHER_NAME), LaunchTarget("python3", str(script)))
    hooks = home / ".codex/hooks.json"
    hooks.parent.mkdir()
    hooks.write_text(hook_edit.add_hooks("", launcher, CODEX).text)
    plugin = {"HOME": str(home), "PLUGIN_ROOT": "/anywhere"}
    # Not trusted, it does not run: the plugin's hooks are all there is.
    assert not codex.leaves_to_others(plugin)
    trust = f'[hooks.state."{hooks}:session_start:0:0"]\ntrusted_hash = "sha256:1"\n'
    (home / ".codex/config.toml").write_text(trust)
    assert codex.leaves_to_others(plugin)
    assert not codex.leaves_to_others({"HOME": str(home)})  # the install's own hooks
    script.unlink()
    assert not codex.leaves_to_others(plugin)


@pytest.mark.parametrize("quote", ['"', ""])
def test_a_repository_that_names_a_launcher_without_end_is_soon_done_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quote: str
) -> None:
    """Every hook of a plugin looks into the repository's settings: in minutes, before a bound."""
    settings = tmp_path / ".claude/settings.json"
    settings.parent.mkdir()
    names = "".join(f"{quote}x{number}/{LAUNCHER_NAME} " for number in range(150_000))
    settings.write_text(names)
    opened: list[str] = []

    def count(path: str, most: int = MAX_READ_BYTES) -> bytes | None:
        opened.append(path)
        return read(path, most=most)

    monkeypatch.setattr(installed_hooks, "read", count)
    assert not are_settings_hooks_installed(environ(tmp_path / "home", tmp_path))
    launchers = [path for path in opened if path.endswith(LAUNCHER_NAME)]
    assert len(launchers) <= installed_hooks.MAX_PATHS
    assert all(len(path) <= installed_hooks.MAX_PATH_CHARS + 20 for path in launchers)
