"""False alarms: on lines written by hand, and on real sessions."""

import gzip
import json
import os
from pathlib import Path

import pytest

from holdfast.redact import redact, redact_bytes

from .harmless import INNOCENT


@pytest.mark.parametrize("line", INNOCENT)
def test_an_innocent_line_stays(line: str) -> None:
    assert redact(line) == line


def test_innocent_lines_stay_together_and_in_rows() -> None:
    text = "\n".join(INNOCENT)
    assert redact(text) == text
    data = b"".join(json.dumps({"text": line}).encode() + b"\n" for line in INNOCENT)
    assert redact_bytes(data) == data


@pytest.mark.corpus
def test_real_sessions_give_no_false_alarm() -> None:
    # The sessions were masked before they were published, so whatever is found is a false alarm
    # until a look at it says otherwise.
    folder = Path(os.environ["HOLDFAST_CORPUS"])
    changed = []
    sessions = sorted(folder.glob("*.jsonl.gz"))
    assert sessions
    for session in sessions:
        data = gzip.decompress(session.read_bytes())
        redacted = redact_bytes(data)
        if redacted != data:
            before, after = data.splitlines(), redacted.splitlines()
            changed += [
                (session.name, new) for old, new in zip(before, after, strict=True) if old != new
            ]
    assert changed == []
