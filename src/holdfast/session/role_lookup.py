"""Finding the role of a reader: by name, or by what kind of agent reads.

A role is looked for in the project (`.holdfast/roles/NAME.json`), then in the user's data folder
(`roles/NAME.json`), then among those that come with Holdfast. A file that cannot be followed is
reported and skipped, so that a slip in it costs no reader a brief. The words above a section
are the usual ones in a project's role: a repository does not speak in our voice. The default
role costs a look for its overriding files and no read. `agents.json` in the same places says
which agent types read as which role.
"""

import json
import os
from collections.abc import Sequence

from holdfast.brief.role import MAIN_ROLE, Role
from holdfast.files import list_names, read_or_raise
from holdfast.records import Any, NamedTuple
from holdfast.session.context import list_project_dirs

BUILT_IN_DIR = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "brief/roles"
)
AGENTS_FILE = "agents"
PROJECT_ROLES_DIR = ".holdfast/roles"
# A subagent of a kind nobody named still has one thing to do.
DEFAULT_SUBAGENT_ROLE = "specialist"
MAX_ROLE_BYTES = 64 * 1024
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


class UnknownRole(ValueError):
    """No role has this name; says which there are."""


class FoundRole(NamedTuple):
    role: Role
    problems: tuple[str, ...] = ()  # files that were passed over, and why


def list_role_dirs(cwd: str, data: str) -> tuple[str, ...]:
    """Where roles may lie, the first that has one counts: worktree, project, user, built in."""
    own = [os.path.join(place, PROJECT_ROLES_DIR) for place in list_project_dirs(cwd)]
    users = [os.path.join(data, "roles")] if data else []
    return tuple(dict.fromkeys((*own, *users, BUILT_IN_DIR)))


def find_role(name: str, folders: Sequence[str]) -> FoundRole:
    """Raises UnknownRole when no folder has a usable one of that name."""
    problems: list[str] = []
    if name and _NAME.issuperset(name) and name != AGENTS_FILE:
        for folder in folders:
            if name == MAIN_ROLE.name and folder == BUILT_IN_DIR:
                break
            path = os.path.join(folder, f"{name}.json")
            if os.path.exists(path):
                try:
                    return FoundRole(_read_role(name, path), tuple(problems))
                except ValueError as error:
                    problems.append(f"{path}: {error}")
        if name == MAIN_ROLE.name:
            return FoundRole(MAIN_ROLE, tuple(problems))
    known = ", ".join(list_role_names(folders))
    raise UnknownRole("; ".join([*problems, f"unknown role {name!r}; known roles are {known}"]))


def list_role_names(folders: Sequence[str]) -> list[str]:
    found: set[str] = set()
    for folder in folders:
        inside = list_names(folder, within=_find_tree(f"{folder}/"))
        found.update(name.removesuffix(".json") for name in inside if name.endswith(".json"))
    return sorted(name for name in found if _NAME.issuperset(name) and name != AGENTS_FILE)


def find_role_for_agent(agent_type: str, folders: Sequence[str]) -> FoundRole:
    """The role in which an agent of this type reads; "" is the main thread."""
    if not agent_type:
        return find_role(MAIN_ROLE.name, folders)
    plain = "".join(c if c.isalnum() else "-" for c in agent_type.lower()).strip("-")
    if plain in list_role_names(folders):
        return find_role(plain, folders)
    problems: list[str] = []
    words = set(plain.split("-")) | {plain, plain.replace("-", "")}
    for folder in folders:
        path = os.path.join(folder, f"{AGENTS_FILE}.json")
        try:
            if name := _named_for(words, path):
                found = find_role(name, folders)
                return found._replace(problems=(*problems, *found.problems))
        except ValueError as error:  # an unknown role is one, too
            problems.append(f"{path}: {error}")
    found = find_role(DEFAULT_SUBAGENT_ROLE, folders)
    return found._replace(problems=(*problems, *found.problems))


def _named_for(words: set[str], path: str) -> str:
    if not os.path.exists(path):
        return ""
    table = _read_document(path)
    if not isinstance(table, dict) or not all(isinstance(kinds, list) for kinds in table.values()):
        raise ValueError("must be a JSON object that maps each role to a list of agent types")
    for name, kinds in table.items():
        if any(isinstance(kind, str) and kind.lower() in words for kind in kinds):
            return str(name)
    return ""


def _read_role(name: str, path: str) -> Role:
    from holdfast.brief.role import default_part, parse_role

    role = parse_role(name, _read_document(path))
    if not _find_tree(path):
        return role
    return role._replace(parts=tuple(default_part(one.section, one.share) for one in role.parts))


def _find_tree(path: str) -> str:
    """The tree that a role file must stay in, "" for the user's own and ours."""
    tree, found, _ = path.rpartition(f"/{PROJECT_ROLES_DIR}/")
    return tree if found else ""


def _read_document(path: str) -> Any:
    """Raises ValueError in words, whatever is wrong with the file."""
    try:
        text = read_or_raise(path, within=_find_tree(path), most=MAX_ROLE_BYTES + 1)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from error
    if len(text) > MAX_ROLE_BYTES:
        raise ValueError(f"is larger than {MAX_ROLE_BYTES // 1024} KB")
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
