"""Many texts at once: the answer is that of asking text by text."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import redact as surface
from holdfast.redact import redact, redact_many

from .harmless import INNOCENT
from .test_planted import planted_cases
from .test_properties import texts

pytestmark = pytest.mark.slow


def _one_by_one(some: list[str]) -> dict[int, str]:
    clean = {at: redact(text) for at, text in enumerate(some)}
    return {at: text for at, text in clean.items() if text != some[at]}


@pytest.fixture
def own_patterns() -> Iterator[None]:
    surface.use_patterns({"ticket": r"^ACME-\d+$"})
    yield
    surface.use_patterns({})


def test_innocent_texts_stay() -> None:
    assert redact_many(INNOCENT) == {}
    assert redact_many([]) == {}


def test_a_planted_secret_goes_from_among_innocent_texts() -> None:
    for _, _, text, _ in planted_cases(0):
        some = [*INNOCENT[:3], text, *INNOCENT[3:6]]
        assert redact_many(some) == _one_by_one(some)


@given(st.lists(st.one_of(texts, st.sampled_from(["\0", "é", ""])), max_size=4))
@settings(max_examples=400, deadline=None)
def test_one_scan_redacts_what_redaction_of_each_text_does(some: list[str]) -> None:
    assert redact_many(some) == _one_by_one(some)


def test_a_text_ends_where_the_next_begins() -> None:
    value = "a1b2c3" + "D4e5F6"
    assert redact_many([f"token={value}"]) == {0: "token=[redacted:token]"}
    assert redact_many(["token=", value]) == {}
    assert redact_many(["é—", "max_token", f"token={value}"]) == {2: "token=[redacted:token]"}


@pytest.mark.usefixtures("own_patterns")
def test_own_patterns_are_asked_of_every_text() -> None:
    assert redact_many(["see", "ACME-42"]) == {1: "[redacted:ticket]"}
    assert redact_many(["see ACME-42", "ACME"]) == {}
