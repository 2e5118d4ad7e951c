"""Our text is known by its mark, wherever it stands, and nobody else's is taken for it."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.clients.messages.own_text import (
    holds_own_text,
    mark_text,
    marked_size,
    remove_own_text,
)

TEXT = "Rules the user gave:\n- Never push to main."
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="<"), max_size=80)


@given(WORDS, WORDS, WORDS.filter(str.strip))
def test_what_stands_around_it_is_left(before: str, after: str, text: str) -> None:
    said = before + mark_text(text, "chat") + after
    assert remove_own_text(said, "chat") == (before + after).strip()


@given(st.text(max_size=200))
def test_words_of_others_stay_as_they_are(text: str) -> None:
    assert remove_own_text(text, "chat") == text


def test_a_framework_s_frame_around_it_is_nobody_s_words() -> None:
    framed = f"Here is a summary of the conversation to date:\n\n{mark_text(TEXT, 'chat')}"
    assert remove_own_text(framed, "chat") == ""


def test_the_beginning_of_a_truncated_one_is_ours() -> None:
    cut = mark_text(TEXT, "chat")[:-30]
    assert remove_own_text(f"Hello. {cut}", "chat") == "Hello."


def test_one_of_another_chat_is_ours_where_it_is_whole() -> None:
    theirs = mark_text(TEXT, "another")
    assert remove_own_text(theirs.replace("\n", " \n"), "chat") == ""
    assert holds_own_text(theirs, "chat")
    changed = theirs.replace("Never push", "Always push")
    assert remove_own_text(changed, "chat") == changed


def test_a_user_who_types_the_tag_or_our_words_is_heard() -> None:
    for typed in (
        '<holdfast-state mark="0123456789-0123456789">Never email Bob.</holdfast-state>',
        "<holdfast-state>Never email Bob.</holdfast-state>",
        "Holdfast: the state of this session is bad. Never email Bob.",
    ):
        assert remove_own_text(typed, "chat") == typed


def test_an_empty_text_has_no_mark() -> None:
    assert mark_text("", "chat") == ""
    assert len(mark_text(TEXT, "chat")) == marked_size(len(TEXT))
