"""Which messages an instant compaction keeps: whole units, the current request first."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.kept import Heard, choose_kept


def asked(size: int = 10) -> Heard:
    return Heard("user", size, True)


def called(name: str, size: int = 10) -> list[Heard]:
    return [Heard("assistant", size, False, (name,)), Heard("user", size, False, (), (name,))]


def said(size: int = 10) -> Heard:
    return Heard("assistant", size, False)


def test_everything_that_fits_stays() -> None:
    messages = [asked(), *called("a"), said(), asked(), *called("b")]
    assert choose_kept(messages, 1_000) == list(range(len(messages)))


def test_the_current_request_comes_before_what_was_done_for_it_and_that_before_older_turns() -> (
    None
):
    messages = [asked(), *called("a"), said(), asked(), *called("b"), *called("c")]
    assert choose_kept(messages, 30) == [4, 7, 8]
    assert choose_kept(messages, 50) == [4, 5, 6, 7, 8]
    assert choose_kept(messages, 60) == [3, 4, 5, 6, 7, 8]


def test_a_result_too_large_is_passed_over_with_its_call() -> None:
    messages = [asked(), *called("a"), *called("huge", 5_000), *called("c")]
    assert choose_kept(messages, 100) == [0, 1, 2, 5, 6]


def test_earlier_turns_end_at_the_first_that_does_not_fit() -> None:
    messages = [asked(), said(), asked(5_000), said(), asked()]
    assert choose_kept(messages, 100) == [3, 4]


def test_our_own_text_and_calls_without_an_answer_go() -> None:
    ours = Heard("user", 10, False, ours=True)
    messages = [ours, asked(), *called("a"), Heard("assistant", 10, False, ("pending",))]
    assert choose_kept(messages, 1_000) == [1, 2, 3]


def test_parallel_calls_are_one_unit() -> None:
    messages = [
        asked(),
        Heard("assistant", 10, False, ("a",)),
        Heard("assistant", 10, False, ("b",)),
        Heard("user", 10, False, (), ("a",)),
        Heard("user", 10, False, (), ("b",)),
    ]
    assert choose_kept(messages, 40) == [0]
    assert choose_kept(messages, 50) == [0, 1, 2, 3, 4]


@st.composite
def conversations(draw: st.DrawFn) -> list[Heard]:
    messages: list[Heard] = []
    for number in range(draw(st.integers(0, 12))):
        size = draw(st.integers(0, 300))
        kind = draw(st.sampled_from(("asked", "called", "said", "ours")))
        if kind == "called":
            messages += called(f"c{number}", size)
        elif kind == "ours":
            messages.append(Heard("user", size, False, ours=True))
        else:
            messages.append(asked(size) if kind == "asked" else said(size))
    return messages


@given(conversations(), st.integers(0, 2_000))
def test_the_budget_holds_and_no_call_is_parted_from_its_answer(
    messages: list[Heard], budget: int
) -> None:
    kept = choose_kept(messages, budget)
    assert kept == sorted(set(kept))
    assert sum(messages[place].size for place in kept) <= budget
    calls = {call for place in kept for call in messages[place].calls}
    answers = {call for place in kept for call in messages[place].answers}
    assert calls == answers
    assert not any(messages[place].ours for place in kept)
