"""A hook never fails the client: whatever comes in, it exits 0 and prints nothing wrong."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.clients.claude_code.hooks import HOOKS as CLIENT
from holdfast.install import launcher as hook_launcher
from holdfast.install.claude_code import HOOKS
from support.hook_process import SCRIPT, Caller

EVENTS = [spec.event for spec in HOOKS]
STRANGE = {
    "nothing": b"",
    "no JSON": b"hello",
    "half a payload": b'{"session_id": "abc", "transcript',
    "a list": b"[1, 2]",
    "no session": b'{"hook_event_name": "Stop"}',
    "a null byte": b"\x00\x00",
    "wrong types": b'{"session_id": 7, "transcript_path": [], "cwd": null}',
    "a path as id": b'{"session_id": "../../../etc/passwd", "transcript_path": "/nowhere"}',
    "bad UTF-8": b'{"session_id": "\xff\xfe", "transcript_path": "/nowhere"}',
    "half a surrogate": b'{"session_id": "\\ud83d", "prompt": "\\ud83d", "cwd": "/"}',
    "deep": b'{"a":' * 5000 + b"1" + b"}" * 5000,
    "a folder as transcript": b'{"session_id": "s", "transcript_path": "/", "cwd": "/"}',
}


@pytest.mark.parametrize("event", EVENTS)
def test_strange_payloads_are_met_with_silence(caller: Caller, event: str) -> None:
    for name, stdin in STRANGE.items():
        ran = caller.feed(event, stdin)
        assert (ran.code, ran.out, ran.err) == (0, "", ""), name
    assert not (caller.root / "etc").exists()
    assert {path.name for path in caller.root.iterdir()} <= {"data"}


@pytest.mark.parametrize("event", EVENTS)
def test_what_each_event_prints_keeps_the_contract(caller: Caller, event: str) -> None:
    caller.begin()
    caller.call("Stop")
    more: dict[str, dict[str, Any]] = {
        "SessionStart": {"source": "compact"},
        "PreCompact": {"trigger": "auto", "custom_instructions": None},
        "PostCompact": {"trigger": "auto", "compact_summary": "<summary>Little.</summary>"},
        "UserPromptSubmit": {"prompt": "go on"},
    }
    ran = caller.call(event, **more.get(event, {}))
    assert (ran.code, ran.err) == (0, "")
    assert CLIENT.check_output(event, ran.out) == []
    # The transcript was compacted: with a prompt that says little comes what it worked on.
    assert bool(ran.out) == (event in ("SessionStart", "PreCompact", "UserPromptSubmit"))
    assert caller.log() == ""


@pytest.mark.parametrize("event", ["PreCompact", "SessionStart", "PostCompact"])
def test_a_pipe_as_transcript_is_not_waited_for(caller: Caller, event: str) -> None:
    os.mkfifo(caller.transcript)
    ran = caller.call(event, source="compact", trigger="auto")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert "not a regular file" in caller.log()


def test_an_event_that_we_do_not_know_is_ignored(caller: Caller) -> None:
    ran = caller.call("EventOfTheFuture")
    assert (ran.code, ran.out) == (0, "")


def test_a_payload_of_another_event_is_not_ours(caller: Caller) -> None:
    caller.begin()
    stdin = json.dumps(caller.payload("PreCompact")).encode()
    assert caller.feed("SessionStart", stdin).out == ""


def test_cursor_calling_our_hooks_is_ignored(caller: Caller) -> None:
    caller.begin()
    for mark in ("cursor_version", "conversation_id"):
        assert caller.call("PreCompact", **{mark: "1.7"}).out == ""
    assert not caller.data.exists()


def test_without_any_home_nothing_happens(caller: Caller) -> None:
    caller.env = {"HOLDFAST_HOME": ""}
    caller.begin()
    assert caller.call("PreCompact").out == ""


def test_an_error_is_logged_without_secrets_and_the_hook_exits_0(caller: Caller) -> None:
    # A folder where our log's own lock-free file should be makes the session's directory unusable.
    secret = "ghp_" + "q7Rt2LmX9vBn4KsW8zYc1HdJ5fGa3PeU6oTi"
    caller.session_id = secret
    caller.begin()
    (caller.data / "holdfast.db").mkdir(parents=True)
    ran = caller.call("PreCompact", trigger="auto")
    assert ran.code == 0
    assert "StoreUnwritable" in caller.log()
    assert secret not in caller.log()
    assert (caller.data / "holdfast.log").stat().st_mode & 0o777 == 0o600


def test_a_log_that_grew_long_is_turned_over(caller: Caller) -> None:
    caller.begin()
    (caller.data / "holdfast.db").mkdir(parents=True)
    (caller.data / "holdfast.log").write_text("x" * 300_000)
    caller.call("PreCompact")
    assert len(caller.log()) < 5_000
    assert (caller.data / "holdfast.log.1").stat().st_size == 300_000


def test_a_client_that_hung_up_gets_no_error(caller: Caller) -> None:
    caller.begin()
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.Popen(
        [sys.executable, *hook_launcher.build_arguments(str(SCRIPT), "PreCompact")],
        stdin=subprocess.PIPE,
        stdout=write_end,
        stderr=subprocess.PIPE,
        env=caller.environment(),
    )
    os.close(write_end)
    _, err = process.communicate(json.dumps(caller.payload("PreCompact")).encode())
    assert (process.returncode, err) == (0, b"")
    assert "BrokenPipeError" in caller.log()


def test_a_hook_that_is_told_to_end_ends_without_a_word(caller: Caller) -> None:
    process = subprocess.Popen(
        [sys.executable, *hook_launcher.build_arguments(str(SCRIPT), "PreCompact")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=caller.environment(),
    )
    wait_for_handler(process.pid)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, b"")


def wait_for_handler(pid: int) -> None:
    """Until the kernel knows that the process handles SIGTERM itself."""
    bit = 1 << (signal.SIGTERM - 1)
    for _ in range(100_000):
        status = Path(f"/proc/{pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
        if int(caught.split()[1], 16) & bit:
            return
    raise AssertionError("no handler")


@pytest.mark.parametrize("event", ["PreCompact", "PostCompact", "SessionStart"])
def test_a_subagents_compaction_is_not_ours(caller: Caller, event: str) -> None:
    caller.begin()
    ran = caller.call(event, agent_id="a1", source="compact", trigger="auto", compact_summary="x")
    assert ran.out == ""
    assert not caller.data.exists()


OUT_OF_TIME = """
import sys, time
sys.path.insert(0, sys.argv[1])
from holdfast.hooks import entry, full, watchdog
full.handle_full = lambda *_: time.sleep(60)
watchdog.start_watchdog("SessionStart", 0.5)
entry.handle_hook("SessionStart")
"""


def test_a_hook_out_of_time_hands_over_the_brief_that_lies_ready_and_once(caller: Caller) -> None:
    caller.begin(rows=-20)
    caller.call("Stop")
    ready = caller.wait_for_brief()
    caller.begin()  # the session went on: the brief has to be made anew
    stdin = json.dumps(caller.payload("SessionStart", source="compact")).encode()
    words = [sys.executable, "-c", OUT_OF_TIME, str(SCRIPT.parents[2])]
    ran = [
        subprocess.run(words, input=stdin, env=caller.environment(), capture_output=True)
        for _ in range(2)
    ]
    assert [done.returncode for done in ran] == [0, 0]
    shown = json.loads(ran[0].stdout)["hookSpecificOutput"]["additionalContext"]
    assert ready.text in shown
    assert ran[1].stdout == b""
    assert "stopped after its time limit" in caller.log()
