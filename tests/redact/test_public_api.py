"""The public surface, what it loads, and a user's own patterns."""

import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
import holdfast.redact as surface
from holdfast.redact import redact, suspicious
from holdfast.redact.jsonl import redact_rows
from holdfast.redact.redactor import InvalidPattern, Redactor
from holdfast.redact.secret_patterns import VENDOR

_SOURCE = Path(holdfast.__file__).parent.parent


def _modules_after(code: str) -> set[str]:
    script = f"import sys; sys.path.insert(0, {str(_SOURCE)!r})\n{code}\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_everything_named_is_there() -> None:
    assert surface.__all__ == sorted(surface.__all__)
    assert all(getattr(surface, name) is not None for name in surface.__all__)


def test_an_innocent_text_is_decided_without_regular_expressions() -> None:
    loaded = _modules_after(
        "from holdfast.redact import redact, suspicious\n"
        "text = 'Please fix the failing test in src/app.py, the port is 8080.'\n"
        "assert not suspicious(text) and redact(text) == text"
    )
    assert "holdfast.redact.prefilter" in loaded
    assert not loaded & {"re", "holdfast.redact.redactor", "typing", "json", "dataclasses"}


def test_redaction_loads_nothing_slow() -> None:
    loaded = _modules_after("from holdfast.redact import redact_bytes\nredact_bytes(b'{}')")
    assert not loaded & {"typing", "dataclasses", "pathlib", "logging", "argparse", "inspect"}


def test_own_patterns_replace_their_group_or_the_whole_match() -> None:
    redactor = Redactor([("ticket", r"ACME-\d+"), ("room", r"room (\d+)")])
    assert (
        redactor.redact("see ACME-42 in room 7") == "see [redacted:ticket] in room [redacted:room]"
    )
    assert redact_rows(redactor, b'{"t":"ACME-42\\n"}\n') == b'{"t":"[redacted:ticket]\\n"}\n'


def test_own_patterns_come_on_top_of_the_built_in_ones() -> None:
    redactor = Redactor([("ticket", r"ACME-\d+")])
    assert redactor.redact("DB_PASSWORD=hunter22 ACME-1") == (
        "DB_PASSWORD=[redacted:password] [redacted:ticket]"
    )


@pytest.mark.parametrize(("name", "pattern"), [("broken", "(["), ("Not a label", "x"), ("", "x")])
def test_a_pattern_that_cannot_be_used_is_named(name: str, pattern: str) -> None:
    with pytest.raises(InvalidPattern) as caught:
        Redactor([("fine", "x+"), (name, pattern)])
    assert caught.value.name == name
    assert caught.value.pattern == pattern
    assert repr(pattern) in str(caught.value)


def test_an_empty_match_replaces_nothing() -> None:
    assert Redactor([("empty", "x*")]).redact("abc") == "abc"


def test_a_default_secret_is_suspicious() -> None:
    assert suspicious("DB_PASSWORD=hunter22")
    assert redact("DB_PASSWORD=hunter22") == "DB_PASSWORD=[redacted:password]"


def test_every_vendor_anchor_makes_a_text_suspicious() -> None:
    assert all(suspicious(f"x {anchor}{'aB3' * 20}") for _, anchor, _ in VENDOR)
