"""Writes sessions by hand, in the shape in which the plugin hands them over."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

SESSION = "ses_e13982266ffeebbS6KxgS165Wp"


class WrittenSession:
    """Fulfils `support.client_conformance.SessionWriter`."""

    def __init__(self, folder: Path, session: str = SESSION, client: str = "opencode") -> None:
        self.session = session
        self.file = f"{client}.jsonl"
        self._numbers = itertools.count(1)
        self._lines: list[str] = []
        self._since_prompt: list[str] = []  # messages from the last prompt on
        self.path = str(folder / "sessions" / session / self.file)
        os.makedirs(os.path.dirname(self.path))
        self._row({client: 1, "row": session, "type": "session", "cwd": "/shop"})

    # ---- what the suite asks for

    def prompt(self, text: str) -> None:
        self._lines, self._since_prompt = [], []
        self.message("user", [{"type": "text", "text": text}])

    def insert(self) -> None:
        self._lines = []
        text = "Continue if you have next steps, or stop and ask for clarification."
        self.message("user", [{"type": "text", "text": text, "synthetic": True}])

    def place(self, text: str) -> None:
        self._lines = []
        self.message("user", [{"type": "text", "text": text, "synthetic": True}])
        self.message("user", [{"type": "text", "text": text}])

    def answer(self, text: str, *, context: int = 0) -> None:
        self._lines = []
        tokens = {"total": context, "input": context - 20, "output": 20} if context else {}
        self.message("assistant", [{"type": "text", "text": text}], finish="stop", tokens=tokens)

    def run(self, command: str, output: str) -> None:
        self._lines = []
        asked = {"command": command, "description": "runs it"}
        self.message("assistant", [tool("bash", asked, output, exit=0)], finish="tool-calls")

    def rewind(self, text: str) -> None:
        removed = list(self._since_prompt)
        for id_ in removed:
            self._row({"row": f"removed-{id_}", "type": "removed", "id": id_})
        self.prompt(text)

    def compact(self, summary: str | None) -> None:
        self._lines = []
        self.message("user", [{"type": "compaction", "auto": True}])
        parts = [] if summary is None else [{"type": "text", "text": summary}]
        self.message("assistant", parts, summary=True, mode="compaction", finish="stop")

    def repeat(self) -> None:
        self._write("".join(self._lines))

    def move(self) -> None:
        elsewhere = Path(self.path).parents[2] / "elsewhere" / self.session
        elsewhere.mkdir(parents=True)
        os.rename(self.path, elsewhere / self.file)
        self.path = str(elsewhere / self.file)

    # ---- rows

    def message(
        self,
        role: str,
        parts: list[dict[str, Any]],
        *,
        agent: str = "",
        row: dict[str, Any] | None = None,
        **info: Any,
    ) -> str:
        number = next(self._numbers)
        id_ = f"msg_1ec67de2b{number:03d}uxNoo8VollZA3P"
        time = 1_794_967_592_000 + number * 1000
        about = {"id": id_, "role": role, "time": {"created": time, "completed": time}}
        head = {"row": id_, "type": "message", "window": 168_000, **(row or {})}
        more = {"agent": agent} if agent else {}
        self._row({**head, **more, "info": {**about, "modelID": "m", **info}, "parts": parts})
        self._since_prompt.append(id_)
        return id_

    def _row(self, row: dict[str, Any]) -> None:
        line = json.dumps(row, separators=(",", ":")) + "\n"
        self._lines.append(line)
        self._write(line)

    def _write(self, text: str) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text)


def tool(
    name: str, asked: dict[str, Any], output: str, *, status: str = "completed", **metadata: Any
) -> dict[str, Any]:
    said = {"error": output} if status == "error" else {"output": output}
    state = {"status": status, "input": asked, **said, "metadata": metadata}
    return {"type": "tool", "tool": name, "callID": "call_1", "state": state}
