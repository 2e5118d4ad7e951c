"""Writes chats in the shape of 0.61 (by hand; `recorded/` has what the client wrote)."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from pathlib import Path
from typing import Any

SESSION = "8d8d8ddd-4c8a-4419-9262-4562281805fe"
ACKNOWLEDGED = "Got it. Thanks for the additional context!"
CONTEXT = (
    "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n"
    "My operating system is: linux\n- **Workspace Directories:**\n  - /shop\n"
    "- **Directory Structure:**\n\n/shop/\n\n</session_context>"
)
Json = dict[str, Any]


class ChatSession:
    """Fulfils `support.client_conformance.SessionWriter`."""

    def __init__(self, folder: Path, session: str = SESSION) -> None:
        self.home = folder / ".gemini"
        self.session = session
        self._numbers = itertools.count(1)
        self._lines: list[str] = []
        self._history: list[Json] = []
        chats = self.home / "tmp" / "shop" / "chats"
        chats.mkdir(parents=True, exist_ok=True)
        self.path = str(chats / f"session-2026-11-16T10-00-{session[:8]}.jsonl")
        self.start()

    # ---- what the suite asks for

    def prompt(self, text: str, *placed: str) -> None:
        self._step()
        parts = [
            {"text": text},
            *({"text": f"<hook_context>{one}</hook_context>"} for one in placed),
        ]
        self._message("user", parts)

    def insert(self) -> None:
        self._step()
        self._message("user", [{"text": "Please continue."}])

    def place(self, text: str) -> None:
        self._step()
        self._message("user", [{"text": f"<hook_context>{text}</hook_context>"}])

    def answer(self, text: str, *, context: int = 0) -> None:
        self._step()
        self._answer(text, context)

    def run(self, command: str, output: str) -> None:
        self._step()
        self.call("run_shell_command", {"command": command}, f"Output: {output}")

    def call(self, name: str, args: Json, said: str, **more: Any) -> None:
        """The row of the answer, that row again with the call, and what went to the model."""
        row = self._answer("", 0)
        call = f"{name}__{self._id()}"
        response = {"id": call, "name": name, "response": {"output": said}}
        result = [{"functionResponse": response}]
        done = {"id": call, "name": name, "args": args, "result": result, "status": "success"}
        self._row({**row, "toolCalls": [{**done, **more}]})
        self._message("user", result)

    def rewind(self, text: str) -> None:
        self._step()
        prompts = [m for m in self._history if m["type"] == "user" and "text" in m["content"][0]]
        back = prompts[-1]
        self._row({"$rewindTo": back["id"]})
        del self._history[self._history.index(back) :]
        self._message("user", [{"text": text}])

    def compact(self, summary: str | None, keep: int = 0) -> None:
        """With the newest `keep` messages, which get new ids."""
        self._step()
        text = (
            f"<scratchpad>notes</scratchpad>\n<state_snapshot>\n{summary or ''}\n</state_snapshot>"
        )
        kept = [{**m, "id": self._id()} for m in self._history[len(self._history) - keep :]]
        self._history = [
            self._history[0],
            {**self._new("user"), "content": [{"text": text}]},
            {**self._new("gemini"), "content": [{"text": ACKNOWLEDGED}]},
            *kept,
        ]
        self._row({"$set": {"sessionId": self.session}})
        self.state_history()

    def repeat(self) -> None:
        self._write("".join(self._lines))

    def move(self) -> None:
        elsewhere = self.home / "tmp" / "shop-2" / "chats" / os.path.basename(self.path)
        elsewhere.parent.mkdir(parents=True)
        shutil.move(self.path, elsewhere)
        self.path = str(elsewhere)

    # ---- rows

    def start(self) -> None:
        """The rows at the start of a process; of a resumed session the same again."""
        self._step()
        header = {"sessionId": self.session, "projectHash": "c6d0c9f8", "kind": "main"}
        self._row(header)
        context = {**self._new("user"), "id": "d04923d3", "content": [{"text": CONTEXT}]}
        self._history = [context, *self._history[1:]]
        self._row({"$set": {"messages": [context], "lastUpdated": context["timestamp"]}})

    def resume(self) -> None:
        self.start()
        self._row({"$set": {"sessionId": self.session}})
        self.state_history()

    def state_history(self) -> None:
        self._row({"$set": {"messages": self._history, "lastUpdated": self._time()}})

    def _answer(self, text: str, context: int) -> Json:
        row: Json = {**self._new("gemini"), "content": text, "thoughts": []}
        if context:
            row["tokens"] = {"input": context, "output": 20, "total": context + 20}
        row["model"] = "gemini-2.5-pro"
        self._history.append({**row, "content": [{"text": text}]})
        self._row(row)
        self._touch()
        return row

    def _message(self, kind: str, parts: list[Json]) -> None:
        row = {**self._new(kind), "content": parts}
        self._history.append(row)
        self._row(row)
        self._touch()

    def _touch(self) -> None:
        self._row({"$set": {"lastUpdated": self._time()}})

    def _new(self, kind: str) -> Json:
        return {"id": self._id(), "timestamp": self._time(), "type": kind}

    def _row(self, row: Json) -> None:
        line = json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n"
        self._lines.append(line)
        self._write(line)

    def _step(self) -> None:
        self._lines = []

    def _time(self) -> str:
        number = next(self._numbers)
        return f"2026-11-16T10:{number // 60:02d}:{number % 60:02d}.000Z"

    def _id(self) -> str:
        return f"01a1e57e-{next(self._numbers):04x}-4000-8000-{next(self._numbers):012x}"

    def _write(self, text: str) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text)
