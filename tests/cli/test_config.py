"""`holdfast config`: what is in effect and from where, and changing it."""

import json
import os
from pathlib import Path

import pytest

from holdfast.settings.table import SETTINGS

from .conftest import Call

DOCUMENT = Path(__file__).parents[2] / "docs" / "settings.md"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def effective(holdfast: Call) -> dict[str, tuple[object, str]]:
    told = json.loads(holdfast("config", "--json").out)
    return {row["name"]: (row["value"], row["source"]) for row in told["settings"]}


def test_every_setting_is_shown_with_its_default(holdfast: Call) -> None:
    shown = effective(holdfast)
    assert shown["brief_chars"] == (9500, "default")
    assert list(shown) == [row.name for row in SETTINGS]
    table = holdfast("config").out
    assert [row.name for row in SETTINGS if row.name not in table] == []


def test_set_and_unset_keep_the_rest_of_the_file(holdfast: Call, home: Path) -> None:
    path = home / ".config/holdfast/settings.json"
    path.parent.mkdir(parents=True)
    before = '{\n  "gap_chars": 2000,\n  "note to myself": "keep"\n}\n'
    path.write_text(before)
    ended = holdfast("config", "set", "brief-chars", "8000")
    assert ended.code == 0
    assert "brief_chars is 8,000 now" in ended.out
    assert json.loads(path.read_text())["note to myself"] == "keep"
    assert effective(holdfast)["brief_chars"] == (8000, "user")
    holdfast("config", "set", "brief_chars", "7000")
    assert effective(holdfast)["brief_chars"] == (7000, "user")
    assert holdfast("config", "unset", "brief_chars").code == 0
    assert path.read_text() == before


def test_a_project_has_a_file_of_its_own(holdfast: Call, project: Path) -> None:
    holdfast("config", "set", "low_context_notify", "user", "--project")
    written = json.loads((project / ".holdfast/settings.json").read_text())
    assert written == {"low_context_notify": "user"}
    assert effective(holdfast)["low_context_notify"] == ("user", "project")
    refused = holdfast("config", "set", "archive", "on", "--project")
    assert refused.code == 1
    assert "can only be set by the user, not by a project. --here sets it" in refused.err


def test_your_own_file_can_choose_for_one_project(
    holdfast: Call, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holdfast("config", "set", "gap_chars", "2000")
    assert holdfast("config", "set", "notes_in_repo", "on", "--here").code == 0
    assert holdfast("config", "set", "gap_chars", "3000", "--here").code == 0
    written = json.loads((home / ".config/holdfast/settings.json").read_text())
    chosen = {"notes_in_repo": True, "gap_chars": 3000}
    assert written == {"gap_chars": 2000, "projects": {str(project): chosen}}
    assert effective(holdfast)["notes_in_repo"] == (True, "user")
    assert effective(holdfast)["gap_chars"] == (3000, "user")
    monkeypatch.chdir(project.parent)
    assert effective(holdfast)["gap_chars"] == (2000, "user")
    monkeypatch.chdir(project)
    assert holdfast("config", "unset", "gap_chars", "--here").code == 0
    assert effective(holdfast)["gap_chars"] == (2000, "user")
    assert holdfast("config", "unset", "gap_chars", "--here").code == 1
    assert "either" in holdfast("config", "set", "notes", "on", "--here", "--project").err


def test_a_project_may_put_pages_into_its_tree_once_it_is_allowed(
    holdfast: Call,
) -> None:
    holdfast("config", "set", "notes_in_repo", "on", "--project")
    assert effective(holdfast)["notes_in_repo"] == (False, "default")
    assert "holdfast config allow notes_in_repo" in holdfast("config").out
    said = holdfast("config", "allow", "notes_in_repo").out
    assert "may set notes_in_repo" in said
    assert "notes_in_repo is true now" in said
    assert "false now" in holdfast("config", "allow", "notes_in_repo", "--remove").out
    refused = holdfast("config", "allow", "redact_patterns")
    assert refused.code == 1
    assert "handoff_in_repo" in refused.err


@pytest.mark.parametrize("what", ["folder", "file", "pipe"])
def test_a_projects_file_that_leads_elsewhere_is_not_written(
    holdfast: Call, project: Path, tmp_path: Path, what: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text("{}")
    if what == "folder":
        (project / ".holdfast").symlink_to(outside)
    else:
        (project / ".holdfast").mkdir()
        place = project / ".holdfast/settings.json"
        os.mkfifo(place) if what == "pipe" else place.symlink_to(outside / "settings.json")
    ended = holdfast("config", "set", "notes", "off", "--project")
    assert ended.code == 1
    assert "it was not written" in ended.err
    assert (outside / "settings.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["set", "brief_chars", "long"], "a whole number from 1000 to 9500"),
        (["set", "breif_chars", "1"], "Did you mean brief_chars?"),
        (["unset", "brief_chars"], "brief_chars is not set"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(
    holdfast: Call, home: Path, arguments: list[str], said: str
) -> None:
    ended = holdfast("config", *arguments)
    assert ended.code == 1
    assert said in ended.err
    assert not (home / ".config").exists()


def test_a_broken_file_is_named_and_left_alone(holdfast: Call, home: Path) -> None:
    path = home / ".config/holdfast/settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"brief_chars": 2000,}')
    assert "is not valid JSON" in holdfast("config").out
    assert holdfast("config", "set", "brief_chars", "3000").code == 1
    assert path.read_text() == '{"brief_chars": 2000,}'


def test_the_page_of_settings_has_each_with_its_default() -> None:
    page = DOCUMENT.read_text()
    for row in SETTINGS:
        (line,) = [line for line in page.splitlines() if line.startswith(f"- `{row.name}`: ")]
        default = json.dumps(list(row.default) if isinstance(row.default, tuple) else row.default)
        assert line.startswith(f"- `{row.name}`: `{default}`")
        assert row.description in line
