"""Which messages are new, whatever part of the history a library hands over."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.clients.messages.adapter import MAX_KEYS, find_new

# Few different ones, so that the same words are said again and again.
KEYS = st.lists(st.sampled_from("abc"), max_size=30)
UNIQUE = st.lists(st.integers(0, 999).map(str), unique=True, max_size=60)


@given(KEYS)
def test_the_same_history_twice_is_once(keys: list[str]) -> None:
    assert find_new(keys[-MAX_KEYS:], keys) == []


@given(KEYS, KEYS)
def test_words_that_come_again_are_new(heard: list[str], more: list[str]) -> None:
    """A user may answer "yes" to each of ten questions."""
    assert find_new(heard, heard + more) == list(range(len(heard), len(heard) + len(more)))


@given(UNIQUE, UNIQUE)
def test_a_history_that_went_on_is_new_from_there(heard: list[str], more: list[str]) -> None:
    more = [f"{key}-new" for key in more]
    assert find_new(heard, heard + more) == list(range(len(heard), len(heard) + len(more)))


@given(UNIQUE, st.data())
def test_what_is_left_of_a_history_is_known(heard: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, max(len(heard) - 1, 0)))
    tail = heard[start:]
    assert find_new(heard, [*tail, "new"]) == [len(tail)]


@given(UNIQUE)
def test_new_messages_alone_are_all_new(heard: list[str]) -> None:
    assert find_new(heard, ["x", "y"]) == [0, 1]


def test_a_history_longer_than_what_is_remembered() -> None:
    keys = [str(number) for number in range(3_000)]
    assert find_new(keys[-MAX_KEYS:], [*keys, "new"]) == [3_000]


def test_a_history_with_holes_is_known_by_its_order() -> None:
    heard = list("abcdefgh")
    assert find_new(heard, ["b", "c", "f", "new"]) == [3]


def test_the_same_word_after_an_answer_is_said_again() -> None:
    assert find_new(["go on", "done"], ["go on"]) == [0]
    assert find_new(["go on", "done"], ["go on", "done again"]) == [0, 1]
