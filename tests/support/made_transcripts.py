"""Small transcripts in the client's shape, made by hand for tests that need many of them."""

import json
import uuid
from pathlib import Path
from typing import Any


def session_id(number: int) -> str:
    return str(uuid.UUID(int=0x5E55_0000_0000_4000_8000_0000_0000_0000 + number))


def rows(number: int, turns: int, compact_every: int = 7) -> list[dict[str, Any]]:
    """A session of prompts, answers, tasks and test runs, compacted now and then."""
    made: list[dict[str, Any]] = []
    me = session_id(number)
    parent: str | None = None

    def add(**data: Any) -> None:
        nonlocal parent
        count = len(made)
        row = {
            "parentUuid": parent,
            "isSidechain": False,
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{me}-{count}")),
            "timestamp": f"2026-02-{1 + number % 27:02}T{count // 60:02}:{count % 60:02}:00.000Z",
            "sessionId": me,
            "cwd": f"/home/dev/project-{number % 3}",
            "gitBranch": f"branch-{number}",
            "version": "2.1.325",
            **data,
        }
        made.append(row)
        parent = str(row["uuid"])

    def call(name: str, asked: dict[str, Any], said: str, **result: Any) -> None:
        use = f"call-{number}-{len(made)}"
        block = {"type": "tool_use", "id": use, "name": name, "input": asked}
        add(type="assistant", message={"id": use, "role": "assistant", "content": [block]})
        answer = {"type": "tool_result", "tool_use_id": use, "content": said}
        add(type="user", message={"role": "user", "content": [answer]}, toolUseResult=result)

    for turn in range(1, turns + 1):
        add(
            type="user",
            message={"role": "user", "content": f"Never touch area{turn}. Build {turn}."},
        )
        task = {"id": str(turn), "subject": f"task {turn}"}
        call("TaskCreate", {"subject": task["subject"]}, "", task=task)
        verdict = f"{turn} passed in 0.1s" if turn % 2 else "1 failed in 0.1s"
        call("Bash", {"command": f"pytest tests/part{turn}.py"}, verdict)
        path = f"/home/dev/project-{number % 3}/part{turn}.py"
        call("Write", {"file_path": path, "content": "x"}, "", type="create", filePath=path)
        call("TaskUpdate", {"taskId": str(turn), "status": "completed"}, "")
        text = {"type": "text", "text": f"Part {turn} of session {number} stands."}
        add(type="assistant", message={"id": f"m{turn}", "role": "assistant", "content": [text]})
        if turn % compact_every == 0:
            add(
                type="system",
                subtype="compact_boundary",
                compactMetadata={"trigger": "auto", "preTokens": 1000, "postTokens": 10},
            )
            message = {"role": "user", "content": f"Summary:\nwe did {turn} parts"}
            add(type="user", isCompactSummary=True, message=message)
    return made


def write(folder: Path, number: int, turns: int) -> Path:
    path = folder / f"{session_id(number)}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(number, turns)))
    return path
