"""Role files: found in their order, understood, and told about where they cannot be."""

import json
from pathlib import Path

import pytest

from holdfast.brief.role import MAIN_ROLE, SELECTED_SECTIONS, RoleError, parse_role
from holdfast.brief.sections import list_section_names
from holdfast.session.role_lookup import (
    BUILT_IN_DIR,
    UnknownRole,
    find_role,
    find_role_for_agent,
    list_role_dirs,
    list_role_names,
)

from .role_states import ROLES, built_in


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, tuple[str, ...]]:
    """A project's and a user's folder of roles, and where roles are looked for."""
    project, data = tmp_path / "project", tmp_path / "data"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    own, users = project / ".holdfast" / "roles", data / "roles"
    own.mkdir(parents=True)
    users.mkdir(parents=True)
    return own, users, list_role_dirs(str(project / "src"), str(data))


def write(folder: Path, name: str, document: object) -> Path:
    path = folder / f"{name}.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def only(section: str) -> dict[str, object]:
    return {"sections": [section]}


def sections(role: object) -> list[str]:
    return [part.section for part in getattr(role, "parts", ())]


def test_the_built_in_ones_are_all_there_and_sound() -> None:
    assert set(list_role_names((BUILT_IN_DIR,))) == set(ROLES)
    for name in ROLES:
        role = built_in(name)
        assert role.about
        assert len(role.parts) > 8


def test_the_file_of_the_default_role_says_what_the_default_is() -> None:
    document = json.loads((Path(BUILT_IN_DIR) / "main.json").read_text())
    assert parse_role("main", document) == MAIN_ROLE


def test_the_project_comes_before_the_user_and_the_user_before_the_built_in(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, users, folders = places
    assert sections(find_role("developer", folders).role) == sections(built_in("developer"))
    write(users, "developer", only("rules"))
    assert sections(find_role("developer", folders).role) == ["rules"]
    write(own, "developer", only("tasks"))
    assert sections(find_role("developer", folders).role) == ["tasks"]


def test_the_default_role_can_be_overridden_too(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, _, folders = places
    assert find_role("main", folders).role is MAIN_ROLE
    write(own, "main", only("request"))
    assert sections(find_role_for_agent("", folders).role) == ["request"]


def test_a_role_of_ones_own_is_found_by_name_and_by_agent_type(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, _, folders = places
    write(own, "security-auditor", only("errors"))
    assert "security-auditor" in list_role_names(folders)
    assert sections(find_role_for_agent("Security Auditor", folders).role) == ["errors"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "a role must be a JSON object"),
        ("[" * 60_000, "is nested too deeply"),
        (" " * 70_000, "is larger than 64 KB"),
        ('{"sections": []}', '"sections" must be a list'),
        ('{"sections": ["rulez"]}', "section 1: unknown name 'rulez'; known names are"),
        ('{"sections": [5]}', "section 1 must be a name or an object"),
        ('{"sections": ["rules", "rules"]}', "'rules' is listed twice"),
        ('{"sections": ["rules"], "sise": 1}', "the role: unknown key 'sise'; known keys are"),
        ('{"sections": [{"section": "rules", "share": 2}]}', '"share" of section 1 must be'),
        ('{"sections": [{"section": "rules", "share": true}]}', '"share" of section 1 must be'),
        ('{"sections": [{"section": "files", "share": 0.1}]}', "cannot have its own share"),
        ('{"sections": [{"section": "files", "heading": ""}]}', "needs a heading"),
        ('{"sections": [{"section": "rules", "heading": 1}]}', "must be a string, or a short"),
        ('{"sections": [{"section": "rules", "heading": "a\\nb"}]}', "must be one line"),
        ('{"sections": ["rules"], "stated": "all"}', '"stated" of the role must be a number'),
        ('{"sections": ["rules"], "about": 1}', '"about" must be a string'),
    ],
)
def test_a_file_that_cannot_be_followed_is_named_and_the_next_one_used(
    places: tuple[Path, Path, tuple[str, ...]], text: str, problem: str
) -> None:
    own, _, folders = places
    path = write(own, "developer", text)
    found = find_role("developer", folders)
    assert found.role == built_in("developer")
    (told,) = found.problems
    assert told.startswith(f"{path}: ")
    assert problem in told


def test_a_broken_default_costs_nobody_the_brief(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, _, folders = places
    write(own, "main", "nonsense")
    found = find_role("main", folders)
    assert found.role is MAIN_ROLE
    assert len(found.problems) == 1


@pytest.mark.parametrize("name", ["nobody", "", "../developer", "agents", "a/b", "Main"])
def test_unknown_names_say_which_there_are(
    places: tuple[Path, Path, tuple[str, ...]], name: str
) -> None:
    with pytest.raises(UnknownRole, match="known roles are developer, main, orchestrator"):
        find_role(name, places[2])


def test_a_role_that_exists_only_broken_says_what_is_wrong(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    write(places[0], "mine", "{")
    with pytest.raises(UnknownRole, match=r"mine\.json: is not JSON.*unknown role 'mine'"):
        find_role("mine", places[2])


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
    assert find_role_for_agent(agent_type, (BUILT_IN_DIR,)).role.name == role


def test_the_table_of_agent_types_can_be_overridden(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, users, folders = places
    write(users, "agents", {"orchestrator": ["reviewer"], "developer": ["explore"]})
    assert find_role_for_agent("reviewer", folders).role.name == "orchestrator"
    assert find_role_for_agent("Explore", folders).role.name == "developer"
    assert find_role_for_agent("tester", folders).role.name == "validator"
    write(own, "agents", {"specialist": ["reviewer"]})
    assert find_role_for_agent("reviewer", folders).role.name == "specialist"


@pytest.mark.parametrize(
    "text", ["[1]", "{", '{"developer": "explore"}', '{"nobody": ["explore"]}']
)
def test_a_broken_table_of_agent_types_is_passed_over(
    places: tuple[Path, Path, tuple[str, ...]], text: str
) -> None:
    path = write(places[0], "agents", text)
    found = find_role_for_agent("explore", places[2])
    assert found.role.name == "specialist"
    assert found.problems[0].startswith(f"{path}: ")


def test_numbers_out_of_range_are_refused_with_the_range() -> None:
    with pytest.raises(RoleError, match="must be a number from 0 to 100"):
        parse_role("x", {"sections": ["rules"], "focus": 1000})


def test_the_page_on_briefs_names_every_section_and_role() -> None:
    page = (Path(__file__).parents[2] / "docs" / "brief.md").read_text()
    for name in (*list_section_names(), *SELECTED_SECTIONS, *ROLES):
        assert f"`{name}`" in page, name


def test_the_example_on_the_page_can_be_followed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "brief.md").read_text()
    start = page.index('    {\n      "about"')
    example = page[start : page.index("\n    }\n", start) + 7]
    role = parse_role("example", json.loads(example))
    assert [part.section for part in role.parts][:2] == ["request", "rules"]
