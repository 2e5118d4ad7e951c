"""Compact instructions: fitted to the project, with its own words, inside the client's bound."""

from pathlib import Path

import pytest

from holdfast.clock import read_clock
from holdfast.compaction.instructions import (
    MAX_INSTRUCTIONS_CHARS,
    TEMPLATE_OPENING,
    append_instructions,
    build_project_instructions,
    read_custom_instructions,
)
from holdfast.fastpath.session_dir import SessionDir
from holdfast.session.context import SessionContext, SessionRef, load_config


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def ctx(project: Path, **environ: str) -> SessionContext:
    return SessionContext(
        SessionRef("s1", "", str(project)),
        SessionDir(str(project), "s1"),
        read_clock(),
        config=load_config(environ, "", str(project)),
    )


def test_the_template_names_the_projects_checks_and_what_can_be_read_again(project: Path) -> None:
    (project / "Makefile").write_text("test: build\n\ttrue\n")
    (project / "package.json").write_text('{"scripts": {"lint": "eslint", "test": "jest"}}')
    (project / "README.md").touch()
    text = build_project_instructions(str(project))
    assert "(`make test`, `npm test`, `npm run lint` and the like)" in text
    assert "(on disk: README.md)" in text


@pytest.mark.parametrize("package", ["", "{", "[]", '{"scripts": 5}'])
def test_a_project_that_says_nothing_gets_the_plain_template(project: Path, package: str) -> None:
    (project / "package.json").write_text(package)
    text = build_project_instructions(str(project))
    assert "checks and their verdicts; decisions" in text
    assert "what can be read again, long tool output" in text
    assert "\n" not in text
    assert len(text) < 600


def test_facts_come_first_and_nothing_is_said_where_nothing_is_known(project: Path) -> None:
    assert append_instructions(ctx(project), "") == ""
    assert append_instructions(ctx(project), "The facts.").startswith(
        "The facts.\n\nWhen this conversation"
    )
    (project / ".holdfast").mkdir()
    (project / ".holdfast/compact.md").write_text("\nKeep the ticket.\n")
    assert append_instructions(ctx(project), "").endswith(
        "start with a bar quote that file):\n  | Keep the ticket."
    )
    off = ctx(project, HOLDFAST_INSTRUCTIONS="off")
    assert append_instructions(off, "The facts.") == "The facts."


def test_the_users_own_words_go_into_every_summary_of_every_project(
    project: Path, tmp_path: Path
) -> None:
    (project / ".holdfast").mkdir()
    (project / ".holdfast/compact.md").write_text("Keep the ticket.")
    own = tmp_path / "config/holdfast"
    own.mkdir(parents=True)
    (own / "compact.md").write_text("Preserve all file paths.")
    asked = ctx(project, XDG_CONFIG_HOME=str(tmp_path / "config"))
    text = append_instructions(asked, "The facts.", template=False)
    assert text.startswith("The facts.\n\nThe user asks for this in every summary:\n")
    assert text.index("| Preserve all file paths.") < text.index("| Keep the ticket.")
    assert TEMPLATE_OPENING not in text


def test_it_stays_inside_what_the_client_takes(project: Path) -> None:
    (project / ".holdfast").mkdir()
    (project / ".holdfast/compact.md").write_text("word " * 5_000)
    assert len(append_instructions(ctx(project), "f" * 8_000)) <= MAX_INSTRUCTIONS_CHARS
    assert len(read_custom_instructions(str(project))) <= 3_000


def test_a_secret_in_the_projects_words_is_not_passed_on(project: Path) -> None:
    (project / ".holdfast").mkdir()
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (project / ".holdfast/compact.md").write_text(f"Push with {token}.")
    assert token not in read_custom_instructions(str(project))
