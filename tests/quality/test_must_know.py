"""Must-know: when a text tells a fact, when it tells a trap as true, and what is counted."""

import json
from pathlib import Path

import pytest

from benchmarks.quality.must_know import Reader, Trap, parse_keywords, read_gold, score_must_know

WORDS = parse_keywords(["ledger|journal", "closed", "march", "7741"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The ledger was closed in March, entry 7741.", True),
        ("The JOURNAL is closed, see 7741", True),  # three of four, an alternative, any case
        ("The ledger is closed.", False),  # two of four
        ("ledger closed\n\nmarch", True),  # lines do not matter
        ("ledger closed " + "x" * 400 + " march 7741", False),  # too far apart
        ("march " + "x" * 290 + " ledger closed", True),
        ("closed " + "x" * 310 + " ledger march", False),
    ],
)
def test_a_stretch_of_320_characters_must_hold_seven_tenths_of_the_words(
    text: str, told: bool
) -> None:
    assert Reader(text).tells(WORDS) is told


def test_a_trap_is_told_as_true_only_on_a_line_that_does_not_mark_it_as_past() -> None:
    trap = Trap("the port is 9004", parse_keywords(["port", "9004"]))
    assert Reader("Use port 9004 for it").states_as_true(trap)
    assert not Reader("No longer: use port 9004 for it").states_as_true(trap)
    assert not Reader("port of the old box\nroom 9004").states_as_true(trap)


def test_weights_the_summary_and_traps_are_counted(tmp_path: Path) -> None:
    fact = {"kind": "state", "must": 3, "text": "unpushed", "words": ["pushed", "till"]}
    document = {
        "session": "s1",
        "boundary": "b1",
        "repo": "ann/shop",
        "facts": [
            {**fact, "in_summary": "partly"},
            {**fact, "must": 1, "words": ["coins"], "in_summary": "yes"},
            {**fact, "must": 2, "words": ["receipts"], "in_summary": "no"},
        ],
        "traps": [{"text": "shut", "words": ["shut"], "why": "opened again"}],
    }
    (tmp_path / "one.gold.json").write_text(json.dumps(document))
    [gold] = read_gold(tmp_path)
    told = score_must_know(gold, "Branch till is not pushed.\nThe shop is shut")
    assert (told.weight, told.told, told.in_summary, told.together) == (6, 3, 1, 4)
    assert (told.lost, told.lost_told) == (5, 3)
    assert (told.traps, told.traps_told) == (1, 1)
    assert told.kinds == {"state": (6, 3)}
    assert any("receipts" in missed for missed in told.missed)
