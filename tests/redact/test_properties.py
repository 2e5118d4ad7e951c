"""What holds for every text: nothing is lost, nothing raises, rows stay rows."""

import json
import random
from itertools import groupby
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.redact import redact, redact_bytes, redact_lines, suspicious
from holdfast.redact.assignments import member_is_secret
from holdfast.redact.jsonl import redact_rows
from holdfast.redact.redactor import Redactor
from holdfast.redact.secret_patterns import (
    JWK_ANCHOR,
    JWT_ANCHOR,
    PEM_ANCHOR,
    PHRASES,
    PPK_ANCHOR,
    SAS_ANCHORS,
    URL_ANCHOR,
    VENDOR,
    WEBHOOK_ANCHORS,
    WORDS,
)

from .harmless import INNOCENT
from .planted import BY_NAME, BY_SHAPE, CARRIERS, NAMED_CARRIERS, PEM_KINDS, private_key

pytestmark = pytest.mark.slow

ANCHORS = [anchor for _, anchor, _ in VENDOR] + [anchor for anchor, _ in WEBHOOK_ANCHORS]
ANCHORS += [
    JWK_ANCHOR,
    PPK_ANCHOR,
    JWT_ANCHOR,
    PEM_ANCHOR,
    URL_ANCHOR,
    *SAS_ANCHORS,
    *WORDS,
    *PHRASES,
]
GLUE = [
    "=",
    ":",
    '"',
    "'",
    "\\",
    "\\n",
    "\n",
    " ",
    "@",
    "/",
    "-",
    "_",
    ".",
    "[",
    "]",
    "é",
    "İ",
    "K",
    "\x1b[1m",
    "\0",
    "%3D",
    "&",
    "admin / ",
    " -p ",
    "docker login",
    "hunter22x",
    "a:5432:b:c:",
]


def _planted(seed: int) -> str:
    rng = random.Random(seed)
    kind = rng.randrange(3)
    if kind == 0:
        return rng.choice(list(CARRIERS.values()))(rng.choice(list(BY_SHAPE.values()))(rng))
    if kind == 1:
        name, recipe = rng.choice(list(BY_NAME.values()))
        return rng.choice(list(NAMED_CARRIERS.values()))(name, recipe(rng))
    return private_key(rng, rng.choice(PEM_KINDS))


_pieces = st.one_of(
    st.integers(0, 10**6).map(_planted),
    st.sampled_from(ANCHORS),
    st.sampled_from(GLUE),
    st.sampled_from(INNOCENT),
    st.text(max_size=12),
    st.text(alphabet="abcXYZ0189_-.+/=", min_size=1, max_size=40),
    st.just("[redacted:token]"),
)
texts = st.lists(_pieces, max_size=8).map("".join)
names = st.one_of(
    st.sampled_from(
        [name for name, _ in BY_NAME.values()] + ["auth", "token", "key", "passKey", "id"]
    ),
    texts,
)
rows = st.recursive(
    st.one_of(texts, st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=6,
)


def redact_value(value: Any) -> Any:
    """What redacting rows must amount to: every string by itself, and members by their name."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return _redact_list(value)
    if isinstance(value, dict):
        return [(redact(name), _redact_member(name, item)) for name, item in value.items()]
    return value


def _redact_list(values: list[Any]) -> list[Any]:
    """Strings that follow each other are lines of one text, too."""
    made: list[Any] = []
    for is_text, some in groupby(values, key=lambda item: isinstance(item, str)):
        items = list(some)
        made += redact_lines(items) if is_text else map(redact_value, items)
    return made


def _redact_member(name: str, value: Any) -> Any:
    label = member_is_secret(name, value) if isinstance(value, str) else None
    return f"[redacted:{label}]" if label else redact_value(value)


def _as_pairs(value: Any) -> Any:
    return json.loads(value, object_pairs_hook=lambda pairs: pairs)


@given(texts)
@settings(max_examples=400, deadline=None)
def test_redaction_is_idempotent(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(texts)
@settings(max_examples=200, deadline=None)
def test_a_text_that_is_not_suspicious_is_not_changed(text: str) -> None:
    assert suspicious(text) or Redactor().redact(text) == text


@given(st.text(alphabet="bdglmnxz 0123456789\n,;!é", max_size=400))
def test_a_text_without_anchors_is_neither_suspicious_nor_changed(text: str) -> None:
    assert not suspicious(text)
    assert redact(text) == text


@given(st.lists(rows, min_size=1, max_size=3), st.booleans())
@example(["DB_PASS: qZ8vTr5LpX"], True)
@example(["sk-ant-PASS: TestTokenRefresh42sk-ant-"], False)
@settings(max_examples=400, deadline=None)
def test_rows_stay_valid_and_equal_redaction_of_the_parsed_row(
    values: list[Any], ascii_only: bool
) -> None:
    lines = [json.dumps(value, ensure_ascii=ascii_only) for value in values]
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    redacted = redact_bytes(data).decode("utf-8", "surrogatepass").split("\n")
    expected = [json.dumps(redact_value(value)) for value in values]
    assert [json.dumps(_as_pairs(line)) for line in redacted] == expected


@given(rows)
@settings(max_examples=200, deadline=None)
def test_redacting_rows_twice_changes_nothing(value: Any) -> None:
    once = redact_bytes(json.dumps(value).encode())
    assert redact_bytes(once) == once


@given(
    st.lists(
        st.one_of(st.binary(max_size=30), texts.map(lambda t: t.encode("utf-8", "surrogatepass")))
    )
)
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_taken(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    redacted = redact_bytes(data)
    assert redacted.count(b"\n") <= data.count(b"\n")


@given(st.lists(st.one_of(texts, st.characters(categories=["Cs"])), max_size=5).map("".join))
@settings(max_examples=200, deadline=None)
def test_lone_surrogates_are_taken(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
    escaped = json.dumps({"t": text}).encode()
    read = json.loads(escaped)["t"]  # two lone halves in a row are read as one character
    assert json.loads(redact_bytes(escaped)) == {"t": redact(read)}


@given(texts, st.sampled_from([r"\w+", r"a.*b", r"(?:x)(y*)", r"\[", r"red", r"[^ ]+", r"\d{3}"]))
@settings(max_examples=300, deadline=None)
def test_own_patterns_keep_redaction_idempotent(text: str, pattern: str) -> None:
    redactor = Redactor([("mine", pattern)])
    once = redactor.redact(text)
    assert redactor.redact(once) == once
    row = json.dumps([text]).encode()
    assert json.loads(redact_rows(redactor, row)) == [once]
