"""Actions that agents report: a tool, its files and its outcome."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.server.records.engine import Transaction, structure


class Deed(NamedTuple):
    id: str
    project: str
    session: str
    agent: str
    tool: str
    tool_type: str
    files: list[str]
    exit_code: int | None
    duration_ms: int | None
    note: str
    created: str


_COLUMNS = (
    "id, project, session, agent, tool, tool_type, files, exit_code, duration_ms, note, created"
)


def add(transaction: Transaction, deed: Deed) -> None:
    transaction.change(
        f"INSERT INTO deeds ({_COLUMNS}) VALUES (:id, :project, :session, :agent, :tool,"
        " :tool_type, :files, :exit_code, :duration_ms, :note, :created)",
        **deed._asdict(),
    )


def listed(
    transaction: Transaction,
    *,
    project: str = "",
    session: str = "",
    agent: str = "",
    tool: str = "",
    limit: int = 100,
    offset: int = 0,
) -> list[Deed]:
    """Latest first."""
    rows = transaction.rows(
        f"SELECT {_COLUMNS} FROM deeds WHERE {{mine}}"
        " AND (:project = '' OR project = :project) AND (:session = '' OR session = :session)"
        " AND (:agent = '' OR agent = :agent) AND (:tool = '' OR tool = :tool)"
        " ORDER BY created DESC, place DESC LIMIT :limit OFFSET :offset",
        project=project,
        session=session,
        agent=agent,
        tool=tool,
        limit=limit,
        offset=offset,
    )
    return [_deed(row) for row in rows]


def _deed(row: tuple[Any, ...]) -> Deed:
    return Deed._make((*row[:6], structure(row[6]), *row[7:]))
