"""Codex compacts, by itself and by hand, and what was lost is back in the next request, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.codex import CODE_MODE_MODEL, NEWEST, OLDEST, AppServer, ResponsesApi, Said

from .codex_stage import PROMPT, WORK_FACTS, CodexStage, check_facts, run, scripted_work, work

pytestmark = pytest.mark.client

SEALED = pytest.mark.parametrize("encrypted", [False, True], ids=["readable", "encrypted"])

NOTE = "Keep these facts of the session in the summary"
VERSIONS = pytest.mark.parametrize("version", [NEWEST, OLDEST])


@pytest.mark.core
@SEALED
@VERSIONS
def test_a_compaction_in_the_middle_of_a_turn(
    tmp_path: Path, responses: ResponsesApi, version: str, encrypted: bool
) -> None:
    stage = CodexStage(tmp_path, responses, version=version, encrypted=encrypted, compact_at=60_000)
    stage.holdfast("install", "--client", "codex")
    responses.say(*work()[:-1])
    stage.codex.exec(PROMPT)
    # The answer that calls a tool fills the window: the client compacts before it goes on.
    responses.tokens = 70_000
    responses.say(work()[-1], [Said("Going on.")])
    stage.codex.resume("Now the receipt.")
    assert len(responses.compactions) == 1
    check_facts(stage)
    responses.tokens = 9_000
    stage.codex.resume("And on.")
    check_facts(stage)  # still there, and not given again by the new process


@SEALED
@VERSIONS
def test_a_compaction_before_the_turn_of_a_resumed_session(
    tmp_path: Path, responses: ResponsesApi, version: str, encrypted: bool
) -> None:
    stage = CodexStage(tmp_path, responses, version=version, encrypted=encrypted, compact_at=60_000)
    stage.holdfast("install", "--client", "codex")
    responses.say(*work())
    responses.tokens = 20_000
    stage.codex.exec(PROMPT)
    responses.tokens = 70_000
    stage.codex.resume("Full now.")
    responses.tokens = 9_000
    stage.codex.resume("Go on.")
    assert len(responses.compactions) == 1
    check_facts(stage)


def test_work_in_code_mode_is_restored(tmp_path: Path, responses: ResponsesApi) -> None:
    """The model calls no tool but a script, and what that did is told by finished items alone."""
    stage = CodexStage(tmp_path, responses, model=CODE_MODE_MODEL, compact_at=60_000)
    stage.holdfast("install", "--client", "codex")
    responses.say(*scripted_work()[:-1])
    responses.tokens = 20_000
    stage.codex.exec(PROMPT)
    responses.tokens = 70_000
    responses.say(scripted_work()[-1], [Said("Going on.")])
    stage.codex.resume("Now the receipt.")
    assert len(responses.compactions) == 1
    check_facts(stage)


@pytest.mark.core
@SEALED
@VERSIONS
def test_a_manual_compaction_is_restored_with_the_next_prompt(
    tmp_path: Path, responses: ResponsesApi, version: str, encrypted: bool
) -> None:
    stage = CodexStage(tmp_path, responses, version=version, encrypted=encrypted)
    stage.holdfast("install", "--client", "codex")
    responses.say(*work(), [Said("Done.")])
    with AppServer(stage.codex) as server:
        assert {hook["trustStatus"] for hook in server.list_hooks()} == {"untrusted"}
        server.trust_hooks()
        thread = server.start_thread()
        server.turn(thread, PROMPT)
        server.compact(thread)
        server.turn(thread, "Go on.")
        check_facts(stage)
        server.turn(thread, "And on.")
        check_facts(stage)
    assert len(responses.compactions) == 1


def test_without_holdfast_the_facts_are_gone(tmp_path: Path, responses: ResponsesApi) -> None:
    """The control: what the tests above find is there by our doing."""
    stage = CodexStage(tmp_path, responses)
    responses.say(*work(), [Said("Done.")])
    with AppServer(stage.codex) as server:
        thread = server.start_thread()
        server.turn(thread, PROMPT)
        server.compact(thread)
        server.turn(thread, "Go on.")
    after = str(responses.requests[-1])
    assert [name for name, words in WORK_FACTS.items() if words in after] == []


@VERSIONS
def test_the_summary_is_steered_by_a_note_before_the_window_is_full(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    stage = CodexStage(tmp_path, responses, version=version, compact_at=60_000)
    stage.holdfast("install", "--client", "codex")
    responses.say(*work(), [Said("Nearly full.")])
    responses.tokens = 56_000
    stage.codex.exec(PROMPT)
    responses.tokens = 57_000
    for _ in range(5):  # the client does not wait for the hook that prepares the note
        stage.codex.resume("On.")
        if NOTE in str(responses.requests[-1]):
            break
    responses.tokens = 70_000
    responses.say([run("echo more")], [Said("Going on.")])
    stage.codex.resume("Fill it.")
    (asked,) = responses.compactions
    assert NOTE in str(asked["input"])


SLOW_AT_TOOLS = """#!/bin/sh
answer=$("$0.real" "$@")
case "$1" in *PostToolUse) sleep 1 ;; esac
printf %s "$answer"
"""


def replace_launcher(stage: CodexStage, script: str) -> Path:
    """Gives the real one, which the script calls."""
    launcher = stage.data / "holdfast-hook"
    real = launcher.with_name("holdfast-hook.real")
    launcher.rename(real)
    launcher.write_text(script)
    launcher.chmod(0o700)
    return real


@VERSIONS
def test_a_note_that_a_tool_s_hook_brings_late_is_not_lost(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    """Printed counts as delivered, so the client must wait for what is printed."""
    stage = CodexStage(tmp_path, responses, version=version, compact_at=60_000)
    stage.holdfast("install", "--client", "codex")
    replace_launcher(stage, SLOW_AT_TOOLS)
    responses.say(*work(), [Said("Nearly full.")])
    responses.tokens = 56_000
    stage.codex.exec(PROMPT)
    assert NOTE in str(responses.requests[-1])


# Lets the hook begin, and kills it and itself after 10 to 265 ms: from before it has read its
# payload to after it has answered.
KILLED = """#!/bin/sh
exec 3<&0
"$0.real" "$@" <&3 &
hook=$!
ms=$(od -An -N1 -tu1 /dev/urandom)
sleep "$(printf '0.%03d' $((ms + 10)))"
kill -9 $hook $$
"""


@VERSIONS
def test_hooks_that_are_killed_harm_no_turn_and_lose_nothing(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    stage = CodexStage(tmp_path, responses, version=version, compact_at=60_000)
    stage.holdfast("install", "--client", "codex")
    real = replace_launcher(stage, KILLED)
    responses.tokens = 20_000
    responses.say(*work(), [Said("Wait for me.")])
    stage.codex.exec(PROMPT)
    for _ in range(3):
        stage.codex.resume("Go on.")
    assert responses.steps == []
    assert len(responses.requests) == len(work()) + 1 + 3  # each turn went to its end
    real.rename(stage.data / "holdfast-hook")
    responses.tokens = 70_000
    stage.codex.resume("Full now.")
    responses.tokens = 9_000
    stage.codex.resume("Go on.")
    assert len(responses.compactions) == 1
    check_facts(stage)
