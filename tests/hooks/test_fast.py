"""What the fast hooks answer from the session's directory alone, and what they leave there."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.install import launcher as hook_launcher
from support.hook_process import SCRIPT, Caller

TIME = "2026-01-01T00:00:00Z"
BOOKKEEPING = (
    b'{"type":"queue-operation","operation":"enqueue","timestamp":"t","sessionId":"s",'
    b'"content":"/compact keep the build"}\n'
    b'{"type":"queue-operation","operation":"dequeue","timestamp":"t","sessionId":"s"}\n'
    b'{"type":"last-prompt","lastPrompt":"go on","sessionId":"s"}\n'
)


def noted(caller: Caller) -> list[dict[str, Any]]:
    spool = Path(caller.session_dir.path) / "spool"
    return [json.loads(line) for line in spool.read_text().splitlines()] if spool.exists() else []


def prepare(caller: Caller, epoch: int = 0, behind: int = 0) -> None:
    offset = caller.transcript.stat().st_size - behind
    caller.session_dir.write_brief(
        PrebuiltText(epoch, 0, offset, TIME, "q1,r1", 'The "brief" – word for word.')
    )


@pytest.mark.parametrize(
    "prompt", ["plain", 'quoted "words" \\ and\nlines\t', "naïve – 日本語 🚢", "x" * 5000]
)
def test_a_prompt_is_kept_word_for_word(caller: Caller, prompt: str) -> None:
    ran = caller.call("UserPromptSubmit", prompt=prompt)
    assert (ran.code, ran.out) == (0, "")
    assert [line["text"] for line in noted(caller)] == [prompt]
    assert (Path(caller.session_dir.path) / "spool").stat().st_mode & 0o777 == 0o600
    assert caller.data.stat().st_mode & 0o777 == 0o700


def test_a_secret_in_a_prompt_never_reaches_the_disk(caller: Caller) -> None:
    secret = "ghp_" + "q7Rt2LmX9vBn4KsW8zYc1HdJ5fGa3PeU6oTi"
    caller.call("UserPromptSubmit", prompt=f"deploy with {secret} please")
    (line,) = noted(caller)
    assert line["text"].startswith("deploy with [redacted:")
    assert secret.encode() not in (Path(caller.session_dir.path) / "spool").read_bytes()


def test_the_clients_own_prompts_are_not_the_users_words(caller: Caller) -> None:
    for source in ("system", "loop_wakeup", "schedule_wakeup", "one of a newer client"):
        caller.call("UserPromptSubmit", prompt="wake up", source=source)
    assert noted(caller) == []


def test_a_waiting_gap_is_delivered_once(caller: Caller) -> None:
    caller.session_dir.pending.put("gap", PrebuiltText(2, 0, 0, TIME, "r1,r2", "The gap."))
    first = caller.call("UserPromptSubmit", prompt="go on")
    again = caller.call("UserPromptSubmit", prompt="and on")
    assert first.specific == {"hookEventName": "UserPromptSubmit", "additionalContext": "The gap."}
    assert again.out == ""
    delivery = next(line for line in noted(caller) if line["what"] == "gap")
    assert (delivery["epoch"], delivery["facts"]) == (2, "r1,r2")
    assert delivery["channel"] == "UserPromptSubmit"


def test_of_many_hooks_at_once_one_delivers_the_gap(caller: Caller) -> None:
    caller.session_dir.pending.put("gap", PrebuiltText(0, 0, 0, TIME, "r1", "The gap."))
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(caller.call, "UserPromptSubmit", prompt="go on") for _ in range(8)]
    spoken = [call.result().out for call in calls if call.result().out]
    assert len(spoken) == 1


def test_a_tool_batch_delivers_a_waiting_gap_and_a_stop_does_not(caller: Caller) -> None:
    caller.begin()
    caller.call("Stop")
    caller.session_dir.pending.put("gap", PrebuiltText(0, 0, 0, TIME, "r1", "The gap."))
    assert caller.call("Stop").out == ""
    assert caller.call("SubagentStop", agent_id="a1").out == ""
    assert caller.call("PostToolBatch", agent_id="a1").out == ""
    assert caller.call("PostToolBatch").context == "The gap."


def test_a_prepared_brief_is_delivered_as_it_is_and_once(caller: Caller) -> None:
    caller.begin()
    prepare(caller)
    first = caller.call("SessionStart", source="compact")
    assert first.context == 'The "brief" – word for word.'
    assert caller.call("SessionStart", source="compact").out == ""
    prepare(caller, epoch=1)
    assert caller.call("SessionStart", source="compact").context == first.context


@pytest.mark.parametrize("made", ["before", "on the spot"])
@pytest.mark.parametrize("then", ["UserPromptSubmit", "PostToolBatch"])
def test_a_brief_whose_hook_was_killed_before_it_printed_comes_with_the_next(
    caller: Caller, made: str, then: str
) -> None:
    caller.begin()
    if made == "before":
        prepare(caller)
    caller.kill_while_printing("SessionStart", source="compact")
    assert [line for line in noted(caller) if line["what"] == "brief"] == []
    brief = caller.session_dir.read_brief()
    assert brief is not None
    assert caller.call(then, prompt="go on").context == brief.text
    (delivery,) = [line for line in noted(caller) if line["what"] == "brief"]
    assert (delivery["channel"], delivery["epoch"]) == (then, brief.epoch)
    assert caller.call(then, prompt="go on").out == ""


def test_a_gap_and_a_line_whose_hook_was_killed_come_again(caller: Caller) -> None:
    caller.begin()
    prepare(caller)
    caller.session_dir.pending.put("gap", PrebuiltText(0, 0, 0, TIME, "r1", "The gap."))
    caller.session_dir.write("low-user", b"Little is left.")
    caller.kill_while_printing("UserPromptSubmit", prompt="go on")
    ran = caller.call("UserPromptSubmit", prompt="go on")
    assert ran.context == "The gap."
    assert json.loads(ran.out)["systemMessage"] == "Little is left."
    assert caller.call("UserPromptSubmit", prompt="go on").out == ""


def test_a_late_brief_comes_before_a_gap_and_not_after_the_next_compaction(caller: Caller) -> None:
    caller.begin()
    prepare(caller)
    caller.kill_while_printing("SessionStart", source="compact")
    caller.session_dir.pending.put("gap", PrebuiltText(0, 0, 0, TIME, "r1", "The gap."))
    assert caller.call("PostToolBatch").context == 'The "brief" – word for word.'
    assert caller.call("PostToolBatch").context == "The gap."
    prepare(caller, epoch=1)
    caller.kill_while_printing("SessionStart", source="compact")
    prepare(caller, epoch=3)
    assert caller.call("PostToolBatch").out == ""


def test_book_keeping_rows_do_not_make_a_brief_stale(caller: Caller) -> None:
    caller.begin()
    prepare(caller)
    with caller.transcript.open("ab") as transcript:
        transcript.write(BOOKKEEPING)
    assert caller.call("SessionStart", source="compact").context == 'The "brief" – word for word.'


def test_new_rows_make_a_brief_stale(caller: Caller) -> None:
    caller.begin(rows=30)
    caller.call("Stop")
    before = caller.session_dir.read_brief()
    caller.begin()
    ran = caller.call("SessionStart", source="compact")
    after = caller.session_dir.read_brief()
    assert before is not None
    assert after is not None
    assert after.offset > before.offset
    assert ran.context == after.text != before.text


def test_of_many_hooks_at_once_one_delivers_the_brief(caller: Caller) -> None:
    caller.begin()
    with ThreadPoolExecutor(6) as pool:
        calls = [pool.submit(caller.call, "SessionStart", source="compact") for _ in range(6)]
    spoken = [call.result().out for call in calls if call.result().out]
    assert len(spoken) == 1


def test_a_hook_returns_while_its_detached_part_goes_on(caller: Caller) -> None:
    """The client waits for our pipes: the detached part must not hold them."""
    caller.begin()
    stdin = json.dumps(caller.payload("SessionEnd", reason="other")).encode()
    done = subprocess.run(
        [sys.executable, *hook_launcher.build_arguments(str(SCRIPT), "SessionEnd")],
        input=stdin,
        capture_output=True,
        env=caller.environment(),
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, b"")
