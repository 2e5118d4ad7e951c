"""The reader on files as clients leave them: torn, padded, damaged, huge, replaced, gone."""

import gzip
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from holdfast.transcript.reader import (
    START_CURSOR,
    Cursor,
    Row,
    TranscriptMissing,
    TranscriptReader,
    TranscriptUnreadable,
)


def read(
    path: Path, cursor: Cursor = START_CURSOR, **options: Any
) -> tuple[list[Row], Cursor, str]:
    with TranscriptReader(path, cursor, **options) as reader:
        rows = list(reader.rows())
        return rows, reader.cursor, reader.reset


def lines(count: int, first: int = 0) -> bytes:
    return b"".join(
        json.dumps({"n": n, "text": "é" * 20}).encode() + b"\n" for n in range(first, first + count)
    )


def numbers(rows: list[Row]) -> list[Any]:
    return [row.data.get("n") for row in rows]


def test_rows_carry_their_byte_range(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(3))
    rows, cursor, _ = read(path)
    content = path.read_bytes()
    assert [json.loads(content[row.start : row.end]) for row in rows] == [r.data for r in rows]
    assert cursor.position == len(content)
    assert cursor.rows == 3


def test_reading_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(3))
    _, cursor, _ = read(path)
    with path.open("ab") as file:
        file.write(lines(2, first=3))
    rows, after, reset = read(path, Cursor.from_json(json.loads(json.dumps(cursor.to_json()))))
    assert numbers(rows) == [3, 4]
    assert reset == ""
    assert after.rows == 5


def test_a_torn_last_line_waits_for_its_rest(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    whole = lines(2)
    path.write_bytes(whole[:-10])
    rows, cursor, _ = read(path)
    assert numbers(rows) == [0]
    path.write_bytes(whole)
    rows, cursor, reset = read(path, cursor)
    assert numbers(rows) == [1]
    assert (reset, cursor.bad) == ("", 0)


def test_a_last_line_without_newline_counts_only_when_nothing_more_will_come(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"n": 0}\n{"n": 1}')
    assert numbers(read(path)[0]) == [0]
    assert numbers(read(path, final=True)[0]) == [0, 1]


def test_padding_blank_lines_and_a_byte_order_mark_are_no_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + b'{"n": 0}\n\0\0\0{"n": 1}\n{"n"\0\0: 2}\r\n\n  \n\0\0\n{"n": 3}\n'
    )
    rows, cursor, _ = read(path)
    assert numbers(rows) == [0, 1, 2, 3]
    assert cursor.bad == 0


def test_invalid_bytes_and_half_emoji_become_replacement_characters(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"n": "a\xff\xfeb"}\n{"n": "cut \\ud83d"}\n{"n": "whole \\ud83d\\ude00"}\n')
    rows, _, _ = read(path)
    assert numbers(rows) == ["a��b", "cut ?", "whole \U0001f600"]
    for row in rows:
        str(row.data).encode()


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b'{"n": 1',
        b"[1, 2]",
        b'"text"',
        b"null",
        b"12",
        b'{"n": ' + b"9" * 10_000 + b"}",
        b"[" * 200_000,
        b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    ],
    ids=["text", "cut", "list", "string", "null", "number", "long number", "open", "deep"],
)
def test_a_line_that_is_no_object_is_counted_and_passed_over(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"n": 0}\n' + line + b'\n{"n": 1}\n')
    rows, cursor, _ = read(path)
    assert numbers(rows) == [0, 1]
    assert (cursor.rows, cursor.bad) == (2, 1)


def test_a_line_of_fifty_megabytes_is_skipped_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.write(b'{"n": 0}\n{"type": "user", "n": "')
        for _ in range(50):
            file.write(b"x" * 1024 * 1024)
        file.write(b'"}\n{"n": 2}\n')
    tracemalloc.start()
    try:
        with TranscriptReader(path, max_line=1024 * 1024) as reader:
            rows = list(reader.rows())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert numbers(rows) == [0, 2]
    assert peak < 8 * 1024 * 1024
    assert reader.cursor.oversized == 1
    assert reader.cursor.position == path.stat().st_size
    assert read(path, reader.cursor)[0] == []


