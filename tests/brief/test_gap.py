"""What a summary carries, kind by kind, and the gap that is left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.gap import (
    TextCoverage,
    compose_gap,
    covers_fact,
    list_open_facts,
    split_covered,
)
from holdfast.events import (
    CommandRan,
    Event,
    FileTouched,
    Origin,
    TaskChanged,
    TaskCreated,
    ToolRefused,
    UserSaid,
)
from holdfast.state import State, fold_all
from holdfast.state.facts import Fact

AT = Origin("row", 0, 1, "2027-01-15T08:00:00.000Z")


def fact(kind: str, text: str, detail: str = "") -> Fact:
    return Fact("x1", kind, text, "open", AT, detail)


@pytest.mark.parametrize(
    ("kind", "text", "summary", "told"),
    [
        ("file", "/home/dev/shop/cart_totals.py", "edited `shop/cart_totals.py` today", True),
        ("file", "/home/dev/shop/cart_totals.py", "edited my_cart_totals.py", False),
        ("file", "/home/dev/shop/index.ts", "edited web/index.ts", False),
        ("file", "/home/dev/shop/index.ts", "edited shop/index.ts", True),
        ("identifier", "port 8123", "It listens on 8123.", True),
        ("identifier", "port 8123", "It listens on 81234.", False),
        ("identifier", "ticket SHOP-12", "see shop-12", True),
        ("identifier", "ticket SHOP-12", "see SHOP-123", False),
        (
            "rule",
            "Never use float for money, always use Decimal.",
            "The user: never use float for money, always use Decimal.",
            True,
        ),
        ("rule", "Never use float for money, always use Decimal.", "Money matters here.", False),
        ("rule", "Never push to the main branch on Fridays.", "Work is on the main branch.", False),
        ("task", "Wire the cart to checkout", "Pending: wiring the cart to the checkout.", True),
        ("task", "Wire the cart to checkout", "There is a cart.", False),
        ("dead_end", "deploy-shop --blue-green", "deploy-shop --blue-green fails", True),
        ("dead_end", "deploy-shop --blue-green", "deployed", False),
    ],
)
def test_carried_by_kind(kind: str, text: str, summary: str, told: bool) -> None:
    assert covers_fact(TextCoverage(summary), fact(kind, text)) is told


def test_a_test_run_is_carried_by_the_names_that_fail() -> None:
    red = fact("test", "pytest -q: failed", "1 failed; tests/test_cart.py::test_total")
    assert covers_fact(TextCoverage("test_total is still red"), red)
    assert not covers_fact(TextCoverage("pytest -q failed"), red)


def test_words_scattered_over_a_summary_carry_nothing() -> None:
    rule = fact("rule", "Never rename the invoices table before the export ran.")
    scattered = "\n\n".join(
        ("The invoices are old.", "A table stands here.", "He ran home.", "An export exists.")
    )
    assert not covers_fact(TextCoverage(scattered), rule)


def session() -> State:
    return fold_all(
        [
            UserSaid(AT, "Build the shop on port 8123. Never use float for money."),
            TaskCreated(AT, "1", "Wire the cart to checkout"),
            TaskCreated(AT, "2", "Sketch the price table"),
            TaskChanged(AT, "2", status="completed"),
            FileTouched(AT, "/home/dev/shop/cart_totals.py", "created", True, "PORT = 8123"),
            FileTouched(AT, "/home/dev/shop/readme.md", "read", True, "words"),
            CommandRan(
                AT, "pytest -q", "FAILED tests/test_cart.py::test_total\n1 failed in 0.1s", False, 1
            ),
            UserSaid(AT, "Now go on with the cart."),
        ]
    )


def test_what_stands_is_asked_about_and_what_is_done_or_seen_in_passing_is_not() -> None:
    asked = {fact.text for fact in list_open_facts(session())}
    assert "Never use float for money." in asked
    assert "Wire the cart to checkout" in asked
    assert "Now go on with the cart." in asked
    assert "/home/dev/shop/cart_totals.py" in asked
    assert "port 8123" in asked
    assert "Sketch the price table" not in asked
    assert "/home/dev/shop/readme.md" not in asked
    assert not any(text.startswith("Build the shop") for text in asked)


def test_kept_and_lost_together_are_all_that_was_asked() -> None:
    state = session()
    kept, lost = split_covered(state, "The user said: never use float for money. Port 8123.")
    assert set(kept) | set(lost) == {fact.id for fact in list_open_facts(state)}
    assert not set(kept) & set(lost)
    assert "r1" in kept
    assert "t1" in lost


def test_the_gap_holds_what_neither_text_carries_most_important_first() -> None:
    gap = compose_gap(
        session(), "They use port 8123.", "Open tasks: wire the cart to checkout", 4000
    )
    lines = gap.text.split("\n")
    assert lines[0].startswith("Holdfast: known before the last compaction")
    assert "2027-01-15 08:00 UTC" in lines[0]
    assert lines[1] == '- Rule the user gave: "Never use float for money."'
    assert "8123" not in gap.text
    assert "checkout" not in gap.text
    assert "test_total" in gap.text


def test_nothing_lost_leaves_no_gap() -> None:
    state = session()
    everything = "\n".join(f"{fact.text} {fact.detail}" for fact in list_open_facts(state))
    assert compose_gap(state, everything, "", 4000) == ("", ())
    assert compose_gap(State(), "anything", "", 4000) == ("", ())


@given(st.integers(0, 3000))
def test_the_gap_keeps_its_bound(limit: int) -> None:
    gap = compose_gap(session(), "", "", limit)
    assert len(gap.text) <= limit or gap.text == ""


@given(st.text(max_size=400), st.text(max_size=80))
def test_any_text_can_be_asked_about_anything(summary: str, text: str) -> None:
    said = TextCoverage(summary)
    for kind in ("file", "identifier", "rule", "task", "test", "request"):
        assert covers_fact(said, fact(kind, text)) in (True, False)


def test_a_refused_call_is_told_as_refused_and_a_hash_is_not_called_a_commit() -> None:
    command = "git push origin main"
    events: list[Event] = [
        ToolRefused(Origin("r1", 10, 20, ""), "Bash", command),
        *(
            CommandRan(
                Origin(f"s{n}", n, n + 1, ""), "git show logs:a7/6f0ea30b28/full.gz", "ok", True, 0
            )
            for n in (30, 40, 50)
        ),
    ]
    told = compose_gap(fold_all(events), "Nothing of note.", "", 2000).text
    assert f"- Refused by the user: Bash: {command}" in told
    assert "commit" not in told


def test_every_line_says_whose_words_it_holds_and_commands_stand_whole() -> None:
    url = "https://shop.example.org/health"
    failing = f"curl -s {url} && deploy-shop --now"
    state = fold_all(
        [
            UserSaid(AT, "Build it"),
            UserSaid(AT, "the blue one", "answer", "Which door?"),
            CommandRan(AT, failing, "error: no door", False, 1),
            CommandRan(AT, failing, "error: no door", False, 1),
        ]
    )
    text = compose_gap(state, "nothing", "", 4000).text
    assert '- Decided: asked "Which door?": user "the blue one"' in text
    assert f"- Did not work: `{failing}` failed (error: no door)" in text
    assert "Exact value" not in text  # an address passes by in every second command
