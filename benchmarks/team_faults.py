"""Faults under load: kill -9 the service, kill -9 PostgreSQL, cut the lines before both.

    python -m benchmarks.team_faults [--times 100] [--agents 6] [--only "database cut"]

Every kind as often as said, each kind on a database of its own. `tests/support/service_faults.py`
says what the agents do and what is counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.service_faults import FAULTS, staged  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--agents", type=int, default=6)
    parser.add_argument("--only", choices=FAULTS, action="append")
    given = parser.parse_args()
    broken = False
    print(
        f"{'':16}{'rounds':>8}{'seconds':>9}{'acknowledged':>14}{'asked again':>13}"
        f"{'missing':>9}{'doubled':>9}{'carried':>9}{'outbox':>8}"
    )
    for kind in given.only or FAULTS:
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, staged(Path(folder), given.agents) as stage:
            for _ in range(given.times):
                stage.fault(kind)
            counted = stage.finish()
        seconds = time.monotonic() - started
        print(
            f"{kind:16}{given.times:>8}{seconds:>9.0f}{counted.acknowledged:>14}"
            f"{counted.asked_again:>13}{counted.missing:>9}{counted.doubled:>9}"
            f"{counted.carried:>9}{'empty' if counted.outbox_empty else 'not':>8}",
            flush=True,
        )
        broken |= bool(counted.missing or counted.doubled or not counted.outbox_empty)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
