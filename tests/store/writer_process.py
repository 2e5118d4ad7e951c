"""A process that writes to a store; tests start several, and kill some.

`python writer_process.py PATH SESSION COUNT [BYTES]` saves COUNT states with a fact, a message, an
archive and a delivery each, and says each number on stdout once all of it is committed.
"""

from __future__ import annotations

import random
import sys

from holdfast.events import Origin
from holdfast.state.facts import Fact
from holdfast.store.protocol import Delivery, Message, SavedState, Session
from holdfast.store.sqlite.store import SqliteStore

TIME = "2026-01-01T10:00:00Z"


def main(path: str, session: str, count: int, size: int) -> None:
    store = SqliteStore(path, busy_seconds=60)
    filler = random.Random(session)
    known = store.load(session)
    first = known.revision[1] + 1 if known else 1
    for number in range(first, first + count):
        state = {"number": number, "filler": filler.randbytes(size).hex()}
        fact = Fact(f"n{number}", "note", f"walrus{number}", "open", Origin("r", number, 0, TIME))
        message = Message(f"r{number}", "user", f"tusk{number}", TIME)
        kept = SavedState(Session(session, updated=TIME), (0, number), state, {"offset": number})
        if not store.save(kept, [fact], [message]):
            raise SystemExit(f"save {number} was refused")
        row = f"row {number:>6}\n".encode()
        store.archive(session, 0, (number - 1) * len(row), number * len(row), row, TIME)
        if not store.record_delivery(Delivery(session, number, "brief", "test", TIME, "text")):
            raise SystemExit(f"delivery {number} was refused")
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) if sys.argv[4:] else 100)
