"""Messages of other agents at the hooks: once, in order, within their room, never to a subagent."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.clients.claude_code.hooks import HOOKS
from holdfast.fastpath import inbox
from holdfast.fastpath.inbox import HEADING
from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.hooks import spawn_sync
from holdfast.install import launcher as hook_launcher
from holdfast.paths import NEXT_SYNC_FILE
from holdfast.sync.connection import (
    ServerConnection,
    UnsafeConnectionFile,
    load_connection,
    save_connection,
)
from support.hook_process import SCRIPT, Caller

from .test_imports import FAST_MODULES, imports_of

TIME = "2026-01-01T00:00:00Z"


def put(caller: Caller, number: int, text: str, most: int = 2000) -> None:
    message = inbox.InboxMessage(f"m{number}", text, most)
    inbox.put_message(caller.session_dir.path, f"50-{number:03d}", message)


def noted(caller: Caller) -> list[str]:
    spool = Path(caller.session_dir.path) / "spool"
    lines = [json.loads(line) for line in spool.read_text().splitlines()]
    return [line["what"] for line in lines if line["what"] != "prompt"]


def test_they_come_with_the_next_prompt_once_and_are_noted(caller: Caller) -> None:
    put(caller, 2, "- second")
    put(caller, 1, "- first")
    ran = caller.call("UserPromptSubmit", prompt="go on")
    assert ran.context == f"{HEADING}\n- first\n- second"
    assert caller.call("UserPromptSubmit", prompt="go on").out == ""
    assert noted(caller) == ["message:m1", "message:m2"]
    assert sorted(os.listdir(f"{caller.session_dir.path}/given")) == ["50-001", "50-002"]
    assert not Path(caller.session_dir.path, "messages").exists()


def test_they_come_with_a_tool_batch_and_not_at_the_end_of_a_turn(caller: Caller) -> None:
    caller.begin()
    caller.call("Stop")
    put(caller, 1, "- first")
    assert caller.call("Stop").out == ""
    assert caller.call("PostToolBatch").context == f"{HEADING}\n- first"


def test_a_subagent_is_given_none(caller: Caller) -> None:
    caller.begin()
    caller.call("Stop")
    put(caller, 1, "- first")
    assert caller.call("PostToolBatch", agent_id="a1").out == ""
    assert caller.call("PostToolBatch").context


def test_what_does_not_fit_waits_for_the_next_moment(caller: Caller) -> None:
    for number in range(5):
        put(caller, number, f"- {number} " + "x" * 400, most=len(HEADING) + 900)
    told = [caller.call("UserPromptSubmit", prompt="go on").context for _ in range(4)]
    assert [text.count("\n- ") for text in told] == [2, 2, 1, 0]
    assert max(map(len, told)) <= len(HEADING) + 900


def test_beside_a_gap_the_clients_own_limit_holds(caller: Caller) -> None:
    caller.session_dir.pending.put("gap", PrebuiltText(0, 0, 0, TIME, "r1", "g" * 9000))
    put(caller, 1, "x" * 900)
    first = caller.call("UserPromptSubmit", prompt="go on")
    assert HOOKS.check_output("UserPromptSubmit", first.out) == []
    assert first.context == "g" * 9000
    assert len(caller.call("UserPromptSubmit", prompt="go on").context) < HOOKS.MAX_OUTPUT_CHARS


def test_of_many_hooks_at_once_one_gives_each(caller: Caller) -> None:
    for number in range(6):
        put(caller, number, f"- {number}")
    with ThreadPoolExecutor(6) as pool:
        calls = [pool.submit(caller.call, "UserPromptSubmit", prompt="go") for _ in range(6)]
    lines = [line for call in calls for line in call.result().context.split("\n")[1:]]
    assert sorted(lines) == [f"- {number}" for number in range(6)]


def test_files_of_others_are_left_out(caller: Caller) -> None:
    put(caller, 2, "- second")
    folder = Path(caller.session_dir.path, "messages")
    (folder / "00-odd").write_bytes(b"\xff\xfe no header")
    (folder / "01-huge").write_bytes(b"holdfast 1 message 2000 m9\n" + b"x" * 100_000)
    assert caller.call("UserPromptSubmit", prompt="go").context == f"{HEADING}\n- second"


def test_a_prompt_with_messages_waiting_takes_the_fast_path(caller: Caller) -> None:
    put(caller, 1, "- first")
    found = imports_of(caller, "UserPromptSubmit", prompt="go on")
    assert "holdfast.fastpath.inbox" in found
    assert found - FAST_MODULES == set()


def test_connected_a_prompt_imports_what_starts_a_sync_and_no_more(caller: Caller) -> None:
    save_connection(str(caller.data), ServerConnection("http://127.0.0.1:9"))
    found = imports_of(caller, "UserPromptSubmit", prompt="go on")
    assert found - FAST_MODULES == {"holdfast.hooks.spawn_sync", "holdfast.hooks.detach"}
    # Its pause is not over: nothing is started.
    found = imports_of(caller, "UserPromptSubmit", prompt="go on")
    assert found - FAST_MODULES == {"holdfast.hooks.spawn_sync"}


def test_hooks_answer_the_same_with_a_dead_service(caller: Caller, tmp_path: Path) -> None:
    answers = []
    for connected in (False, True):
        one = Caller(tmp_path / str(connected), env=dict(caller.env))
        one.root.mkdir()
        one.begin()
        if connected:
            save_connection(str(one.data), ServerConnection("http://127.0.0.1:9", "hf_a_b"))
        told = []
        for event in ("UserPromptSubmit", "PostToolBatch", "Stop", "PreCompact", "PostCompact"):
            ran = one.call(event, prompt="go on", trigger="manual", compact_summary="so far")
            told.append((ran.code, ran.err, ran.out.replace(str(one.root), "")))
        answers.append(told)
    assert answers[0] == answers[1]
    assert any(out for _, _, out in answers[0])


def test_a_service_file_that_others_could_write_does_not_count(tmp_path: Path) -> None:
    data = str(tmp_path)
    path = save_connection(data, ServerConnection("https://holdfast.example", "hf_a_b"))
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert load_connection(data) == ServerConnection("https://holdfast.example", "hf_a_b")
    os.chmod(path, 0o644)
    with pytest.raises(UnsafeConnectionFile):
        load_connection(data)
    os.remove(path)
    os.symlink("/etc/hostname", path)
    with pytest.raises(UnsafeConnectionFile):
        load_connection(data)


def test_the_environment_sends_a_users_memory_nowhere(caller: Caller) -> None:
    """A project's settings can set it."""
    caller.env["HOLDFAST_SERVICE"] = "http://127.0.0.1:9"
    caller.begin()
    caller.call("Stop")
    assert not (caller.data / NEXT_SYNC_FILE).exists()
    assert not (caller.data / "outbox.db").exists()


