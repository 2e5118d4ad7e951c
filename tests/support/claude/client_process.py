"""The real Claude Code, run with an empty environment and a home of its own.

Owns the process: its environment, settings, arguments, output and end. Must not decide what
the model answers (that is the scripted API's) and never touches the caller's HOME.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any

from support.npm_client import newest, npm_program

from .model_api import ScriptedApi

Json = dict[str, Any]

PACKAGE = "@anthropic-ai/claude-code"
MODEL = "claude-sonnet-4-5"
TURN_SECONDS = 60.0  # a turn takes one or two; a loaded machine may need ten times that
EXIT_SECONDS = 20.0


class ClientFailed(AssertionError):
    """The client did not do its part; the message holds its last output and errors."""


def newest_client() -> Path:
    """The client inside the installed claude-agent-sdk wheel, unless npm's newest was asked for."""
    if asked := newest(PACKAGE, ""):
        return npm_program(PACKAGE, asked, "claude")
    return Path(str(resources.files("claude_agent_sdk") / "_bundled" / "claude"))


@dataclass(frozen=True)
class Turn:
    """The client's output lines up to and including one `result`."""

    events: list[Json]

    @property
    def result(self) -> Json:
        found = [event for event in self.events if event.get("type") == "result"]
        return found[-1] if found else {}

    @property
    def text(self) -> str:
        return str(self.result.get("result", ""))

    @property
    def session_id(self) -> str:
        named = [str(e["session_id"]) for e in self.events if e.get("session_id")]
        return named[-1] if named else ""

    @property
    def shown_to_the_user(self) -> list[str]:
        """What the client shows the user of our hooks' words."""
        told = [e for e in self.events if e.get("subtype") == "informational"]
        said = [str(event.get("content", "")) for event in told]
        return [line.partition(" says: ")[2] for line in said if "Holdfast" in line]

    @property
    def unsolicited(self) -> bool:
        """The client began this turn itself, e.g. because a background agent reported back."""
        return bool(self.result.get("origin"))

    @property
    def compactions(self) -> list[Json]:
        """The `compact_boundary` lines of this turn."""
        return [event for event in self.events if event.get("subtype") == "compact_boundary"]


@dataclass(frozen=True)
class Run(Turn):
    """A one-shot process: its output and how it ended."""

    exit_code: int = 0
    stderr: str = ""


@dataclass
class Client:
    """A place to run the client in: `root` gets `home/`, `project/`, `tmp/`, `debug.log`.

    `settings` go to the user's settings.json, `project_settings` to the project's. `env` is
    added to the empty environment. `binary` picks the client build (default: the newest).
    """

    root: Path
    api: ScriptedApi
    settings: Mapping[str, Any] | None = None
    project_settings: Mapping[str, Any] | None = None
    plugin_dirs: Sequence[Path] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    binary: Path | None = None
    model: str = MODEL
    extra_args: Sequence[str] = ()
    debug: bool = True  # clients before 2.1.19 do not know --debug-file
    command: Sequence[str] | None = None  # e.g. ["node", "cli.js"] for a client that is a script

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(parents=True, exist_ok=True)
        self.temporary.mkdir(parents=True, exist_ok=True)
        if self.settings is not None:
            self.write_settings(self.settings)
        if self.project_settings is not None:
            _write_json(self.project / ".claude" / "settings.json", self.project_settings)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def temporary(self) -> Path:
        """The client leaves files in its temporary folder; this one goes with the test's."""
        return self.root / "tmp"

    @property
    def config_dir(self) -> Path:
        return self.home / ".claude"

    @property
    def debug_file(self) -> Path:
        return self.root / "debug.log"

    @property
    def debug_log(self) -> str:
        return self.debug_file.read_text() if self.debug_file.exists() else ""

    def write_settings(self, settings: Mapping[str, Any]) -> Path:
        """Replace the user's settings.json, for the next process."""
        return _write_json(self.config_dir / "settings.json", settings)

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", os.defpath),
            "TMPDIR": str(self.temporary),
            "CLAUDE_CODE_TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "sk-ant-scripted",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",  # root may skip permissions inside a sandbox only
            # Deferred tools would need a search first; scripts name tools straight away.
            "ENABLE_TOOL_SEARCH": "false",
            "GIT_CONFIG_NOSYSTEM": "1",
            **self.env,
        }

    def arguments(self, *, resume: str | None, fork: bool, extra: Sequence[str]) -> list[str]:
        chosen = list(self.command) if self.command else [str(self.binary or newest_client())]
        chosen += ["-p", "--output-format", "stream-json", "--verbose", "--model", self.model]
        chosen.append("--dangerously-skip-permissions")
        if self.debug:
            chosen += ["--debug-file", str(self.debug_file)]
        for folder in self.plugin_dirs:
            chosen += ["--plugin-dir", str(folder)]
        if resume:
            chosen += ["--resume", resume]
        if fork:
            chosen.append("--fork-session")
        return [*chosen, *self.extra_args, *extra]

    def run(
        self,
        prompt: str,
        *,
        resume: str | None = None,
        fork: bool = False,
        extra: Sequence[str] = (),
        timeout: float = TURN_SECONDS,
    ) -> Run:
        """One process for one prompt."""
        process = self._start([*self.arguments(resume=resume, fork=fork, extra=extra), prompt])
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            _end(process)
            out, err = process.communicate()
            raise ClientFailed(f"no end after {timeout} s\n{out[-2000:]}\n{err[-2000:]}") from late
        return Run(_parse(out.splitlines()), process.returncode, err)

    def session(
        self, *, resume: str | None = None, fork: bool = False, extra: Sequence[str] = ()
    ) -> "LiveSession":
        """One process for many prompts; use as a context manager."""
        streaming = ["--input-format", "stream-json", *extra]
        return LiveSession(self._start(self.arguments(resume=resume, fork=fork, extra=streaming)))

    def transcript_path(self, session_id: str) -> Path:
        """Where this session's rows are; the folder name follows from the project's path."""
        found = sorted((self.config_dir / "projects").glob(f"*/{session_id}.jsonl"))
        if not found:
            raise ClientFailed(f"no transcript of session {session_id} under {self.config_dir}")
        return found[0]

    def rows(self, session_id: str) -> list[Json]:
        return _parse(self.transcript_path(session_id).read_text().splitlines())

    def subagent_transcripts(self, session_id: str) -> list[Path]:
        folder = self.transcript_path(session_id).with_suffix("") / "subagents"
        return sorted(folder.glob("agent-*.jsonl"))

    def _start(self, arguments: list[str]) -> "subprocess.Popen[str]":
        live = "--input-format" in arguments
        return subprocess.Popen(
            arguments,
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.PIPE if live else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # a Ctrl-C in the test run is not the client's
        )


