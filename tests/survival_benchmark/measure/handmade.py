"""Sessions written by hand, in the shape the client writes: small enough to reason about.

No client wrote these rows. The corpus test measures real ones.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.measure.knowledge import SessionText
from benchmarks.measure.prepared_boundary import PreparedBoundary, prepare_session
from benchmarks.measure.session_files import Row, Session

CWD = "/home/dev/shop"


class Story:
    """A session told call by call."""

    def __init__(
        self, session_id: str = "s-1", cwd: str = CWD, branch: str = "feature/tax"
    ) -> None:
        self.session_id, self.cwd, self.branch = session_id, cwd, branch
        self.rows: list[Row] = []
        self._calls = 0

    def _row(self, kind: str, **fields: Any) -> Row:
        row: Row = {
            "type": kind,
            "uuid": f"{self.session_id}-{len(self.rows)}",
            "sessionId": self.session_id,
            "cwd": self.cwd,
            "gitBranch": self.branch,
            "isSidechain": False,
            **fields,
        }
        self.rows.append(row)
        return row

    def user(self, text: str, **flags: Any) -> Row:
        return self._row("user", message={"role": "user", "content": text}, **flags)

    def says(self, text: str) -> Row:
        content = [{"type": "text", "text": text}]
        return self._row("assistant", message={"role": "assistant", "content": content})

    def thinks(self, text: str) -> Row:
        content = [{"type": "thinking", "thinking": text}]
        return self._row("assistant", message={"role": "assistant", "content": content})

    def call(
        self,
        tool: str,
        given: dict[str, Any],
        result: str = "",
        *,
        error: bool = False,
        details: Any = None,
    ) -> Row:
        self._calls += 1
        number = f"toolu-{self.session_id}-{self._calls}"
        use = {"type": "tool_use", "id": number, "name": tool, "input": given}
        row = self._row("assistant", message={"role": "assistant", "content": [use]})
        answer = {"type": "tool_result", "tool_use_id": number, "content": result}
        if error:
            answer["is_error"] = True  # type: ignore[assignment]
        self._row(
            "user", message={"role": "user", "content": [answer]}, toolUseResult=details or result
        )
        return row

    def read(self, path: str, text: str = "") -> Row:
        return self.call("Read", {"file_path": f"{self.cwd}/{path}"}, text)

    def edit(self, path: str, old: str, new: str) -> Row:
        given = {"file_path": f"{self.cwd}/{path}", "old_string": old, "new_string": new}
        return self.call("Edit", given, "updated")

    def bash(self, command: str, result: str = "", *, error: bool = False) -> Row:
        return self.call("Bash", {"command": command}, result, error=error)

    def task(self, number: int, subject: str) -> None:
        self.call(
            "TaskCreate",
            {"subject": subject, "description": subject},
            f"Task #{number} created successfully: {subject}",
            details={"task": {"id": str(number), "subject": subject}},
        )

    def task_is(self, number: int, status: str) -> None:
        self.call("TaskUpdate", {"taskId": str(number), "status": status}, "Updated task")

    def idle(self, calls: int) -> None:
        """Calls that use nothing anybody could need."""
        for _ in range(calls):
            self.bash("ls", "nothing")

    def compact(self, summary: str = "Summary: work went on.", kept: tuple[str, ...] = ()) -> Row:
        meta: dict[str, Any] = {"trigger": "auto", "preTokens": 1000}
        if kept:
            meta["preservedMessages"] = {"anchorUuid": kept[0], "uuids": list(kept)}
        row = self._row("system", subtype="compact_boundary", compactMetadata=meta)
        self.user(summary, isCompactSummary=True)
        return row

    def session(self) -> Session:
        return Session(self.session_id, "handmade", self.rows, "shop")

    def text(self) -> SessionText:
        return SessionText(self.session())

    def write(self, folder: Path, name: str = "") -> Path:
        path = folder / f"{name or self.session_id}.jsonl"
        path.write_text("".join(json.dumps(r) + "\n" for r in self.rows), encoding="utf-8")
        return path

    def prepared(self, folder: Path) -> PreparedBoundary:
        """The first boundary, ready for scoring."""
        return prepare_session([str(self.write(folder))], None).boundaries[0]


def tax_story(session_id: str = "s-1") -> Story:
    """A shop whose tax is being fixed: files, symbols, a failing test, tasks, a commit."""
    story = Story(session_id)
    story.user("The tax on invoices is wrong. Never round prices before the last step.")
    story.idle(10)
    story.task(1, "Fix rounding in the tax table")
    story.task(2, "Write the invoice test")
    story.task_is(1, "completed")
    story.read("src/billing/tax.py", "def compute_tax(line_items):\n    return TAX_RATE\n")
    story.read("src/billing/invoice.py", "def render_invoice(totalAmount):\n    pass\n")
    story.edit("src/billing/tax.py", "return TAX_RATE", "return roundHalfUp(TAX_RATE)")
    story.call(
        "Grep",
        {"pattern": "compute_tax", "path": CWD},
        f"{CWD}/src/cart/checkout.py:12:    total = compute_tax(cartLines)",
    )
    story.bash(
        "python -m pytest tests/test_tax.py 2>&1 | tail -5", "FAILED tests/test_tax.py", error=True
    )
    story.bash("git commit -m fix", "[feature/tax 3fa9c21] fix")
    story.says("The helper roundHalfUp must stay beside compute_tax because the report imports it.")
    story.compact()
    story.edit("src/billing/tax.py", "compute_tax", "roundHalfUp(cartLines)")
    story.read("src/cart/checkout.py")
    story.bash("python -m pytest tests/test_tax.py")
    story.task_is(2, "completed")
    story.says("The commit 3fa9c21 and render_invoice are fine.")
    story.idle(6)
    return story
