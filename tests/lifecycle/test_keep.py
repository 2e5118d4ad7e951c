"""Bringing a session up to date: all of it, once, in whatever pieces."""

from pathlib import Path

import pytest

from holdfast.lifecycle import keep
from holdfast.lifecycle.keep import bring_up_to_date, save_checkpoint
from holdfast.lifecycle.track import catch_up
from holdfast.state import facts
from holdfast.store.protocol import Saved

from .follow import BOUNDARY, ROWS, Follow


def test_what_is_saved_is_what_folding_at_once_gives(follow: Follow) -> None:
    for rows in (20, 60, BOUNDARY + 1, len(ROWS)):
        follow.write(rows)
        kept = bring_up_to_date(follow.store, follow.scene, seconds=10)
    whole = catch_up(str(follow.transcript))
    assert kept.tracked.state == whole.state
    assert kept.complete
    saved = follow.store.load(follow.session_id)
    assert saved is not None
    assert saved.knows == whole.knows
    assert {f.id: f for f in follow.store.facts(follow.session_id)} == {
        f.id: f for f in facts(whole.state)
    }


def test_small_pieces_give_the_same(follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep, "PIECE", 4_000)
    follow.write(len(ROWS))
    kept = bring_up_to_date(follow.store, follow.scene, seconds=60)
    assert kept.complete
    assert kept.tracked.state == catch_up(str(follow.transcript)).state


def test_out_of_time_it_goes_on_later_from_there(
    follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep, "PIECE", 4_000)
    follow.write(len(ROWS))
    part = bring_up_to_date(follow.store, follow.scene, seconds=-1)
    assert not part.complete
    saved = follow.store.load(follow.session_id)
    assert saved is not None
    assert saved.knows == part.tracked.knows
    whole = bring_up_to_date(follow.store, follow.scene, seconds=60)
    assert whole.tracked.state == catch_up(str(follow.transcript)).state


def test_the_boundary_row_is_recorded_with_its_epoch(follow: Follow) -> None:
    follow.write(len(ROWS))
    bring_up_to_date(follow.store, follow.scene, seconds=10)
    (compaction,) = follow.store.compactions(follow.session_id)
    assert (compaction.epoch, compaction.trigger) == (0, "auto")
    assert compaction.row.encode() in ROWS[BOUNDARY]
    assert compaction.tokens_before


def test_words_are_kept_for_search_without_secrets(follow: Follow) -> None:
    follow.write(len(ROWS))
    bring_up_to_date(follow.store, follow.scene, seconds=10)
    (hit,) = follow.store.search("accounting half even", kind="message", limit=1)
    assert hit.message is not None
    assert hit.message.who == "user"


def test_another_hook_that_was_ahead_is_followed(follow: Follow) -> None:
    follow.write(40)
    behind = bring_up_to_date(follow.store, follow.scene, seconds=10)
    follow.write(len(ROWS))
    ahead = bring_up_to_date(follow.store, follow.scene, seconds=10)
    follow.write(41)  # what the slow one still sees
    kept = bring_up_to_date(follow.store, follow.scene, seconds=10)
    assert behind.tracked.knows < ahead.tracked.knows
    assert kept.tracked.knows > ahead.tracked.knows  # the file was cut: a new generation


def test_without_a_store_the_transcript_is_folded_and_nothing_kept(follow: Follow) -> None:
    follow.write(len(ROWS))
    kept = bring_up_to_date(None, follow.scene, seconds=10)
    assert kept.tracked.state == catch_up(str(follow.transcript)).state
    assert follow.store.load(follow.session_id) is None


def test_no_transcript_is_no_error(follow: Follow) -> None:
    kept = bring_up_to_date(follow.store, follow.scene, seconds=10)
    assert kept.complete
    assert list(facts(kept.tracked.state)) == []
    save_checkpoint(follow.store, kept, "end", "2027-01-15T08:00:00Z")
    assert follow.store.checkpoints(follow.session_id) == []


def test_a_state_of_another_version_is_folded_again(follow: Follow) -> None:
    follow.write(len(ROWS))
    kept = bring_up_to_date(follow.store, follow.scene, seconds=10)
    strange = {"version": 999}
    saved = follow.store.load(follow.session_id)
    assert saved is not None
    assert follow.store.save(Saved(kept.session, saved.knows, strange, saved.position))
    again = bring_up_to_date(follow.store, follow.scene, seconds=10)
    assert again.tracked.state == kept.tracked.state
    assert again.tracked.generation == kept.tracked.generation + 1


def test_a_session_belongs_to_where_it_began(follow: Follow, tmp_path: Path) -> None:
    follow.write(40)
    bring_up_to_date(follow.store, follow.scene, seconds=10)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    follow.write(60)
    kept = bring_up_to_date(follow.store, follow.scene._replace(cwd=str(elsewhere)), seconds=10)
    assert kept.session.project == str(tmp_path)
    assert kept.session.cwd == str(elsewhere)
