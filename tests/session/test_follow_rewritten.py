"""A transcript that is cut, written anew or wrongly dated: what is known stays, once."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from holdfast.clock import DAY_SECONDS, format_timestamp
from holdfast.session.follow import FollowState, follow_transcript, from_saved, to_saved
from holdfast.state import list_facts
from support.made_transcripts import rows

Rows = list[dict[str, Any]]

TURNS = 300  # more rows than the adapter remembers by their ids


def write(path: Path, made: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in made))


def saved(followed: FollowState) -> FollowState:
    """As another process would find it."""
    state, position = json.loads(json.dumps(to_saved(followed)))
    return from_saved(state, position)


def kinds(followed: FollowState) -> Counter[str]:
    return Counter(fact.kind for fact in list_facts(followed.state))


def undated(made: Rows) -> Rows:
    return [{name: value for name, value in row.items() if name != "timestamp"} for row in made]


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("turns", [8, TURNS])
def test_a_file_written_anew_doubles_nothing(tmp_path: Path, turns: int, dated: bool) -> None:
    path = tmp_path / "session.jsonl"
    made = rows(1, turns) if dated else undated(rows(1, turns))
    write(path, made)
    before = follow_transcript(str(path))
    write(path, [{**made[0], "forkedFrom": "elsewhere"}, *made[1:]])
    after = saved(follow_transcript(str(path), saved(before)))
    assert after.generation == 1
    assert (after.state, kinds(after)) == (before.state, kinds(before))
    more = rows(1, turns + 1)[len(made) :]
    with path.open("a") as transcript:
        transcript.writelines(json.dumps(row) + "\n" for row in more)
    grown = follow_transcript(str(path), after)
    assert grown.state.position.turn == turns + 1
    assert any(rule.text == f"Never touch area{turns + 1}." for rule in grown.state.rules.values())


@pytest.mark.parametrize("turns", [8, TURNS])
def test_a_file_cut_short_and_written_again_doubles_nothing(tmp_path: Path, turns: int) -> None:
    path = tmp_path / "session.jsonl"
    made = rows(1, turns)
    write(path, made)
    before = follow_transcript(str(path))
    for part in (2, 4):
        write(path, made[: len(made) // part])
        cut = saved(follow_transcript(str(path), saved(before)))
        assert cut.state == before.state
        write(path, made)
        assert follow_transcript(str(path), cut).state == before.state


def test_a_file_written_anew_may_be_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    made = undated(rows(1, 60))
    write(path, made)
    before = follow_transcript(str(path))
    write(path, [{**made[0], "forkedFrom": "elsewhere"}, *made[1:]])
    followed, passes = before, 0
    while followed.truncated or not passes:
        followed = follow_transcript(
            str(path), saved(followed), until=followed.cursor.position + 20_000
        )
        passes += 1
    assert passes > 2
    assert followed.state == before.state


@pytest.mark.parametrize("date", ["9999-12-31T23:59:59.999Z", "zzz", "2026-02-03T00:00:00.000Z"])
def test_a_row_from_the_future_hides_nothing_that_comes_after(tmp_path: Path, date: str) -> None:
    """Neither at a compaction, after which kept rows stand again, nor in a file written anew."""
    path = tmp_path / "session.jsonl"
    made = rows(1, 12)
    made[3] = {**made[3], "timestamp": date}
    write(path, made)
    plain = tmp_path / "plain.jsonl"
    write(plain, rows(1, 12))
    followed = follow_transcript(str(path))
    expected = follow_transcript(str(plain))
    assert kinds(followed) == kinds(expected)
    assert [rule.text for rule in followed.state.rules.values()] == [
        rule.text for rule in expected.state.rules.values()
    ]
    if not date.startswith("2026"):
        assert followed.state.session.updated == expected.state.session.updated
        write(path, [{**made[0], "forkedFrom": "elsewhere"}, *made[1:], *rows(1, 13)[len(made) :]])
        after = follow_transcript(str(path), saved(followed))
        assert "Never touch area13." in [rule.text for rule in after.state.rules.values()]


def test_a_row_of_next_year_in_a_file_written_anew_hides_nothing_that_comes_after(
    tmp_path: Path,
) -> None:
    path = tmp_path / "session.jsonl"
    made = rows(1, TURNS)
    made[9] = {**made[9], "timestamp": format_timestamp(time.time() + 300 * DAY_SECONDS)}
    write(path, made)
    before = follow_transcript(str(path))
    write(path, made[2:])
    after = follow_transcript(str(path), saved(before))
    assert kinds(after) == kinds(before)
    later = {"timestamp": format_timestamp(time.time() + 60)}
    more = [{**row, **later} for row in rows(1, TURNS + 1)[len(made) :]]
    write(path, [*made[2:], *more])
    grown = follow_transcript(str(path), saved(after))
    assert any(rule.text == f"Never touch area{TURNS + 1}." for rule in grown.state.rules.values())
