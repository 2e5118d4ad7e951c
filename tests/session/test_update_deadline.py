"""A hook on the agent's clock stops reading in time, keeps what it has, and goes on later."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.events import Event, Rewound
from holdfast.session import follow
from holdfast.session.context import SessionRef
from holdfast.session.follow import follow_transcript
from holdfast.session.update import SessionView, update_session
from holdfast.state import decode_state
from holdfast.store.sqlite.store import SqliteStore
from holdfast.transcript.reader import STOP_CHECK_BYTES
from support.made_transcripts import rows

PROMPT = json.dumps(
    {
        "type": "user",
        "message": {"role": "user", "content": "Never touch area1. Build it."},
        "timestamp": "2026-02-01T00:00:00.000Z",
        "sessionId": "s",
    }
)


def out_of_time(store: SqliteStore, path: Path) -> SessionView:
    return update_session(store, SessionRef("s", str(path), "/r"), seconds=-1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(str(tmp_path / "holdfast.db"))) as opened:
        yield opened


@pytest.mark.parametrize("line", ["", "{", PROMPT], ids=["newlines", "bad lines", "prompts"])
def test_reading_ends_soon_after_its_time_is_over(
    tmp_path: Path, store: SqliteStore, line: str
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f"{line}\n" * (10 * STOP_CHECK_BYTES // (len(line) + 1)))
    snapshot = out_of_time(store, path)
    assert not snapshot.is_complete
    assert 0 < snapshot.followed.cursor.position < 2 * STOP_CHECK_BYTES


def test_what_was_read_is_kept_and_the_next_hook_goes_on_from_there(
    tmp_path: Path, store: SqliteStore
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(1, 60)))
    reached, hooks = [0], 0
    while not (snapshot := out_of_time(store, path)).is_complete:
        hooks += 1
        assert snapshot.followed.cursor.position > reached[-1]
        reached.append(snapshot.followed.cursor.position)
    assert hooks > 1
    known = store.load("s")
    assert known is not None
    assert (
        decode_state(known.state) == snapshot.followed.state == follow_transcript(str(path)).state
    )


def test_a_rewound_session_that_cannot_be_read_again_in_time_keeps_what_was_known(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    made = rows(1, 60, compact_every=1000)
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    before = follow_transcript(str(path))
    branch = next(row for row in made[len(made) // 2 :] if row["type"] == "assistant")
    again = {**made[0], "uuid": "0" * 36, "parentUuid": branch["uuid"]}
    again["timestamp"] = "2026-02-20T00:00:00.000Z"
    with path.open("a") as transcript:
        transcript.write(json.dumps(again) + "\n")
    stopped = follow_transcript(str(path), before, stop=lambda: True)
    assert stopped.truncated
    assert stopped._replace(truncated=False) == before
    whole = follow_transcript(str(path), before)
    assert whole.abandoned
    assert len(whole.state.rules) < len(before.state.rules)


def test_a_hook_looks_at_the_clock_while_it_reads(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As often as it has read 64 KB, whatever stands in them."""
    asked = 0

    def counting(seconds: float) -> Callable[[], bool]:
        def stop() -> bool:
            nonlocal asked
            asked += 1
            return False

        return stop

    monkeypatch.setattr(follow, "make_deadline", counting)
    path = tmp_path / "s.jsonl"
    path.write_text("\n" * (20 * STOP_CHECK_BYTES))
    assert update_session(store, SessionRef("s", str(path), "/r"), seconds=4).is_complete
    assert asked >= 18


def test_many_rewinds_are_found_in_one_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    made = rows(1, 60, compact_every=1000)
    branches = [row for row in made if row["type"] == "assistant"][-40:]
    for number, branch in enumerate(reversed(branches)):
        back = {**made[0], "uuid": f"{number:036}", "parentUuid": branch["uuid"]}
        made.append({**back, "timestamp": f"2026-02-20T00:00:{number:02}.000Z"})
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    passes, one_pass = [], follow._one_pass

    def count(*given: Any) -> Any:
        passes.append(1)
        return one_pass(*given)

    monkeypatch.setattr(follow, "_one_pass", count)
    followed = follow_transcript(str(path))
    assert len(followed.abandoned) >= 20
    assert len(passes) <= 4
    monkeypatch.setattr(follow, "_list_rewinds", lambda events: _first_rewind(events))
    one_by_one = follow_transcript(str(path))
    assert followed.state == one_by_one.state


def _first_rewind(events: Iterable[Event]) -> list[tuple[int, int]]:
    first = next(event for event in events if type(event) is Rewound)
    return [(first.start, first.at.start)]
