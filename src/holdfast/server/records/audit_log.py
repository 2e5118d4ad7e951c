"""The audit log: who wrote, or was refused, when and where. Never what."""

from collections.abc import MutableMapping
from typing import Any

from pydantic import Field

from holdfast.server.records.transactions import RecordTable
from holdfast.server.schemas import ResponseModel


class AuditEntry(ResponseModel):
    at: str
    caller: str
    request: str = Field(serialization_alias="what")
    project: str
    session: str
    status: int


AUDIT_LOG = RecordTable("audit_log", AuditEntry)


def build_entry(scope: MutableMapping[str, Any], now: str, status: int) -> AuditEntry:
    """Of a request, with what is known by now of its caller and its subject."""
    state = scope.get("state") or {}
    caller = state.get("caller")
    return AuditEntry(
        at=now,
        caller=caller.name if caller else "unknown",
        request=f"{scope['method']} {scope['path'][:200]}",
        project=state.get("project", ""),
        session=state.get("session", ""),
        status=status,
    )
