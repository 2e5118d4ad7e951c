"""A session that grows: the recorded sample, shown to the lifecycle piece by piece."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.clock import Timestamp
from holdfast.compaction import handlers
from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.fastpath.session_dir import SessionDir
from holdfast.session.context import SessionContext, SessionRef
from holdfast.store.sqlite.store import SqliteStore
from support.demonstration import SESSION_FILE

SESSION = "5a3c0d8e-0000-4000-8000-000000000001"
ROWS = Path(SESSION_FILE).read_bytes().splitlines(keepends=True)
BOUNDARY = next(n for n, row in enumerate(ROWS) if b'"compact_boundary"' in row)


@dataclass
class Follow:
    root: Path
    session_id: str = SESSION
    seconds: float = field(default_factory=time.time)
    store: SqliteStore = field(init=False)
    session_dir: SessionDir = field(init=False)

    def __post_init__(self) -> None:
        data = self.root / "data"
        self.store = SqliteStore(str(data / "holdfast.db"))
        self.session_dir = SessionDir(str(data), self.session_id)

    @property
    def transcript(self) -> Path:
        return self.root / f"{self.session_id}.jsonl"

    @property
    def ctx(self) -> SessionContext:
        ref = SessionRef(self.session_id, str(self.transcript), str(self.root))
        return SessionContext(ref, self.session_dir, self.now, self.store)

    @property
    def now(self) -> Timestamp:
        return Timestamp("2027-01-15T08:00:00Z", self.seconds)

    def write(self, rows: int) -> None:
        self.transcript.write_bytes(b"".join(ROWS[:rows]))


def go_through_precompact(
    ctx: SessionContext, trigger: str = "auto"
) -> tuple[str, PrebuiltText | None]:
    """All that PreCompact does, while the client waits and after: the steering and the brief."""
    made = handlers.on_precompact(ctx, trigger)
    prepared = handlers.prepare_for_compaction(ctx, made.view, trigger)
    handlers.keep_before_compaction(ctx, made, trigger)
    return made.text, prepared
