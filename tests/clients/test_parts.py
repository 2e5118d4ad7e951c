"""A client's parts are found by their place; a fork's stand in the folder of its original."""

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import (
    Client,
    ClientPaths,
    ContextWindow,
    RowProbe,
    RunningModel,
    UserText,
)


def read_parts(client: Client) -> tuple[ClientPaths, ContextWindow, RowProbe, UserText]:
    """mypy holds each to its protocol."""
    return client.paths, client.context_window, client.row_probe, client.user_text


@pytest.mark.parametrize("name", clients.names())
def test_each_part_of_each_client_is_at_its_place(name: str) -> None:
    client = clients.get(name)
    paths, window, probe, text = read_parts(client)
    assert paths.config_dir({}, "/home/me").startswith("/home/me/")
    assert window.compaction_point(window.read_window_config({}, ""), RunningModel()).tokens > 0
    assert len(probe.BOUNDARY_MARK) > 5
    assert text.extract_user_text("Go on.") == "Go on."
    assert name == client.hook_io.NAME


def test_a_fork_has_its_own_places_and_the_rest_of_its_original() -> None:
    original, fork = clients.get("opencode"), clients.get("kilo")
    assert fork.paths.config_dir({}, "/home/me") == "/home/me/.config/kilo"
    assert original.paths.config_dir({}, "/home/me") == "/home/me/.config/opencode"
    assert fork.row_probe is original.row_probe
