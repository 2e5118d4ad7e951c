"""Role files: found in their order, understood, and told about where they cannot be."""

import json
from pathlib import Path

import pytest

from holdfast.brief.role import CHOSEN, MAIN
from holdfast.brief.role_file import RoleError, understood
from holdfast.brief.sections import names
from holdfast.lifecycle.roles import (
    BUILT_IN,
    UnknownRole,
    role_folders,
    role_for,
    role_named,
    role_names,
)

from .readers import ROLES, built_in


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, tuple[str, ...]]:
    """A project's and a user's folder of roles, and where roles are looked for."""
    project, data = tmp_path / "project", tmp_path / "data"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    own, users = project / ".holdfast" / "roles", data / "roles"
    own.mkdir(parents=True)
    users.mkdir(parents=True)
    return own, users, role_folders(str(project / "src"), str(data))


def write(folder: Path, name: str, document: object) -> Path:
    path = folder / f"{name}.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def only(section: str) -> dict[str, object]:
    return {"sections": [section]}


def sections(role: object) -> list[str]:
    return [part.section for part in getattr(role, "parts", ())]


def test_the_built_in_ones_are_all_there_and_sound() -> None:
    assert set(role_names((BUILT_IN,))) == set(ROLES)
    for name in ROLES:
        role = built_in(name)
        assert role.about
        assert len(role.parts) > 8


def test_the_file_of_the_default_role_says_what_the_default_is() -> None:
    document = json.loads((Path(BUILT_IN) / "main.json").read_text())
    assert understood("main", document) == MAIN


def test_the_project_comes_before_the_user_and_the_user_before_the_built_in(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, users, folders = places
    assert sections(role_named("developer", folders).role) == sections(built_in("developer"))
    write(users, "developer", only("rules"))
    assert sections(role_named("developer", folders).role) == ["rules"]
    write(own, "developer", only("tasks"))
    assert sections(role_named("developer", folders).role) == ["tasks"]


def test_the_default_role_can_be_overridden_too(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, _, folders = places
    assert role_named("main", folders).role is MAIN
    write(own, "main", only("request"))
    assert sections(role_for("", folders).role) == ["request"]


def test_a_role_of_ones_own_is_found_by_name_and_by_agent_type(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, _, folders = places
    write(own, "security-auditor", only("errors"))
    assert "security-auditor" in role_names(folders)
    assert sections(role_for("Security Auditor", folders).role) == ["errors"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "a role is a JSON object"),
        ("[" * 60_000, "is nested too deeply"),
        (" " * 70_000, "is larger than 64 KB"),
        ('{"sections": []}', '"sections" must be a list'),
        ('{"sections": ["rulez"]}', "section 1 is called 'rulez'; known are"),
        ('{"sections": [5]}', "section 1 must be a name or an object"),
        ('{"sections": ["rules", "rules"]}', "'rules' is named twice"),
        ('{"sections": ["rules"], "sise": 1}', "the role has 'sise'; known are"),
        ('{"sections": [{"section": "rules", "share": 2}]}', '"share" of section 1 must be'),
        ('{"sections": [{"section": "rules", "share": true}]}', '"share" of section 1 must be'),
        ('{"sections": [{"section": "files", "share": 0.1}]}', "has no share of its own"),
        ('{"sections": [{"section": "files", "heading": ""}]}', "needs a heading"),
        ('{"sections": [{"section": "rules", "heading": 1}]}', "must be a text, or a short"),
        ('{"sections": [{"section": "rules", "heading": "a\\nb"}]}', "must be one line"),
        ('{"sections": ["rules"], "stated": "all"}', '"stated" of the role must be a number'),
        ('{"sections": ["rules"], "about": 1}', '"about" must be a text'),
    ],
)
def test_a_file_that_cannot_be_followed_is_named_and_the_next_one_used(
    places: tuple[Path, Path, tuple[str, ...]], text: str, problem: str
) -> None:
    own, _, folders = places
    path = write(own, "developer", text)
    found = role_named("developer", folders)
    assert found.role == built_in("developer")
    (told,) = found.problems
    assert told.startswith(f"{path}: ")
    assert problem in told


def test_a_broken_default_costs_nobody_the_brief(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, _, folders = places
    write(own, "main", "nonsense")
    found = role_named("main", folders)
    assert found.role is MAIN
    assert len(found.problems) == 1


@pytest.mark.parametrize("name", ["nobody", "", "../developer", "agents", "a/b", "Main"])
def test_unknown_names_say_which_there_are(
    places: tuple[Path, Path, tuple[str, ...]], name: str
) -> None:
    with pytest.raises(UnknownRole, match="there are developer, main, orchestrator"):
        role_named(name, places[2])


def test_a_role_that_exists_only_broken_says_what_is_wrong(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    write(places[0], "mine", "{")
    with pytest.raises(UnknownRole, match=r"mine\.json: is not JSON.*no role is called 'mine'"):
        role_named("mine", places[2])


@pytest.mark.parametrize(
    ("agent_type", "role"),
    [
        ("", "main"),
        ("orchestrator", "orchestrator"),
        ("tech-lead", "orchestrator"),
        ("reviewer", "validator"),
        ("code-reviewer", "validator"),
        ("plugin:qa_tester", "validator"),
        ("validator", "validator"),
        ("backend-developer", "developer"),
        ("Explore", "specialist"),
        ("general-purpose", "specialist"),
    ],
)
def test_agent_types_read_as_roles(agent_type: str, role: str) -> None:
    assert role_for(agent_type, (BUILT_IN,)).role.name == role


def test_the_table_of_agent_types_can_be_overridden(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, users, folders = places
    write(users, "agents", {"orchestrator": ["reviewer"], "developer": ["explore"]})
    assert role_for("reviewer", folders).role.name == "orchestrator"
    assert role_for("Explore", folders).role.name == "developer"
    assert role_for("tester", folders).role.name == "validator"
    write(own, "agents", {"specialist": ["reviewer"]})
    assert role_for("reviewer", folders).role.name == "specialist"


@pytest.mark.parametrize(
    "text", ["[1]", "{", '{"developer": "explore"}', '{"nobody": ["explore"]}']
)
def test_a_broken_table_of_agent_types_is_passed_over(
    places: tuple[Path, Path, tuple[str, ...]], text: str
) -> None:
    path = write(places[0], "agents", text)
    found = role_for("explore", places[2])
    assert found.role.name == "specialist"
    assert found.problems[0].startswith(f"{path}: ")


def test_numbers_out_of_range_are_refused_with_the_range() -> None:
    with pytest.raises(RoleError, match="must be a number from 0 to 100"):
        understood("x", {"sections": ["rules"], "focus": 1000})


def test_the_page_on_briefs_names_every_section_and_role() -> None:
    page = (Path(__file__).parents[2] / "docs" / "brief.md").read_text()
    for name in (*names(), *CHOSEN, *ROLES):
        assert f"`{name}`" in page, name


def test_the_example_on_the_page_can_be_followed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "brief.md").read_text()
    start = page.index('    {\n      "about"')
    example = page[start : page.index("\n    }\n", start) + 7]
    role = understood("example", json.loads(example))
    assert [part.section for part in role.parts][:2] == ["request", "rules"]
