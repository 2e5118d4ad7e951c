"""Agent contexts: what an agent or a hook says it is doing, snapshots of compactions included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.server.records.transactions import Row, Transaction, parse_json_column
from holdfast.store.queries import placeholders

SNAPSHOT_KIND = "compact-snapshot"
# Snapshots looked at for the richest; more than one per compaction is rare.
MAX_RECENT_SNAPSHOTS = 20
# A snapshot with less than this share of another's content does not hide it.
MIN_RICHNESS_SHARE = 0.5


class AgentContext(NamedTuple):
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


_COLUMNS = ", ".join(AgentContext._fields)


def measure_richness(value: Any) -> int:
    """How much is said: the characters of everything that is not empty."""
    if isinstance(value, dict):
        return sum(measure_richness(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return sum(measure_richness(item) for item in value)
    if isinstance(value, str):
        return len(value.strip())
    return 0 if value is None or isinstance(value, bool) else 1


def add_context(transaction: Transaction, context: AgentContext) -> None:
    transaction.execute(
        f"INSERT INTO contexts ({_COLUMNS}) VALUES (:id, :project, :session, :agent, :kind,"
        " :body, :skills, :tools, :richness, :created)",
        **context._asdict(),
    )


class ContextFilter(NamedTuple):
    """Which contexts are wanted; what is empty asks for nothing."""

    project: str = ""
    session: str = ""
    agent: str = ""
    kind: str = ""


_FILTERED = (
    "{mine} AND (:project = '' OR project = :project) AND (:session = '' OR session = :session)"
    " AND (:agent = '' OR agent = :agent) AND (:kind = '' OR kind = :kind)"
    " ORDER BY created DESC, seq DESC LIMIT :limit"
)


def list_contexts(transaction: Transaction, only: ContextFilter, limit: int) -> list[AgentContext]:
    """Latest first."""
    return _read(
        transaction.query(
            f"SELECT {_COLUMNS} FROM contexts WHERE {_FILTERED}", limit=limit, **only._asdict()
        )
    )


def list_context_times(
    transaction: Transaction, only: ContextFilter, limit: int
) -> list[tuple[str, str]]:
    """Ids with their times, latest first: what a page is chosen by, without what they say."""
    rows = transaction.query(
        f"SELECT id, created FROM contexts WHERE {_FILTERED}", limit=limit, **only._asdict()
    )
    return [(row[0], row[1]) for row in rows]


def get_contexts(transaction: Transaction, ids: Sequence[str]) -> dict[str, AgentContext]:
    """By id."""
    values, places = placeholders(ids)
    rows = transaction.query(
        f"SELECT {_COLUMNS} FROM contexts WHERE {{mine}} AND id IN ({places})", **values
    )
    return {context.id: context for context in _read(rows)}


def find_posting_agents(transaction: Transaction, agents: Sequence[str]) -> set[str]:
    """Those of the agents that said something themselves."""
    values, places = placeholders(agents)
    rows = transaction.query(
        f"SELECT DISTINCT agent FROM contexts WHERE {{mine}} AND agent IN ({places})", **values
    )
    return {row[0] for row in rows}


def _read(rows: Sequence[Row]) -> list[AgentContext]:
    return [
        AgentContext._make((*row[:5], *(parse_json_column(value) for value in row[5:8]), *row[8:]))
        for row in rows
    ]


def list_snapshot_projects(transaction: Transaction, session: str) -> list[str]:
    """The projects that have saved snapshots under a session's id."""
    rows = transaction.query(
        "SELECT DISTINCT project FROM contexts WHERE {mine} AND session = :session"
        " AND kind = :kind",
        session=session,
        kind=SNAPSHOT_KIND,
    )
    return [row[0] for row in rows]


def find_richest_snapshot(
    transaction: Transaction, session: str, project: str = ""
) -> AgentContext | None:
    """The latest that is not thin beside another recent one."""
    only = ContextFilter(project=project, session=session, kind=SNAPSHOT_KIND)
    found = transaction.query(
        f"SELECT {_COLUMNS} FROM (SELECT *, max(richness) OVER () AS most FROM"
        f" (SELECT {_COLUMNS}, seq FROM contexts WHERE {_FILTERED}) AS recent) AS ranked"
        " WHERE richness >= most * :thin ORDER BY created DESC, seq DESC LIMIT 1",
        limit=MAX_RECENT_SNAPSHOTS,
        thin=MIN_RICHNESS_SHARE,
        **only._asdict(),
    )
    return next(iter(_read(found)), None)