def wait_until(condition: Callable[[], object], timeout: float = TURN_SECONDS) -> None:
    """Wait for something the client does beside its output, such as a background hook."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise ClientFailed(f"did not happen within {timeout} s")
        time.sleep(0.02)


class LiveSession:
    """A running client that takes user messages, `/compact` and `/clear` among them."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._lines: queue.Queue[Json | None] = queue.Queue()
        self._errors: list[str] = []
        self.events: list[Json] = []
        self.exit_code: int | None = None
        self._readers = [
            threading.Thread(target=self._read_output, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "LiveSession":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def stderr(self) -> str:
        return "".join(self._errors)

    @property
    def session_id(self) -> str:
        """The newest id: `/clear` gives a session a new one."""
        return Turn(self.events).session_id

    def send(self, words: str) -> None:
        message = {"role": "user", "content": words}
        line = {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": ""}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def switch_model(self, model: str) -> None:
        self._control(subtype="set_model", model=model)

    def set_mode(self, mode: str) -> None:
        self._control(subtype="set_permission_mode", mode=mode)

    def _control(self, **asked: str) -> None:
        """As a program on the Agent SDK asks for it."""
        line = {"type": "control_request", "request_id": f"{len(self.events)}", "request": asked}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def wait(self, timeout: float = TURN_SECONDS) -> Turn:
        """The output up to the next `result`."""
        turn: list[Json] = []
        deadline = time.monotonic() + timeout
        while True:
            try:
                event = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise ClientFailed(self._complaint(f"no result after {timeout} s", turn)) from None
            if event is None:
                raise ClientFailed(self._complaint("the client ended without a result", turn))
            turn.append(event)
            self.events.append(event)
            if event.get("type") == "result":
                return Turn(turn)

    def ask(self, words: str, timeout: float = TURN_SECONDS) -> Turn:
        """The turn that answers these words; turns the client began itself are passed over."""
        self.send(words)
        turn = self.wait(timeout)
        while turn.unsolicited:
            turn = self.wait(timeout)
        return turn

    def compact(self, instructions: str = "") -> Turn:
        """A manual compaction."""
        return self.ask(f"/compact {instructions}".rstrip())

    def close(self, timeout: float = EXIT_SECONDS) -> None:
        """Let the client end by itself (SessionEnd hooks run), or end it and its children."""
        if self.exit_code is not None:
            return
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # gone already: its exit code tells
            self._process.stdin.close()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            _end(self._process)
        self._finish()

    def kill(self) -> None:
        """End it at once, as a crash would: no SessionEnd."""
        _end(self._process)
        self._finish()

    def _finish(self) -> None:
        self.exit_code = self._process.wait()
        for reader in self._readers:
            reader.join(timeout=5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            for event in _parse([line]):
                self._lines.put(event)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        self._errors.extend(self._process.stderr)

    def _complaint(self, what: str, turn: list[Json]) -> str:
        seen = "\n".join(json.dumps(event)[:500] for event in turn[-5:])
        return f"{what}\nlast output:\n{seen}\nstderr:\n{self.stderr[-2000:]}"


def _end(process: "subprocess.Popen[str]") -> None:
    """End the client and all it started: its shell tool runs in a process group of its own."""
    for pid in [process.pid, *_descendants(process.pid)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    children: dict[int, list[int]] = {}
    for line in listing.stdout.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found = list(children.get(pid, []))
    for child in found:  # grows while it is walked
        found.extend(children.get(child, []))
    return found


def _parse(lines: Iterable[str]) -> list[Json]:
    return [json.loads(line) for line in lines if line.startswith("{")]


def _write_json(path: Path, value: Mapping[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")
    return path
