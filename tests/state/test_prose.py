"""Reading prose quickly finds what reading it plainly finds, whatever letters stand in it."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.state import demand_cues
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
        (demand_cues.STANDING, "please don't use stick to in future make sure before leave as is"),
        (demand_cues.CHANGE, "actually instead ignore that sorry i was wrong you can now"),
        (demand_cues.SPEAKER, "i don't think it still can't if we do not"),
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


@given(st.text("`\na", max_size=40))
def test_code_is_left_out_from_fence_to_fence(text: str) -> None:
    assert strip_code(text) == re.sub(r"```.*?(?:```|\Z)", "\n", text, flags=re.S)


def test_sentences_are_told_apart() -> None:
    said = 'It works, e.g. here. Does it?\n- yes\n```\nno. code.\n```\n"""x. y."""end'
    assert split_sentences(said) == ("It works, e.g. here.", "Does it?", "yes", "end")
