"""Our block in CLAUDE.md: once, renewed where it stands, and gone without a trace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.install.claude_code import put_instructions, remove_instructions
from holdfast.install.installation import InstructionsDamaged

TEXT = "Keep the rules.\nKeep the port."

MARK = b"holdfast:compact-instructions"
contents = st.one_of(
    st.none(),
    st.binary(max_size=60).filter(lambda content: MARK not in content),
    st.lists(st.sampled_from([b"# Shop", b"", b"- tabs", b"  "]), max_size=6).flatmap(
        lambda lines: st.sampled_from([b"\n".join(lines), b"\r\n".join(lines)])
    ),
)


@given(contents)
def test_in_and_out_is_the_same_bytes(content: bytes | None) -> None:
    once = put_instructions(content, TEXT)
    assert remove_instructions(once) == content
    assert put_instructions(once, TEXT) == once
    assert once.startswith(content or b"")


@given(contents, st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_a_new_text_takes_the_place_of_the_old(content: bytes | None, text: str) -> None:
    renewed = put_instructions(put_instructions(content, TEXT), text)
    assert TEXT.encode() not in renewed.replace(b"\r\n", b"\n") or TEXT in text
    assert remove_instructions(renewed) == content


def test_what_the_user_writes_around_it_stays() -> None:
    block = put_instructions(b"# Shop\n", TEXT)
    edited = b"Before.\n" + block + b"\nAfter.\n"
    assert put_instructions(edited, "New.").endswith(b"\nAfter.\n")
    assert remove_instructions(edited) == b"Before.\n# Shop\n\nAfter.\n"
    assert remove_instructions(put_instructions(None, TEXT) + b"mine\n") == b"mine\n"


def test_a_file_without_the_block_is_left_alone() -> None:
    assert remove_instructions(b"# Shop\n") == b"# Shop\n"
    assert remove_instructions(None) is None


@pytest.mark.parametrize("cut", [b"start after=1 -->", b"holdfast:compact-instructions end"])
def test_a_damaged_block_is_refused(cut: bytes) -> None:
    damaged = put_instructions(b"# Shop\n", TEXT).replace(cut, b"")
    with pytest.raises(InstructionsDamaged):
        put_instructions(damaged, TEXT)
    with pytest.raises(InstructionsDamaged):
        remove_instructions(damaged)


def test_two_blocks_are_refused() -> None:
    twice = put_instructions(b"", TEXT) + put_instructions(b"", TEXT)
    with pytest.raises(InstructionsDamaged):
        remove_instructions(twice)
