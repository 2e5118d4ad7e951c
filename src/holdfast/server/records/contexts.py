"""Agent contexts: what an agent or a hook says it is doing, snapshots of compactions included."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.server.records.engine import Transaction, structure

SNAPSHOT = "compact-snapshot"
# Snapshots looked at for the richest; more than one per compaction is rare.
RECENT = 20
# A snapshot with less than this share of another's content does not hide it.
THIN = 0.5


class Context(NamedTuple):
    id: str
    project: str
    session: str
    agent: str
    kind: str
    body: dict[str, Any]
    skills: list[str]
    tools: list[str]
    richness: int
    created: str


_COLUMNS = "id, project, session, agent, kind, body, skills, tools, richness, created"


def richness(value: Any) -> int:
    """How much is said: the characters of everything that is not empty."""
    if isinstance(value, dict):
        return sum(richness(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return sum(richness(item) for item in value)
    if isinstance(value, str):
        return len(value.strip())
    return 0 if value is None or isinstance(value, bool) else 1


def add(transaction: Transaction, context: Context) -> None:
    transaction.change(
        f"INSERT INTO contexts ({_COLUMNS}) VALUES (:id, :project, :session, :agent, :kind,"
        " :body, :skills, :tools, :richness, :created)",
        **context._asdict(),
    )


def listed(
    transaction: Transaction,
    *,
    project: str = "",
    session: str = "",
    agent: str = "",
    kind: str = "",
    limit: int = 50,
    offset: int = 0,
) -> list[Context]:
    """Latest first."""
    rows = transaction.rows(
        f"SELECT {_COLUMNS} FROM contexts WHERE {{mine}}"
        " AND (:project = '' OR project = :project) AND (:session = '' OR session = :session)"
        " AND (:agent = '' OR agent = :agent) AND (:kind = '' OR kind = :kind)"
        " ORDER BY created DESC, place DESC LIMIT :limit OFFSET :offset",
        project=project,
        session=session,
        agent=agent,
        kind=kind,
        limit=limit,
        offset=offset,
    )
    return [
        Context._make((*row[:5], *(structure(value) for value in row[5:8]), *row[8:]))
        for row in rows
    ]


def richest_snapshot(transaction: Transaction, session: str, project: str = "") -> Context | None:
    """The latest that is not thin beside another recent one."""
    recent = listed(transaction, project=project, session=session, kind=SNAPSHOT, limit=RECENT)
    most = max((context.richness for context in recent), default=0)
    return next((context for context in recent if context.richness >= most * THIN), None)