def test_an_oversized_line_still_being_written_is_not_consumed(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"n": 0}\n{"n": "' + b"x" * 5000)
    rows, cursor, _ = read(path, max_line=1000)
    assert (numbers(rows), cursor.position, cursor.oversized) == ([0], 9, 0)
    with path.open("ab") as file:
        file.write(b'"}\n{"n": 1}\n')
    rows, cursor, _ = read(path, cursor, max_line=1000)
    assert (numbers(rows), cursor.oversized) == ([1], 1)


def test_a_long_file_is_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        for _ in range(300):
            file.write(b'{"n": 1, "text": "' + b"y" * 100_000 + b'"}\n')
    tracemalloc.start()
    try:
        with TranscriptReader(path) as reader:
            count = sum(1 for _ in reader.rows())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 300
    assert peak < 4 * 1024 * 1024


def test_a_limit_stops_after_the_line_that_reaches_it(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(10))
    size = len(lines(1))
    rows, cursor, _ = read(path, limit_bytes=size * 3 + 1)
    assert numbers(rows) == [0, 1, 2, 3]
    rows, cursor, _ = read(path, cursor, limit_bytes=1)
    assert numbers(rows) == [4]


def test_a_truncated_file_is_read_anew_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(50))
    _, cursor, _ = read(path)
    path.write_bytes(lines(40))
    rows, after, reset = read(path, cursor)
    assert reset == "truncated"
    assert (len(rows), after.rows) == (40, 40)


def test_a_replaced_file_is_noticed_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(5))
    _, cursor, _ = read(path)
    path.write_bytes(lines(9, first=100))
    rows, _, reset = read(path, cursor)
    assert reset == "replaced"
    assert len(rows) == 9


def test_a_rewrite_that_keeps_the_head_is_noticed_by_the_bytes_before_the_cursor(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(100))
    _, cursor, _ = read(path)
    inode = path.stat().st_ino
    with path.open("r+b") as file:  # same inode, same first rows, same length and more
        file.write(lines(50) + lines(80, first=500))
    assert path.stat().st_ino == inode
    rows, _, reset = read(path, cursor)
    assert reset == "replaced"
    assert len(rows) == 130


def test_a_moved_or_copied_file_goes_on(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "t.jsonl", tmp_path / "copy.jsonl"
    path.write_bytes(lines(5))
    _, cursor, _ = read(path)
    elsewhere.write_bytes(path.read_bytes() + lines(1, first=5))
    rows, _, reset = read(elsewhere, cursor)
    assert (numbers(rows), reset) == ([5], "")


def test_a_compressed_transcript_has_the_offsets_of_its_content(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(lines(5)))
    rows, cursor, _ = read(path, limit_bytes=1)
    assert (rows[0].start, rows[0].end, cursor.position) == (0, len(lines(1)), len(lines(1)))
    rows, cursor, reset = read(path, cursor)
    assert (numbers(rows), reset) == ([1, 2, 3, 4], "")
    assert cursor.position == len(lines(5))


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"")
    assert read(path) == ([], Cursor(), "")


def test_a_missing_file_has_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(TranscriptMissing, match="no such file"):
        TranscriptReader(tmp_path / "none.jsonl")


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(TranscriptUnreadable, match="not a regular file"):
        TranscriptReader(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(TranscriptUnreadable, match="not a regular file"):
        TranscriptReader(pipe)
    damaged = tmp_path / "t.jsonl.gz"
    damaged.write_bytes(b"no gzip at all\n")
    with pytest.raises(TranscriptUnreadable, match="not compressed"):
        TranscriptReader(damaged)
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(os.urandom(100_000))[:-5000])
    with pytest.raises(TranscriptUnreadable), TranscriptReader(cut) as reader:
        list(reader.rows())


@pytest.mark.parametrize(
    "saved",
    [None, 3, "x", [], [1], {}, [1, 2, 3, 4, 5, 6, 7, "8"], [-1] * 8, [True] * 8, [2**64] * 8],
)
def test_a_damaged_cursor_starts_anew(saved: object) -> None:
    assert Cursor.from_json(saved) == START_CURSOR


def test_the_cursor_is_valid_between_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(4))
    with TranscriptReader(path) as reader:
        rows = reader.rows()
        next(rows)
        next(rows)
        middle = reader.cursor
    rest, _, reset = read(path, middle)
    assert (numbers(rest), reset) == ([2, 3], "")
