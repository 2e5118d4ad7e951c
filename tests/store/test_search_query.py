"""From a person's words to terms, and from texts to the words inside them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.search_query import (
    MAX_PARTS,
    MAX_TERMS,
    format_snippet,
    parse_query,
    replace_surrogates,
    split_identifiers,
)
from holdfast.store.sqlite.full_text_index import quote_phrase


def test_quotes_hold_words_together_and_the_rest_is_taken_as_is() -> None:
    assert parse_query('fix "the port" in src/db.py') == (
        "fix",
        "the port",
        "in",
        "src/db.py",
    )


def test_operators_are_words_like_any_other() -> None:
    terms = parse_query("a AND b OR -c*")
    assert terms == ("a", "AND", "b", "OR", "-c*")
    quoted = ('"a"', '"AND" *', '"b"', '"OR"', '"-c*" *')
    assert tuple(map(quote_phrase, terms)) == quoted


@given(st.text())
def test_terms_are_bounded_and_carry_no_quote(words: str) -> None:
    terms = parse_query(words)
    assert len(terms) <= MAX_TERMS
    assert not any('"' in term or "\0" in term for term in terms)


def test_the_words_inside_identifiers() -> None:
    assert split_identifiers("parseConfig and HTTPServerError2 in snake_case") == (
        "parse config http server error"
    )


def test_plain_prose_has_no_parts() -> None:
    assert split_identifiers("Nothing to See here", "NOT EVEN IN_CAPITALS") == ""


def test_the_parts_of_a_long_log_are_bounded() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    log = " ".join(f"{a}{b}Part{c}" for a in letters for b in letters for c in "xyz")
    assert len(split_identifiers(log).split()) <= MAX_PARTS


def test_a_snippet_shows_the_match_with_its_surroundings() -> None:
    text = "before " * 100 + "the walrus is here" + " after" * 100
    line = format_snippet((text,), ("WALRUS",))
    assert "the walrus is here" in line
    assert line.startswith("…")
    assert line.endswith("…")
    assert len(line) <= 202


def test_a_snippet_comes_from_the_text_that_has_the_match() -> None:
    assert format_snippet(("no match", "a\nwalrus   here"), ("walrus",)) == "a walrus here"
    assert format_snippet(("first", "second"), ("walrus",)) == "first"


@given(st.text(), st.lists(st.text(min_size=1)))
def test_a_snippet_is_one_line_of_bounded_length(text: str, terms: list[str]) -> None:
    line = format_snippet((text,), tuple(terms), width=50)
    assert len(line) <= 52
    assert "\n" not in line


@given(st.text(st.characters()))
def test_storable_text_can_always_be_encoded(text: str) -> None:
    assert replace_surrogates(text).encode("utf-8").decode("utf-8") == replace_surrogates(text)
    if all(not 0xD800 <= ord(character) <= 0xDFFF for character in text):
        assert replace_surrogates(text) == text
