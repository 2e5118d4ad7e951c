"""Where it is planted: every row of a transcript, payload and command that carries text.

Owns: the shapes of rows, written by hand after recorded ones.
"""

import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

Row = dict[str, Any]


class Rows:
    """A transcript that grows."""

    def __init__(self, session: str, cwd: str) -> None:
        self.rows: list[Row] = []
        self._base = {
            "isSidechain": False,
            "userType": "external",
            "cwd": cwd,
            "sessionId": session,
            "version": "2.1.325",
            "gitBranch": "main",
        }
        self._last: str | None = None

    def add(self, kind: str, **fields: Any) -> None:
        row_id = str(uuid.uuid4())
        second = len(self.rows)
        time = f"2026-11-15T{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
        ids = {"uuid": row_id, "parentUuid": self._last, "timestamp": time, "type": kind}
        self.rows.append({**self._base, **ids, **fields})
        self._last = row_id

    def user(self, content: Any, **fields: Any) -> None:
        self.add("user", message={"role": "user", "content": content}, **fields)

    def agent(self, *content: Row) -> None:
        message = {"id": f"msg_{uuid.uuid4().hex[:24]}", "type": "message", "role": "assistant"}
        usage = {"input_tokens": 4, "output_tokens": 9, "cache_read_input_tokens": 40_000}
        more = {"model": "claude-sonnet-4-5", "content": list(content), "usage": usage}
        self.add("assistant", message={**message, **more})

    def call(
        self, name: str, asked: Row, printed: str, result: Any, *, error: bool = False
    ) -> None:
        call = f"toolu_{uuid.uuid4().hex[:24]}"
        self.agent({"type": "tool_use", "id": call, "name": name, "input": asked})
        answer: Row = {"tool_use_id": call, "type": "tool_result", "content": printed}
        if error:
            answer["is_error"] = True
        self.user([answer], toolUseResult=result)


def _shell(rows: Rows, command: str, output: str, *, error: bool = False) -> None:
    result = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    shown = f"Exit code 1\n{output}" if error else output
    rows.call(
        "Bash", {"command": command}, shown, f"Error: {shown}" if error else result, error=error
    )


def _numbered(text: str) -> str:
    return "\n".join(f"{n:6}→{line}" for n, line in enumerate(text.split("\n"), 1))


def _read(rows: Rows, text: str, path: str = "/srv/app/config/app.env") -> None:
    lines = text.count("\n") + 1
    file = {"filePath": path, "content": text, "numLines": lines, "startLine": 1}
    result = {"type": "text", "file": {**file, "totalLines": lines}}
    rows.call("Read", {"file_path": path}, _numbered(text), result)


def _write(rows: Rows, text: str) -> None:
    path = "/srv/app/config/new.env"
    result = {"type": "create", "filePath": path, "content": text, "structuredPatch": []}
    rows.call("Write", {"file_path": path, "content": text}, "File created", result)


def _edit(rows: Rows, old: str, new: str, before: str, lines: list[str]) -> None:
    path = "/srv/app/config/app.env"
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": lines}]
    result = {"filePath": path, "oldString": old, "newString": new, "originalFile": before}
    asked = {"file_path": path, "old_string": old, "new_string": new}
    rows.call("Edit", asked, "The file was updated", {**result, "structuredPatch": patch})


def _diff(mark: str, text: str) -> list[str]:
    return [mark + line for line in text.split("\n")]


def _search(rows: Rows, pattern: str, output: str) -> None:
    result = {"mode": "content", "numFiles": 1, "filenames": [], "content": output, "numLines": 1}
    asked = {"pattern": pattern, "path": "/srv/app", "output_mode": "content"}
    rows.call("Grep", asked, output, result)


def _task(rows: Rows, subject: str, description: str) -> None:
    asked = {"subject": subject, "description": description, "activeForm": "Working"}
    task = {"id": str(len(rows.rows)), "subject": subject, "description": description}
    rows.call("TaskCreate", asked, f"Task #1 created successfully: {subject}", {"task": task})


def _todo(rows: Rows, text: str) -> None:
    todos = [{"content": text, "status": "pending", "activeForm": "Working"}]
    rows.call("TodoWrite", {"todos": todos}, "Todos modified", {"oldTodos": [], "newTodos": todos})


def _subagent(rows: Rows, prompt: str, result: str) -> None:
    asked = {"description": "look", "prompt": prompt, "subagent_type": "general-purpose"}
    content = [{"type": "text", "text": result}]
    told = {"status": "completed", "prompt": prompt, "agentId": "a1b2c3", "content": content}
    rows.call("Task", asked, result, told)


