"""Transcripts below a folder, audited session by session in worker processes.

Owns which files belong together and the order of work. Reads only; a file that cannot be read
becomes a session with an error, and the rest goes on.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

from holdfast import clients
from holdfast.audit.results import Compaction, Session
from holdfast.audit.session_audit import audit_session
from holdfast.measure.entities import Entity
from holdfast.workers import worker_pool

# Below this a second process costs more than it brings.
MIN_POOL_BYTES = 16_000_000
MAX_JOBS = 4

Progress = Callable[[int, str], None]  # bytes done, the session they belong to


@dataclass(slots=True)
class AuditedSessions:
    """Every session below a folder, and in how many of them each rare entity stands."""

    folder: str
    sessions: list[Session] = field(default_factory=list)
    document_frequency: Counter[Entity] = field(default_factory=Counter)
    weighed: int = 0  # sessions that were counted in `spread`


def find_transcripts(folder: str) -> dict[str, list[str]]:
    """The copies of each session, by its id; files of subagents belong to their session."""
    paths = clients.default().paths
    found: dict[str, list[str]] = {}
    for place, below, names in os.walk(folder):
        below.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            if paths.is_transcript(path):
                found.setdefault(paths.transcript_session_id(path), []).append(path)
    return dict(sorted(found.items()))


def total_bytes(paths: list[str]) -> int:
    total = 0
    for path in paths:
        try:
            total += os.stat(path).st_size
        except OSError:
            continue
    return total


def audit_folder(
    folder: str,
    found: dict[str, list[str]],
    *,
    jobs: int = 0,
    progress: Progress | None = None,
) -> AuditedSessions:
    """Audit every session. The same files give the same records, however many processes."""
    gathered = AuditedSessions(folder)
    for session in _audited(found, _jobs(jobs, found)):
        # Only counts are kept of what one session holds: memory does not grow with the folder.
        if session.rare:
            gathered.document_frequency.update(session.rare)
            gathered.weighed += 1
            session.rare = frozenset()
        gathered.sessions.append(session)
        if progress is not None:
            progress(session.size, session.session_id)
    gathered.sessions.sort(key=lambda s: (s.started or "~", s.session_id))
    _count_once(gathered.sessions)
    return gathered


def _jobs(jobs: int, found: dict[str, list[str]]) -> int:
    if jobs:
        return min(jobs, max(len(found), 1))
    if sum(map(total_bytes, found.values())) < MIN_POOL_BYTES:
        return 1
    return min(MAX_JOBS, os.cpu_count() or 1, len(found))


def _audited(found: dict[str, list[str]], jobs: int) -> Iterator[Session]:
    if jobs <= 1:
        for session_id, paths in found.items():
            yield audit_session(session_id, paths)
        return
    waiting = dict(found)
    # The largest first, so that no worker is left alone with it at the end.
    order = sorted(found.items(), key=lambda item: -total_bytes(item[1]))
    try:
        with worker_pool(jobs) as pool:
            for future in as_completed([pool.submit(audit_session, *item) for item in order]):
                session = future.result()
                waiting.pop(session.session_id, None)
                yield session
    except BrokenProcessPool:
        # A worker was killed, as when memory ran out: go on with one process, here.
        for session_id, paths in waiting.items():
            yield audit_session(session_id, paths)


def _count_once(sessions: list[Session]) -> None:
    """A fork carries the compactions of the session it came from: each counts where it was."""
    seen: set[str] = set()
    for session in sessions:
        own: list[Compaction] = []
        for compaction in session.compactions:
            if compaction.uuid not in seen:
                own.append(compaction)
                seen.add(compaction.uuid)
        session.compactions = own
