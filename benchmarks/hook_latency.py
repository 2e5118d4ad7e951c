"""How long the hooks that hold up the agent take, against an interpreter that does nothing.

Ratios to `python -I -S -c pass` in the same run, the two taken in turns, the best of each: other
work on the machine only ever adds to a time. PreCompact is measured twice, behind a short
and a long history, because its cost must follow the new rows and not the file.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import holdfast
from holdfast.fastpath.guards import Guard
from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.fastpath.session_dir import GUARDS_FILE, INDEX_FILE, SessionDir
from holdfast.install import launcher as hook_launcher
from holdfast.samples import SESSION_FILE
from holdfast.session.cues import Passage, encode_index

ROUNDS = 40
HEAVY_ROUNDS = 15
STOP_ROUNDS = 20
MEGABYTE = 1_000_000
NEW_ROWS = MEGABYTE
TURN_BYTES = 20_000
# Passages of an index: of about 1 MB of history, and of 200 MB and more, where it is bounded.
RECALLED = (("behind 1 MB", 300), ("behind 200 MB", 12_000))
HISTORIES = (MEGABYTE, 100 * MEGABYTE)

SCRIPT = Path(holdfast.__file__).with_name("hooks") / "main.py"
INTERPRETER = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
IDLE_COMMAND = [INTERPRETER, "-I", "-S", "-c", "pass"]


class Row(NamedTuple):
    what: str
    ratio: float  # to the interpreter that does nothing
    milliseconds: float
    limit: float  # what the ratio may be at most
    runs: int


class HookSandbox(NamedTuple):
    """A home of its own, with one session in it."""

    home: Path
    session_id: str
    transcript: Path

    @property
    def data(self) -> str:
        return str(self.home / "holdfast")

    def call(self, event: str, **fields: object) -> float:
        return _timed(*self.compose_call(event, **fields), self.data)

    def compose_call(self, event: str, **fields: object) -> tuple[list[str], bytes]:
        """The words of a hook's command, and what the client writes to it."""
        payload = {
            "session_id": self.session_id,
            "transcript_path": str(self.transcript),
            "cwd": str(self.home),
            "hook_event_name": event.rpartition(":")[2],
            **fields,
        }
        words = [hook_launcher.launcher_path(str(self.home)), event]
        written = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
        return words, written.encode()


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            _prompt(Path(folder) / "prompt"),
            *_recalled(Path(folder) / "recall"),
            _after_compaction(Path(folder) / "brief"),
            _summary_written(Path(folder) / "summary"),
            _codex_start(Path(folder) / "codex-start"),
            _codex_tool(Path(folder) / "codex-tool"),
            _opencode_prompt(Path(folder) / "opencode-prompt"),
            _opencode_request(Path(folder) / "opencode-request"),
            _gemini_request(Path(folder) / "gemini-request"),
            _gemini_request_after(Path(folder) / "gemini-request-after"),
            _gemini_restore(Path(folder) / "gemini-restore"),
            _gemini_tool(Path(folder) / "gemini-tool"),
        ]
        for history in HISTORIES:
            rows.append(_before_compaction(Path(folder) / str(history), history))
            (Path(folder) / str(history) / "session.jsonl").unlink()
        return rows


def _prompt(home: Path) -> Row:
    place = make_sandbox(home)
    asked = "Please go on with the cart, keep the totals right, and run all the tests again."

    def once() -> float:
        return place.call("UserPromptSubmit", prompt=asked)

    return _measured("UserPromptSubmit, nothing pending", once, 2.0, ROUNDS)


def _recalled(home: Path) -> Iterator[Row]:
    """With the index of a short history and of the longest that one is made of."""
    asked = "Which port does the staging database of the cart listen on, and who looks after it?"
    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(home / "db/legacy/a.sql")}}
    for name, passages in RECALLED:
        place = make_sandbox(home.with_name(f"recall {name}"))
        folder = SessionDir(place.data, place.session_id)
        said = [
            Passage("user" if n % 3 else "agent", f"Step {n}: {_words(n)} of module_{n % 997}.py.")
            for n in range(passages)
        ]
        folder.write(INDEX_FILE, encode_index(said, built="1:all"))
        rules = [Guard("leave", f"vendor/lib{n}", f"r{n}", "Do not touch it.") for n in range(20)]
        guards = "\n".join(["remind 1 0", *(rule.encode() for rule in rules)])
        folder.write(GUARDS_FILE, guards.encode())

        def prompt(place: HookSandbox = place, folder: SessionDir = folder) -> float:
            folder.pending.forget_told()
            return place.call("UserPromptSubmit", prompt=asked)

        def call(place: HookSandbox = place) -> float:
            return place.call("PreToolUse", **edit)

        yield _measured(f"UserPromptSubmit that recalls, {name}", prompt, 2.2, ROUNDS)
        yield _measured(f"PreToolUse of an edit, {name}", call, 2.2, ROUNDS)


