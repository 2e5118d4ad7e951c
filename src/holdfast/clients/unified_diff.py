"""Changed stretches of a file, out of the lines of a unified diff.

Must not know which client wrote it, nor whose file it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.events import Hunk


def parse_hunks(lines: Sequence[str]) -> tuple[Hunk, ...]:
    """Lines outside of a hunk, such as a file's head, must have been left out."""
    hunks: list[Hunk] = []
    start, inside = 1, list[str]()
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if inside:
                hunks.append(Hunk(start, tuple(inside)))
            start, inside = _new_start(line), []
        elif line[:1] in ("+", "-", " "):
            inside.append(line)
    return tuple(hunks)


def _new_start(line: str) -> int:
    """The first line in the new file, from "@@ -1,2 +3,4 @@"; 1 where it is not said."""
    digits = line.partition("+")[2].partition(" ")[0].partition(",")[0]
    return int(digits) if digits.isdecimal() and len(digits) < 9 else 1
