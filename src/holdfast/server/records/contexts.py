"""Agent contexts: what an agent or a hook says it is doing, snapshots of compactions included."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from holdfast.records import NamedTuple
from holdfast.server.records.transactions import RecordTable, Transaction, match_given
from holdfast.server.schemas import Origin, ProjectRecord
from holdfast.store.queries import placeholders

SNAPSHOT_KIND = "compact-snapshot"
# Snapshots looked at for the richest; more than one per compaction is rare.
MAX_RECENT_SNAPSHOTS = 20
# A snapshot with less than this share of another's content does not hide it.
MIN_RICHNESS_SHARE = 0.5


class AgentContext(ProjectRecord):
    session: str = Field(serialization_alias="session_id")
    agent: str = Field(serialization_alias="agent_id")
    kind: str = Field(serialization_alias="agent_type")
    body: dict[str, Any] = Field(serialization_alias="role_context")
    skills: list[str] = Field(default=[], serialization_alias="skills_to_restore")
    tools: list[str] = Field(default=[], serialization_alias="tools_used")
    richness: int = Field(default=0, exclude=True)
    created: str = Field(serialization_alias="last_updated")
    origin: Origin = "posted"


CONTEXTS = RecordTable("contexts", AgentContext)


def measure_richness(value: Any) -> int:
    """How much is said: the characters of everything that is not empty."""
    if isinstance(value, dict):
        return sum(measure_richness(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return sum(measure_richness(item) for item in value)
    if isinstance(value, str):
        return len(value.strip())
    return 0 if value is None or isinstance(value, bool) else 1


class ContextFilter(NamedTuple):
    """Which contexts are wanted; what is empty asks for nothing."""

    project: str = ""
    session: str = ""
    agent: str = ""
    kind: str = ""


_FILTERED = (
    f"{match_given('project', 'session', 'agent')} AND (kind = :kind OR (:kind = ''"
    f" AND (kind <> '{SNAPSHOT_KIND}' OR :session <> '' OR :agent <> '')))"
    " ORDER BY created DESC, seq DESC LIMIT :limit"
)


def list_context_times(
    transaction: Transaction, only: ContextFilter, limit: int
) -> list[tuple[str, str]]:
    """Times with their ids, latest first: what a page is chosen by, without what they say."""
    rows = transaction.query(
        f"SELECT created, id FROM contexts WHERE {{mine}} AND {_FILTERED}",
        limit=limit,
        **only._asdict(),
    )
    return [(row[0], row[1]) for row in rows]


def get_contexts(transaction: Transaction, ids: Sequence[str]) -> dict[str, AgentContext]:
    """By id."""
    values, places = placeholders(ids)
    found = CONTEXTS.select(transaction, f"id IN ({places})", **values)
    return {context.id: context for context in found}


def find_posting_agents(transaction: Transaction, agents: Sequence[str]) -> set[str]:
    """Those of the agents that said something themselves."""
    values, places = placeholders(agents)
    rows = transaction.query(
        f"SELECT DISTINCT agent FROM contexts WHERE {{mine}} AND agent IN ({places})", **values
    )
    return {row[0] for row in rows}


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
        f"SELECT {CONTEXTS.columns} FROM (SELECT *, max(richness) OVER () AS most FROM"
        f" (SELECT {CONTEXTS.columns}, seq FROM contexts WHERE {{mine}} AND {_FILTERED}) AS recent)"
        " AS ranked"
        " WHERE richness >= most * :thin ORDER BY created DESC, seq DESC LIMIT 1",
        limit=MAX_RECENT_SNAPSHOTS,
        thin=MIN_RICHNESS_SHARE,
        **only._asdict(),
    )
    return next(iter(CONTEXTS.read(found)), None)
