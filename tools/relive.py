"""Live a recorded session through again, as if the hooks had been installed while it ran.

For pictures and tests that need what only hooks leave behind: checkpoints, what each summary
kept and lost, what was put back. The transcript grows in a copy; every moment is one of
`lifecycle.moments`, with the clock of the rows.
"""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from holdfast.clients.claude_code.marks import is_boundary
from holdfast.lifecycle import moments
from holdfast.lifecycle.ingest import ingest, session_id_of
from holdfast.lifecycle.keep import Scene
from holdfast.lifecycle.moments import Now
from holdfast.lifecycle.tray import Tray
from holdfast.store.protocol import Delivery, Store

# Rows between two moments at which hooks keep what is new.
STRETCH = 150


def relive(store: Store, source: Path, place: Path) -> str:
    """The session's id. `place` is a data folder, which also gets the growing copy."""
    opened = gzip.open if source.suffix == ".gz" else open
    with opened(source, "rb") as file:
        lines = file.read().splitlines(keepends=True)
    name = source.name.removesuffix(".gz")
    growing = place / name
    session_id = session_id_of(str(source))
    tray = Tray(str(place), session_id)
    cwd = next((str(row["cwd"]) for line in lines[:20] if (row := _parsed(line)).get("cwd")), "")
    scene = Scene(session_id, str(growing), cwd)
    client = 0
    epoch = 0
    growing.write_bytes(b"")
    time = ""
    for number, line in enumerate(lines):
        row = _parsed(line)
        if is_boundary(row):
            now = _now(time)
            said = _summary(lines, number)
            trigger = str((row.get("compactMetadata") or {}).get("trigger", "auto"))
            moments.before_compaction(store, tray, scene, now, trigger)
            given = moments.after_compaction(store, tray, scene, now)
            if given is not None:
                _deliver(store, session_id, epoch, "brief", "SessionStart", now, given)
            moments.summary_seen(store, tray, scene, now, trigger=trigger, summary=said)
            gap = tray.claim_gap()
            if gap is not None:
                _deliver(store, session_id, epoch, "gap", "UserPromptSubmit", now, gap)
            epoch += 1
        time = str(row.get("timestamp") or time)
        with growing.open("ab") as file:
            file.write(line)
        if number % STRETCH == STRETCH - 1:
            moments.work_went_on(store, tray, scene, _now(time), client=client)
    moments.work_went_on(store, tray, scene, _now(time), client=client)
    ingest(store, str(growing))
    return session_id


def _deliver(
    store: Store, session_id: str, epoch: int, what: str, road: str, now: Now, made: Any
) -> None:
    facts = tuple(name for name in made.facts.split(",") if name)
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


def _now(time: str) -> Now:
    if not time:
        return Now("2026-01-01T00:00:00.000Z", 0.0)
    return Now(time, datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp())
