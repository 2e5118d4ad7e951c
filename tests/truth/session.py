"""A session whose commands really run, with the client's rows and the installed hooks.

Owns the working tree, the transcript and the calls of the installed hooks with the payloads that
the client sends them; keeps every text they printed for the agent or its summariser.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import holdfast
from holdfast.clock import format_timestamp
from holdfast.install.claude_code import INSTALLER
from holdfast.store.sqlite.store import SqliteStore

SCRIPT = Path(holdfast.__file__).parent / "hooks" / "main.py"
INTERPRETER = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
GIT_IDENTITY = "[user]\nname = T\nemail = t@example.org\n[init]\ndefaultBranch = main\n"
SUMMARY = "We went on with the work."
WORKED, FAILED = "worked", "failed"
STEERING, BRIEF, GAP, OFFER, HANDOFF = "steering", "brief", "gap", "offer", "handoff"


class Told(NamedTuple):
    where: str
    text: str


class Expected(NamedTuple):
    where: str  # "" for every text
    present: bool


class Session:
    """One client session in a working tree below `root`."""

    def __init__(self, root: Path, *, repository: bool = True) -> None:
        self.root = root
        self.home, self.cwd = root / "home", root / "shop"
        self.home.mkdir(parents=True)
        self.cwd.mkdir()
        (self.home / ".gitconfig").write_text(GIT_IDENTITY)
        self.bin = root / "bin"
        self.bin.mkdir()
        (self.bin / "pytest").symlink_to(Path(sys.executable).with_name("pytest"))
        if repository:
            self.outside("git init -q && echo one > base.py && git add -A && git commit -qm base")
        settings = root / "settings.json"
        INSTALLER.install(
            str(settings),
            data_dir=str(root / "install"),
            interpreter=INTERPRETER,
            script=str(SCRIPT),
        )
        self._wired = json.loads(settings.read_text())["hooks"]
        self.told: list[Told] = []
        self.expected: list[tuple[str, Expected]] = []
        self.really: dict[str, set[str]] = {}  # how commands ended, by a part of each
        self.first_head = self.outside("git rev-parse HEAD") if repository else ""
        self.begin()

    def so(self, *phrases: str, where: str = "") -> None:
        """It is true, and every text of the kind says it."""
        self.expected += [(phrase, Expected(where, True)) for phrase in phrases]

    def never(self, *phrases: str, where: str = "") -> None:
        """It is not true, and no text says it."""
        self.expected += [(phrase, Expected(where, False)) for phrase in phrases]

    def begin(self) -> None:
        """A new session in the same place."""
        self.id = str(uuid.uuid4())
        self.transcript = self.root / f"{self.id}.jsonl"
        self._rows = self._jobs = 0
        self._parent: str | None = None
        self._hook("SessionStart", OFFER, source="startup")

    # What happens in the session.

    def user(self, text: str, **data: Any) -> None:
        """A typed prompt; with `data`, a row of another making."""
        if not data:
            self._hook("UserPromptSubmit", GAP, prompt=text)
            data = {"promptSource": "sdk"}
        self._row(type="user", message={"role": "user", "content": text}, **data)

    def says(self, text: str) -> None:
        content = [{"type": "text", "text": text}]
        self._row(type="assistant", message={"id": self._name("msg"), "role": "assistant",
                                             "content": content})  # fmt: skip

    def sh(self, command: str, really: dict[str, str] | None = None) -> int:
        """The agent runs it, in a shell as the client starts it; `really`: how a part of it ended,
        where that is not the line's own status."""
        done = self._shell(command, self.cwd)
        for part, ended in (really or {command: FAILED if done.returncode else WORKED}).items():
            self.really.setdefault(part, set()).add(ended)
        output = (done.stdout + done.stderr).rstrip("\n")
        if done.returncode:
            output = f"Exit code {done.returncode}\n{output}"
            self.call("Bash", {"command": command}, output, f"Error: {output}", failed=True)
        else:
            result = {"stdout": done.stdout.rstrip("\n"), "stderr": done.stderr.rstrip("\n"),
                      "interrupted": False, "isImage": False}  # fmt: skip
            self.call("Bash", {"command": command}, output, result)
        return done.returncode

    def background(self, command: str) -> str:
        self._jobs += 1
        job = f"b{self._jobs}xk2q9"
        said = f"Command running in background with ID: {job}. Output is being written to: /tmp/x"
        asked = {"command": command, "run_in_background": True, "description": "a job"}
        result = {"stdout": "", "stderr": "", "interrupted": False, "backgroundTaskId": job}
        self.call("Bash", asked, said, result)
        return job

    def job_ends(self, job: str, code: int = 0) -> None:
        how = "completed" if not code else "failed"
        self.user(
            f"<task-notification>\n<task-id>{job}</task-id>\n<status>{how}</status>\n"
            f'<summary>Background command "a job" {how} (exit code {code})</summary>\n'
            "</task-notification>",
            promptSource="system", origin={"kind": "task-notification"},
        )  # fmt: skip

    def write(self, name: str, text: str) -> None:
        path = self.cwd / name
        new = not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        result = {"type": "create" if new else "update", "filePath": str(path), "content": text}
        self.call("Write", {"file_path": str(path), "content": text}, "done", result)

    def plan(self, text: str, answer: str) -> None:
        """The plan mode's tool, with what the client answers it."""
        approved = answer == "approved"
        said = {
            "approved": "User has approved your plan. You can now start coding.\n\n"
            f"## Approved Plan:\n{text}",
            "refused": "The user doesn't want to proceed with this tool use. The tool use was "
            "rejected (eg. if it was a file edit, the new_string was NOT written to the file).",
            "headless": "ExitPlanMode is disabled for this session",
        }[answer]
        result: Any = {"plan": text, "isAgent": False} if approved else f"Error: {said}"
        self.call("ExitPlanMode", {"plan": text}, said, result, failed=not approved)

    def task(self, number: int, subject: str) -> None:
        made = {"id": str(number), "subject": subject}
        said = f"Task #{number} created successfully: {subject}"
        self.call("TaskCreate", {"subject": subject, "description": subject}, said, {"task": made})

    def task_is(self, number: int, status: str) -> None:
        asked = {"taskId": str(number), "status": status}
        result = {"success": True, "taskId": str(number), "updatedFields": ["status"]}
        self.call("TaskUpdate", asked, f"Updated task #{number} status", result)

    def call(
        self, tool: str, asked: dict[str, Any], said: str, result: Any, *, failed: bool = False
    ) -> None:
        use = self._name("toolu_")
        block = {"type": "tool_use", "id": use, "name": tool, "input": asked}
        self._row(type="assistant", message={"id": self._name("msg"), "role": "assistant",
                                             "content": [block]})  # fmt: skip
        answer: dict[str, Any] = {"tool_use_id": use, "type": "tool_result", "content": said}
        answer |= {"is_error": True} if failed else {}
        message = {"role": "user", "content": [answer]}
        self._row(type="user", message=message, toolUseResult=result)

    # What happens beside the agent, and at the moments of the client.

    def outside(self, script: str, cwd: Path | None = None) -> str:
        """In another terminal, or as a look at what is so."""
        done = self._shell(script, cwd or self.cwd)
        assert not done.returncode, done.stderr
        return done.stdout.strip("\n")

    def compact(self, trigger: str = "auto", summary: str = SUMMARY) -> None:
        self._hook("Stop", "", stop_hook_active=False)
        self._hook("PreCompact", STEERING, trigger=trigger, custom_instructions="")
        self._hook("SubagentStop", "", agent_type="", last_assistant_message=summary)
        self._hook("SessionStart", BRIEF, source="compact")
        self._hook("PostCompact", "", trigger=trigger, compact_summary=summary)
        self._parent = None
        meta = {"trigger": trigger, "preTokens": 150_000, "postTokens": 9_000}
        self._row(type="system", subtype="compact_boundary", content="Conversation compacted",
                  compactMetadata=meta)  # fmt: skip
        frame = "This session is being continued from a previous conversation that ran out of"
        text = f"{frame} context. The summary below covers it.\n\nSummary:\n{summary}"
        self._row(type="user", isCompactSummary=True, message={"role": "user", "content": text})

    def end(self) -> None:
        self._hook("SessionEnd", "", reason="other")
        page = self.root / "data" / "sessions" / self.id / f"HANDOFF-{self.id}.md"
        until = time.monotonic() + 30  # it is written when the client was let go
        while not self._is_ended() and time.monotonic() < until:
            time.sleep(0.02)
        self.told.append(Told(HANDOFF, page.read_text()))

    def _is_ended(self) -> bool:
        with closing(SqliteStore(str(self.root / "data" / "holdfast.db"))) as store:
            session = store.session(self.id)
        return session is not None and bool(session.ended)

    def texts(self, where: str = "") -> list[str]:
        return [one.text for one in self.told if not where or one.where == where]

    def close(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    # How.

    def _shell(self, command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command], cwd=cwd, env=self.environment(), text=True,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=120,
        )  # fmt: skip

    def environment(self) -> dict[str, str]:
        path = f"{self.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        kept = {name: os.environ[name] for name in ("LANG", "PYENV_ROOT") if name in os.environ}
        return {
            **kept,
            "PATH": path,
            "HOME": str(self.home),
            "HOLDFAST_HOME": str(self.root / "data"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CARGO_NET_OFFLINE": "true",
            "npm_config_update_notifier": "false",
        }

    def _hook(self, event: str, where: str, **fields: Any) -> None:
        payload = {"session_id": self.id, "transcript_path": str(self.transcript),
                   "cwd": str(self.cwd), "hook_event_name": event, **fields}  # fmt: skip
        for group in self._wired.get(event, ()):
            for hook in group["hooks"]:
                done = subprocess.run(
                    [hook["command"], *hook["args"]], input=json.dumps(payload), text=True,
                    capture_output=True, env=self.environment(), cwd=self.cwd, timeout=60,
                )  # fmt: skip
                assert done.returncode == 0, done.stderr
                printed = done.stdout
                if printed.startswith("{"):
                    said = json.loads(printed).get("hookSpecificOutput", {})
                    printed = said.get("additionalContext", "")
                if printed and where:
                    self.told.append(Told(where, printed))

    def _name(self, kind: str) -> str:
        return f"{kind}{self.id[:8]}{self._rows}"

    def _row(self, **data: Any) -> None:
        self._rows += 1
        row = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": str(self.cwd),
            "sessionId": self.id,
            "version": "2.1.326",
            "uuid": str(uuid.uuid4()),
            "timestamp": format_timestamp(time.time()),
            **data,
        }
        self._parent = str(row["uuid"])
        with self.transcript.open("a") as file:
            file.write(json.dumps(row) + "\n")
