"""However a file grows, its rows are those that a single pass over the whole finds."""

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.transcript.reader import START_CURSOR, Cursor, Row, TranscriptReader

JSON_LINE = st.dictionaries(
    st.text(max_size=5), st.one_of(st.text(max_size=60), st.integers(), st.none()), max_size=4
).map(lambda value: json.dumps(value).encode())
LINE = st.one_of(JSON_LINE, JSON_LINE, JSON_LINE, st.binary(max_size=40), st.just(b"\0\0{}"))


def rows_of(path: Path, cursor: Cursor, max_line: int) -> tuple[list[Row], Cursor, str]:
    with TranscriptReader(path, cursor, max_line=max_line) as reader:
        return list(reader.rows()), reader.cursor, reader.reset


@settings(max_examples=200, deadline=None)
@given(
    lines=st.lists(LINE, max_size=25),
    cuts=st.lists(st.integers(0, 2000), max_size=8),
    max_line=st.sampled_from([60, 200, 10_000]),
)
def test_growth_in_any_pieces_gives_the_same_rows(
    lines: list[bytes], cuts: list[int], max_line: int
) -> None:
    content = b"".join(line + b"\n" for line in lines)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jsonl")
        path.write_bytes(content)
        whole, end, _ = rows_of(path, START_CURSOR, max_line)

        grown: list[Row] = []
        cursor = START_CURSOR
        for cut in [*sorted(cut for cut in cuts if cut < len(content)), len(content)]:
            path.write_bytes(content[:cut])
            saved = Cursor.from_json(json.loads(json.dumps(cursor.to_json())))
            rows, cursor, reset = rows_of(path, saved, max_line)
            assert reset == ""
            grown += rows
    assert grown == whole
    assert cursor == end


@settings(max_examples=200, deadline=None)
@given(content=st.binary(max_size=3000))
def test_any_bytes_are_read_without_an_error(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jsonl")
        path.write_bytes(content)
        rows, cursor, _ = rows_of(path, START_CURSOR, 500)
    assert all(content[row.end - 1 : row.end] == b"\n" for row in rows)
    assert cursor.position == content.rfind(b"\n") + 1


@settings(max_examples=150, deadline=None)
@given(
    before=st.lists(JSON_LINE, min_size=3, max_size=30, unique=True),
    after=st.lists(JSON_LINE, max_size=30, unique=True),
)
def test_another_file_is_never_mistaken_for_the_one_that_was_read(
    before: list[bytes], after: list[bytes]
) -> None:
    old = b"".join(line + b"\n" for line in before)
    new = b"".join(line + b"\n" for line in after)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jsonl")
        path.write_bytes(old)
        _, cursor, _ = rows_of(path, START_CURSOR, 10_000)
        path.write_bytes(new)
        whole, _, _ = rows_of(path, START_CURSOR, 10_000)
        rows, _, reset = rows_of(path, cursor, 10_000)
    same_start = new[: min(len(old), 1024)] == old[: min(len(old), 1024)]
    if same_start and new[: len(old)] == old:
        assert reset == ""
    elif reset:
        assert rows == whole
    else:  # undetected only where the bytes that are compared agree
        assert same_start
        assert new[: len(old)][-len(before[-1]) - 1 :][-256:] == old[-256:][-len(before[-1]) - 1 :]
