"""Sections of lines inside a number of characters: each gets a fair part of the room. Pure.

So that no long section takes the place of all that come after it, and the first ones, which matter
most, get more.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.text import truncate

# Characters below which a section says too little to be worth its heading.
MIN_SECTION_CHARS = 80
# Of a section that is cut, the last entry is clipped if so much of it can be shown.
MIN_ENTRY_CHARS = 40
# The first sections get so many times the room of the others.
FIRST_SECTIONS, FIRST_WEIGHT = 3, 3


def fit_sections(sections: Sequence[list[str]], room: int) -> tuple[list[str], bool]:
    """The lines that fit, and whether they are all. A section's first line may be its heading."""
    sizes = [sum(len(line) + 1 for line in one) for one in sections]
    if sum(sizes) <= room:
        return [line for one in sections for line in one], True
    allowed = _shares(sizes, room)
    kept = [_truncate_section(one, most) for one, most in zip(sections, allowed, strict=True)]
    # What one did not use up, another may.
    for number, one in enumerate(sections):
        spare = room - sum(len(line) + 1 for lines in kept for line in lines)
        used = sum(len(line) + 1 for line in kept[number])
        if used < sizes[number] and spare >= MIN_ENTRY_CHARS:
            kept[number] = _truncate_section(one, used + spare)
    return [line for one in kept for line in one], False


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """What each may take: as much as it has, up to a level that is the same for all of a weight.
    The last ones go without where the level would be too low to say anything."""
    weights = [FIRST_WEIGHT if number < FIRST_SECTIONS else 1 for number in range(len(sizes))]
    for count in range(len(sizes), 0, -1):
        level = _level(sizes[:count], weights, room)
        smallest = min(level * weight for weight in weights[:count])
        if smallest >= MIN_SECTION_CHARS or count == 1:
            given = [min(size, int(level * weights[n])) for n, size in enumerate(sizes[:count])]
            return [*given, *[0] * (len(sizes) - count)]
    return []


def _level(sizes: Sequence[int], weights: Sequence[int], room: int) -> float:
    left, weight = float(room), float(sum(weights[: len(sizes)]))
    for number in sorted(range(len(sizes)), key=lambda n: sizes[n] / weights[n]):
        level = left / weight
        if sizes[number] / weights[number] > level:
            return level
        left -= sizes[number]
        weight -= weights[number]
    return float(room)


def _truncate_section(section: list[str], room: int) -> list[str]:
    kept: list[str] = []
    for number, line in enumerate(section):
        if len(line) + 1 <= room:
            kept.append(line)
            room -= len(line) + 1
            continue
        if room > MIN_ENTRY_CHARS:
            kept.append(truncate(line, room - 1))
        elif number == 1:
            kept = []  # a heading alone
        break
    return [] if kept == section[:1] and len(section) > 1 else kept
