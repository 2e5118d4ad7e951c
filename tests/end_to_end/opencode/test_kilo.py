"""Kilo CLI, a fork of OpenCode: the same plugin in its folders, the same facts in its requests.

A process of it takes 15 seconds of processor time to start, so each test starts one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.opencode import KILO_NEWEST, ChatApi, Kilo, Said, Server

from .opencode_stage import BIG, PROMPT, OpenCodeStage, run, wait_until, work
from .test_faults import set_launcher, take_turns
from .test_restore import CONTEXT, check_facts

pytestmark = pytest.mark.client


class KiloStage(OpenCodeStage):
    kind = Kilo


@pytest.mark.core
def test_a_manual_and_an_automatic_compaction_are_restored_in_every_request(
    tmp_path: Path, chat: ChatApi
) -> None:
    stage = KiloStage(tmp_path, chat, context=CONTEXT)
    stage.install()
    chat.say(*work(), [Said("Done.")])
    with Server(stage.client) as server:
        session = server.start()
        server.say(session, PROMPT)
        server.compact(session)
        server.say(session, "Go on.")
        first = check_facts(stage)
        server.say(session, "And on.")
        assert check_facts(stage) == first
        (asked,) = chat.compactions
        assert "Keep these facts of the session in the summary" in str(asked["messages"][-1])
        chat.say(
            [Said("The new id is ORD-9X1B7C."), run(BIG)],
            [run(BIG)],
            [run(BIG)],
            [run(BIG)],
            [run(BIG)],
        )
        server.say(session, "Fill it.")
        assert len(chat.compactions) > 1
        assert "ORD-9X1B7C" in check_facts(stage)
    wait_until(lambda: stage.list_processes() == [])
    assert f"kilo {KILO_NEWEST}" in stage.holdfast("status", "--all", "--json")
    assert "single machine" in stage.holdfast("search", "SQLite")


@pytest.mark.parametrize("how", ["missing", "hangs"])
def test_without_a_working_holdfast_no_turn_is_harmed_and_the_facts_are_gone(
    tmp_path: Path, chat: ChatApi, how: str
) -> None:
    stage = KiloStage(tmp_path, chat)
    stage.install()
    if how == "missing":
        shutil.rmtree(stage.data)
    else:
        set_launcher(stage, "sleep 20\n")
    take_turns(stage)
    assert "ORD-7F3K2Q" not in str(chat.requests[-1])
    wait_until(lambda: stage.list_processes() == [], 60)


def test_one_file_in_and_every_byte_back(tmp_path: Path, chat: ChatApi) -> None:
    stage = KiloStage(tmp_path, chat)
    config = stage.client.config

    def list_files() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in config.rglob("*") if path.is_file()}

    before = list_files()
    stage.install()
    assert sorted(set(list_files()) - set(before)) == [str(config / "plugins" / "holdfast.js")]
    stage.holdfast("uninstall", "--client", "kilo")
    assert list_files() == before
    assert not (config / "plugins").exists()
