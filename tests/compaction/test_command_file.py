"""What a command's file says of itself, and what its author got wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.active_commands import command_file
from holdfast.compaction.active_commands.command_file import (
    PRIORITIES,
    find_problems,
    parse_command_file,
    parse_front_matter,
)

START, END = "<!-- COMPACT_SUMMARY_START -->", "<!-- COMPACT_SUMMARY_END -->"


def test_every_block_is_kept_word_for_word() -> None:
    text = f"""# Babysit
<!-- COMPACT_SUMMARY_START
This part is kept. -->
First,  with   spaces.
  - and a list
{END}
between
{START}Second.{END}
"""
    assert parse_command_file(text).rules == ("First,  with   spaces.\n  - and a list", "Second.")


def test_the_head_says_how_urgent_it_is_and_what_else_to_keep() -> None:
    file = parse_command_file(
        "---\ndescription: Watches\ncompact_context:\n  priority: Critical\n"
        "  preserve_rules:\n    - Ask first\n  state_fields: [story]\n---\nbody"
    )
    assert file.priority == PRIORITIES["critical"]
    assert (file.preserved, file.state_fields) == (("Ask first",), ("story",))
    assert not file.one_shot


@pytest.mark.parametrize(
    "head",
    ["one-shot: true", "one_shot: yes", "compact_context: false", "context: fork"],
)
def test_a_one_shot_command_says_so(head: str) -> None:
    assert parse_command_file(f"---\ndescription: Prints\n{head}\n---\nPrint it.").one_shot
    assert parse_command_file(f"---\n{head}\n---\n{START}Rule.{END}").one_shot
    assert not parse_command_file(f"---\ndescription: Prints\n---\n{START}Rule.{END}").one_shot


def test_without_rules_the_description_is_kept_and_without_both_nothing() -> None:
    file = parse_command_file("---\nallowed-tools: Bash\n---\n# Reviews the code\n")
    assert (file.description, file.one_shot) == ("Reviews the code", False)
    assert parse_command_file("Just print the date.").one_shot


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"one\n{START}\nrule", [(2, "START without its END")]),
        (f"one\n{END}", [(2, "END without its START")]),
        (f"{START}\na\n{START}\nb\n{END}", [(1, "START without its END")]),
        (f"{START}\n\n{END}", [(1, "the block is empty")]),
        (f"{START}{'x' * 501}{END}", [(1, "501 characters")]),
        (f"{START}{'x' * 300}{END}{START}{'x' * 300}{END}", [(1, "all blocks have 600")]),
        ("---\nx: y\n", [(1, "not closed")]),
        ("---\ncompact_context:\n  priority: soon\n---\n", [(1, "priority 'soon'")]),
        ("---\ncompact_context:\n  preserve: x\n---\n", [(1, "has no 'preserve'")]),
        (f"{START}\nrule\n{END}", []),
    ],
)
def test_faults_are_told_with_their_line(text: str, said: list[tuple[int, str]]) -> None:
    found = find_problems(text, 500)
    assert [fault.line for fault in found] == [line for line, _ in said]
    for fault, (_, words) in zip(found, said, strict=True):
        assert words in fault.message


def test_an_unclosed_block_hides_no_other() -> None:
    text = f"{START}\nlost\n{START}\nkept\n{END}\n{START}\nlost too"
    assert parse_command_file(text).rules == ("kept",)


@given(st.lists(st.sampled_from([START, END, "rule\n", "---\n", "<!-- ", "-->", "x"]), max_size=12))
def test_any_mixture_of_markers_is_read(pieces: list[str]) -> None:
    text = "".join(pieces)
    for rule in parse_command_file(text).rules:
        assert rule in text
        assert "COMPACT_SUMMARY" not in rule
    assert all(fault.line >= 1 for fault in find_problems(text, 100))


def test_a_file_of_nothing_but_beginnings_is_read_in_one_go() -> None:
    """By steps, not by time: the end of a comment is looked for once, however often it is asked."""

    class Counting(str):
        looked = 0

        def find(self, *words: object) -> int:
            Counting.looked += 1
            return str.find(self, *words)  # type: ignore[arg-type]

    for opened in ("<!-- COMPACT_SUMMARY_START", "<!-- COMPACT_SUMMARY_START <!--"):
        Counting.looked = 0
        assert command_file._read_blocks(Counting(opened * 10_000))[0] == []
        assert Counting.looked <= 2
    closed = Counting("<!-- COMPACT_SUMMARY_START -->" * 10_000)
    assert command_file._read_blocks(closed)[0] == []


def test_a_head_is_read_however_deep_it_is_nested() -> None:
    deep = "---\n" + "\n".join(" " * n + f"a{n}:" for n in range(390)) + "\n---\nBody\n"
    assert parse_command_file(deep).rules == ()


# The head of a command file: what it says, however it is written.


def fields(head: str) -> object:
    return parse_front_matter(f"---\n{head}\n---\nbody\n").fields


def test_texts_lists_and_one_level_below() -> None:
    head = """
description: "Watches: over the work"   # a remark
allowed-tools: [Bash, "a, b", Read]
# a comment
compact_context:
  priority: high
  preserve_rules:
    - "ACTIVE COMMAND: /babysit"
    - never push
      to main
  state_fields: [story, 'epic']
empty:
"""
    assert fields(head) == {
        "description": "Watches: over the work",
        "allowed-tools": ["Bash", "a, b", "Read"],
        "compact_context": {
            "priority": "high",
            "preserve_rules": ["ACTIVE COMMAND: /babysit", "never push to main"],
            "state_fields": ["story", "epic"],
        },
        "empty": "",
    }


def test_block_texts_and_lists_without_indent() -> None:
    assert fields("description: >\n  one\n  two\ntools:\n- a\n- b") == {
        "description": "one two",
        "tools": ["a", "b"],
    }


def test_a_file_without_a_head_is_all_body() -> None:
    assert parse_front_matter("# Title\n---\nx: y\n---\n") == (
        {},
        "# Title\n---\nx: y\n---\n",
        True,
    )
    assert parse_front_matter("---\nx: y\n").closed is False
    assert parse_front_matter("\ufeff---\r\nx: y\r\n---\r\nbody").fields == {"x": "y"}


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert parse_front_matter(f"---\n{text}\n---\nbody").closed is True
    assert parse_front_matter(text).body is not None
