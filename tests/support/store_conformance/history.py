"""Promises 43 to 63: compactions, deliveries, archives, keeping and dropping."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.protocol import Compaction, Delivery, SavedState, Session
from holdfast.store.sql_store import Store
from support.store_conformance.samples import (
    EARLY,
    LATER,
    LATEST,
    OpenStore,
    fact,
    message,
    on_one_store,
    saved,
)


class HistoryConformance:
    def test_43_a_compaction_is_filled_in_by_later_calls(self, store: Store) -> None:
        store.record_compaction(Compaction("session-a", 0, EARLY, "auto"))
        store.record_compaction(
            Compaction("session-a", 0, LATER, "", summary="so far", kept=("r1",), lost=("t1", "t2"))
        )
        store.record_compaction(Compaction("session-a", 0, LATEST, "auto", "row-9", 150_000, 0))
        assert store.compactions("session-a") == [
            Compaction(
                "session-a", 0, EARLY, "auto", "row-9", 150_000, 0, "so far", ("r1",), ("t1", "t2")
            )
        ]

    def test_44_what_a_compaction_knows_is_not_changed(self, store: Store) -> None:
        first = Compaction("session-a", 0, EARLY, "auto", "row-1", 5, 0, "one", (), ("t1",))
        store.record_compaction(first)
        store.record_compaction(
            Compaction("session-a", 0, LATER, "manual", "row-2", 6, 7, "two", ("t1",), ())
        )
        assert store.compactions("session-a") == [first]

    def test_45_compactions_come_latest_first_of_one_session_or_all(self, store: Store) -> None:
        for name, epoch, time in (("a", 0, EARLY), ("b", 0, LATER), ("a", 1, LATEST)):
            store.record_compaction(Compaction(name, epoch, time, "auto"))
        assert [(c.session_id, c.epoch) for c in store.compactions()] == [
            ("a", 1), ("b", 0), ("a", 0),
        ]  # fmt: skip
        assert [c.epoch for c in store.compactions("a")] == [1, 0]
        assert [c.epoch for c in store.compactions("a", limit=1)] == [1]

    def test_46_each_kind_of_delivery_is_given_once_per_epoch(self, open_store: OpenStore) -> None:
        brief = Delivery("session-a", 0, "brief", "SessionStart", EARLY, "text", ("r1", "t1"))
        first, second = open_store(), open_store()
        assert first.record_delivery(brief) is True
        assert second.record_delivery(brief._replace(channel="UserPromptSubmit", text="x")) is False
        assert first.record_delivery(brief._replace(kind="gap", time=LATER)) is True
        assert second.record_delivery(brief._replace(epoch=1, time=LATEST)) is True
        assert first.record_delivery(brief._replace(session_id="session-b")) is True
        told = second.deliveries("session-a")
        assert [(d.kind, d.epoch) for d in told] == [("brief", 1), ("gap", 0), ("brief", 0)]
        assert told[2] == brief
        assert len(second.deliveries(limit=2)) == 2

    def test_47_a_session_first_heard_of_by_its_compaction_can_be_saved(self, store: Store) -> None:
        store.record_compaction(Compaction("session-a", 0, EARLY, "auto"))
        assert store.load("session-a") is None
        assert store.save(saved(Session("session-a", branch="main"))) is True
        assert store.session("session-a") == Session("session-a", branch="main")

    def test_48_archived_rows_come_back_in_order(self, store: Store) -> None:
        store.archive("session-a", 1, 0, 3, b"new", EARLY)
        store.archive("session-a", 0, 5, 10, b"world", EARLY)
        store.archive("session-a", 0, 0, 5, b"hello", EARLY)
        assert list(store.read_archive("session-a")) == [
            (0, 0, 5, b"hello"), (0, 5, 10, b"world"), (1, 0, 3, b"new"),
        ]  # fmt: skip
        assert list(store.read_archive("nobody")) == []

    def test_49_a_range_already_kept_is_not_kept_twice(self, store: Store) -> None:
        for start, rows in ((0, b"0123456789"), (0, b"0123456789"), (2, b"2345"), (5, b"56789")):
            store.archive("session-a", 0, start, start + len(rows), rows, EARLY)
        assert list(store.read_archive("session-a")) == [(0, 0, 10, b"0123456789")]

    @on_one_store
    @given(
        st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), min_size=1, max_size=12),
        st.integers(0, 10**9),
    )
    def test_50_overlapping_ranges_are_kept_once_each_byte(
        self, store: Store, ranges: list[tuple[int, int]], number: int
    ) -> None:
        transcript = bytes(range(100))
        session = f"archive-{number}-{ranges}"
        wanted: set[int] = set()
        for start, length in ranges:
            store.archive(
                session, 0, start, start + length, transcript[start : start + length], EARLY
            )
            wanted.update(range(start, start + length))
        kept = [
            (offset, byte)
            for _, start, end, rows in store.read_archive(session)
            for offset, byte in zip(range(start, end), rows, strict=True)
        ]
        assert kept == [(offset, offset) for offset in sorted(wanted)]

    def test_51_archived_until_is_where_the_first_gap_begins(self, store: Store) -> None:
        assert store.archived_until("session-a", 0) == 0
        store.archive("session-a", 0, 0, 4, b"0123", EARLY)
        store.archive("session-a", 0, 8, 10, b"89", EARLY)
        assert store.archived_until("session-a", 0) == 4
        store.archive("session-a", 0, 4, 8, b"4567", EARLY)
        assert store.archived_until("session-a", 0) == 10
        assert store.archived_until("session-a", 1) == 0

    def test_52_rewritten_rows_take_the_place_of_what_they_hold(self, store: Store) -> None:
        store.archive("session-a", 0, 0, 10, b"[redacted]..", EARLY)
        store.archive("session-a", 0, 0, 10, b"[redacted]..", EARLY)
        store.archive("session-a", 0, 0, 20, b"[redacted].. and more", EARLY)
        assert list(store.read_archive("session-a")) == [(0, 0, 20, b"[redacted].. and more")]
        store.archive("session-a", 0, 15, 30, b"overlapping", EARLY)
        assert [piece[1:3] for piece in store.read_archive("session-a")] == [(0, 20), (15, 30)]
        assert store.archived_until("session-a", 0) == 30

    def test_53_pruning_drops_old_checkpoints_beyond_the_latest(self, store: Store) -> None:
        for offset, time in enumerate((EARLY, EARLY, EARLY, LATEST)):
            store.checkpoint(saved(Session("a", updated=LATEST), offset), "test", 0, time)
        assert store.prune(before=LATER, keep=2)["checkpoints"] == 2
        assert [made.revision for made in store.checkpoints("a")] == [(0, 3), (0, 2)]

    def test_54_pruning_keeps_the_latest_checkpoint_and_what_is_recent(self, store: Store) -> None:
        store.checkpoint(saved(Session("a", updated=LATEST), 1), "test", 0, EARLY)
        for offset in (1, 2, 3):
            store.checkpoint(saved(Session("b", updated=LATEST), offset), "test", 0, LATEST)
        assert store.prune(before=LATER, keep=0)["checkpoints"] == 0
        assert len(store.checkpoints("a")) == 1
        assert len(store.checkpoints("b")) == 3

    def test_55_pruning_drops_sessions_wholly_older(self, store: Store) -> None:
        self.fill(store, "old", EARLY)
        self.fill(store, "new", LATEST)
        store.save(saved(Session("resumed", updated=EARLY)))
        store.checkpoint(saved(Session("resumed", updated=EARLY), 900), "test", 0, LATEST)
        store.save(saved("timeless"))
        assert store.old_sessions(LATER) == ["old"]
        dropped = store.prune(before=LATER, keep=5)
        assert dropped == {
            "sessions": 1, "states": 1, "checkpoints": 1, "facts": 1, "messages": 1,
            "compactions": 1, "deliveries": 1, "archives": 1,
        }  # fmt: skip
        assert {session.id for session in store.sessions()} == {"new", "resumed", "timeless"}
        assert store.load("old") is None
        assert store.facts("old") == []
        assert list(store.read_archive("old")) == []
        assert [hit.session_id for hit in store.search("walrus")] == ["new", "new"]
        assert store.load("new") is not None

    def test_56_a_dry_run_answers_the_same_and_drops_nothing(self, store: Store) -> None:
        self.fill(store, "old", EARLY)
        for offset in (1, 2, 3):
            store.checkpoint(saved(Session("new", updated=LATEST), offset), "test", 0, EARLY)
        told = store.prune(before=LATER, keep=1, dry_run=True)
        assert store.load("old") is not None
        assert len(store.checkpoints("new")) == 3
        assert len(store.search("walrus")) == 2
        assert store.prune(before=LATER, keep=1) == told
        assert told["checkpoints"] == 3
        assert told["sessions"] == 1

    def test_58_a_session_is_forgotten_wholly_and_alone(self, store: Store) -> None:
        self.fill(store, "one", LATEST)
        self.fill(store, "two", LATEST)
        assert store.delete_session("one")["sessions"] == 1
        assert store.delete_session("one")["sessions"] == 0
        assert store.session("one") is None
        assert store.checkpoints("one") == []
        assert store.compactions("one") == []
        assert store.deliveries("one") == []
        assert {hit.session_id for hit in store.search("walrus")} == {"two"}

    def test_59_a_checkpoint_id_is_never_given_again(self, store: Store) -> None:
        first = store.checkpoint(saved("one"), "test", 0, EARLY)
        store.delete_session("one")
        second = store.checkpoint(saved("two"), "test", 0, EARLY)
        assert second.id != first.id
        assert store.load_checkpoint(first.id) is None

    def test_60_health_tells_the_schema_the_integrity_and_the_counts(self, store: Store) -> None:
        self.fill(store, "one", LATEST)
        told = store.health()
        assert told["integrity"] == "ok"
        assert told["schema"] > 0
        assert told["bytes"] > 0
        assert told["counts"] == {
            "sessions": 1, "states": 1, "checkpoints": 1, "facts": 1, "messages": 1,
            "compactions": 1, "deliveries": 1, "archives": 1,
        }  # fmt: skip

    def test_61_a_session_that_is_held_back_loses_nothing_this_time(self, store: Store) -> None:
        for name in ("held", "old"):
            self.fill(store, name, EARLY)
        for offset in (1, 2, 3):
            for name in ("held-new", "new"):
                session = Session(name, updated=LATEST)
                store.checkpoint(saved(session, offset), "test", 0, EARLY)
        held = ("held", "held-new", "nobody")
        told = store.prune(before=LATER, keep=1, held=held, dry_run=True)
        assert (told["sessions"], told["checkpoints"]) == (1, 3)
        assert store.prune(before=LATER, keep=1, held=held) == told
        assert {one.id for one in store.sessions()} == {"held", "held-new", "new"}
        assert len(store.checkpoints("held-new")) == 3
        assert len(store.checkpoints("new")) == 1
        assert store.prune(before=LATER, keep=1)["sessions"] == 1

    def test_62_an_excerpt_is_what_the_whole_state_says(self, store: Store) -> None:
        state: dict[str, Any] = {
            "version": 1,
            "tasks": {"t1": ["ünïcode \ud800", 12, -1.5e3, None, True]},
            "files": {f"f{number}": ["/a/long/path" * 9, number] for number in range(900)},
            "symbols": {"last": [1, 2, 3]},
        }
        for number in range(120):
            store.save(saved(f"s{number:03}", number, **state))
        store.save(SavedState(Session("empty"), (0, 1), {}, {}))
        store.archive("stateless", 0, 0, 5, b"rows\n", EARLY)
        names = [f"s{number:03}" for number in range(120)]
        for wanted in ({"version", "tasks"}, {"symbols"}, {"files", "absent"}, set[str]()):
            asked = [Session(name) for name in [*names, "empty", "stateless", "nobody"]]
            found = store.partial_states(asked, wanted)
            assert found.keys() == {("", name) for name in [*names, "empty"]}
            assert found["", "empty"] == {}
            for name in ("s000", "s119"):
                whole = store.load(name)
                assert whole is not None
                assert found["", name] == {
                    one: whole.state[one] for one in wanted if one != "absent"
                }
        assert store.partial_states([], {"tasks"}) == {}

    def test_63_an_excerpt_of_a_checkpoint_is_of_that_moment(self, store: Store) -> None:
        first, second = (
            store.checkpoint(saved("one", offset, n=offset, more=[offset]), "test", 0, EARLY)
            for offset in (1, 2)
        )
        store.checkpoint(saved("other", 3, n=3), "test", 0, EARLY)
        found = store.partial_checkpoint_states([second.id, first.id, 999_999], {"n"})
        assert found == {first.id: ("one", {"n": 1}), second.id: ("one", {"n": 2})}

    def fill(self, store: Store, name: str, time: str) -> None:
        """One session with something in every table."""
        session = Session(name, project="/p", started=time, updated=time)
        store.save(saved(session), [fact("n1", "a walrus", time=time)], [message("r1", "walrus")])
        store.checkpoint(saved(session), "test", 0, time)
        store.record_compaction(Compaction(name, 0, time, "auto"))
        store.record_delivery(Delivery(name, 0, "brief", "hook", time, "text"))
        store.archive(name, 0, 0, 5, b"rows\n", time)
