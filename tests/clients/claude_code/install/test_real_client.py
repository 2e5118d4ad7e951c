"""The real client runs what we installed, and shrugs at what it does not know."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.clients.claude_code import installer
from support.claude import Client, ScriptedApi, bash

pytestmark = pytest.mark.client

# Says which event it was called for; stands where the product's script would.
SCRIPT = "def main(event):\n    with open({log!r}, 'a') as f: f.write(event + '\\n')\n"


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as scripted:
        yield scripted


@pytest.fixture
def client(tmp_path: Path, api: ScriptedApi) -> Client:
    return Client(tmp_path, api)


def install(client: Client) -> Path:
    """Installs into the client's user settings; returns the file that the hooks write to."""
    log = client.root / "fired"
    script = client.root / "lib" / "holdfast" / "hooks" / "main.py"
    script.parent.mkdir(parents=True)
    script.write_text(SCRIPT.format(log=str(log)))
    installer.install(
        str(client.config_dir / "settings.json"),
        data_dir=str(client.root / "data"),
        interpreter=sys.executable,
        script=str(script),
    )
    return log


def test_every_installed_hook_fires_at_its_moment(client: Client, api: ScriptedApi) -> None:
    log = install(client)
    commands = client.config_dir / "commands"
    commands.mkdir()
    (commands / "greet.md").write_text("Say hello.")
    api.say(bash("true"), "Done.")
    with client.session() as live:
        live.ask("run it")
        live.ask("/greet")
        live.compact()
        live.ask("and on")
    fired = set(log.read_text().split())
    assert fired == {
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PostToolBatch",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "SessionEnd",
    }
    assert "were skipped" not in live.stderr


def test_an_event_the_client_does_not_know_costs_only_itself(
    client: Client, api: ScriptedApi
) -> None:
    entry = {"type": "command", "command": "/bin/true", "args": []}
    client.write_settings({"hooks": {"EventOfTheFuture": [{"hooks": [entry]}]}})
    log = install(client)
    assert client.run("hello").exit_code == 0
    assert "UserPromptSubmit" in log.read_text().split()
    assert 'Unknown hook event "EventOfTheFuture" was ignored' in client.debug_log


def test_after_uninstall_the_client_runs_without_us(client: Client, api: ScriptedApi) -> None:
    log = install(client)
    path = client.config_dir / "settings.json"
    installer.uninstall(str(path), data_dir=str(client.root / "data"))
    assert client.run("hello").exit_code == 0
    assert not log.exists()


@pytest.mark.parametrize("gone", ["interpreter", "script", "launcher"])
def test_entries_whose_holdfast_is_gone_do_not_stop_the_client(
    client: Client, api: ScriptedApi, gone: str
) -> None:
    log = install(client)
    launcher = client.root / "data" / "holdfast-hook"
    if gone == "launcher":
        launcher.unlink()
    elif gone == "script":
        (client.root / "lib" / "holdfast" / "hooks" / "main.py").unlink()
    else:
        launcher.write_text(launcher.read_text().replace(sys.executable, "/gone/python"))
    api.say("Still here.")
    assert client.run("hello").text == "Still here."
    assert not log.exists()
