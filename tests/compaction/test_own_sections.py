"""Sections of one's own in the brief."""

import os
import time
from pathlib import Path

import pytest

from holdfast.brief.hook_texts import compose_restore_brief
from holdfast.compaction import own_sections
from holdfast.compaction.own_sections import (
    compose_own_sections,
    describe_project,
    run_brief_commands,
)
from holdfast.session.context import SessionContext, SessionRef, build_context
from state.story import Story


def context(project: Path, data: Path) -> SessionContext:
    ref = SessionRef("s1", str(data / "none.jsonl"), str(project), "claude-code")
    return build_context(str(data), ref, None, lambda _: None)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "shop"
    (folder / ".holdfast" / "brief.d").mkdir(parents=True)
    (folder / ".git").mkdir()
    return folder


def test_files_of_the_project_are_quoted(project: Path, tmp_path: Path) -> None:
    (project / ".holdfast" / "brief.d" / "stories.md").write_text("US-0009 in progress\n")
    (project / ".holdfast" / "brief.d" / "notes.txt").write_text("not told")
    text = compose_own_sections(context(project, tmp_path / "data"))
    assert text == (
        "The project's .holdfast/brief.d/stories.md says (quoted):\n  | US-0009 in progress"
    )


def test_the_projects_name_and_version_stand_in_the_first_line(project: Path) -> None:
    (project / "Cargo.toml").write_text('[package]\nname = "ki\\nln"\nversion = "0.3.1"\n')
    assert describe_project(str(project)) == "ki ln 0.3.1"
    state = Story().user("Fire the kiln.").state
    text = compose_restore_brief(state, "", project="ki ln 0.3.1").text
    assert 'this session in project "ki ln 0.3.1" before the compaction' in text.split("\n")[0]


def test_a_link_out_of_the_project_is_not_read(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("mine")
    os.symlink(tmp_path / "secret.md", project / ".holdfast" / "brief.d" / "x.md")
    assert compose_own_sections(context(project, tmp_path / "data")) == ""


def test_what_the_users_commands_print_is_told_with_its_time(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_BRIEF_COMMANDS", '["echo WIP: 3; echo $((1+1))", "exit 3"]')
    ctx = context(project, tmp_path / "data")
    assert compose_own_sections(ctx) == ""
    run_brief_commands(ctx)
    text = compose_own_sections(ctx)
    assert text.startswith("`echo WIP: 3; echo $((1+1))` printed (")
    assert text.endswith("UTC):\n  | WIP: 3\n  | 2")


def test_a_repository_names_no_command(project: Path, tmp_path: Path) -> None:
    (project / ".holdfast" / "settings.json").write_text('{"brief_commands": ["touch ran"]}')
    ctx = context(project, tmp_path / "data")
    run_brief_commands(ctx)
    assert not (project / "ran").exists()


def test_a_command_that_hangs_is_ended_with_what_it_started(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_sections, "COMMAND_SECONDS", 0.5)
    monkeypatch.setenv("HOLDFAST_BRIEF_COMMANDS", '["sleep 300 & echo $! > pid; wait"]')
    ctx = context(project, tmp_path / "data")
    run_brief_commands(ctx)
    assert compose_own_sections(ctx) == ""
    child = int((project / "pid").read_text())
    wait_until_ended(child)


def wait_until_ended(pid: int) -> None:
    """A killed process is gone, or waits for its parent, when the system gets to it."""
    until = time.monotonic() + 60
    while not has_ended(pid):
        assert time.monotonic() < until, f"process {pid} runs on"
        time.sleep(0.02)


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True
