"""Said: do the user's own words survive?

Statements of nine kinds, some chat and one correction are put into a real session as prompts that
the user typed, at random places before a compaction. A brief keeps a statement when one of its
lines holds 70 % of the telling words. A correction is known when its words stand in the brief; the
withdrawn words stand when a line holds them and marks them neither as past nor as corrected.
"""

from __future__ import annotations

import json
import random
import re
import uuid
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.must_know import MIN_KEYWORD_SHARE
from benchmarks.quality.sentences import CHAT, CORRECTIONS, STATEMENTS
from benchmarks.quality.transcripts import Row, blocks, content, find_boundaries

KINDS_EACH = 8
PLACES = 14
# Rows of a session that stay before the first compaction that is used, and behind it.
EARLIEST_CUT = 60
ROWS_BEHIND = 12

_PAST = re.compile(
    r"supersed|correct|withdrawn|no longer|replaced|instead|was:|changed|forget|rename"
    r"|make (that|it)|after all",
    re.IGNORECASE,
)
_CARRIED = ("isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch")


@dataclass(frozen=True, slots=True)
class Planted:
    """What was put into one session."""

    rows: list[Row]
    boundary: str
    cut: int
    said: tuple[tuple[str, str, str], ...]  # kind, text, telling words
    withdrawn: str
    corrected: str


def plant_statements(rows: list[Row], seed: str) -> Planted | None:
    """A copy of a session with prompts in it; None where there is no room for them."""
    rng = random.Random(seed)
    cut = next((i for i in find_boundaries(rows) if i > EARLIEST_CUT), None)
    if cut is None:
        return None
    rows = [dict(row) for row in rows[: cut + ROWS_BEHIND]]
    spots = _spots(rows, cut, rng)
    if len(spots) < PLACES:
        return None
    kinds = rng.sample(sorted(STATEMENTS), KINDS_EACH)
    said = []
    for kind in kinds:
        text, words = rng.choice(STATEMENTS[kind])
        number = str(rng.randrange(110, 990))
        said.append((kind, text.replace("{n}", number), words.replace("{n}", number)))
    a, b = (str(n) for n in rng.sample(range(3, 49), 2))
    first, second, withdrawn, corrected = (
        part.replace("{a}", a).replace("{b}", b) for part in rng.choice(CORRECTIONS)
    )
    places = sorted(rng.sample(spots, PLACES))
    earlier, later = sorted(rng.sample(range(PLACES), 2))
    rest = [n for n in range(PLACES) if n not in (earlier, later)]
    rng.shuffle(rest)
    texts = {earlier: first, later: second}
    for n, (_, text, _) in zip(rest, said, strict=False):
        texts[n] = text
    for n in rest[len(said) :]:
        texts[n] = rng.choice(CHAT)
    added: dict[int, list[Row]] = defaultdict(list)
    for n, place in enumerate(places):
        added[place].append(_prompt(rows, place, texts[n], rng))
    planted = [one for i, row in enumerate(rows) for one in (row, *added[i])]
    return Planted(
        planted, str(rows[cut].get("uuid")), cut + PLACES, tuple(said), withdrawn, corrected
    )


def _spots(rows: list[Row], cut: int, rng: random.Random) -> list[int]:
    """Rows that a prompt can follow: closing words of the agent, where there are enough."""

    def on_chain(i: int, kind: str) -> bool:
        row = rows[i]
        return row.get("type") == kind and not row.get("isSidechain") and bool(row.get("uuid"))

    closing = [
        i
        for i in range(5, cut)
        if on_chain(i, "assistant")
        and any(True for _ in blocks(rows[i], "text"))
        and not any(True for _ in blocks(rows[i], "tool_use"))
    ]
    if len(closing) >= PLACES:
        return closing
    more = [i for i in range(5, cut) if on_chain(i, "user") and isinstance(content(rows[i]), list)]
    return sorted({*closing, *rng.sample(more, min(len(more), 30))})


def _prompt(rows: list[Row], place: int, text: str, rng: random.Random) -> Row:
    before = rows[place]
    made = {key: before[key] for key in _CARRIED if key in before}
    made |= {
        "parentUuid": before["uuid"],
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": str(uuid.UUID(int=rng.getrandbits(128))),
        "timestamp": before.get("timestamp"),
    }
    for row in rows[place + 1 : place + 40]:
        if row.get("parentUuid") == before["uuid"]:
            row["parentUuid"] = made["uuid"]
    return made


def write_transcript(planted: Planted, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in planted.rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


@dataclass(frozen=True, slots=True)
class SaidScore:
    """What one brief kept of what was said in one session."""

    kinds: dict[str, tuple[int, int]]  # kind: said, kept
    corrected: bool
    withdrawn: bool
    lost: tuple[str, ...]
    status: tuple[str, ...]


def score_said(planted: Planted, text: str) -> SaidScore:
    lines = text.split("\n")
    low = [line.lower() for line in lines]
    kinds: dict[str, tuple[int, int]] = {}
    lost = []
    for kind, statement, telling in planted.said:
        wanted = telling.split()
        kept = any(
            sum(w in line for w in wanted) >= MIN_KEYWORD_SHARE * len(wanted) for line in low
        )
        said, held = kinds.get(kind, (0, 0))
        kinds[kind] = (said + 1, held + kept)
        if not kept:
            lost.append(f"{kind}: {statement}")
    still_open = tuple(
        line
        for line in lines
        if planted.withdrawn in line and not _PAST.search(line) and planted.corrected not in line
    )
    known = any(planted.corrected in line for line in lines)
    return SaidScore(kinds, known, bool(still_open), tuple(lost), still_open)
