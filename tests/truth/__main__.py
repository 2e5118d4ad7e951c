"""`python -m truth`: plays every scenario and says how many statements were compared and false."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from truth import everyday  # noqa: F401  its scenarios come into the table
from truth.comparison import Comparison
from truth.scenarios import SCENARIOS, Scenario, can_run
from truth.session import Session


def play(one: Scenario, root: Path) -> Comparison:
    session = Session(root, repository=one.repository)
    one.play(session)
    session.compact()
    session.user("Go on.")
    found = Comparison()
    session.end()
    found.compare(session)
    return found


def main() -> int:
    total, wrong = 0, 0
    wanted = set(sys.argv[1:])
    for one in SCENARIOS:
        if (wanted and one.name not in wanted) or not can_run(one):
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            found = play(one, Path(folder) / "place")
        total, wrong = total + found.count, wrong + len(found.wrong)
        lines = [f"{one.name}: {found.count} statements, {len(found.wrong)} false"]
        lines += [f"  FALSE {statement}" for statement in found.wrong]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
    sys.stdout.write(f"{total} statements compared, {wrong} false\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
