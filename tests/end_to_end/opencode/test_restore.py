"""OpenCode compacts, by itself and by hand, and what was lost stands in every request, once."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.clients.holdfast_text import AUGMENT_OPENING
from support.opencode import Call, ChatApi, Said, Server, list_texts

from .opencode_stage import (
    BIG,
    PROMPT,
    WORK_FACTS,
    OpenCodeStage,
    run,
    wait_until,
    work,
)

pytestmark = pytest.mark.client

Json = dict[str, Any]
CONTEXT = 60_000
RULES = "Rules the user gave, in force"


def check_facts(stage: OpenCodeStage) -> str:
    request = stage.api.requests[-1]
    (told,) = stage.briefs(request)
    assert [name for name, words in WORK_FACTS.items() if words not in told] == []
    assert RULES in told
    assert stage.log() == ""
    return told


@pytest.mark.core
def test_a_manual_compaction_is_restored_with_the_next_prompt(
    tmp_path: Path, chat: ChatApi
) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    subprocess.run(["git", "init", "-q", "-b", "kiosk"], cwd=stage.client.project, check=True)
    stage.install()
    chat.say(*work(), [Said("Done.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        server.compact(session)
        server.say(session, "Go on.")
        first = check_facts(stage)
        assert "branch kiosk" in first
        server.say(session, "And on.")
        assert check_facts(stage) == first  # in every request, and the same
    assert len(chat.compactions) == 1
    stage.client.resume("On, in a new process.")
    assert check_facts(stage) == first


@pytest.mark.core
def test_a_compaction_in_the_middle_of_a_turn(tmp_path: Path, chat: ChatApi) -> None:
    stage = OpenCodeStage(tmp_path, chat, context=CONTEXT)
    stage.install()
    more: list[list[Said | Call]] = [[run(BIG)] for _ in range(3)]
    chat.say(*work(), *more, [Said("Going on.")])
    stage.client.run(PROMPT)
    assert len(chat.compactions) == 1
    before, after = split_at_compaction(stage)
    assert [stage.briefs(request) for request in before] == [[]] * len(before)
    assert [len(stage.briefs(request)) for request in after] == [1] * len(after)
    check_facts(stage)
    # The summariser is told what to keep, and is given nothing of ours to summarise.
    (asked,) = chat.compactions
    assert "Keep these facts of the session in the summary" in str(asked["messages"][-1])
    assert "release.sh --blue-green" in str(asked["messages"][-1]).split("Keep these facts")[1]

    first = stage.briefs(chat.requests[-1])
    stage.client.resume("In a new process.")
    assert stage.briefs(chat.requests[-1]) == first

    # The second compaction's brief takes the place of the first's.
    chat.say([Said("The new id is ORD-9X1B7C."), run(BIG)], *more)
    stage.client.resume("Fill it.")
    assert len(chat.compactions) > 1
    assert [one for one in chat.compactions if AUGMENT_OPENING in str(one)] == []
    (second,) = stage.briefs(chat.requests[-1])
    assert "ORD-9X1B7C" in second
    assert "Never use float for money" in second
    assert stage.log() == ""


def split_at_compaction(stage: OpenCodeStage) -> tuple[list[Json], list[Json]]:
    """The requests of turns before the first summary stood in them, and those since."""
    since = ["the rest is next" in str(request) for request in stage.api.requests]
    place = since.index(True)
    return stage.api.requests[:place], stage.api.requests[place:]


def test_what_the_client_keeps_word_for_word_is_not_told_again(
    tmp_path: Path, chat: ChatApi
) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    # More than the client would keep, so that it keeps the latest alone.
    chat.say(*work(), [Said("Lorem ipsum dolor. " * 3_000)])
    kept = "The courier is called Nightjar, always write it so."
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        server.say(session, kept)
        server.compact(session)
        server.say(session, "Go on.")
    assert list_texts(chat.requests[-1], kept) == [kept]
    assert kept not in check_facts(stage)


def test_a_compaction_at_the_end_of_a_turn(tmp_path: Path, chat: ChatApi) -> None:
    """The client does not wait for the next prompt: it compacts, and asks the model to go on."""
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    chat.say(*work(), [Said("Done.", tokens=197_000)])  # of the 196,000 that may stand
    stage.client.run(PROMPT)
    assert len(chat.compactions) == 1
    first = check_facts(stage)
    stage.client.resume("Go on.")
    assert len(chat.compactions) == 1
    assert check_facts(stage) == first


def test_without_holdfast_the_facts_are_gone(tmp_path: Path, chat: ChatApi) -> None:
    """The control: what the tests above find is there by our doing."""
    stage = OpenCodeStage(tmp_path, chat)
    chat.say(*work(), [run(BIG)], [Said("Done.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        server.compact(session)
        server.say(session, "Go on.")
    after = str(chat.requests[-1])
    assert [name for name, words in WORK_FACTS.items() if words in after] == []


def test_what_was_said_last_is_known_although_the_client_ends_at_once(
    tmp_path: Path, chat: ChatApi
) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    chat.say(*work(), [Said("The lantern is lit.")])
    stage.client.run(PROMPT)
    wait_until(lambda: "The lantern is lit." in stage.session_files()[0].read_text())
    wait_until(lambda: "The lantern is lit." in stage.holdfast("search", "lantern"))


def test_no_secret_is_written_or_told(tmp_path: Path, chat: ChatApi) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    token = "ghp_" + "q7Rw2Lk9Zt4Xv8Nb3Mc6Yd1Hs5Jf0Pg" + "Ae7U"
    chat.say([Said(f"I use {token}."), run(f"echo export GITHUB_TOKEN={token}")], [Said("Done.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, f"The deploy token is {token}, keep it for the release.")
        server.compact(session)
        server.say(session, "Go on.")
    assert [text for text in stage.briefs(chat.requests[-1]) if token in text] == []
    wait_until(lambda: stage.list_processes() == [])
    files = [path for path in stage.data.rglob("*") if path.is_file()]
    assert [path for path in files if token.encode() in path.read_bytes()] == []
    (written,) = stage.session_files()
    assert "[redacted:" in written.read_text()
    assert {
        oct(path.stat().st_mode & 0o777) for path in (written, stage.data / "opencode-hooks")
    } == {"0o600"}


def test_a_revert_and_a_fork(tmp_path: Path, chat: ChatApi) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    chat.say(*work(), [Said("Done.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        server.say(session, "Paint the shop purple, always.")
        asked = [m for m in server.messages(session) if m["info"]["role"] == "user"][-1]
        server.revert(session, asked["info"]["id"])
        server.say(session, "Paint the shop green.")
        server.compact(session)
        server.say(session, "Go on.")
        told = check_facts(stage)
        assert "purple" not in told
        fork = server.fork(session)
        assert fork != session
        server.say(fork, "Go on, elsewhere.")
        check_facts(stage)
    wait_until(lambda: stage.list_processes() == [])
    (written,) = [path for path in stage.session_files() if path.parent.name == session]
    assert "purple" in written.read_text()  # the client has deleted it
    assert "purple" not in stage.holdfast("show", session, "--full")


def test_a_subagent_gets_nothing_and_what_it_did_is_known(tmp_path: Path, chat: ChatApi) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    task = {"description": "look", "prompt": "Look at the till.", "subagent_type": "general"}
    chat.say(*work(), [Said("Done.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        server.compact(session)
        note = Call("write", {"filePath": "till_notes.md", "content": "The till is fine.\n"})
        chat.say([Call("task", task)], [note], [Said("The till is fine.")], [Said("Good.")])
        server.say(session, "Delegate it.")
        # What is not waited for is not lost with the server either, but comes with the next start.
        wait_until(lambda: "till_notes.md" in stage.session_files()[0].read_text())
    own = [one for one in chat.requests if "Look at the till." in str(one["messages"][1])]
    assert len(own) == 2
    assert [stage.briefs(one) for one in own] == [[], []]
    check_facts(stage)
    wait_until(lambda: stage.list_processes() == [])
    assert len(stage.session_files()) == 1
    rows = map(json.loads, stage.session_files()[0].read_text().splitlines())
    assert {row.get("agent") for row in rows if "till_notes.md" in str(row)} - {None}