def _words(number: int) -> str:
    """Of a vocabulary as large as a session's; one passage in forty speaks of what is asked."""
    asked = "port staging database cart listens owner".split()
    told = [f"word{number * step % 2_999}" for step in (1, 3, 7, 11, 13, 17, 19, 23)]
    return " ".join([*told, *(asked if number % 40 == 0 else asked[number % 6 :][:1])])


def _after_compaction(home: Path) -> Row:
    place = make_sandbox(home)
    place.transcript.write_bytes(Path(SESSION_FILE).read_bytes())
    session_dir = SessionDir(place.data, place.session_id)
    size = place.transcript.stat().st_size
    text = "Holdfast: the state of this session. " + "Words of a brief. " * 330
    epochs = iter(range(10_000))

    def once() -> float:
        # A new epoch each time: a brief is delivered once.
        session_dir.write_brief(
            PrebuiltText(next(epochs), 0, size, "2026-01-01T00:00:00Z", "q1", text)
        )
        return place.call("SessionStart", source="compact")

    return _measured("SessionStart(compact), brief prepared", once, 3.0, ROUNDS)


def _summary_written(home: Path) -> Row:
    """The summariser has ended: the brief is chosen against its summary."""
    place = make_sandbox(home)
    rows = _rows(place.session_id)
    with place.transcript.open("wb") as transcript:
        _grow(transcript.write, rows, MEGABYTE)
    _known_up_to_now(place)
    place.call("PreCompact", trigger="auto")
    _settled(place)
    summary = "The shop gets a percentage discount; the server test is red. " * 200

    def once() -> float:
        return place.call(
            "SubagentStop", agent_id="compact", agent_type="", last_assistant_message=summary
        )

    return _measured("SubagentStop of a compaction, 12,000 characters", once, 15.0, HEAVY_ROUNDS)


def _codex_start(home: Path) -> Row:
    """After a compaction of Codex: the brief is chosen against the row that tells of it."""
    place = _rollout_place(home)
    with place.transcript.open("wb") as rollout:
        _grow_rollout(rollout.write, place, MEGABYTE)
    place.call("codex:Stop")
    deadline = time.monotonic() + 60
    while read_offset(place) < place.transcript.stat().st_size:  # by a process of its own
        assert time.monotonic() < deadline, "the rollout is not being read"
        time.sleep(0.05)
    numbers = itertools.count()

    def once() -> float:
        with place.transcript.open("ab") as rollout:
            rollout.write(_compacted_row(next(numbers)))
        took = place.call("codex:PostCompact", trigger="auto")
        took += place.call("codex:SessionStart", source="compact")
        assert len(list(Path(place.data).rglob("delivered.*"))) == 1, "no brief was handed over"
        for latch in Path(place.data).rglob("delivered.*"):
            latch.unlink()
        return took

    return _measured("Codex: PostCompact and SessionStart(compact)", once, 30.0, HEAVY_ROUNDS)


def _codex_tool(home: Path) -> Row:
    """The agent waits for it, and the reading of a turn of ten commands goes on beside it."""
    place = _rollout_place(home)
    with place.transcript.open("wb") as rollout:
        _grow_rollout(rollout.write, place, MEGABYTE)

    def once() -> float:
        with place.transcript.open("ab") as rollout:
            _grow_rollout(rollout.write, place, TURN_BYTES)
        return place.call("codex:PostToolUse", tool_name="shell", tool_input={})

    return _measured("Codex: PostToolUse, its work detached", once, 3.0, ROUNDS)


def _opencode_prompt(home: Path) -> Row:
    """A prompt of OpenCode's, which is written down before it is answered."""
    place = _opencode_place(home)
    numbers = itertools.count(10_000)

    def once() -> float:
        said = [{"type": "text", "text": "Please go on with the cart."}]
        return place.call("opencode:UserPromptSubmit", rows=[_opencode_row(next(numbers), said)])

    return _measured("OpenCode: a prompt", once, 8.0, ROUNDS)