def test_a_pause_that_a_wrong_clock_set_is_not_kept(tmp_path: Path) -> None:
    data, now = str(tmp_path), 1_000_000.0
    assert spawn_sync._is_due(data, now) is True
    assert spawn_sync._is_due(data, now + 1) is False
    assert spawn_sync._is_due(data, now + 5) is True
    os.utime(tmp_path / NEXT_SYNC_FILE, (now + 10**7, now + 10**7))
    assert spawn_sync._is_due(data, now) is True


def test_what_another_hook_is_still_reading_is_waited_for(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, slept = str(caller.data), []
    spawn_sync.wait_for_other_hook(data, caller.session_id)
    caller.session_dir.begin_work(time.time())

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            caller.session_dir.end_work()

    monkeypatch.setattr(time, "sleep", sleep)
    spawn_sync.wait_for_other_hook(data, caller.session_id)
    assert len(slept) == 3
    # A mark that a killed hook left behind holds nobody up.
    caller.session_dir.begin_work(time.time())
    os.utime(f"{caller.session_dir.path}/working", (1, 1))
    spawn_sync.wait_for_other_hook(data, caller.session_id)
    assert len(slept) == 3


def test_a_connected_hook_lets_the_client_go_before_it_carries(caller: Caller) -> None:
    """Its pipes are closed while a service that never answers is waited for."""
    import socket

    caller.begin()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        save_connection(str(caller.data), ServerConnection(url))
        stdin = json.dumps(caller.payload("Stop")).encode()
        done = subprocess.run(
            [sys.executable, *hook_launcher.build_arguments(str(SCRIPT), "Stop")],
            input=stdin,
            capture_output=True,
            env=caller.environment(),
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        line, _ = silent.accept()
        with line:
            asked = line.recv(65_536)
    assert asked.startswith(b"GET /api/me ")
