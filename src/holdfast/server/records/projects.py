"""Projects by path and by id. An id is made from the path, so that every machine makes the same."""

from __future__ import annotations

import os
import uuid
from typing import NamedTuple

from holdfast.server.records.engine import Transaction

_SPACE = uuid.UUID("6d6f8ba3-7a0e-5a51-9f0c-2f5f4a3c9b11")


class Project(NamedTuple):
    id: str
    path: str
    name: str


def id_of(path: str) -> str:
    return str(uuid.uuid5(_SPACE, path.encode("utf-8", "replace").decode()))


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
