"""Projects by name, by id, and by the folders in which machines have them.

A project's name is what all machines call it (`sync.project_id`): a remote, a name that a
person gave, or a folder. Its id is made from that name, so that everyone makes the same.
"""

import json
import os
from collections.abc import Sequence

from holdfast.records import NamedTuple
from holdfast.server.records.transactions import Transaction
from holdfast.store.queries import insert, placeholders
from holdfast.sync.project_id import make_project_id

# Of a folder, those above it that are looked at.
MAX_ANCESTORS = 60
# The scope of one who sees all projects.
ALL_PROJECTS = "*"


class Project(NamedTuple):
    id: str
    path: str
    name: str


class ProjectFolder(NamedTuple):
    project: str
    path: str
    machine: str


def build_project(path: str) -> Project:
    return Project(make_project_id(path), path, os.path.basename(path.rstrip("/")) or path)


def save_project(transaction: Transaction, path: str, now: str) -> None:
    project_id, _, name = build_project(path)
    kept = {"project": path, "id": project_id, "name": name, "created": now}
    insert(transaction, "projects", kept, "ON CONFLICT DO NOTHING")


def list_projects(transaction: Transaction) -> list[Project]:
    return _select_projects(transaction, "1 = 1 ORDER BY project")


def find_by_id(transaction: Transaction, project_id: str) -> Project | None:
    return next(iter(_select_projects(transaction, "id = :id", id=project_id)), None)


def find_by_paths(transaction: Transaction, paths: Sequence[str]) -> list[Project]:
    """Those that are known by one of these names."""
    values, names = placeholders(paths)
    return _select_projects(transaction, f"project IN ({names})", **values)


def _select_projects(transaction: Transaction, condition: str, **values: str) -> list[Project]:
    statement = f"SELECT id, project, name FROM projects WHERE {{mine}} AND {condition}"
    return [Project(*row) for row in transaction.query(statement, **values)]


def save_folder(
    transaction: Transaction, folder: ProjectFolder, now: str, seen: Sequence[str] | None
) -> None:
    """A machine has the project there, on the word of one who sees these projects; the widest
    scope counts. The root is around everything and means nothing."""
    if not folder.path.startswith("/") or not folder.path.strip("/"):
        return
    transaction.execute(
        "INSERT INTO folders (project, path, machine, created, scope)"
        " VALUES (:project, :path, :machine, :now, :scope)"
        " ON CONFLICT (project, path, machine) DO UPDATE SET scope = excluded.scope"
        " WHERE folders.scope <> :all AND"
        " (excluded.scope = :all OR length(excluded.scope) > length(folders.scope))",
        **folder._asdict(),
        now=now,
        scope=ALL_PROJECTS if seen is None else json.dumps(sorted(seen)),
        all=ALL_PROJECTS,
    )


def list_enclosing_folders(transaction: Transaction, path: str) -> list[ProjectFolder]:
    """Where machines have projects: this folder, or one that it is in; the nearest first.

    A token for one project can say of any folder that its project is there. So that it draws
    nothing to itself that others mean for theirs, its word counts for those alone who see no
    more than it does."""
    values, names = placeholders(list_ancestors(path))
    rows = transaction.query(
        f"SELECT project, path, machine, scope FROM folders WHERE {{mine}} AND path IN ({names})",
        **values,
    )
    found = [
        ProjectFolder(*row[:3])
        for row in rows
        if _is_trusted_for(row[3], row[0], transaction.projects)
    ]
    return sorted(found, key=lambda folder: -len(folder.path))


def _is_trusted_for(scope: str, project: str, projects: Sequence[str] | None) -> bool:
    """Whether one who saw these projects has a say for one who sees those."""
    if scope == ALL_PROJECTS:
        return True
    known = {project, *(json.loads(scope) if scope else ())}
    return projects is not None and known.issuperset(projects)


def find_nearest(
    path: str, projects: Sequence[Project], folders: Sequence[ProjectFolder]
) -> list[Project]:
    """Those with the longest path around a folder: one, none, or several machines' different
    ones. A project that is itself called by the path comes before one that is only there."""
    around = set(list_ancestors(path))
    named = [project for project in projects if project.path in around]
    best = max((len(project.path) for project in named), default=0)
    if folders and len(folders[0].path) > best:
        longest = len(folders[0].path)
        there = {folder.project for folder in folders if len(folder.path) == longest}
        return [build_project(name) for name in sorted(there)]
    return [project for project in named if len(project.path) == best][:1]


def list_ancestors(path: str) -> list[str]:
    """The folder and those it is in, `/` last."""
    steps = path.rstrip("/").split("/")
    above = ["/".join(steps[:count]) or "/" for count in range(len(steps), 0, -1)]
    return list(dict.fromkeys([path, *above[:MAX_ANCESTORS]]))
