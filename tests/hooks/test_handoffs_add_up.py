"""Three sessions in a row in one folder, each a real hook process: the third knows of the first."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.fastpath import handoff_offers
from holdfast.fastpath.session_dir import safe_name
from support.hook_process import Caller, wait_for

FIRST, SECOND, THIRD = (f"{n}c5f2a4e-1111-4222-8333-444455556666" for n in (1, 2, 3))
RULE = "Never paint on a wet floor."
TASK = "Mark lane 4 in yellow paint"


class Begun(Caller):
    """A session of the folder, with a transcript of its own."""

    @property
    def transcript(self) -> Path:
        return self.root / f"{self.session_id}.jsonl"

    @property
    def page(self) -> Path:
        return Path(self.session_dir.path, f"HANDOFF-{self.session_id}.md")

    def write(self, prompt: str, answer: str, *tasks: str) -> None:
        rows: list[dict[str, Any]] = [
            {"type": "user", "message": {"role": "user", "content": prompt}}
        ]
        for number, subject in enumerate(tasks, 1):
            use = {"type": "tool_use", "id": f"t{number}", "name": "TaskCreate"}
            asked = {**use, "input": {"subject": subject}}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}
            rows += [
                {"type": "assistant", "message": {"role": "assistant", "content": [asked]}},
                {
                    "type": "user",
                    "message": {"role": "user", "content": [result]},
                    "toolUseResult": {"task": {"id": str(number), "subject": subject}},
                },
            ]
        said = {"type": "text", "text": answer}
        rows.append({"type": "assistant", "message": {"role": "assistant", "content": [said]}})
        for number, row in enumerate(rows):
            row |= {
                "uuid": f"{self.session_id}-{number}",
                "parentUuid": f"{self.session_id}-{number - 1}" if number else None,
                "sessionId": self.session_id,
                "cwd": str(self.root),
                "timestamp": f"2026-02-01T10:00:{number:02}.000Z",
                "version": "2.1.325",
            }
        self.transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def start(self) -> str:
        self.write("Hello.", "Hello.")
        return self.call("SessionStart", source="startup").context

    def end(self) -> str:
        """The page that the session leaves, once its offer is out."""
        self.call("SessionEnd", reason="other")
        wait_for(self.data / "projects" / safe_name(str(self.root)) / self.session_id)
        return self.page.read_text()

    def resume(self, session_id: str, *, named: bool = True) -> str:
        """As the session's agent; not every client names its session to commands."""
        words = [sys.executable, "-m", "holdfast.cli.main", "session", "resume", session_id[:8]]
        env = {
            **self.environment(),
            "HOME": str(self.root / "home"),
            "CLAUDE_CODE_SESSION_ID": self.session_id if named else "",
        }
        done = subprocess.run(words, cwd=self.root, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.mark.parametrize("resumes", ["named", "unnamed", ""])
def test_a_third_session_has_the_rule_and_the_open_task_of_the_first(
    tmp_path: Path, resumes: str
) -> None:
    first, second, third = (Begun(tmp_path, one) for one in (FIRST, SECOND, THIRD))
    first.write(f"{RULE} Mark the lanes.", "I begin with lane 4.", TASK)
    first.end()

    assert TASK in second.start()
    if resumes:
        assert TASK in second.resume(FIRST, named=resumes == "named")
    second.write("Count the racks of hall B.", "I count them.", "Count racks of hall B")
    page = second.end()
    how = "resumed" if resumes else "offered at the start"
    section = handoff_offers.extract_section(page, f"Carried over from session {FIRST} ({how})")
    assert f'- Rule: "{RULE}"' in section
    assert f"- Open: #1 {TASK}" in section

    offer = third.start()
    assert f"holdfast session resume {SECOND[:8]}" in offer
    assert TASK in offer
    assert RULE in offer
    shown = third.resume(SECOND)
    assert TASK in shown
    assert RULE in shown
    third.write("Finish lane 4.", "Racks are next.", TASK)
    left = third.end()
    assert f"## Carried over from session {SECOND} (resumed)" in left
    assert "Count racks of hall B" in left
    assert RULE in left
    assert f"- Open: #1 {TASK}" not in left  # it is among its own tasks now
    assert third.log() == ""
