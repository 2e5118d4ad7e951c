"""Many texts at once: the answer is that of asking text by text."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import redact as surface
from holdfast.redact import any_secret, redact
from holdfast.redact.many import SHORTEST_TOKEN
from holdfast.redact.patterns import VENDOR

from .innocent import INNOCENT
from .test_planted import planted_cases
from .test_properties import texts


@pytest.fixture
def own_patterns() -> Iterator[None]:
    surface.use({"ticket": r"^ACME-\d+$"})
    yield
    surface.use({})


def test_innocent_texts_hold_none() -> None:
    assert not any_secret(INNOCENT)
    assert not any_secret([])


def test_a_planted_secret_is_seen_among_innocent_texts() -> None:
    for _, _, text, _ in planted_cases(0):
        assert any_secret([*INNOCENT[:3], text, *INNOCENT[3:6]]) == (redact(text) != text)


@given(st.lists(texts, max_size=4))
@settings(max_examples=400, deadline=None)
def test_one_scan_sees_what_redaction_of_each_text_sees(some: list[str]) -> None:
    assert any_secret(some) == any(redact(text) != text for text in some)


def test_no_token_is_too_short_to_be_looked_at() -> None:
    for _, anchor, tail in VENDOR:
        too_short = SHORTEST_TOKEN - len(anchor) - 1
        assert not any(re.match(tail, letter * too_short) for letter in "aA1_"), anchor


def test_a_text_ends_where_the_next_begins() -> None:
    value = "a1b2c3" + "D4e5F6"
    assert any_secret([f"token={value}"])
    assert not any_secret(["token=", value])
    assert any_secret(["é—", "max_token", f"token={value}"])


@pytest.mark.usefixtures("own_patterns")
def test_own_patterns_are_asked_of_every_text() -> None:
    assert any_secret(["see", "ACME-42"])
    assert not any_secret(["see ACME-42", "ACME"])


def test_a_member_is_judged_by_its_name() -> None:
    assert any_secret([], [("user", "app"), ("password", "Zq9x" + "Lm4w")])
    assert not any_secret([], [("user", "Zq9x" + "Lm4w")])
