"""A hook on the agent's clock stops reading in time, keeps what it has, and goes on later."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.made_up import rows
from holdfast.lifecycle import keep
from holdfast.lifecycle.keep import Kept, Scene, bring_up_to_date
from holdfast.lifecycle.track import catch_up
from holdfast.state import from_document
from holdfast.store.sqlite import SqliteStore
from holdfast.transcript.reader import LOOK

PROMPT = json.dumps(
    {
        "type": "user",
        "message": {"role": "user", "content": "Never touch area1. Build it."},
        "timestamp": "2026-02-01T00:00:00.000Z",
        "sessionId": "s",
    }
)


def out_of_time(store: SqliteStore, path: Path) -> Kept:
    return bring_up_to_date(store, Scene("s", str(path), "/r"), seconds=-1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(str(tmp_path / "holdfast.db"))) as opened:
        yield opened


@pytest.mark.parametrize("line", ["", "{", PROMPT], ids=["newlines", "bad lines", "prompts"])
def test_reading_ends_soon_after_its_time_is_over(
    tmp_path: Path, store: SqliteStore, line: str
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f"{line}\n" * (10 * LOOK // (len(line) + 1)))
    kept = out_of_time(store, path)
    assert not kept.complete
    assert 0 < kept.tracked.cursor.offset < 2 * LOOK


def test_what_was_read_is_kept_and_the_next_hook_goes_on_from_there(
    tmp_path: Path, store: SqliteStore
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(1, 60)))
    reached, hooks = [0], 0
    while not (kept := out_of_time(store, path)).complete:
        hooks += 1
        assert kept.tracked.cursor.offset > reached[-1]
        reached.append(kept.tracked.cursor.offset)
    assert hooks > 1
    known = store.load("s")
    assert known is not None
    assert from_document(known.state) == kept.tracked.state == catch_up(str(path)).state


def test_a_rewound_session_that_cannot_be_read_again_in_time_keeps_what_was_known(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    made = rows(1, 60, compact_every=1000)
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    before = catch_up(str(path))
    branch = next(row for row in made[len(made) // 2 :] if row["type"] == "assistant")
    again = {**made[0], "uuid": "0" * 36, "parentUuid": branch["uuid"]}
    again["timestamp"] = "2026-02-20T00:00:00.000Z"
    with path.open("a") as transcript:
        transcript.write(json.dumps(again) + "\n")
    stopped = catch_up(str(path), before, stop=lambda: True)
    assert stopped.unread
    assert stopped._replace(unread=False) == before
    whole = catch_up(str(path), before)
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

    monkeypatch.setattr(keep, "time_limit", counting)
    path = tmp_path / "s.jsonl"
    path.write_text("\n" * (20 * LOOK))
    assert bring_up_to_date(store, Scene("s", str(path), "/r"), seconds=4).complete
    assert asked >= 18
