"""Actions that agents report: a tool, its files and its outcome."""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.server.records.transactions import Transaction, parse_json_column


class Action(NamedTuple):
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


_COLUMNS = ", ".join(Action._fields)


def add_action(transaction: Transaction, action: Action) -> None:
    transaction.execute(
        f"INSERT INTO actions ({_COLUMNS}) VALUES (:id, :project, :session, :agent, :tool,"
        " :tool_type, :files, :exit_code, :duration_ms, :note, :created)",
        **action._asdict(),
    )


def list_actions(
    transaction: Transaction,
    *,
    project: str = "",
    session: str = "",
    agent: str = "",
    tool: str = "",
    limit: int = 100,
    offset: int = 0,
) -> list[Action]:
    """Latest first."""
    rows = transaction.query(
        f"SELECT {_COLUMNS} FROM actions WHERE {{mine}}"
        " AND (:project = '' OR project = :project) AND (:session = '' OR session = :session)"
        " AND (:agent = '' OR agent = :agent) AND (:tool = '' OR tool = :tool)"
        " ORDER BY created DESC, seq DESC LIMIT :limit OFFSET :offset",
        project=project,
        session=session,
        agent=agent,
        tool=tool,
        limit=limit,
        offset=offset,
    )
    return [_action_from_row(row) for row in rows]


def _action_from_row(row: tuple[Any, ...]) -> Action:
    return Action._make((*row[:6], parse_json_column(row[6]), *row[7:]))
