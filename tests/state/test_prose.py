"""Reading prose quickly finds what reading it plainly finds, whatever letters stand in it."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.lazy_regex import lazy_any_word
from holdfast.state import rules
from holdfast.state.prose import lower_ascii_apostrophes, split_sentences, strip_code

# ı, İ, ſ and the sign for kelvin are an i, an s and a k to `re.I`; Σ becomes small in two ways.
_LETTERS = "aeiknstAIKS ıİſ\u212aΣé_'’.,\n"


def test_small_letters_are_those_that_re_takes_for_the_same() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    lowered = lower_ascii_apostrophes(every)
    assert len(lowered) == len(every)
    for letter in "abcdefghijklmnopqrstuvwxyz":
        same = [found.start() for found in re.finditer(letter, every, re.I)]
        assert same == [found.start() for found in re.finditer(letter, lowered)]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (rules._STANDING, "please don't use stick to in future make sure before leave as is"),
        (rules._CORRECTION, "actually instead ignore that sorry i was wrong you can now"),
        (rules._SPEAKER, "i don't think it still can't if we do not"),
    ],
)
def test_a_pattern_for_small_letters_is_one_for_all_letters(
    pattern: re.Pattern[str], words: str
) -> None:
    of_any_case = re.compile(pattern.pattern, re.I)

    @given(st.lists(st.sampled_from([*words.split(), *words.upper().split()]) | st.text(_LETTERS)))
    def check(parts: list[str]) -> None:
        said = " ".join(parts).replace("’", "'")
        for text in (said, said.replace("i", "ı").replace("s", "ſ")):
            found, expected = (
                pattern.search(lower_ascii_apostrophes(text)),
                of_any_case.search(text),
            )
            assert (found and found.span()) == (expected and expected.span())

    check()


WORDS = ["never", "from now on", "no more", "every time", "must", "no longer", "i was wrong"]


@given(st.lists(st.sampled_from(WORDS) | st.text(_LETTERS)), st.data())
def test_any_of_finds_a_text_with_one_of_the_words(parts: list[str], data: st.DataObject) -> None:
    text = "".join(part[data.draw(st.integers(0, 2)) :] for part in parts)
    words = lazy_any_word(*WORDS)
    expected = any(word in text for word in WORDS)
    assert (words.search(text) is not None) == expected


@pytest.mark.parametrize("word", WORDS)
def test_any_of_finds_each_word(word: str) -> None:
    assert lazy_any_word(*WORDS).search(f"—{word}—")


@given(st.text("`\na", max_size=40))
def test_code_is_left_out_from_fence_to_fence(text: str) -> None:
    assert strip_code(text) == re.sub(r"```.*?(?:```|\Z)", "\n", text, flags=re.S)


def test_sentences_are_told_apart() -> None:
    said = 'It works, e.g. here. Does it?\n- yes\n```\nno. code.\n```\n"""x. y."""end'
    assert split_sentences(said) == ("It works, e.g. here.", "Does it?", "yes", "end")


# A correction may also begin with a word that is no cue elsewhere.
_EITHER = re.compile(f"{rules._CUES.pattern}|^(?:{'|'.join(rules._BEGINNINGS)})")


@pytest.mark.parametrize(
    ("pattern", "cues"),
    [
        (rules._STANDING, rules._CUES),
        (rules._CORRECTION, _EITHER),
    ],
)
def test_no_cue_hides_a_sentence(pattern: re.Pattern[str], cues: re.Pattern[str]) -> None:
    """Whatever a pattern matches holds one of the cues that are asked for before it."""

    @given(st.from_regex(pattern.pattern))
    def check(text: str) -> None:
        assert cues.search(lower_ascii_apostrophes(text)) or not pattern.search(
            lower_ascii_apostrophes(text)
        )

    check()
