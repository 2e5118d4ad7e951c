"""Writing a session down: each message once, without secrets, for the user alone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from holdfast.clients.opencode.hooks import read_hooks
from holdfast.clients.opencode.session_file import append_rows
from holdfast.paths import PATTERNS_FILE
from holdfast.session import git_query
from support.hook_process import Caller, wait_for

SECRET = "ghp_" + "q7Rw2Lk9Zt4Xv8Nb3Mc6Yd1Hs5Jf0PgAe7U"


def row(number: int, text: str = "words") -> dict[str, Any]:
    info = {"role": "user", "time": {"created": 1_794_967_592_000 + number}}
    parts = [{"type": "text", "text": text}]
    return {"type": "message", "row": f"msg_{number}", "info": info, "parts": parts}


def write(path: Path, *rows: Any, fresh: bool = False, data: str = "/none") -> int:
    call = {"session_id": "ses_1", "cwd": "/shop", "version": "1", "rows": list(rows)}
    return append_rows(str(path), {**call, "is_fresh": fresh}, data)


def read_ids(path: Path) -> list[str]:
    return [json.loads(line)["row"] for line in path.read_text().splitlines()]


def test_rows_that_are_there_are_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "s" / "opencode.jsonl"
    assert write(path, row(1), row(2)) == 2
    assert write(path, row(1), row(2), row(3), fresh=True) == 1
    assert read_ids(path) == ["ses_1", "msg_1", "msg_2", "msg_3"]
    assert write(path, fresh=True) == 0


def test_what_is_no_row_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "opencode.jsonl"
    assert write(path, None, 5, {}, {"row": 7}, row(1, "half a pair: \ud83d")) == 1
    assert read_ids(path) == ["ses_1", "msg_1"]


def test_no_secret_is_written_and_the_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "s" / "opencode.jsonl"
    own = tmp_path / PATTERNS_FILE
    own.write_text(json.dumps({"mine": "hush-[0-9]+"}))
    write(path, row(1, f"The token is {SECRET}; hush-42."), data=str(tmp_path))
    assert SECRET not in path.read_text()
    assert "hush-42" not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_line_that_was_cut_short_does_not_take_the_next_with_it(tmp_path: Path) -> None:
    path = tmp_path / "opencode.jsonl"
    write(path, row(1))
    with path.open("a") as file:
        file.write('{"row":"msg_2","type":"mess')
    write(path, row(3))
    assert path.read_text().splitlines()[-1].startswith('{"row":"msg_3"')


def test_the_plugin_is_told_at_once_that_rows_are_kept(tmp_path: Path) -> None:
    caller = Caller(tmp_path, session_id="ses_1")
    more = {"version": "1.18", "hooks": ["event", "chat.message"], "is_fresh": True}
    ended = caller.call("opencode:UserPromptSubmit", rows=[row(1)], **more)
    assert (ended.code, ended.out, ended.err) == (0, '{"kept":1}\n', "")
    told = read_hooks(str(caller.data), "opencode")
    assert told == ("1.18", frozenset(("event", "chat.message")))
    assert read_ids(caller.data / "sessions" / "ses_1" / "opencode.jsonl") == ["ses_1", "msg_1"]


def test_a_brief_stands_until_the_next_compaction_whoever_asks(tmp_path: Path) -> None:
    caller = Caller(tmp_path, session_id="ses_1")
    said = row(1, "Port 8123 stays. Never use floats for money.")

    def ask(*rows: dict[str, Any], summary: str) -> str:
        more = {"source": "request", "prompt_id": summary}
        ended = caller.call("opencode:SessionStart", rows=list(rows), is_fresh=True, **more)
        lines = ended.out.splitlines()
        return str(json.loads(lines[1])["text"]) if len(lines) > 1 else ""

    first = ask(said, *compaction(2), summary="msg_3")
    assert "Never use floats" in first
    assert ask(row(4, "Port 9000 is new."), summary="msg_3") == first
    second = ask(*compaction(5), summary="msg_6")
    assert "9000" in second
    assert ask(summary="msg_6") == second
    assert not (caller.data / "holdfast.log").exists()


def compaction(number: int) -> list[dict[str, Any]]:
    asked, answered = row(number), row(number + 1, "In short.")
    asked["parts"] = [{"type": "compaction", "auto": True}]
    answered["info"] |= {"role": "assistant", "summary": True, "finish": "stop"}
    return [asked, answered]


def test_git_is_in_the_brief(tmp_path: Path) -> None:
    """Asked by the hook at the end of a turn, which nobody waits for."""
    subprocess.run(["git", "init", "-q", "-b", "topic/tills"], cwd=tmp_path, check=True)
    caller = Caller(tmp_path, session_id="ses_1")
    caller.call("opencode:Stop", rows=[row(1, "Build the till.")], is_fresh=True)
    wait_for(Path(caller.session_dir.path) / git_query.FILE)
    ended = caller.call("opencode:SessionStart", source="request", prompt_id="msg_9")
    assert "topic/tills" in json.loads(ended.out.splitlines()[-1])["text"]
