"""A fork made after a compaction goes on from what its parent knew."""

from holdfast.lifecycle import moments
from holdfast.lifecycle.inherit import first_boundary
from holdfast.lifecycle.keep import Scene, bring_up_to_date

from .follow import BOUNDARY, ROWS, Follow

FORK = "5a3c0d8e-0000-4000-8000-00000000f0f0"
BOOKKEEPING = b'{"type":"mode","mode":"normal","sessionId":"x"}\n'


def fork_rows(follow: Follow) -> Scene:
    """The fork's file as the client writes it: nothing before the boundary."""
    path = follow.root / f"{FORK}.jsonl"
    path.write_bytes(BOOKKEEPING + b"".join(ROWS[BOUNDARY:]))
    return Scene(FORK, str(path), str(follow.root))


def live(follow: Follow, rows: int) -> None:
    follow.write(BOUNDARY)
    moments.before_compaction(follow.store, follow.tray, follow.scene, follow.now, "auto")
    follow.write(rows)


def test_the_parent_is_found_by_the_row_that_both_have(follow: Follow) -> None:
    live(follow, len(ROWS))
    bring_up_to_date(follow.store, follow.scene, seconds=10)
    kept = bring_up_to_date(follow.store, fork_rows(follow), seconds=10)
    assert "r1" in kept.tracked.state.rules
    assert kept.tracked.state.moment.epoch == 1
    assert kept.session.id == FORK
    assert [c.epoch for c in follow.store.compactions(FORK)] == [0]


def test_a_parent_whose_last_rows_were_not_read_yet_is_found_too(follow: Follow) -> None:
    live(follow, len(ROWS))
    kept = bring_up_to_date(follow.store, fork_rows(follow), seconds=10)
    assert "r1" in kept.tracked.state.rules


def test_a_file_that_fills_little_by_little_inherits_all_the_same(follow: Follow) -> None:
    live(follow, len(ROWS))
    scene = fork_rows(follow)
    whole = (follow.root / f"{FORK}.jsonl").read_bytes()
    (follow.root / f"{FORK}.jsonl").write_bytes(BOOKKEEPING)
    assert not bring_up_to_date(follow.store, scene, seconds=10).tracked.state.rules
    (follow.root / f"{FORK}.jsonl").write_bytes(whole)
    assert "r1" in bring_up_to_date(follow.store, scene, seconds=10).tracked.state.rules


def test_an_unknown_parent_leaves_the_fork_with_its_own_rows(follow: Follow) -> None:
    kept = bring_up_to_date(follow.store, fork_rows(follow), seconds=10)
    assert not kept.tracked.state.rules
    assert kept.tracked.state.moment.epoch == 1


def test_a_session_that_starts_with_words_has_no_parent(follow: Follow) -> None:
    follow.write(len(ROWS))
    assert first_boundary(str(follow.transcript)) == ""
    assert first_boundary(str(follow.root / "nowhere")) == ""
