"""Damaged transcripts: no crash, and a state that still says what the sound rows say."""

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.session.follow import FollowState, follow_transcript
from holdfast.state import decode_state, encode_state, list_facts
from support.transcripts import SAMPLE, corpus, restored

pytestmark = pytest.mark.slow

LINES = SAMPLE.read_bytes().splitlines(keepends=True)
WHOLE = follow_transcript(str(SAMPLE), final=True)

STRANGE: list[Any] = [
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "x" * 5000,
    [],
    {},
    [[]],
    {"a": [1]},
    "\x00",
    "é\u2028",
]


def read(path: Path, data: bytes) -> FollowState:
    path.write_bytes(data)
    followed = follow_transcript(str(path), final=True)
    sensible(followed)
    return followed


def sensible(followed: FollowState) -> None:
    """Whatever was read: a document that loads, facts with ids of their own, places that fit."""
    document = json.loads(json.dumps(encode_state(followed.state)))
    assert decode_state(document) == followed.state
    assert restored(followed) == followed
    known = list(list_facts(followed.state))
    assert len({fact.id for fact in known}) == len(known)
    assert all(0 <= fact.at.start <= fact.at.end <= followed.cursor.position for fact in known)


def texts(followed: FollowState, kind: str) -> list[str]:
    return [fact.text for fact in list_facts(followed.state) if fact.kind == kind]


@given(st.integers(0, sum(map(len, LINES))))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_file_cut_at_any_byte(tmp_path: Path, size: int) -> None:
    cut = read(tmp_path / "s.jsonl", b"".join(LINES)[:size])
    assert texts(WHOLE, "request")[: len(texts(cut, "request"))] == texts(cut, "request")


def test_a_torn_last_line_is_waited_for_and_then_read(tmp_path: Path) -> None:
    path, data = tmp_path / "s.jsonl", b"".join(LINES)
    path.write_bytes(data[:-100])
    torn = follow_transcript(str(path))
    path.write_bytes(data)
    assert follow_transcript(str(path), restored(torn)).state == WHOLE.state


@given(st.randoms(use_true_random=False))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_rows_in_any_order(tmp_path: Path, chance: random.Random) -> None:
    shuffled = LINES[:]
    chance.shuffle(shuffled)
    read(tmp_path / "s.jsonl", b"".join(shuffled))


def test_rows_that_stand_twice_count_once(tmp_path: Path) -> None:
    twice = read(tmp_path / "s.jsonl", b"".join(line + line for line in LINES))
    for kind in ("request", "rule", "task", "test", "error", "dead_end", "command", "subagent"):
        assert texts(twice, kind) == texts(WHOLE, kind)
    assert twice.state.position == WHOLE.state.position


def test_the_whole_file_repeated_behind_itself_counts_once(tmp_path: Path) -> None:
    again = read(tmp_path / "s.jsonl", b"".join(LINES + LINES))
    assert again.state.position == WHOLE.state.position
    assert texts(again, "request") == texts(WHOLE, "request")


@given(st.data())
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_fields_of_wrong_types(tmp_path: Path, data: st.DataObject) -> None:
    rows = [json.loads(line) for line in LINES]
    for _ in range(data.draw(st.integers(1, 40))):
        _spoil(data.draw(st.sampled_from(rows)), data)
    read(tmp_path / "s.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def _spoil(value: Any, data: st.DataObject) -> None:
    """Replace something somewhere inside by something that does not belong there."""
    while True:
        if isinstance(value, dict) and value:
            key: Any = data.draw(st.sampled_from(sorted(value)))
        elif isinstance(value, list) and value:
            key = data.draw(st.integers(0, len(value) - 1))
        else:
            return
        if not isinstance(value[key], (dict, list)) or data.draw(st.booleans()):
            # A copy: the next one to be spoiled may lie inside it.
            value[key] = copy.deepcopy(data.draw(st.sampled_from(STRANGE)))
            return
        value = value[key]


@given(st.binary(max_size=300), st.integers(0, len(LINES)))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_random_bytes_between_rows_lose_no_sound_row(
    tmp_path: Path, noise: bytes, place: int
) -> None:
    spoilt = b"".join(LINES[:place]) + noise.replace(b"\n", b"") + b"\n" + b"".join(LINES[place:])
    followed = read(tmp_path / "s.jsonl", spoilt)
    assert texts(followed, "request") == texts(WHOLE, "request")
    assert texts(followed, "task") == texts(WHOLE, "task")


@given(st.integers(0, 2**32))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_bytes_flipped_anywhere(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(b"".join(LINES))
    for _ in range(chance.randint(1, 200)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    read(tmp_path / "s.jsonl", bytes(data))


def test_a_file_of_nothing_but_noise_is_an_empty_state(tmp_path: Path) -> None:
    noise = random.Random(7).randbytes(200_000)
    assert list(list_facts(read(tmp_path / "s.jsonl", noise).state)) == []


def test_rows_of_other_programs_are_passed_over(tmp_path: Path) -> None:
    rows = b'{"type":"from-the-future","x":1}\n{"kind":"other"}\n[1,2]\n"text"\n17\nnull\n'
    followed = read(tmp_path / "s.jsonl", rows + b"".join(LINES) + rows)
    assert texts(followed, "request") == texts(WHOLE, "request")
    assert (followed.parser_state or {})["unknown"] == 4
    assert followed.cursor.bad == 8


@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus()[::4], ids=lambda path: path.name[:8])
def test_real_sessions_with_rows_dropped_doubled_and_swapped(tmp_path: Path, path: Path) -> None:
    chance = random.Random(path.name)
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    spoilt: list[bytes] = []
    for line in lines:
        roll = chance.random()
        if roll < 0.05:
            continue
        if roll < 0.1 and spoilt:
            spoilt.insert(chance.randrange(len(spoilt)), line)
            continue
        spoilt += [line, line] if roll < 0.15 else [line]
        if roll > 0.97:
            spoilt.append(line[: len(line) // 2] + b"\n")
    read(tmp_path / "s.jsonl", b"".join(spoilt))
