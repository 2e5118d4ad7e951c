"""A fork made after a compaction goes on from what its parent knew."""

from holdfast.session.context import SessionRef
from holdfast.session.update import find_first_boundary, update_session
from support.growing_session import BOUNDARY, ROWS, Follow, go_through_precompact

FORK = "5a3c0d8e-0000-4000-8000-00000000f0f0"
BOOKKEEPING = b'{"type":"mode","mode":"normal","sessionId":"x"}\n'


def fork_rows(follow: Follow) -> SessionRef:
    """The fork's file as the client writes it: nothing before the boundary."""
    path = follow.root / f"{FORK}.jsonl"
    path.write_bytes(BOOKKEEPING + b"".join(ROWS[BOUNDARY:]))
    return SessionRef(FORK, str(path), str(follow.root))


def live(follow: Follow, rows: int) -> None:
    follow.write(BOUNDARY)
    go_through_precompact(follow.ctx)
    follow.write(rows)


def test_the_parent_is_found_by_the_row_that_both_have(follow: Follow) -> None:
    live(follow, len(ROWS))
    update_session(follow.store, follow.ctx.session, seconds=10)
    snapshot = update_session(follow.store, fork_rows(follow), seconds=10)
    assert "r1" in snapshot.followed.state.rules
    assert snapshot.followed.state.position.epoch == 1
    assert snapshot.session.id == FORK
    assert [c.epoch for c in follow.store.compactions(FORK)] == [0]


def test_a_parent_whose_last_rows_were_not_read_yet_is_found_too(follow: Follow) -> None:
    live(follow, len(ROWS))
    snapshot = update_session(follow.store, fork_rows(follow), seconds=10)
    assert "r1" in snapshot.followed.state.rules


def test_a_file_that_fills_little_by_little_inherits_all_the_same(follow: Follow) -> None:
    live(follow, len(ROWS))
    ctx = fork_rows(follow)
    whole = (follow.root / f"{FORK}.jsonl").read_bytes()
    (follow.root / f"{FORK}.jsonl").write_bytes(BOOKKEEPING)
    assert not update_session(follow.store, ctx, seconds=10).followed.state.rules
    (follow.root / f"{FORK}.jsonl").write_bytes(whole)
    assert "r1" in update_session(follow.store, ctx, seconds=10).followed.state.rules


def test_an_unknown_parent_leaves_the_fork_with_its_own_rows(follow: Follow) -> None:
    snapshot = update_session(follow.store, fork_rows(follow), seconds=10)
    assert not snapshot.followed.state.rules
    assert snapshot.followed.state.position.epoch == 1


def test_a_session_that_starts_with_words_has_no_parent(follow: Follow) -> None:
    follow.write(len(ROWS))
    assert find_first_boundary(str(follow.transcript)) == ""
    assert find_first_boundary(str(follow.root / "nowhere")) == ""
