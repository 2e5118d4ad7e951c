"""Asking for a client by its name."""

from pathlib import Path

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import Client


def test_every_name_gives_the_client_of_that_name() -> None:
    assert clients.names()[:5] == ("claude-code", "codex", "opencode", "kilo", "gemini")
    assert clients.names()[5:] == ("qwen", "copilot")
    for name in clients.names():
        assert clients.get(name).name == name
        assert clients.get(name) is clients.get(name)


def test_an_unknown_name_is_said_to_be_unknown() -> None:
    with pytest.raises(clients.UnknownClient, match="'emacs'"):
        clients.get("emacs")


@pytest.mark.parametrize("label", ["", "claude-code", "claude-code 2.1.325", "emacs 30"])
def test_a_session_that_names_no_client_of_ours_is_the_defaults(label: str) -> None:
    assert clients.of_session(label) is clients.default()


def test_files_of_the_default_client_are_known_without_looking_for_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking costs 20 ms, and hooks read such files."""

    def fail() -> dict[str, Client]:
        raise AssertionError("looked for other packages")

    monkeypatch.setattr(clients, "_added", fail)
    transcript = tmp_path / "one.jsonl"
    transcript.write_text('{"type":"user","sessionId":"one"}\n')
    assert clients.of_file(str(transcript)) is clients.default()


def test_a_folder_that_two_clients_share_is_looked_through_once(tmp_path: Path) -> None:
    environ = {"HOLDFAST_HOME": str(tmp_path / "data")}
    shared = tmp_path / "data" / "sessions"
    shared.mkdir(parents=True)
    assert clients.sessions_dirs(environ, str(tmp_path)).count(str(shared)) == 1
