"""Live a recorded session through again, as if the hooks had been installed while it ran.

For pictures and tests that need what only hooks leave behind: checkpoints, what each summary
kept and lost, what was put back. The transcript grows in a copy; every event goes through
`compaction.handlers`, with the clock of the rows.
"""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from holdfast.clients.claude_code.rows import ROW_PROBE
from holdfast.clock import Timestamp
from holdfast.compaction import handlers
from holdfast.fastpath.session_dir import SessionDir
from holdfast.session.context import SessionContext, SessionRef
from holdfast.session.ingest import find_session_id, ingest_transcript
from holdfast.store.protocol import Delivery
from holdfast.store.sql_store import Store

# Rows between two moments at which hooks keep what is new.
ROWS_PER_STEP = 150


def replay_session(store: Store, source: Path, place: Path) -> str:
    """The session's id. `place` is a data folder, which also gets the growing copy."""
    opened = gzip.open if source.suffix == ".gz" else open
    with opened(source, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    name = source.name.removesuffix(".gz")
    growing = place / name
    session_id = find_session_id(str(source))
    session_dir = SessionDir(str(place), session_id)
    cwd = next((str(row["cwd"]) for line in lines[:20] if (row := _parsed(line)).get("cwd")), "")
    ref = SessionRef(session_id, str(growing), cwd)
    client = 0
    epoch = 0
    growing.write_bytes(b"")
    time = ""
    for number, line in enumerate(lines):
        row = _parsed(line)
        if ROW_PROBE.is_boundary(row):
            ctx = SessionContext(ref, session_dir, _now(time), store)
            said = _summary(lines, number)
            trigger = str((row.get("compactMetadata") or {}).get("trigger", "auto"))
            steering = handlers.on_precompact(ctx, trigger)
            handlers.keep_before_compaction(ctx, steering, trigger)
            given = handlers.on_session_start_compact(ctx, "SessionStart")
            if given is not None:
                _deliver(store, session_id, epoch, "brief", "SessionStart", ctx.now, given.items[0])
            handlers.on_postcompact(ctx, trigger=trigger, summary=said)
            gap = session_dir.pending.claim_prebuilt("gap")
            if gap is not None:
                _deliver(store, session_id, epoch, "gap", "UserPromptSubmit", ctx.now, gap)
            epoch += 1
        time = str(row.get("timestamp") or time)
        with growing.open("ab") as file:
            file.write(line)
        if number % ROWS_PER_STEP == ROWS_PER_STEP - 1:
            handlers.on_progress(SessionContext(ref, session_dir, _now(time), store), client=client)
    handlers.on_progress(SessionContext(ref, session_dir, _now(time), store), client=client)
    ingest_transcript(store, str(growing))
    return session_id


def _deliver(
    store: Store, session_id: str, epoch: int, what: str, road: str, now: Timestamp, made: Any
) -> None:
    facts = tuple(name for name in made.fact_ids.split(",") if name)
    store.record_delivery(Delivery(session_id, epoch, what, road, now.text, made.text, facts))


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def _summary(lines: list[bytes], boundary: int) -> str:
    for line in lines[boundary + 1 : boundary + 6]:
        row = _parsed(line)
        if row.get("isCompactSummary"):
            content = (row.get("message") or {}).get("content")
            if isinstance(content, str):
                return content
            return "\n".join(str(part.get("text", "")) for part in content or [])
    return ""


def _now(time: str) -> Timestamp:
    if not time:
        return Timestamp("2026-01-01T00:00:00.000Z", 0.0)
    return Timestamp(time, datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp())
