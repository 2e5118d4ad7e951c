"""`holdfast command`: in force by hand, listed, and files checked."""

import json
from pathlib import Path

import pytest

from holdfast.samples import SESSION_FILE

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
    told = json.loads(holdfast("command", "list", "--json", *more).out)
    return {row["name"]: row["kept"] for row in told["commands"]}


def test_activated_once_listed_and_taken_out_again(holdfast: Call) -> None:
    assert "is in force in session 11111111" in holdfast("command", "activate", "/babysit").out
    holdfast("command", "activate", "babysit")
    holdfast("command", "activate", "report")
    assert listed(holdfast) == {"babysit": "10 characters of rules", "report": "nothing: one-shot"}
    assert "/babysit" in holdfast("command", "list").out
    assert holdfast("command", "deactivate", "babysit").code == 0
    assert list(listed(holdfast)) == ["report"]
    assert "is not in force" in holdfast("command", "deactivate", "babysit").err


def test_a_command_without_a_file_is_refused(holdfast: Call) -> None:
    ended = holdfast("command", "activate", "nosuch")
    assert ended.code == 1
    assert "command_search" in ended.err


def test_two_sessions_have_lists_of_their_own(
    holdfast: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    holdfast("command", "activate", "babysit")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "99999999-aaaa-4bbb-8ccc-222222222222")
    assert listed(holdfast) == {}
    assert "No command is in force" in holdfast("command", "list").out


def test_a_stored_session_is_named_by_its_beginning(holdfast: Call) -> None:
    holdfast("ingest", SESSION_FILE)
    session = json.loads(holdfast("sessions", "--json").out)[0]["id"]
    assert holdfast("command", "list", "--session", session[:8]).code == 0


def test_lint_names_file_line_and_fault(holdfast: Call, project: Path) -> None:
    assert "2 files, 1 with rules, 0 to correct." in holdfast("command", "lint").out
    broken = project / ".claude/commands/broken.md"
    broken.write_text("# Title\n<!-- COMPACT_SUMMARY_START -->\nrule\n")
    ended = holdfast("command", "lint")
    assert ended.code == 1
    assert f"{broken}:2: COMPACT_SUMMARY_START without its END" in ended.out
    assert holdfast("command", "lint", str(project / ".claude/commands/babysit.md")).code == 0
    faults = json.loads(holdfast("command", "lint", "--json").out)["faults"]
    assert [fault["line"] for fault in faults] == [2]
    assert holdfast("command", "lint", "nowhere.md").code == 1
