"""Whatever happens to us, the client goes on as if we were not there."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.claude import ScriptedApi, mid_turn_compaction

from .conftest import MakeStage
from .stage import BRIEF, INTERPRETER, RULE, Stage, injected, steering

pytestmark = pytest.mark.client

OPENING = f"Build the shop on port 8123. {RULE}"


def live_through_a_compaction(
    stage: Stage, api: ScriptedApi, between: Callable[[Stage], None] | None = None
) -> None:
    """The client's own course, with whatever happens to us `between` two turns."""
    api.say(*stage.work(), "Begun.", "Second.", "Third.")
    with stage.client.session() as live:
        assert live.ask(OPENING).text == "Begun."
        if between is not None:
            stage.settled(live)
            between(stage)
        assert live.ask("now the cart").text == "Second."
        turn = live.compact()
        assert [c["compact_metadata"]["trigger"] for c in turn.compactions] == ["manual"]
        assert live.ask("go on").text == "Third."
    assert live.exit_code == 0
    assert "Traceback" not in stage.client.debug_log


def check_told(api: ScriptedApi) -> None:
    """Even so: the transcript alone tells enough."""
    assert RULE in steering(api.summary_requests[-1])
    assert RULE in injected(api.last, BRIEF)[-1]


def test_without_our_database_the_transcript_still_tells(stage: Stage, api: ScriptedApi) -> None:
    def lose(stage: Stage) -> None:
        stage.data.rename(stage.data.with_name("elsewhere"))

    live_through_a_compaction(stage, api, lose)
    check_told(api)
    with stage.store() as store:
        assert store.health()["integrity"] == "ok"
        assert [c.epoch for c in store.compactions()] == [0]


def test_with_a_corrupt_database_the_transcript_still_tells(stage: Stage, api: ScriptedApi) -> None:
    def corrupt(stage: Stage) -> None:
        for path in stage.data.glob("holdfast.db*"):
            path.write_bytes(b"not a database at all, " * 4000)

    live_through_a_compaction(stage, api, corrupt)
    check_told(api)
    assert "StoreDamaged" in stage.log()


def test_with_a_locked_database_the_transcript_still_tells(stage: Stage, api: ScriptedApi) -> None:
    with locked(stage.data / "holdfast.db"):
        live_through_a_compaction(stage, api)
    check_told(api)
    assert "StoreBusy" in stage.log()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process that never lets go of the write lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    holder = sqlite3.connect(path, isolation_level=None)
    try:
        holder.execute("PRAGMA journal_mode = WAL")
        holder.execute("BEGIN IMMEDIATE")
        yield
    finally:
        holder.close()


def test_with_no_place_to_write_the_transcript_still_tells(
    tmp_path: Path, make_stage: MakeStage, api: ScriptedApi
) -> None:
    # A file where the data folder should be: what a read-only home is to everyone but root.
    (tmp_path / "occupied").write_text("")
    stage = make_stage(env={"HOLDFAST_HOME": str(tmp_path / "occupied" / "holdfast")})
    live_through_a_compaction(stage, api)
    check_told(api)
    assert (tmp_path / "occupied").read_text() == ""


def wrapper(path: Path, *lines: str) -> str:
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
    path.chmod(0o755)
    return str(path)


def test_on_a_full_disk_the_transcript_still_tells(
    tmp_path: Path, make_stage: MakeStage, api: ScriptedApi
) -> None:
    full = wrapper(tmp_path / "full", "ulimit -f 0", f'exec "{INTERPRETER}" "$@"')
    stage = make_stage(interpreter=full)
    live_through_a_compaction(stage, api)
    check_told(api)


def test_without_the_interpreter_the_client_is_alone(
    make_stage: MakeStage, api: ScriptedApi
) -> None:
    live_through_a_compaction(make_stage(interpreter="/gone/python3"), api)
    assert injected(api.last, BRIEF) == []


def test_without_the_script_the_client_is_alone(
    tmp_path: Path, make_stage: MakeStage, api: ScriptedApi
) -> None:
    gone = tmp_path / "gone" / "holdfast" / "hooks" / "main.py"
    live_through_a_compaction(make_stage(script=gone), api)
    assert injected(api.last, BRIEF) == []


@pytest.mark.parametrize("automatic", [False, True])
def test_a_brief_that_could_not_be_printed_comes_with_what_happens_next(
    tmp_path: Path, make_stage: MakeStage, api: ScriptedApi, automatic: bool
) -> None:
    refuse = f'case "$*" in *SessionStart) exec "{INTERPRETER}" "$@" >/dev/full;; esac'
    stage = make_stage(interpreter=wrapper(tmp_path / "py", refuse, f'exec "{INTERPRETER}" "$@"'))
    opening = mid_turn_compaction() if automatic else []
    api.say(*stage.work(), "Begun.", *opening, "Second.", "Third.")
    with stage.client.session() as live:
        live.ask(OPENING)
        if not automatic:
            live.compact()
        live.ask("go on")
        live.ask("and on")
        stage.settled(live)
    (brief,) = injected(api.last, BRIEF)
    assert RULE in brief
    with stage.store() as store:
        given = [d for d in store.deliveries(live.session_id) if d.kind == "brief"]
    assert [d.channel for d in given] == ["UserPromptSubmit"]
    assert given[0].text == brief.strip()


@pytest.mark.parametrize("seconds", ["0.01", "0.04", "0.08"])
def test_hooks_killed_half_way_do_no_harm(
    tmp_path: Path, make_stage: MakeStage, api: ScriptedApi, seconds: str
) -> None:
    killed = wrapper(tmp_path / "killed", f'exec timeout -s KILL {seconds} "{INTERPRETER}" "$@"')
    stage = make_stage(interpreter=killed)
    live_through_a_compaction(stage, api)
    # What they left behind is no obstacle to those that live.
    launcher = tmp_path / "install/holdfast-hook"
    launcher.write_text(launcher.read_text().replace(killed, INTERPRETER))
    live_through_a_compaction(stage, api)
    check_told(api)
    with stage.store() as store:
        assert store.health()["integrity"] == "ok"
