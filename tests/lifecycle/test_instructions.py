"""Compact instructions: fitted to the project, with its own words, inside the client's bound."""

from pathlib import Path

import pytest

from holdfast.lifecycle.instructions import MOST, joined, own_words, project_instructions
from holdfast.lifecycle.keep import Scene
from holdfast.lifecycle.terms import terms_for


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


def scene(project: Path, **environ: str) -> Scene:
    return Scene("s1", "", str(project), terms_for(environ, "", str(project)))


def test_the_template_names_the_projects_checks_and_what_can_be_read_again(project: Path) -> None:
    (project / "Makefile").write_text("test: build\n\ttrue\n")
    (project / "package.json").write_text('{"scripts": {"lint": "eslint", "test": "jest"}}')
    (project / "README.md").touch()
    text = project_instructions(str(project))
    assert "(`make test`, `npm test`, `npm run lint` and the like)" in text
    assert "(README.md are on disk)" in text


@pytest.mark.parametrize("package", ["", "{", "[]", '{"scripts": 5}'])
def test_a_project_that_says_nothing_gets_the_plain_template(project: Path, package: str) -> None:
    (project / "package.json").write_text(package)
    text = project_instructions(str(project))
    assert "5. checks and their verdicts: what passes" in text
    assert "what can be read again, long tool output" in text


def test_facts_come_first_and_nothing_is_said_where_nothing_is_known(project: Path) -> None:
    assert joined("", scene(project)) == ""
    assert joined("The facts.", scene(project)).startswith("The facts.\n\nWhen this conversation")
    (project / ".holdfast").mkdir()
    (project / ".holdfast/compact.md").write_text("\nKeep the ticket.\n")
    assert joined("", scene(project)).endswith("stands behind bars):\n  | Keep the ticket.")
    off = scene(project, HOLDFAST_INSTRUCTIONS="off")
    assert joined("The facts.", off) == "The facts."


def test_it_stays_inside_what_the_client_takes(project: Path) -> None:
    (project / ".holdfast").mkdir()
    (project / ".holdfast/compact.md").write_text("word " * 5_000)
    assert len(joined("f" * 8_000, scene(project))) <= MOST
    assert len(own_words(str(project))) <= 3_000


def test_a_secret_in_the_projects_words_is_not_passed_on(project: Path) -> None:
    (project / ".holdfast").mkdir()
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (project / ".holdfast/compact.md").write_text(f"Push with {token}.")
    assert token not in own_words(str(project))
