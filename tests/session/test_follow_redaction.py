"""A secret that comes again: reading at once and reading in pieces know the same."""

import json
from pathlib import Path

from holdfast.session.follow import INITIAL, FollowState, follow_transcript, from_saved, to_saved
from holdfast.state import list_facts

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def row(number: int, words: str) -> str:
    """Written by hand, in the shape of a prompt's row."""
    return json.dumps(
        {
            "type": "user",
            "uuid": f"00000000-0000-4000-8000-{number:012}",
            "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number else None,
            "sessionId": "pieces",
            "timestamp": f"2026-11-15T10:00:{number:02}.000Z",
            "isSidechain": False,
            "message": {"role": "user", "content": words},
        }
    )


def test_a_rule_with_a_secret_said_twice_is_one_rule_either_way(tmp_path: Path) -> None:
    rule = f"Never commit the token {KEY} to the repository."
    rows = [row(0, rule), row(1, "go on"), row(2, rule), row(3, "and now the tests")]
    whole = tmp_path / "whole.jsonl"
    whole.write_text("\n".join(rows) + "\n")
    growing = tmp_path / "growing.jsonl"
    followed: FollowState = INITIAL
    for count in range(1, len(rows) + 1):
        growing.write_text("\n".join(rows[:count]) + "\n")
        followed = follow_transcript(
            str(growing), from_saved(*json.loads(json.dumps(to_saved(followed))))
        )
    at_once = follow_transcript(str(whole))
    assert followed.state.rules == at_once.state.rules
    assert len(followed.state.rules) == 1
    assert KEY not in str(list(list_facts(followed.state)))