def _opencode_request(home: Path) -> Row:
    """The first request after a compaction of OpenCode's: the brief is chosen and kept."""
    place = _opencode_place(home)
    numbers = itertools.count(10_000, 2)

    def once() -> float:
        number = next(numbers)
        rows = [
            _opencode_row(number, [{"type": "compaction", "auto": True}]),
            _opencode_row(
                number + 1, [{"type": "text", "text": "The shop."}], "assistant", summary=True
            ),
        ]
        more = {"source": "request", "prompt_id": rows[1]["row"]}
        took = place.call("opencode:SessionStart", rows=rows, **more)
        kept = Path(SessionDir(place.data, place.session_id).path, "standing").read_text()
        assert kept.startswith(f"{rows[1]['row']}\nHoldfast: "), "no brief was made"
        return took

    return _measured("OpenCode: the first request after a compaction", once, 30.0, HEAVY_ROUNDS)


def _opencode_place(home: Path) -> HookSandbox:
    """A session of 300 turns, read."""
    place = make_sandbox(home)
    rows = []
    for number in range(0, 600, 2):
        asked = {"type": "text", "text": f"Build part {number} on port {8000 + number}."}
        state = {
            "status": "completed",
            "input": {"command": f"pytest tests/test_{number}.py"},
            "output": "ok " * 800,
            "metadata": {"exit": 0},
        }
        done = {"type": "tool", "tool": "bash", "callID": "call", "state": state}
        rows += [_opencode_row(number, [asked]), _opencode_row(number + 1, [done], "assistant")]
    place.call("opencode:Stop", rows=rows)
    return place


def _opencode_row(
    number: int, parts: list[dict[str, Any]], role: str = "user", **info: Any
) -> dict[str, Any]:
    id_, time = f"msg_{number:06d}", 1_794_000_000_000 + number * 1000
    about = {"id": id_, "role": role, "time": {"created": time, "completed": time}, **info}
    return {"type": "message", "row": id_, "info": about, "parts": parts}


def _gemini_request(home: Path) -> Row:
    """Before every request of Gemini CLI, with the whole conversation on stdin."""
    place = _chat_place(home)
    request = _request(MEGABYTE, "")

    def once() -> float:
        return place.call("gemini:BeforeModel", llm_request=request)

    return _measured("Gemini CLI: BeforeModel, 1 MB, no summary", once, 2.5, ROUNDS)


def _gemini_request_after(home: Path) -> Row:
    """The same once a compression was restored, and its brief is kept by the client."""
    place = _chat_place(home)
    request = _request(MEGABYTE, _SNAPSHOT)
    _compress(place, 0)
    place.call("gemini:BeforeModel", llm_request=request)
    assert list(Path(place.data).rglob("request-brief")), "no brief was handed over"
    for kept in Path(place.data).rglob("request-brief"):
        kept.unlink()

    def once() -> float:
        return place.call("gemini:BeforeModel", llm_request=request)

    return _measured("Gemini CLI: BeforeModel, 1 MB, told before", once, 2.5, ROUNDS)


def _gemini_restore(home: Path) -> Row:
    """The first request after a compression: the brief is chosen against what stands in it."""
    place = _chat_place(home)
    place.call("gemini:BeforeAgent")
    numbers = itertools.count()

    def once() -> float:
        number = next(numbers)
        _compress(place, number)
        took = place.call(
            "gemini:BeforeModel", llm_request=_request(MEGABYTE, f"{_SNAPSHOT} {number}")
        )
        assert len(list(Path(place.data).rglob("delivered.*"))) == 1, "no brief was handed over"
        for latch in Path(place.data).rglob("delivered.*"):
            latch.unlink()
        return took

    return _measured("Gemini CLI: BeforeModel, 1 MB, compressed", once, 40.0, HEAVY_ROUNDS)


def _gemini_tool(home: Path) -> Row:
    """The agent waits for it, and the reading goes on beside it."""
    place = _chat_place(home)

    def once() -> float:
        return place.call("gemini:AfterTool", tool_name="read_file", tool_input={})

    return _measured("Gemini CLI: AfterTool, its work detached", once, 3.0, ROUNDS)


