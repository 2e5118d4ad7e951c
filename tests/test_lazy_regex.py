"""Patterns that one process compiled serve the next as they are."""

import re

import pytest

from holdfast import lazy_regex

PATTERNS = [
    (r"(?P<a>\d+)-(?P<b>x)?|(?<=q)z", re.I),
    (r"[^\W\d_]{2,5}(?!é)\Z", 0),
    (rb'"id": ?"([^"\\]{1,200})"', 0),
    (r"(?i:ab)c|[ぁ-ん]+", re.ASCII | re.DOTALL),
]


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setattr(lazy_regex, "_kept", {})
    for source, flags in PATTERNS:
        lazy_regex.compile_once(source, flags)
    return lazy_regex.keep_new()


@pytest.mark.parametrize(("source", "flags"), PATTERNS)
def test_a_kept_pattern_is_the_one_that_re_makes(
    kept: bytes, monkeypatch: pytest.MonkeyPatch, source: str | bytes, flags: int
) -> None:
    made = re.compile(source, flags)
    monkeypatch.setattr(lazy_regex, "_kept", {})
    lazy_regex.use_kept(kept)
    monkeypatch.setattr(re, "compile", None)
    again = lazy_regex.compile_once(source, flags)
    assert again == made
    assert (again.flags, again.groups, again.groupindex) == (
        made.flags,
        made.groups,
        made.groupindex,
    )
    found = again.search(b'{"id": "ab"}' if isinstance(source, bytes) else "QZ 12-x Abc ぁい")
    assert found is not None
    assert lazy_regex.keep_new() == b""


@pytest.mark.parametrize("damaged", [b"", b"\0", b"{", b"[\x01\0\0\0N", b"x" * 100])
def test_damaged_patterns_are_compiled_anew(
    damaged: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lazy_regex, "_kept", {})
    lazy_regex.use_kept(damaged)
    assert lazy_regex.compile_once(r"a+").fullmatch("aaa")


def test_wrong_numbers_are_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_regex, "_kept", {(r"a+", 0): (32, b"\xff" * 40, 0, {})})
    assert lazy_regex.compile_once(r"a+").fullmatch("aaa")
