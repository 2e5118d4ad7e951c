"""``holdfast install`` and ``holdfast uninstall`` as a user meets them."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

import holdfast
from holdfast.cli import install as commands
from holdfast.install.hook_entries import parse_entries
from holdfast.install.launcher import LaunchTarget, find_target, format_launcher
from holdfast.own_copy import find_source
from install.settings_home import EVENTS, Place


@pytest.fixture
def app(place: Place, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    script = place.root / "lib" / "holdfast" / "hooks" / "main.py"
    script.parent.mkdir(parents=True)
    script.write_text("")
    project = place.root / "project" / "deep"
    project.mkdir(parents=True)
    (place.root / "project" / ".git").mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setattr(holdfast, "__file__", str(script.parent.parent / "__init__.py"))
    monkeypatch.setenv("HOME", str(place.root / "home"))
    monkeypatch.setenv("HOLDFAST_HOME", str(place.data))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    app = typer.Typer()
    app.command()(commands.install)
    app.command()(commands.uninstall)
    return app


def run(app: typer.Typer, *arguments: str) -> Result:
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "80"})
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def answer(app: typer.Typer, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(app, *arguments, "--json").stdout)
    return found


def test_install_says_what_it_did_and_what_comes_next(app: typer.Typer, place: Place) -> None:
    place.write(b'{"model": "opus"}')
    result = run(app, "install")
    assert result.exit_code == 0
    assert f"Installed {len(EVENTS)} hooks in {place.settings}." in result.stdout
    assert "holdfast doctor" in result.stdout
    assert "holdfast uninstall`" in result.stdout
    assert str(place.data) in result.stdout
    again = run(app, "install")
    assert (again.exit_code, "Nothing to do" in again.stdout) == (0, True)


def test_the_entries_run_the_real_interpreter_and_our_script(
    app: typer.Typer, place: Place
) -> None:
    assert (
        f"Wrote the launcher that the entries run: {place.launcher}" in run(app, "install").stdout
    )
    entries = parse_entries(place.read().decode())
    assert {entry.argv for entry in entries} == {(str(place.launcher), event) for event in EVENTS}
    (target,) = {find_target(entry.argv) for entry in entries}
    assert target is not None
    assert target.interpreter == os.path.realpath(getattr(sys, "_base_executable"))  # noqa: B009
    assert Path(target.script).is_file()


def test_an_upgrade_to_another_folder_rewrites_the_launcher_and_says_so(
    app: typer.Typer, place: Place
) -> None:
    run(app, "install")
    place.launcher.write_bytes(format_launcher(LaunchTarget("/old/python", "/old/main.py")))
    shown = run(app, "install").stdout
    assert "Nothing to do" not in shown
    assert f"Repaired the launcher that the entries run: {place.launcher}" in shown
    assert "Nothing to do" in run(app, "install").stdout


def test_uninstall_tells_that_the_bytes_are_back(app: typer.Typer, place: Place) -> None:
    place.write(b"{ }")
    run(app, "install")
    result = run(app, "uninstall")
    assert "byte-for-byte" in result.stdout
    assert place.read() == b"{ }"
    assert "Nothing to do" in run(app, "uninstall").stdout


def test_uninstall_tells_that_the_file_is_gone_again(app: typer.Typer, place: Place) -> None:
    run(app, "install")
    assert "so it was deleted" in run(app, "uninstall").stdout
    assert place.files() == {}


def test_uninstall_tells_what_it_could_not_make_sure_of(app: typer.Typer, place: Place) -> None:
    place.write(b'{"a": 1}')
    run(app, "install")
    place.write(place.read().replace(b'"a": 1', b'"a": 2'))
    assert "changed since the install" in run(app, "uninstall").stdout
    run(app, "install")
    for receipt in place.data.rglob("receipt.json"):
        receipt.unlink()
    assert "No backup was found" in run(app, "uninstall").stdout
    assert place.read() == b'{"a": 2}'


@pytest.mark.parametrize(
    ("scope", "path"),
    [
        ("user", "home/.claude/settings.json"),
        ("project", "project/.claude/settings.json"),
        ("local", "project/.claude/settings.local.json"),
    ],
)
def test_each_scope_writes_its_own_file_and_takes_it_away(
    app: typer.Typer, place: Place, scope: str, path: str
) -> None:
    found = answer(app, "install", "--scope", scope)
    assert (found["scope"], found["path"]) == (scope, os.path.realpath(place.root / path))
    assert sorted(found["added"]) == sorted(EVENTS)
    assert (place.root / path).is_file()
    assert ("paths of this machine" in str(found["warnings"])) == (scope == "project")
    assert answer(app, "uninstall", "--scope", scope)["identical"] is True
    assert not (place.root / path).parent.exists()


def test_the_clients_own_folder_variable_is_followed(
    app: typer.Typer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place.root / "elsewhere"))
    assert answer(app, "install")["path"] == str(place.root / "elsewhere" / "settings.json")


def test_install_without_room_for_a_trial_says_both(
    app: typer.Typer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place.root / "nowhere"))
    result = run(app, "install")
    assert result.exit_code == 0
    assert f"Installed {len(EVENTS)} hooks" in result.stdout
    assert "could not run a test hook" in " ".join(result.stdout.split())


def test_a_dry_run_shows_the_diff_and_writes_nothing(app: typer.Typer, place: Place) -> None:
    place.write(b'{\r\n  "note": "[bold]x[/bold] \xe2\x80\xa8 y"\r\n}\r\n')
    raw = place.read()
    result = run(app, "install", "--dry-run")
    assert result.exit_code == 0
    assert f"--- {place.settings}\n+++ {place.settings}\n@@ " in result.stdout
    assert '\n-  "note": "[bold]x[/bold] \u2028 y"\n+  "note": "[bold]x[/bold] \u2028 y",\n' in (
        result.stdout
    )
    assert '\n+            "command": "' in result.stdout
    assert "Nothing was written" in result.stdout
    assert (place.read(), place.data.exists()) == (raw, False)


def test_a_dry_run_shows_every_file_that_would_change(app: typer.Typer, place: Place) -> None:
    """The settings and the launcher, coming and going; a diff that a tool can apply."""
    place.write(b'{"model": "opus"}\n')
    shown = answer(app, "install", "--dry-run")["diff"]
    assert f"--- {place.settings}\n+++ {place.settings}\n" in shown
    assert f"--- /dev/null\n+++ {place.launcher}\n" in shown
    run(app, "install")
    assert place.launcher.read_text() in shown.replace("\n+", "\n").replace("+#!", "#!")
    place.launcher.write_text("#!/bin/sh\nold\n")
    again = run(app, "install", "--dry-run").stdout
    assert f"--- {place.launcher}\n+++ {place.launcher}\n" in again
    assert f"this changes {place.launcher}." in again
    run(app, "install")
    gone = run(app, "uninstall", "--dry-run").stdout
    assert f"--- {place.launcher}\n+++ /dev/null\n" in gone
    assert f"this changes {place.settings} and {place.launcher}." in gone
    assert place.launcher.exists()
    run(app, "uninstall")
    assert (place.launcher.exists(), place.read()) == (False, b'{"model": "opus"}\n')


def test_an_install_over_an_old_one_leaves_no_trace_of_it(app: typer.Typer, place: Place) -> None:
    """Whatever an older version wrote, in whatever form, the result is that of a fresh install."""
    place.write(b'{"model": "opus"}\n')
    run(app, "install", "--statusline")
    fresh = place.read()
    run(app, "uninstall")
    entry = {"type": "command", "command": "/old/python", "timeout": 5}
    old_form = {**entry, "args": ["-I", "-c", "import x", "/old/holdfast/hooks/main.py", "Stop"]}
    launched = {**entry, "command": "/old/data/holdfast-hook", "args": ["Stop"]}
    line = "/old/python -I -S /old/holdfast/hooks/main.py statusline"
    old = {
        "model": "opus",
        "hooks": {
            "Stop": [{"hooks": [old_form]}, {"hooks": [launched]}],
            "Notification": [{"hooks": [old_form]}],
        },
        "statusLine": {"type": "command", "command": line},
    }
    place.write(json.dumps(old).encode())
    run(app, "install")
    assert b"/old/" not in place.read()
    assert place.parsed() == json.loads(fresh)


def test_a_dry_run_colours_the_diff_on_a_terminal(
    app: typer.Typer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = run(app, "install", "--dry-run").stdout
    assert "\x1b[32m+{" in shown
    assert "\x1b[1m--- /dev/null" in shown


def test_a_dry_run_in_json_carries_the_diff(app: typer.Typer, place: Place) -> None:
    found = answer(app, "install", "--dry-run")
    assert (found["dry_run"], found["action"]) == (True, "installed")
    assert "\n@@ -0,0 +1," in found["diff"]
    assert found["diff"].startswith("--- /dev/null\n+++ ")
    assert place.files() == {}
    run(app, "install")
    assert "+++ /dev/null" in answer(app, "uninstall", "--dry-run")["diff"]


def test_a_repair_is_called_one(app: typer.Typer, place: Place) -> None:
    run(app, "install")
    stale = place.read().replace(bytes(place.launcher), b"/old/holdfast-hook")
    place.write(stale)
    result = run(app, "install")
    assert "Repaired" in result.stdout
    assert "replaced SessionStart, " in result.stdout


def test_a_broken_file_is_refused_with_its_place_and_no_traceback(
    app: typer.Typer, place: Place
) -> None:
    place.write(b'{\n  "a": 1, // mine\n}')
    result = run(app, "install")
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"Nothing was changed. {place.settings}, line 2, column 11: comments" in result.stderr
    assert "run the command again" in result.stderr
    found = answer(app, "install")
    assert (found["kind"], found["line"], found["column"]) == ("InvalidSettings", 2, 11)
    assert place.read() == b'{\n  "a": 1, // mine\n}'


def test_switched_off_hooks_are_warned_about(app: typer.Typer, place: Place) -> None:
    place.write(b'{"disableAllHooks": true}')
    assert 'Warning: "disableAllHooks" is on' in run(app, "install").stdout


def test_a_missing_script_is_refused(app: typer.Typer, place: Place) -> None:
    (place.root / "lib" / "holdfast" / "hooks" / "main.py").unlink()
    result = run(app, "install")
    assert (result.exit_code, place.files()) == (1, {})
    assert "is missing" in result.stderr


def copies(place: Place) -> list[str]:
    folder = place.data / "package"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_from_a_throwaway_cache_the_hooks_run_a_lasting_copy(
    app: typer.Typer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = place.root / ".cache" / "uv" / "archive-v0" / "x" / "holdfast"
    (package / "hooks").mkdir(parents=True)
    (package / "hooks" / "main.py").write_text("")
    monkeypatch.setattr(holdfast, "__file__", str(package / "__init__.py"))
    shown = run(app, "install", "--dry-run").stdout
    assert (place.files(), copies(place)) == ({}, [])
    assert f"copy Holdfast's own code to {place.data}/package/" in shown
    assert "The hooks run a copy of this Holdfast" in run(app, "install").stdout
    (first,) = copies(place)
    assert f"package/{first}/holdfast/hooks/main.py" in place.launcher.read_text()
    assert run(app, "install").stdout.startswith("Nothing to do")
    # A new version takes its place; nothing of the old one stays.
    (package / "hooks" / "main.py").write_text("newer = True")
    assert "Repaired" in run(app, "install").stdout
    (second,) = copies(place)
    assert second != first
    assert first not in place.launcher.read_text()
    # Installed for good, the hooks run that one, and the copy goes.
    monkeypatch.setattr(holdfast, "__file__", str(place.root / "lib/holdfast/__init__.py"))
    run(app, "install")
    assert copies(place) == []


def test_a_copy_stays_as_long_as_another_settings_file_names_it(
    app: typer.Typer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = place.root / ".cache" / "pipx" / "x" / "holdfast"
    (package / "hooks").mkdir(parents=True)
    (package / "hooks" / "main.py").write_text("")
    monkeypatch.setattr(holdfast, "__file__", str(package / "__init__.py"))
    run(app, "install", "--scope", "local")
    shown = run(app, "install").stdout
    source = find_source()
    assert f"pipx run --spec {source} holdfast uninstall`" in shown
    assert f"`pipx install {source}`" in shown
    (project := place.root / "elsewhere").mkdir()
    monkeypatch.chdir(project)
    run(app, "uninstall")
    assert len(copies(place)) == 1
    monkeypatch.chdir(place.root / "project")
    run(app, "uninstall", "--scope", "local")
    assert copies(place) == []
