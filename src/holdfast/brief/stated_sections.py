"""The stated sections of a brief: as many of their lines as fit their shares.

In the order of the role, which is also their weight: each section takes lines up to its own
share, then what is left of the common share goes to those that were cut, first come first
served. `Line` and the quoting live in `lines`.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.brief.role import SELECTED_SECTIONS, Role
from holdfast.brief.section_lines import Line, SizeLimits
from holdfast.brief.sections import find_section
from holdfast.state.model import State


def build_stated_lines(
    state: State,
    role: Role,
    size: SizeLimits,
    max_chars: int,
    used: int,
    wanted: Callable[[Line], bool],
) -> dict[str, list[Line]]:
    """By section, of those `wanted`; `used` characters are taken already. All of it within the
    role's share."""
    room = int(max_chars * role.stated_share)
    taken: dict[str, list[Line]] = {}
    waiting: list[tuple[str, list[Line]]] = []
    for part in role.parts:
        if part.section in SELECTED_SECTIONS:
            continue
        said = find_section(part.section)(state, size)
        lines = [line for line in said if wanted(line)]
        lines = _headed(part.heading(size.tight), lines)
        own = min(room - used, int(max_chars * part.share))
        taken[part.section], cost = _fitting(lines, own)
        used += cost
        if rest := lines[len(taken[part.section]) :]:
            waiting.append((part.section, rest))
    for name, lines in waiting:
        more, cost = _fitting(lines, room - used)
        taken[name] += more
        used += cost
    return taken


def _headed(heading: str, lines: list[Line]) -> list[Line]:
    """The heading belongs to the first entry: it never stands alone."""
    if heading and lines:
        lines[0] = lines[0]._replace(text=f"{heading}\n{lines[0].text}")
    return lines


def _fitting(lines: list[Line], room: int) -> tuple[list[Line], int]:
    """The first lines that fit, and what they cost."""
    taken = used = 0
    for line in lines:
        if used + len(line.text) + 1 > room:
            break
        used += len(line.text) + 1
        taken += 1
    return lines[:taken], used
