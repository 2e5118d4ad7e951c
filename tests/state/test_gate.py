"""The gate's quick answer is that of the thorough one."""

from typing import Any

import pytest
from hypothesis import given, settings

from holdfast.events import Origin
from holdfast.lifecycle.track import Tracked, without_secrets
from holdfast.state import EMPTY, texts, to_document
from holdfast.state.files import File
from holdfast.state.gate import cleaned, is_clean
from holdfast.state.identifiers import Identifier
from redact.test_properties import rows

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AT = Origin("00000000-0000-4000-8000-000000000000", 0, 10, "2026-11-15T10:00:00.000Z")


def file(
    path: str = "a.py",
    symbols: dict[str, int] | None = None,
    hunks: tuple[tuple[int, tuple[str, ...]], ...] = (),
) -> File:
    return File(1, path, "open", False, 1, 0, 0, 0, 0, symbols or {}, hunks, AT)


def identifier(context: str) -> Identifier:
    return Identifier(1, "port", "8080", context, 1, 0, "open", 0, AT)


@given(rows)
@settings(max_examples=400, deadline=None)
def test_clean_is_what_cleaning_leaves_alone(document: Any) -> None:
    assert is_clean([document]) == (not cleaned(document)[1])


@pytest.mark.parametrize(
    "state",
    [
        EMPTY._replace(symbols={KEY: (1, 1, 1, 1, 1)}),
        EMPTY._replace(files={KEY: file(KEY)}),
        EMPTY._replace(files={"a.py": file(), "b.py": file("b.py", {"someName": 1, KEY: 2})}),
        EMPTY._replace(files={"a.py": file(), "b.py": file("b.py", {}, ((3, ("x", KEY)),))}),
        EMPTY._replace(identifiers={"port 8080": identifier(f"port 8080 with {KEY}")}),
        EMPTY._replace(place=EMPTY.place._replace(folders=("/tmp", f"/tmp/{KEY}"))),
    ],
    ids=["symbol", "path", "symbol of a file", "hunk", "context", "folder"],
)
def test_a_secret_is_found_wherever_a_state_can_hold_it(state: Any) -> None:
    assert not is_clean(texts(state))
    clean = without_secrets(Tracked(state))
    assert KEY not in str(to_document(clean.state))
    assert clean.careful
    assert without_secrets(clean) == clean


def test_a_secret_in_the_adapters_memory_goes_and_the_state_stays() -> None:
    state = EMPTY._replace(files={"a.py": file(symbols={"someName": 1})})
    call = ["toolu_1", "Deploy", {"password": "Zq9x" + "Lm4w", "host": "db"}]
    memory = {"seen": [["ids"]], "calls": [call], "shell": KEY}
    clean = without_secrets(Tracked(state, memory=memory))
    assert clean.state is state
    assert not clean.careful
    assert clean.memory == {
        "seen": [["ids"]],
        "calls": [["toolu_1", "Deploy", {"password": "[redacted:password]", "host": "db"}]],
        "shell": "[redacted:github-token]",
    }


def test_a_clean_state_passes_as_it_is() -> None:
    tracked = Tracked(EMPTY._replace(files={"a.py": file()}), memory={"seen": None})
    assert without_secrets(tracked) is tracked
