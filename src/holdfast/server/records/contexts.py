"""Agent contexts: what an agent or a hook says it is doing, snapshots of compactions included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.server.records.engine import Row, Transaction, structure

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


class Only(NamedTuple):
    """Which contexts are wanted; what is empty asks for nothing."""

    project: str = ""
    session: str = ""
    agent: str = ""
    kind: str = ""


_WANTED = (
    "{mine} AND (:project = '' OR project = :project) AND (:session = '' OR session = :session)"
    " AND (:agent = '' OR agent = :agent) AND (:kind = '' OR kind = :kind)"
    " ORDER BY created DESC, place DESC LIMIT :limit"
)


def listed(transaction: Transaction, only: Only, limit: int) -> list[Context]:
    """Latest first."""
    return _read(
        transaction.rows(
            f"SELECT {_COLUMNS} FROM contexts WHERE {_WANTED}", limit=limit, **only._asdict()
        )
    )


def heads(transaction: Transaction, only: Only, limit: int) -> list[tuple[str, str]]:
    """Ids with their times, latest first: what a page is chosen by, without what they say."""
    rows = transaction.rows(
        f"SELECT id, created FROM contexts WHERE {_WANTED}", limit=limit, **only._asdict()
    )
    return [(row[0], row[1]) for row in rows]


def named(transaction: Transaction, ids: Sequence[str]) -> dict[str, Context]:
    """By id."""
    values, places = _places(ids)
    rows = transaction.rows(
        f"SELECT {_COLUMNS} FROM contexts WHERE {{mine}} AND id IN ({places})", **values
    )
    return {context.id: context for context in _read(rows)}


def heard(transaction: Transaction, agents: Sequence[str]) -> set[str]:
    """Those of the agents that said something themselves."""
    values, places = _places(agents)
    rows = transaction.rows(
        f"SELECT DISTINCT agent FROM contexts WHERE {{mine}} AND agent IN ({places})", **values
    )
    return {row[0] for row in rows}


def _places(names: Sequence[str]) -> tuple[dict[str, str], str]:
    values = {f"name_{number}": name for number, name in enumerate(names)}
    return values, ", ".join(f":{name}" for name in values) or "NULL"


def _read(rows: Sequence[Row]) -> list[Context]:
    return [
        Context._make((*row[:5], *(structure(value) for value in row[5:8]), *row[8:]))
        for row in rows
    ]


def homes(transaction: Transaction, session: str) -> list[str]:
    """The projects that have saved snapshots under a session's id."""
    rows = transaction.rows(
        "SELECT DISTINCT project FROM contexts WHERE {mine} AND session = :session"
        " AND kind = :kind",
        session=session,
        kind=SNAPSHOT,
    )
    return [row[0] for row in rows]


def richest_snapshot(transaction: Transaction, session: str, project: str = "") -> Context | None:
    """The latest that is not thin beside another recent one."""
    only = Only(project=project, session=session, kind=SNAPSHOT)
    found = transaction.rows(
        f"SELECT {_COLUMNS} FROM (SELECT *, max(richness) OVER () AS most FROM"
        f" (SELECT {_COLUMNS}, place FROM contexts WHERE {_WANTED}) AS recent) AS ranked"
        " WHERE richness >= most * :thin ORDER BY created DESC, place DESC LIMIT 1",
        limit=RECENT,
        thin=THIN,
        **only._asdict(),
    )
    return next(iter(_read(found)), None)
