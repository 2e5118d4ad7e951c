"""Installing into the real OpenCode: one file in, every byte back, recall, and what doctor says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.opencode import Call, ChatApi, Said, Server

from .opencode_stage import PROMPT, OpenCodeStage, wait_until, work

pytestmark = pytest.mark.client


def read_tree(folder: Path) -> dict[str, bytes]:
    """Every file and empty folder below this one, what the client fetched with npm left out."""
    found = {}
    for place, below, names in os.walk(folder):
        below[:] = [name for name in below if name != "node_modules"]
        for name in names:
            path = Path(place) / name
            found[str(path.relative_to(folder))] = path.read_bytes()
        if not names and not below:
            found[str(Path(place).relative_to(folder))] = b""
    return found


def test_one_file_in_and_every_byte_back(tmp_path: Path, chat: ChatApi) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    config = stage.client.config
    before = read_tree(config)
    shown = stage.holdfast("install", "--client", "opencode", "--dry-run")
    assert "plugins/holdfast.js" in shown
    assert read_tree(config) == before
    stage.install()
    added = {name: data for name, data in read_tree(config).items() if name not in before}
    assert list(added) == ["plugins/holdfast.js"]
    again = stage.install()
    assert "Nothing to do" in again or "already" in again, again
    assert read_tree(config) == {**before, **added}
    stage.holdfast("uninstall", "--client", "opencode")
    assert read_tree(config) == before
    assert not (stage.data / "holdfast-hook").exists()


def test_a_file_of_that_name_that_is_not_ours_stays(tmp_path: Path, chat: ChatApi) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    own = stage.client.config / "plugins" / "holdfast.js"
    own.parent.mkdir()
    own.write_text("export const Mine = async () => ({})\n")
    before = read_tree(stage.client.config)
    refused = stage.holdfast("install", "--client", "opencode", check=False)
    assert "is not Holdfast's plugin" in refused
    stage.holdfast("uninstall", "--client", "opencode")
    assert read_tree(stage.client.config) == before


def test_recall_is_offered_and_the_doctor_knows_that_the_plugin_runs(
    tmp_path: Path, chat: ChatApi
) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    assert "without Holdfast" in stage.holdfast("doctor", check=False)
    stage.install()
    settings = (stage.client.config / "opencode.json").read_bytes()
    assert "it was not started since" in stage.holdfast("doctor", check=False)
    chat.say(*work(), [Said("Done.")])
    stage.client.run(PROMPT)
    chat.say([Call("holdfast_recall", {"query": "orders SQLite"})])
    stage.client.resume("What did we decide?")
    given = [m for m in chat.requests[-1]["messages"] if m["role"] == "tool"]
    assert "the shop runs on a single machine" in str(given[-1])
    assert (stage.client.config / "opencode.json").read_bytes() == settings
    assert "its hooks may run" in stage.holdfast("doctor", check=False)
    # What a later version of the client might do.
    heartbeat = stage.data / "opencode-hooks"
    heartbeat.write_text(
        heartbeat.read_text().replace("experimental.chat.messages.transform\n", "")
    )
    said = " ".join(stage.holdfast("doctor", check=False).split())
    assert "OpenCode never called experimental.chat.messages.transform" in said


def test_sessions_are_listed_searched_shown_audited_and_handed_over(
    tmp_path: Path, chat: ChatApi
) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    chat.say(*work(), [Said("The receipt comes next.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        # The client does not wait for it, and may be ended at any moment.
        wait_until(lambda: "The receipt comes next." in stage.holdfast("search", "receipt"))
    wait_until(lambda: stage.list_processes() == [])
    assert session[:8] in stage.holdfast("status", "--all", "--json")
    assert "single machine" in stage.holdfast("search", "SQLite")
    assert "single machine" in " ".join(stage.holdfast("show", session, "--full").split())
    audited = stage.holdfast("audit", "--json")
    assert '"sessions_read": 1' in audited
    # Another session of the folder is told what this one left, with its first prompt.
    stage.client.run("Hello.")
    offered = "an earlier session in this folder ended unfinished"
    assert "Write the receipt" in str(chat.requests[-1]["messages"])
    assert str(chat.requests[-1]["messages"]).count(offered) == 1
    # The client keeps it with the prompt, and the words are nobody's.
    stage.client.resume("And on.")
    assert str(chat.requests[-1]["messages"]).count(offered) == 1
    assert offered not in stage.holdfast("show", "--full")


def test_nothing_is_needed_from_the_network(tmp_path: Path, chat: ChatApi) -> None:
    """After the first start, at which the client fetches a package of its own."""
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    nowhere = "http://127.0.0.1:9"
    stage.client.more_environment = {
        "npm_config_registry": nowhere,
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1,localhost",
    }
    chat.say(*work(), [Said("Done.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        server.compact(session)
        server.say(session, "Go on.")
    assert len(stage.briefs(chat.requests[-1])) == 1
