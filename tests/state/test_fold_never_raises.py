"""No command line, no output and no saying stops the fold, however oddly it is put together."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .story import Story

SHELL = r""" "" '' " ' ` $( ) ( { } | || & && ; > >> < <<EOF EOF << 2>&1 \ # = - -- -m -k -p / ./ ..
    * : :: ! ? [ ] make pytest npm go test cargo git rm mv cd sudo env time timeout 5 -c FOO=1
    """.split()
SAID = """FAILED PASSED ok FAIL error: Error failed passed expected got localhost: 8080 port AB-12
    x.py:3: --- +++ @@ Traceback deadbee let's because instead never don't actually ``` İ ı ſ — ’
    """.split()
BETWEEN = ["\n", "\r\n", "\t", " ", "  ", "", "\x00", "\u2028", "\ud800", "a" * 300, '"""']
PIECES = st.sampled_from([*SHELL, *SAID, *BETWEEN])
TEXT = st.lists(PIECES | st.text(max_size=4), max_size=12).flatmap(
    lambda pieces: st.sampled_from(["".join(pieces), " ".join(pieces)])
)


@given(TEXT, TEXT, st.booleans())
@settings(deadline=None)
def test_whatever_is_run_and_said_is_heard(command: str, output: str, ok: bool) -> None:
    story = Story().ran(command, output, ok).user(command).agent(output).ran(output, command, ok)
    assert story.state.position.step == 2
    assert all(fact.text or fact.detail for fact in story.facts("command"))


@pytest.mark.parametrize("command", ["'' pytest -q", '" " make test'])
def test_a_check_behind_an_empty_word_is_a_check(command: str) -> None:
    story = Story().ran(command, "1 passed in 0.1s")
    assert story.texts("test") == [f"{command}: passed"]