_SNAPSHOT = "<state_snapshot>Working on the cart; the rest is next.</state_snapshot>"
_ACKNOWLEDGED = "Got it. Thanks for the additional context!"


def _chat_place(home: Path) -> HookSandbox:
    """A session of 1 MB: prompts, then commands with their output."""
    place = make_sandbox(home)
    name = f"session-2026-01-01T00-00-{place.session_id[:8]}.jsonl"
    place = place._replace(transcript=home / name)
    with place.transcript.open("wb") as chat:
        chat.write(_line({"sessionId": place.session_id, "projectHash": "0", "kind": "main"}))
        size = MEGABYTE
        while size > 0:
            number = uuid.uuid4().hex[:8]
            content = [{"text": f"Keep the total of order {number} right."}]
            size -= chat.write(_line(_message(f"u{number}", "user", content)))
            call = {
                "id": f"run__{number}",
                "name": "run_shell_command",
                "args": {"command": f"cat src/cart_{number}.py"},
                "status": "success",
                "result": [{"functionResponse": {"response": {"output": _OUTPUT * 30}}}],
            }
            row = {**_message(f"g{number}", "gemini", "I look."), "toolCalls": [call]}
            size -= chat.write(_line(row))
    return place


_OUTPUT = "Output: def total(items):\n    return sum(items)\n"


def _compress(place: HookSandbox, number: int) -> None:
    summary = _message(f"summary-{number}", "user", [{"text": f"{_SNAPSHOT} {number}"}])
    answer = _message(f"answer-{number}", "gemini", [{"text": _ACKNOWLEDGED}])
    with place.transcript.open("ab") as chat:
        chat.write(_line({"$set": {"messages": [summary, answer]}}))


def _request(size: int, summary: str) -> dict[str, object]:
    """What the client gives BeforeModel: texts alone."""
    opening = f"<session_context>\n- /shop\n</session_context>{summary}"
    messages = [{"role": "user", "content": opening}]
    if summary:
        messages.append({"role": "model", "content": _ACKNOWLEDGED})
    said = "The total of an order stays a Decimal; the tests say so. " * 20
    while size > 0:
        messages.append({"role": "user", "content": said})
        size -= len(said)
    return {"model": "gemini-2.5-pro", "messages": messages, "config": {"temperature": 1}}


