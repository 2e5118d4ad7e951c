"""The real client runs what we installed, and shrugs at what it does not know."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from end_to_end.stage import Stage
from holdfast.install.claude_code import INSTALLER as installer
from support.claude import Client, ScriptedApi, bash, wait_until

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
    api.say(bash("false"), "Done.")
    with client.session() as live:
        live.ask("run it")
        live.ask("/greet")
        live.compact()
        live.switch_model("claude-opus-4-1")
        live.ask("and on")
    fired = set(log.read_text().split())
    assert fired == {
        "SessionStart",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "PostModelSwitch",
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


def test_an_uninstall_under_a_running_client_says_nothing_and_is_complete_when_it_ends(
    tmp_path: Path, api: ScriptedApi
) -> None:
    stage = Stage(tmp_path, api)
    settings = stage.client.config_dir / "settings.json"
    settings.unlink()  # in place of the stage's own install, one as a user has it
    stage.holdfast("install")
    launcher = stage.data / "holdfast-hook"
    with stage.client.session() as live:
        live.ask("hello")
        stage.holdfast("uninstall")
        assert not settings.exists()
        live.ask("and on")
        live.ask("/clear")
        live.ask("from the start")
        live.compact()
        live.ask("and on")
        assert launcher.exists()
    said = stage.client.debug_log + live.stderr + str([one.body for one in api.requests])
    assert "posix_spawn" not in said
    assert "Holdfast" not in str(api.last.body["messages"])
    wait_until(lambda: not launcher.exists())