def _question(rows: Rows, text: str) -> None:
    question = "How do we get in?"
    asked = {"questions": [{"question": question, "header": "Way", "options": []}]}
    result = {**asked, "answers": {question: text}}
    rows.call("AskUserQuestion", asked, f'User answered: "{question}"="{text}"', result)


def _plan(rows: Rows, text: str) -> None:
    asked = {"plan": f"1. Prepare\n2. {text}\n"}
    rows.call("ExitPlanMode", asked, "User has approved your plan", {**asked, "isAgent": False})


def _page(rows: Rows, text: str) -> None:
    asked = {"url": "https://acme.dev/wiki", "prompt": text}
    rows.call("WebFetch", asked, text, {"result": text, "code": 200, "url": asked["url"]})


class PlantSite(NamedTuple):
    name: str
    put: Callable[[Rows, str], None]
    bare: bool = False  # only for what is known by its shape


ROW_SITES: tuple[PlantSite, ...] = (
    PlantSite("prompt", lambda r, t: r.user(f"Please note this.\n{t}")),
    PlantSite("prompt as blocks", lambda r, t: r.user([{"type": "text", "text": t}])),
    PlantSite("slash command", lambda r, t: r.user(
        f"<command-name>/deploy</command-name>\n<command-args>{t}</command-args>")),
    PlantSite("words of the agent", lambda r, t: r.agent({"type": "text", "text": f"I see:\n{t}"})),
    PlantSite("thinking", lambda r, t: r.agent({"type": "thinking", "thinking": t})),
    PlantSite("command", lambda r, t: _shell(r, t, "ok")),
    PlantSite("output", lambda r, t: _shell(r, "cat app.env", f"start\n{t}\nend")),
    PlantSite(
        "failing output", lambda r, t: _shell(r, "make deploy", f"error:\n{t}\n", error=True)
    ),
    PlantSite("file read", lambda r, t: _read(r, f"# settings\n{t}\nPORT=8080")),
    PlantSite("file written", lambda r, t: _write(r, f"# settings\n{t}\nPORT=8080")),
    PlantSite(
        "text replaced",
        lambda r, t: _edit(r, t, "x", f"a\n{t}\nb", [" a", "-" + "x", "+x"]),
    ),
    PlantSite("text put in", lambda r, t: _edit(r, "x", t, "a\nx\nb", [" a", "-x", "+y", " b"])),
    PlantSite(
        "diff, added",
        lambda r, t: _edit(r, "x", "y", "a", [" a", "-x", *_diff("+", t), " b"]),
    ),
    PlantSite("diff, removed", lambda r, t: _edit(r, "x", "y", "a", [" a", *_diff("-", t), "+x"])),
    PlantSite("diff, around", lambda r, t: _edit(r, "x", "y", "a", [*_diff(" ", t), "-x", "+y"])),
    PlantSite("file before an edit", lambda r, t: _edit(r, "x", "y", f"a\n{t}\nx", ["-x", "+y"])),
    PlantSite("search result", lambda r, t: _search(r, "DB_", f"config/app.env:3:{t}")),
    PlantSite("search pattern", lambda r, t: _search(r, t, "No matches found"), bare=True),
    PlantSite("path", lambda r, t: _read(r, "x = 1", f"/srv/app/{t}.txt"), bare=True),
    PlantSite("task subject", lambda r, t: _task(r, f"Rotate: {t}", "soon")),
    PlantSite("task description", lambda r, t: _task(r, "Rotate the keys", t)),
    PlantSite("todo", _todo),
    PlantSite("plan", _plan),
    PlantSite("web page", _page),
    PlantSite(
        "tool of a server, asked",
        lambda r, t: r.call("mcp__db__query", {"sql": t}, "ok", "ok"),
    ),
    PlantSite(
        "tool of a server, answered",
        lambda r, t: r.call("mcp__db__query", {"sql": "x"}, t, t),
    ),
    PlantSite("prompt of a subagent", lambda r, t: _subagent(r, t, "done")),
    PlantSite("result of a subagent", lambda r, t: _subagent(r, "look", f"Found:\n{t}")),
    PlantSite("answer to a question", _question),
    PlantSite("title", lambda r, t: r.add("custom-title", customTitle=t)),
    PlantSite("summary row", lambda r, t: r.user(
        f"This session is being continued.\n{t}", isCompactSummary=True)),
)  # fmt: skip
