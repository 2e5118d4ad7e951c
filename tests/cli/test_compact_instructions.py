"""`holdfast dev instructions` and `holdfast dev statusline`, as a user calls them."""

import io
import sys
from pathlib import Path

import pytest

from .conftest import Call


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    return folder


def test_shown_is_what_is_written_and_removing_leaves_no_trace(
    holdfast: Call, project: Path
) -> None:
    memory = project / "CLAUDE.md"
    memory.write_bytes(b"# Shop\r\n\r\nUse tabs.\r\n")
    shown = holdfast("dev", "instructions").out
    assert "word for word" in shown
    assert memory.read_bytes() == b"# Shop\r\n\r\nUse tabs.\r\n"
    holdfast("dev", "instructions", "--write")
    written = memory.read_bytes().decode().replace("\r\n", "\n")
    assert shown in written
    assert "up to date" in holdfast("dev", "instructions", "--write").out
    (project / ".holdfast").mkdir()
    (project / ".holdfast/compact.md").write_text("Keep the ticket.")
    holdfast("dev", "instructions", "--write")
    assert memory.read_bytes().count(b"Keep the ticket.") == 1
    holdfast("dev", "instructions", "--remove")
    assert memory.read_bytes() == b"# Shop\r\n\r\nUse tabs.\r\n"
    assert "has no such block" in holdfast("dev", "instructions", "--remove").out


def test_a_file_that_was_not_there_is_gone_again(holdfast: Call, project: Path) -> None:
    holdfast("dev", "instructions", "--write")
    assert (project / "CLAUDE.md").exists()
    holdfast("dev", "instructions", "--remove")
    assert not (project / "CLAUDE.md").exists()


def test_the_file_in_the_clients_folder_is_used_where_it_is_the_one(
    holdfast: Call, project: Path, tmp_path: Path
) -> None:
    (project / ".claude").mkdir()
    inner = project / ".claude" / "CLAUDE.md"
    inner.write_text("# Shop\n")
    holdfast("dev", "instructions", "--write")
    assert "Compact Instructions" in inner.read_text()
    other = tmp_path / "AGENTS.md"
    holdfast("dev", "instructions", "--write", "--file", str(other))
    assert "Compact Instructions" in other.read_text()


def test_damaged_markers_are_refused_in_one_line(holdfast: Call, project: Path) -> None:
    (project / "CLAUDE.md").write_text("<!-- holdfast:compact-instructions end -->\n")
    ended = holdfast("dev", "instructions", "--remove")
    assert ended.code == 1
    assert "are unbalanced" in ended.err
    assert holdfast("dev", "instructions", "--write", "--remove").code == 2


def test_the_status_line_answers_a_payload(holdfast: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.TextIOWrapper(io.BytesIO(b'{"session_id": "s1"}'))
    monkeypatch.setattr(sys, "stdin", raw)
    assert holdfast("dev", "statusline").out == "100% left before compaction · nothing saved yet\n"
