"""Which messages an instant compaction keeps: whole units, the current request first."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.clients.client_protocol import ConversationMessage
from holdfast.compaction.verbatim_messages import select_verbatim


def asked(size: int = 10) -> ConversationMessage:
    return ConversationMessage("user", size, True)


def called(name: str, size: int = 10) -> list[ConversationMessage]:
    return [
        ConversationMessage("assistant", size, False, (name,)),
        ConversationMessage("user", size, False, (), (name,)),
    ]


def said(size: int = 10) -> ConversationMessage:
    return ConversationMessage("assistant", size, False)


def test_everything_that_fits_stays() -> None:
    messages = [asked(), *called("a"), said(), asked(), *called("b")]
    assert select_verbatim(messages, 1_000) == list(range(len(messages)))


def test_the_current_request_comes_before_what_was_done_for_it_and_that_before_older_turns() -> (
    None
):
    messages = [asked(), *called("a"), said(), asked(), *called("b"), *called("c")]
    assert select_verbatim(messages, 30) == [4, 7, 8]
    assert select_verbatim(messages, 50) == [4, 5, 6, 7, 8]
    assert select_verbatim(messages, 60) == [3, 4, 5, 6, 7, 8]


def test_a_result_too_large_is_passed_over_with_its_call() -> None:
    messages = [asked(), *called("a"), *called("huge", 5_000), *called("c")]
    assert select_verbatim(messages, 100) == [0, 1, 2, 5, 6]


def test_earlier_turns_end_at_the_first_that_does_not_fit() -> None:
    messages = [asked(), said(), asked(5_000), said(), asked()]
    assert select_verbatim(messages, 100) == [3, 4]


def test_our_own_text_and_calls_without_an_answer_go() -> None:
    ours = ConversationMessage("user", 10, False, is_holdfast_text=True)
    messages = [
        ours,
        asked(),
        *called("a"),
        ConversationMessage("assistant", 10, False, ("pending",)),
    ]
    assert select_verbatim(messages, 1_000) == [1, 2, 3]


def test_parallel_calls_are_one_unit() -> None:
    messages = [
        asked(),
        ConversationMessage("assistant", 10, False, ("a",)),
        ConversationMessage("assistant", 10, False, ("b",)),
        ConversationMessage("user", 10, False, (), ("a",)),
        ConversationMessage("user", 10, False, (), ("b",)),
    ]
    assert select_verbatim(messages, 40) == [0]
    assert select_verbatim(messages, 50) == [0, 1, 2, 3, 4]


@st.composite
def conversations(draw: st.DrawFn) -> list[ConversationMessage]:
    messages: list[ConversationMessage] = []
    for number in range(draw(st.integers(0, 12))):
        size = draw(st.integers(0, 300))
        kind = draw(st.sampled_from(("asked", "called", "said", "ours")))
        if kind == "called":
            messages += called(f"c{number}", size)
        elif kind == "ours":
            messages.append(ConversationMessage("user", size, False, is_holdfast_text=True))
        else:
            messages.append(asked(size) if kind == "asked" else said(size))
    return messages


@given(conversations(), st.integers(0, 2_000))
def test_the_budget_holds_and_no_call_is_parted_from_its_answer(
    messages: list[ConversationMessage], budget: int
) -> None:
    kept = select_verbatim(messages, budget)
    assert kept == sorted(set(kept))
    assert sum(messages[place].size for place in kept) <= budget
    calls = {call for place in kept for call in messages[place].calls}
    answers = {call for place in kept for call in messages[place].answers}
    assert calls == answers
    assert not any(messages[place].is_holdfast_text for place in kept)
