"""Holdfast is broken, missing, slow or killed: the user's turn goes on as if it were not there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.opencode import ChatApi, Said, Server

from .opencode_stage import PROMPT, WORK_FACTS, OpenCodeStage, wait_until, work

pytestmark = pytest.mark.client

BROKEN = {
    "fails": "echo oops >&2\nexit 3\n",
    "babbles": "head -c 3000000 /dev/zero | tr '\\0' 'x'\n",
    "lies": 'echo \'{"kept":1}\'\necho \'{"text":{"a":1},"message":7}\'\n',
    "crashes": "kill -9 $$\n",
}


def set_launcher(stage: OpenCodeStage, text: str) -> Path:
    """Puts a script in the launcher's place; gives where the launcher went."""
    launcher = stage.data / "holdfast-hook"
    real = launcher.with_name("holdfast-hook.real")
    launcher.rename(real)
    launcher.write_text(f"#!/bin/sh\n{text}")
    launcher.chmod(0o700)
    return real


def take_turns(stage: OpenCodeStage) -> None:
    """A turn of work, a compaction by hand and a turn behind it, all to their ends."""
    chat = stage.api
    chat.say(*work(), [Said("Done.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        server.compact(session)
        answer = server.say(session, "Go on.")
    assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["Understood."]
    assert chat.steps == []
    assert len(chat.compactions) == 1
    assert len(chat.requests) == len(work()) + 2


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_holdfast(tmp_path: Path, chat: ChatApi, how: str) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    set_launcher(stage, BROKEN[how])
    take_turns(stage)
    assert [stage.briefs(request) for request in chat.requests] == [[]] * len(chat.requests)


def test_a_missing_holdfast(tmp_path: Path, chat: ChatApi) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    shutil.rmtree(stage.data)
    take_turns(stage)
    assert not stage.data.exists()


def test_a_slow_holdfast_leaves_nothing_behind(tmp_path: Path, chat: ChatApi) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    real = set_launcher(stage, "sleep 20\n")
    take_turns(stage)
    wait_until(lambda: stage.list_processes() == [], 60)
    real.rename(stage.data / "holdfast-hook")
    # Nothing was lost: the next process of the client brings all of it.
    stage.client.resume("On.")
    (told,) = stage.briefs(chat.requests[-1])
    assert [name for name, words in WORK_FACTS.items() if words not in told] == []
    wait_until(lambda: stage.list_processes() == [])


# Lets the process begin, and kills it and itself after 10 to 265 ms: from before it has read its
# payload to after it has answered.
KILLED = """
exec 3<&0
"$0.real" "$@" <&3 &
hook=$!
ms=$(od -An -N1 -tu1 /dev/urandom)
sleep "$(printf '0.%03d' $((ms + 10)))"
kill -9 $hook $$
"""


def test_processes_that_are_killed_harm_no_turn_and_lose_nothing(
    tmp_path: Path, chat: ChatApi
) -> None:
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    real = set_launcher(stage, KILLED)
    take_turns(stage)
    real.rename(stage.data / "holdfast-hook")
    stage.client.resume("On.")
    (told,) = stage.briefs(chat.requests[-1])
    assert [name for name, words in WORK_FACTS.items() if words not in told] == []
    wait_until(lambda: stage.list_processes() == [])
    (written,) = stage.session_files()
    rows = [line.partition('"type"')[0] for line in written.read_text().splitlines()]
    assert len(rows) == len(set(rows))  # each once


def test_a_repository_does_not_choose_where_the_state_lies(tmp_path: Path, chat: ChatApi) -> None:
    """A client may read a project's `.env` before it starts hooks."""
    stage = OpenCodeStage(tmp_path, chat)
    stage.install()
    planted = stage.client.project / "planted"
    (stage.client.project / ".env").write_text(f"HOLDFAST_HOME={planted}\n")
    chat.say(*work(), [Said("Done.")])
    stage.client.run(PROMPT)
    assert not planted.exists()
    assert stage.session_files()
