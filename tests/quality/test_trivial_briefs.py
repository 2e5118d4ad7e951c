"""The trivial briefs: what they quote, and that they stay within their size."""

import pytest

from benchmarks.quality import trivial_briefs

from .rows import Row, called, ran, said, typed


def session() -> list[Row]:
    rows: list[Row] = []
    for n in range(30):
        rows += [typed(f"Please polish spoon number {n} until it shines like silver.")]
        rows += [*ran(f"polish {n}", "done"), said(f"Spoon {n} shines. It took {n} minutes.")]
        rows += [called("Edit", f"e{n}", file_path=f"/home/ann/shop/spoons/{n}.py")]
    return rows


@pytest.mark.parametrize("room", [200, 2000, 6000])
def test_they_keep_to_their_size_and_quote_the_newest(room: int) -> None:
    told = trivial_briefs.build_outline(session())
    made = [
        trivial_briefs.words_brief(told, room),
        trivial_briefs.turns_brief(told, room),
        trivial_briefs.cover_brief(trivial_briefs.list_sentences(session()), room),
    ]
    assert all(0 < len(text) <= room for text in made)
    assert "Spoon 29 shines" in made[0]
    if room >= 2000:
        assert "spoon number 29" in made[1]
        assert "spoons/29.py" in made[1]


def test_everything_said_is_the_ceiling_of_quoting() -> None:
    rows = session()
    assert "spoon number 3 " in trivial_briefs.quote_everything_said(rows)
    assert "polish 3" not in trivial_briefs.quote_everything_said(rows)
    assert "polish 3" in trivial_briefs.quote_everything_done(rows)
