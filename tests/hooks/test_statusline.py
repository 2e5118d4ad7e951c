"""The status line, run as the client runs it: a shell, a payload on stdin, one line back."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.install.hook_edit import build_command
from holdfast.install.launcher import Launcher, build_launcher, format_launcher
from support.hook_process import SCRIPT, Caller

MODEL = {"id": "claude-sonnet-4-5-20250929", "display_name": "Sonnet"}


def payload(caller: Caller, **more: Any) -> dict[str, Any]:
    return {
        "session_id": caller.session_id,
        "cwd": str(caller.root),
        "model": MODEL,
        "workspace": {"current_dir": str(caller.root), "project_dir": str(caller.root)},
        **more,
    }


def context(used: int | None, size: int = 200_000) -> dict[str, Any]:
    parts = {
        "input_tokens": 1_000,
        "output_tokens": 5,
        "cache_creation_input_tokens": 2_000,
        "cache_read_input_tokens": (used or 0) - 3_000,
    }
    usage = parts if used is not None else None
    return {"context_window": {"context_window_size": size, "current_usage": usage}}


def write_launcher(caller: Caller, script: str) -> Launcher:
    launcher = build_launcher(str(caller.data), sys.executable, script)
    caller.data.mkdir(exist_ok=True)
    Path(launcher.path).write_bytes(format_launcher(launcher.target))
    os.chmod(launcher.path, 0o700)
    return launcher


def run(caller: Caller, stdin: bytes | dict[str, Any], wrapped: str = "") -> str:
    raw = json.dumps(stdin).encode() if isinstance(stdin, dict) else stdin
    command = build_command(write_launcher(caller, str(SCRIPT)), wrapped)
    ended = subprocess.run(
        ["/bin/sh", "-c", command], input=raw, env=caller.environment(), capture_output=True
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    return ended.stdout.decode()


@pytest.mark.parametrize(
    ("env", "usage", "shown"),
    [
        ({}, context(83_500), "50% left before compaction"),
        ({}, context(None), "100% left before compaction"),  # after /compact, until the next answer
        (
            {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"},
            context(60_300),
            "10% left before compaction",
        ),
        ({}, context(483_500, 1_000_000), "50% left before compaction"),
        ({"DISABLE_AUTO_COMPACT": "1"}, context(83_500), "50% left (compaction is off)"),
    ],
)
def test_what_is_left_counts_to_the_clients_own_point(
    caller: Caller, env: dict[str, str], usage: dict[str, Any], shown: str
) -> None:
    caller.env = env
    assert shown in run(caller, payload(caller, **usage))


def test_the_clients_settings_move_the_point(caller: Caller) -> None:
    folder = caller.root / ".claude"
    folder.mkdir()
    (folder / "settings.local.json").write_text('{"autoCompactWindow": 100000}')
    assert "10% left before compaction" in run(caller, payload(caller, **context(60_300)))


def test_it_says_when_state_was_saved_and_how_many_tasks_are_open(caller: Caller) -> None:
    assert run(caller, payload(caller)) == "100% left before compaction · nothing saved yet\n"
    caller.begin()
    caller.call("Stop")
    line = run(caller, payload(caller))
    assert "saved just now" in line
    assert line.endswith(("open task\n", "open tasks\n"))
    caller.session_dir.write("status", f"0 1000 2 {int(time.time()) - 7300}\n".encode())
    assert "saved 2h ago · 2 open tasks" in run(caller, payload(caller))
    caller.session_dir.write("status", f"2 1000 1 {int(time.time())} 14\n".encode())
    line = run(caller, payload(caller))
    assert "saved just now · compacted 2x, 14 facts restored · 1 open task" in line


def test_the_window_it_is_told_reaches_the_hooks(caller: Caller) -> None:
    run(caller, payload(caller, **context(1_000, 1_000_000)))
    assert Path(caller.session_dir.path, "window").read_text() == "1000000"


def test_the_users_own_line_comes_first_and_gets_the_payload(caller: Caller) -> None:
    own = 'read -r line; echo "mine: ${#line} it\'s"'
    stdin = payload(caller, **context(83_500))
    expected = (
        f"mine: {len(json.dumps(stdin))} it's · 50% left before compaction · nothing saved yet\n"
    )
    assert run(caller, stdin, own) == expected


def test_several_lines_of_the_users_stay_as_they_are(caller: Caller) -> None:
    line = run(caller, payload(caller), "printf 'one\\ntwo\\n'")
    assert line == "one\ntwo\n100% left before compaction · nothing saved yet\n"


@pytest.mark.parametrize("own", ["exit 3", "nosuchcommand", "sleep 0 >&2"])
def test_a_failing_line_of_the_users_leaves_ours(caller: Caller, own: str) -> None:
    assert run(caller, payload(caller), own) == "100% left before compaction · nothing saved yet\n"


@pytest.mark.parametrize("stdin", [b"", b"{", b"[]", b"null", b'{"session_id": 5}', b"\xff\xfe"])
def test_a_payload_that_is_none_gives_no_line_and_the_users_own(
    caller: Caller, stdin: bytes
) -> None:
    assert run(caller, stdin) == ""
    assert run(caller, stdin, "echo mine") == "mine\n"
    assert caller.log() == ""


def test_odd_figures_do_not_break_it(caller: Caller) -> None:
    for window in (7, None, {"context_window_size": "big", "current_usage": [1]}, {}):
        assert "% left" in run(caller, payload(caller, context_window=window, model=None))
    caller.session_dir.write("status", b"nonsense")
    assert "nothing saved yet" in run(caller, payload(caller))


def test_a_holdfast_that_is_gone_leaves_the_users_own_line(caller: Caller) -> None:
    launcher = write_launcher(caller, "/no/holdfast/hooks/main.py")
    command = build_command(launcher, "echo mine")
    for _ in range(2):
        ended = subprocess.run(["/bin/sh", "-c", command], input=b"{}", capture_output=True)
        assert ended.stdout == b"mine\n"
        Path(launcher.path).unlink(missing_ok=True)  # and with the data folder gone as well


def test_without_a_known_window_it_tells_tokens_and_no_percentage(caller: Caller) -> None:
    caller.session_dir.write("status", f"0 152000 0 {int(time.time())}\n".encode())
    assert run(caller, payload(caller, model={"id": "claude-opus-5-5"})).startswith(
        "context 152k tokens · "
    )


def test_where_a_hook_said_when_a_compaction_comes_next_to_nothing_is_imported(
    caller: Caller,
) -> None:
    caller.begin()
    caller.call("Stop")
    program = (
        "import sys; sys.path.insert(0, sys.argv.pop(1))\n"
        "from holdfast.hooks import statusline\n"
        "import os\n"
        "line = statusline.render_statusline(sys.stdin.buffer.read(), os.environ)\n"
        "print(line, *sorted(set(sys.modules) & {'re', 'typing', 'enum', 'json', 'collections'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(SCRIPT.parents[2])],
        input=json.dumps(payload(caller)).encode(),
        capture_output=True,
        env=caller.environment(),
        check=True,
    )
    line, _, imported = done.stdout.decode().partition("\n")
    assert "saved just now" in line
    assert imported.split() == []
