"""Asking for a client by its name."""

import pytest

from holdfast import clients


def test_every_name_gives_the_client_of_that_name() -> None:
    assert clients.names() == ("claude-code", "codex", "opencode", "gemini")
    for name in clients.names():
        assert clients.get(name).name == name
        assert clients.get(name) is clients.get(name)


def test_an_unknown_name_is_said_to_be_unknown() -> None:
    with pytest.raises(clients.UnknownClient, match="'emacs'"):
        clients.get("emacs")


@pytest.mark.parametrize("label", ["", "claude-code", "claude-code 2.1.325", "emacs 30"])
def test_a_session_that_names_no_client_of_ours_is_the_defaults(label: str) -> None:
    assert clients.of_session(label) is clients.default()
