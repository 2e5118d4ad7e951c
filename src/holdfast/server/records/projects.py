"""Projects by name, by id, and by the folders in which machines have them.

A project's name is what all machines call it (`lifecycle.identity`): a remote, a name that a
person gave, or a folder. Its id is made from that name, so that everyone makes the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.lifecycle.carrying.identity import project_id
from holdfast.server.records.engine import Transaction

# Of a folder, those above it that are looked at.
DEEPEST = 60
# The sayer who sees all projects.
ALL = "*"


class Project(NamedTuple):
    id: str
    path: str
    name: str


class Folder(NamedTuple):
    project: str
    path: str
    machine: str


def id_of(path: str) -> str:
    return project_id(path)


def project_at(path: str) -> Project:
    return Project(id_of(path), path, os.path.basename(path.rstrip("/")) or path)


def keep(transaction: Transaction, path: str, now: str) -> Project:
    project = project_at(path)
    transaction.change(
        "INSERT INTO projects (project, id, name, created) VALUES (:path, :id, :name, :now)"
        " ON CONFLICT DO NOTHING",
        path=path,
        id=project.id,
        name=project.name,
        now=now,
    )
    return project


def known(transaction: Transaction) -> list[Project]:
    rows = transaction.rows("SELECT id, project, name FROM projects WHERE {mine} ORDER BY project")
    return [Project(*row) for row in rows]


def with_id(transaction: Transaction, project_id: str) -> Project | None:
    rows = transaction.rows(
        "SELECT id, project, name FROM projects WHERE {mine} AND id = :id", id=project_id
    )
    return Project(*rows[0]) if rows else None


def among(transaction: Transaction, paths: Sequence[str]) -> list[Project]:
    """Those that are known by one of these names."""
    names = {f"name_{number}": path for number, path in enumerate(paths)}
    rows = transaction.rows(
        "SELECT id, project, name FROM projects WHERE {mine} AND project IN"
        f" ({', '.join(f':{name}' for name in names) or 'NULL'})",
        **names,
    )
    return [Project(*row) for row in rows]


def keep_folder(
    transaction: Transaction, folder: Folder, now: str, seen: Sequence[str] | None
) -> None:
    """A machine has the project there, by the word of one who sees these projects; the widest
    sight counts. The root is around everything and tells nothing."""
    if not folder.path.startswith("/") or not folder.path.strip("/"):
        return
    transaction.change(
        "INSERT INTO folders (project, path, machine, created, sayer)"
        " VALUES (:project, :path, :machine, :now, :sayer)"
        " ON CONFLICT (project, path, machine) DO UPDATE SET sayer = excluded.sayer"
        " WHERE folders.sayer <> :all AND"
        " (excluded.sayer = :all OR length(excluded.sayer) > length(folders.sayer))",
        **folder._asdict(),
        now=now,
        sayer=_sight(seen),
        all=ALL,
    )


def folders_around(transaction: Transaction, path: str) -> list[Folder]:
    """Where machines have projects: this folder, or one that it is in; the nearest first.

    A token for one project can say of any folder that its project is there. So that it draws
    nothing to itself that others mean for theirs, its word counts for those alone who see no
    more than it does."""
    around = above(path)
    rows = transaction.rows(
        "SELECT project, path, machine, sayer FROM folders WHERE {mine} AND path IN"
        f" ({', '.join(f':above_{number}' for number in range(len(around)))})",
        **{f"above_{number}": folder for number, folder in enumerate(around)},
    )
    found = [Folder(*row[:3]) for row in rows if _counts(row[3], row[0], transaction.projects)]
    return sorted(found, key=lambda folder: -len(folder.path))


def _sight(projects: Sequence[str] | None) -> str:
    return ALL if projects is None else json.dumps(sorted(projects))


def _counts(sayer: str, project: str, projects: Sequence[str] | None) -> bool:
    """Whether one who saw these projects has a say for one who sees those."""
    if sayer == ALL:
        return True
    known = {project, *(json.loads(sayer) if sayer else ())}
    return projects is not None and known.issuperset(projects)


def nearest(path: str, projects: Sequence[Project], folders: Sequence[Folder]) -> list[Project]:
    """Those with the longest path around a folder: one, none, or several machines' different
    ones. A project that is itself called by the path comes before one that is only there."""
    around = set(above(path))
    named = [project for project in projects if project.path in around]
    best = max((len(project.path) for project in named), default=0)
    if folders and len(folders[0].path) > best:
        longest = len(folders[0].path)
        there = {folder.project for folder in folders if len(folder.path) == longest}
        return [project_at(name) for name in sorted(there)]
    return [project for project in named if len(project.path) == best][:1]


def above(path: str) -> list[str]:
    """The folder and those it is in, `/` last."""
    found = [path]
    folder = path.rstrip("/")
    for _ in range(DEEPEST):
        if folder not in found:
            found.append(folder or "/")
        if "/" not in folder:
            break
        folder = folder.rpartition("/")[0]
    return list(dict.fromkeys(found))
