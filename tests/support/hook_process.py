"""A hook run as the client runs it: a process, a payload on stdin, what it printed and left."""

import contextlib
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import holdfast
from holdfast.fastpath.pending_texts import TOLD_FILE, PrebuiltText
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import list_names
from holdfast.install import launcher as hook_launcher
from support.demonstration import SESSION_FILE

SCRIPT = Path(holdfast.__file__).with_name("hooks") / "main.py"
SESSION = "0c5f2a4e-1111-4222-8333-444455556666"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def context(self) -> str:
        """What reaches the model, "" when nothing does."""
        return self.specific.get("additionalContext", "") if self.out else ""

    @property
    def specific(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.out)["hookSpecificOutput"]
        return found


@dataclass
class Caller:
    """One session of a made-up client in `root`."""

    root: Path
    session_id: str = SESSION
    env: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def transcript(self) -> Path:
        return self.root / "session.jsonl"

    @property
    def session_dir(self) -> SessionDir:
        return SessionDir(str(self.data), self.session_id)

    def begin(self, rows: int | None = None) -> None:
        """A transcript: the recorded sample, or its first rows."""
        lines = Path(SESSION_FILE).read_bytes().splitlines(keepends=True)
        self.transcript.write_bytes(b"".join(lines[:rows]))

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "transcript_path": str(self.transcript),
            "cwd": str(self.root),
            "hook_event_name": event.rpartition(":")[2],
            **fields,
        }

    def call(self, event: str, **fields: Any) -> Ran:
        return self.feed(event, json.dumps(self.payload(event, **fields)).encode())

    def feed(self, event: str, stdin: bytes) -> Ran:
        words = [sys.executable, *hook_launcher.build_arguments(str(SCRIPT), event)]
        done = subprocess.run(words, input=stdin, env=self.environment(), capture_output=True)
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def wait_for_brief(self) -> PrebuiltText:
        """The brief of all that the transcript holds: PreCompact's is made behind its back."""
        until = time.monotonic() + 30
        size = self.transcript.stat().st_size
        while time.monotonic() < until:
            made = self.session_dir.read_brief()
            if made is not None and made.offset == size:
                return made
            time.sleep(0.01)
        raise AssertionError("no brief was prepared")

    def kill_while_printing(self, event: str, **fields: Any) -> None:
        """Killed when its answer is made and nobody has read it: its pipe is full."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writing, b"x" * 4096)
        os.set_blocking(writing, True)
        words = [sys.executable, *hook_launcher.build_arguments(str(SCRIPT), event)]
        hook = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=writing, env=self.environment()
        )
        assert hook.stdin is not None
        hook.stdin.write(json.dumps(self.payload(event, **fields)).encode())
        hook.stdin.close()
        deadline = time.monotonic() + 20
        while not self.claims(hook.pid):
            assert time.monotonic() < deadline
            assert hook.poll() is None
            time.sleep(0.01)
        hook.kill()
        hook.wait()
        os.close(reading)
        os.close(writing)

    def claims(self, process: int) -> list[str]:
        """Texts and statements that this process is about to print."""
        names = [n for n in list_names(self.session_dir.path) if n.endswith(f".{process}")]
        told = Path(self.session_dir.path, TOLD_FILE)
        lines = told.read_text().splitlines() if told.exists() else []
        return [*names, *(line for line in lines if line.endswith(f" {process}"))]

    def environment(self) -> dict[str, str]:
        return {"PATH": os.defpath, "HOLDFAST_HOME": str(self.data), **self.env}

    def log(self) -> str:
        path = self.data / "holdfast.log"
        return path.read_text() if path.exists() else ""


def wait_for(path: Path, seconds: float = 60) -> None:
    """A file that is written behind the client's back."""
    until = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} was not written"
        time.sleep(0.02)
