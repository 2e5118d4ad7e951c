"""A write with an idempotency key has its effect once: its answer is kept in its transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from holdfast.redact import redact
from holdfast.server.records.transactions import Transaction, parse_json_column


class KeyReused(Exception):
    """The key came before with another request."""


def run_once(
    transaction: Transaction,
    *,
    project: str,
    caller: str,
    key: str,
    digest: str,
    now: str,
    effect: Callable[[], dict[str, Any]],
) -> tuple[dict[str, Any], bool]:
    """The answer, and whether it was given before. Without a key the effect just happens."""
    if not key:
        return effect(), False
    if redact(key) != key:
        key = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
    transaction.lock(f"{project}\n{caller}\n{key}")
    rows = transaction.query(
        "SELECT digest, body FROM idempotency_keys WHERE {mine} AND project = :project"
        " AND caller = :caller AND key = :key",
        project=project,
        caller=caller,
        key=key,
    )
    if rows:
        if rows[0][0] != digest:
            raise KeyReused(key)
        return parse_json_column(rows[0][1]), True
    answer = effect()
    transaction.execute(
        "INSERT INTO idempotency_keys (project, caller, key, digest, body, created)"
        " VALUES (:project, :caller, :key, :digest, :body, :now)",
        project=project,
        caller=caller,
        key=key,
        digest=digest,
        body=answer,
        now=now,
    )
    return answer, False
