"""The head of a command file: what it says, however it is written."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.compaction.active_commands.command_file import parse_front_matter


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
