"""Bringing a session up to date: all of it, once, in whatever pieces."""

from pathlib import Path

import pytest

from holdfast.session import update
from holdfast.session.follow import follow_transcript
from holdfast.session.update import save_checkpoint, update_session
from holdfast.state import list_facts
from holdfast.store.protocol import SavedState
from support.growing_session import BOUNDARY, ROWS, Follow


def test_what_is_saved_is_what_folding_at_once_gives(follow: Follow) -> None:
    for rows in (20, 60, BOUNDARY + 1, len(ROWS)):
        follow.write(rows)
        snapshot = update_session(follow.store, follow.ctx.session, seconds=10)
    whole = follow_transcript(str(follow.transcript))
    assert snapshot.followed.state == whole.state
    assert snapshot.is_complete
    saved = follow.store.load(follow.session_id)
    assert saved is not None
    assert saved.revision == whole.revision
    assert {f.id: f for f in follow.store.facts(follow.session_id)} == {
        f.id: f for f in list_facts(whole.state)
    }


def test_small_pieces_give_the_same(follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "PIECE_BYTES", 4_000)
    follow.write(len(ROWS))
    snapshot = update_session(follow.store, follow.ctx.session, seconds=60)
    assert snapshot.is_complete
    assert snapshot.followed.state == follow_transcript(str(follow.transcript)).state


def test_out_of_time_it_goes_on_later_from_there(
    follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update, "PIECE_BYTES", 4_000)
    follow.write(len(ROWS))
    part = update_session(follow.store, follow.ctx.session, seconds=-1)
    assert not part.is_complete
    saved = follow.store.load(follow.session_id)
    assert saved is not None
    assert saved.revision == part.followed.revision
    whole = update_session(follow.store, follow.ctx.session, seconds=60)
    assert whole.followed.state == follow_transcript(str(follow.transcript)).state


def test_the_boundary_row_is_recorded_with_its_epoch(follow: Follow) -> None:
    follow.write(len(ROWS))
    update_session(follow.store, follow.ctx.session, seconds=10)
    (compaction,) = follow.store.compactions(follow.session_id)
    assert (compaction.epoch, compaction.trigger) == (0, "auto")
    assert compaction.row.encode() in ROWS[BOUNDARY]
    assert compaction.tokens_before


def test_words_are_kept_for_search_without_secrets(follow: Follow) -> None:
    follow.write(len(ROWS))
    update_session(follow.store, follow.ctx.session, seconds=10)
    (hit,) = follow.store.search("accounting half even", kind="message", limit=1)
    assert hit.message is not None
    assert hit.message.speaker == "user"


def test_another_hook_that_was_ahead_is_followed(follow: Follow) -> None:
    follow.write(40)
    behind = update_session(follow.store, follow.ctx.session, seconds=10)
    follow.write(len(ROWS))
    ahead = update_session(follow.store, follow.ctx.session, seconds=10)
    follow.write(41)  # what the slow one still sees
    snapshot = update_session(follow.store, follow.ctx.session, seconds=10)
    assert behind.followed.revision < ahead.followed.revision
    assert (
        snapshot.followed.revision > ahead.followed.revision
    )  # the file was cut: a new generation


def test_without_a_store_the_transcript_is_folded_and_nothing_kept(follow: Follow) -> None:
    follow.write(len(ROWS))
    snapshot = update_session(None, follow.ctx.session, seconds=10)
    assert snapshot.followed.state == follow_transcript(str(follow.transcript)).state
    assert follow.store.load(follow.session_id) is None


def test_no_transcript_is_no_error(follow: Follow) -> None:
    snapshot = update_session(follow.store, follow.ctx.session, seconds=10)
    assert snapshot.is_complete
    assert list(list_facts(snapshot.followed.state)) == []
    save_checkpoint(follow.store, snapshot, "end", "2027-01-15T08:00:00Z")
    assert follow.store.checkpoints(follow.session_id) == []


def test_a_state_of_another_version_is_folded_again(follow: Follow) -> None:
    follow.write(len(ROWS))
    snapshot = update_session(follow.store, follow.ctx.session, seconds=10)
    strange = {"version": 999}
    saved = follow.store.load(follow.session_id)
    assert saved is not None
    assert follow.store.save(SavedState(snapshot.session, saved.revision, strange, saved.position))
    again = update_session(follow.store, follow.ctx.session, seconds=10)
    assert again.followed.state == snapshot.followed.state
    assert again.followed.generation == snapshot.followed.generation + 1


def test_a_session_belongs_to_where_it_began(follow: Follow, tmp_path: Path) -> None:
    follow.write(40)
    update_session(follow.store, follow.ctx.session, seconds=10)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    follow.write(60)
    snapshot = update_session(
        follow.store, follow.ctx.session._replace(cwd=str(elsewhere)), seconds=10
    )
    assert snapshot.session.project == str(tmp_path)
    assert snapshot.session.cwd == str(elsewhere)
