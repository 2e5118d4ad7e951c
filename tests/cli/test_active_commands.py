"""`holdfast session commands`: in force by hand, listed, and files checked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.demonstration import SESSION_FILE

from .conftest import Call

RULE = "<!-- COMPACT_SUMMARY_START -->\nAsk first.\n<!-- COMPACT_SUMMARY_END -->\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    commands = folder / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "babysit.md").write_text(RULE)
    (commands / "report.md").write_text("---\ndescription: x\none-shot: true\n---\nPrint.")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "11111111-aaaa-4bbb-8ccc-222222222222")
    return folder


def listed(holdfast: Call, *more: str) -> dict[str, str]:
    told = json.loads(holdfast("session", "commands", "list", "--json", *more).out)
    return {row["name"]: row["kept"] for row in told["commands"]}


def test_activated_once_listed_and_taken_out_again(holdfast: Call) -> None:
    assert (
        "is active in session 11111111"
        in holdfast("session", "commands", "activate", "/babysit").out
    )
    holdfast("session", "commands", "activate", "babysit")
    holdfast("session", "commands", "activate", "report")
    assert listed(holdfast) == {"babysit": "10 characters of rules", "report": "nothing: one-shot"}
    assert "/babysit" in holdfast("session", "commands", "list").out
    assert holdfast("session", "commands", "deactivate", "babysit").code == 0
    assert list(listed(holdfast)) == ["report"]
    assert "is not active" in holdfast("session", "commands", "deactivate", "babysit").err


@pytest.mark.slow
def test_of_many_activated_at_once_none_is_lost(
    holdfast: Call, project: Path, tmp_path: Path
) -> None:
    names = [f"one{number}" for number in range(20)]
    for name in names:
        (project / f".claude/commands/{name}.md").write_text(RULE)
    words = [sys.executable, "-m", "holdfast", "session", "commands", "activate"]
    running = [
        subprocess.Popen([*words, name], env=dict(os.environ), stdout=subprocess.PIPE, text=True)
        for name in names
    ]
    said = [process.communicate(timeout=120)[0] for process in running]
    assert all("is active in session 11111111" in words for words in said)
    assert sorted(listed(holdfast)) == sorted(names)


def test_two_names_of_one_file_are_one_command(holdfast: Call, project: Path) -> None:
    (project / ".claude/commands/team").mkdir()
    (project / ".claude/commands/team/watch.md").write_text(RULE)
    holdfast("session", "commands", "activate", "team:watch")
    holdfast("session", "commands", "activate", "watch")
    assert list(listed(holdfast)) == ["team:watch"]
    assert (
        "/team:watch is no longer active"
        in holdfast("session", "commands", "deactivate", "watch").out
    )
    assert listed(holdfast) == {}


def test_a_list_that_cannot_be_kept_is_said(holdfast: Call, tmp_path: Path) -> None:
    holdfast("session", "commands", "activate", "babysit")
    (file,) = Path(os.environ["HOLDFAST_HOME"]).rglob("commands")
    file.unlink()
    file.mkdir()
    ended = holdfast("session", "commands", "activate", "babysit")
    assert ended.code == 1
    assert "Could not write to" in ended.err


def test_a_command_without_a_file_is_refused(holdfast: Call) -> None:
    ended = holdfast("session", "commands", "activate", "nosuch")
    assert ended.code == 1
    assert "command_paths" in ended.err


def test_two_sessions_have_lists_of_their_own(
    holdfast: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    holdfast("session", "commands", "activate", "babysit")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "99999999-aaaa-4bbb-8ccc-222222222222")
    assert listed(holdfast) == {}
    assert "No active commands" in holdfast("session", "commands", "list").out


def test_a_stored_session_is_named_by_its_beginning(holdfast: Call) -> None:
    holdfast("session", "ingest", SESSION_FILE)
    session = json.loads(holdfast("status", "--all", "--json").out)[0]["id"]
    assert holdfast("session", "commands", "list", "--session", session[:8]).code == 0


def test_lint_names_file_line_and_fault(holdfast: Call, project: Path) -> None:
    assert "2 files, 1 with rules, 0 to fix." in holdfast("session", "commands", "lint").out
    broken = project / ".claude/commands/broken.md"
    broken.write_text("# Title\n<!-- COMPACT_SUMMARY_START -->\nrule\n")
    ended = holdfast("session", "commands", "lint")
    assert ended.code == 1
    assert f"{broken}:2: COMPACT_SUMMARY_START without its END" in ended.out
    assert (
        holdfast("session", "commands", "lint", str(project / ".claude/commands/babysit.md")).code
        == 0
    )
    faults = json.loads(holdfast("session", "commands", "lint", "--json").out)["faults"]
    assert [fault["line"] for fault in faults] == [2]
    assert holdfast("session", "commands", "lint", "nowhere.md").code == 1