def _message(id_: str, kind: str, content: object) -> dict[str, object]:
    return {"id": id_, "timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "content": content}


def _line(row: dict[str, object]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _rollout_place(home: Path) -> HookSandbox:
    place = make_sandbox(home)
    name = f"rollout-2026-01-01T00-00-00-{place.session_id}.jsonl"
    return place._replace(transcript=home / name)


def _grow_rollout(write: Callable[[bytes], int], place: HookSandbox, size: int) -> None:
    """Made-up rows in the form of 0.166: a prompt, then commands with their output."""
    if not place.transcript.stat().st_size:
        meta: dict[str, object] = {
            "id": place.session_id,
            "cwd": str(place.home),
            "cli_version": "0.166.0",
        }
        write(_rollout_row("session_meta", meta))
    while size > 0:
        number = uuid.uuid4().hex[:8]
        said: dict[str, object] = {"type": "UserMessage", "id": f"u{number}"}
        said["content"] = [{"type": "text", "text": f"Keep the total of order {number} right."}]
        size -= write(_rollout_row("event_msg", {"type": "item_completed", "item": said}))
        for part in range(10):
            ran = {
                "type": "CommandExecution",
                "id": f"call_{number}_{part}",
                "command": ["/bin/bash", "-lc", f"cat src/cart_{number}_{part}.py"],
                "aggregated_output": f"def total_{number}(items):\n    return sum(items)\n" * 30,
                "status": "completed",
                "exit_code": 0,
            }
            size -= write(_rollout_row("event_msg", {"type": "item_completed", "item": ran}))


def _compacted_row(number: int) -> bytes:
    message = f"Working on the cart, part {number}; the rest is next."
    return _rollout_row("compacted", {"message": message, "replacement_history": []})


def _rollout_row(kind: str, payload: dict[str, object]) -> bytes:
    row = {"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _before_compaction(home: Path, history: int) -> Row:
    place = make_sandbox(home)
    rows = _rows(place.session_id)
    with place.transcript.open("wb") as transcript:
        _grow(transcript.write, rows, history)
    _known_up_to_now(place)

    def once() -> float:
        with place.transcript.open("ab") as transcript:
            _grow(transcript.write, rows, NEW_ROWS)
        return place.call("PreCompact", trigger="auto")

    what = f"PreCompact, 1 MB of new rows behind {history // MEGABYTE} MB"
    return _measured(what, once, 12.0, HEAVY_ROUNDS, between=lambda: _settled(place))


def make_sandbox(home: Path) -> HookSandbox:
    home.mkdir()
    launcher = hook_launcher.build_launcher(str(home), INTERPRETER, str(SCRIPT))
    Path(launcher.path).write_bytes(hook_launcher.format_launcher(launcher.target))
    Path(launcher.path).chmod(0o700)
    return HookSandbox(home, str(uuid.uuid4()), home / "session.jsonl")


def _known_up_to_now(place: HookSandbox) -> None:
    """As in a session that Holdfast has followed: the background hooks have read it all."""
    for _ in range(STOP_ROUNDS):
        place.call("Stop")  # reads for less than a minute, and goes on the next time
        if read_offset(place) == place.transcript.stat().st_size:
            return
    raise AssertionError("the history is not being read")


def _settled(place: HookSandbox) -> None:
    """Let the detached part of PreCompact, which archives, come to its end."""
    deadline = time.monotonic() + 60
    from holdfast.store.sqlite.store import SqliteStore

    while time.monotonic() < deadline:
        store = SqliteStore(f"{place.data}/holdfast.db")
        kept = store.archived_until(place.session_id, 0)
        store.close()
        if kept >= place.transcript.stat().st_size:
            return
        time.sleep(0.05)


def read_offset(place: HookSandbox) -> int:
    known = SessionDir(place.data, place.session_id).read_known()
    return known.offset if known else 0


def _rows(session_id: str) -> Iterator[bytes]:
    """Real rows of the sample, again and again: each time later, and with ids of their own.

    Rows that only looked like new ones would be recognised as repetitions and cost nothing.
    """
    sample = [json.loads(line) for line in Path(SESSION_FILE).read_bytes().splitlines()]
    sample = [row for row in sample if "uuid" in row and row.get("subtype") != "compact_boundary"]
    first = next(index for index, row in enumerate(sample) if not row.get("parentUuid"))
    last = "null"
    for number in itertools.count():
        for index, row in enumerate(sample):
            text = json.dumps({**row, "sessionId": ""}, separators=(",", ":"))
            text = _IDS.sub(lambda found: f"{found[1]}{found[2]}{number:08x}", text)  # noqa: B023
            text = _TIME.sub(lambda found: _later(found[0], number), text)  # noqa: B023
            if index == first:
                text = text.replace('"parentUuid":null', f'"parentUuid":{last}')
            yield text.replace('"sessionId":""', f'"sessionId":"{session_id}"').encode() + b"\n"
        last = json.dumps(json.loads(text)["uuid"])


# Rows, tool calls and answers: the last eight digits become the number of the copy.
_IDS = re.compile(
    r"((?:toolu_|msg_|req_)[0-9a-f]{16}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-)"
    r"(|[0-9a-f]{4})[0-9a-f]{8}\b"
)
_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ")


def _later(time_text: str, minutes: int) -> str:
    moment = datetime.fromisoformat(time_text) + timedelta(minutes=minutes)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + time_text[-4:]


def _grow(write: Callable[[bytes], int], rows: Iterator[bytes], size: int) -> None:
    while size > 0:
        size -= write(next(rows))


def _measured(
    what: str,
    once: Callable[[], float],
    limit: float,
    rounds: int,
    between: Callable[[], None] = lambda: None,
) -> Row:
    once()  # byte code and file caches are warm, as in any session past its first minute
    between()
    ours, nothing = [], []
    for _ in range(rounds):
        nothing.append(_timed(IDLE_COMMAND, b"", ""))
        ours.append(once())
        between()
    return Row(what, min(ours) / min(nothing), min(ours) * 1000, limit, rounds)


def _timed(words: list[str], stdin: bytes, data: str) -> float:
    environment = {"PATH": os.defpath, "HOLDFAST_HOME": data}
    start = time.perf_counter()
    done = subprocess.run(words, input=stdin, env=environment, capture_output=True, check=True)
    took = time.perf_counter() - start
    assert not done.stderr, done.stderr
    return took
