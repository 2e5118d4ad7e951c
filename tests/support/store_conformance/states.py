"""Promises 1 to 29: states, sessions, facts and checkpoints."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.state.facts import DONE, OPEN, RESOLVED
from holdfast.store.protocol import Checkpoint, Compaction, Delivery, Session
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
    texts,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


class StatesConformance:
    def test_01_load_of_an_unknown_session_is_none(self, store: Store) -> None:
        assert store.load("nobody") is None

    def test_02_what_was_saved_is_loaded(self, store: Store) -> None:
        session = Session(
            "session-a", "claude-code 2.1", "/p", "/p/tree", "/p/src", "main", "Fix it",
            "/t.jsonl", EARLY, LATER, LATEST,
        )  # fmt: skip
        given_state = saved(session, tasks=[{"id": "1", "open": True}], title="Überblick ✓")
        assert store.save(given_state) is True
        assert store.load("session-a") == given_state

    def test_03_another_handle_sees_a_save_at_once(self, open_store: OpenStore) -> None:
        first, second = open_store(), open_store()
        assert second.load("session-a") is None
        first.save(saved(n=1))
        assert second.load("session-a") == saved(n=1)

    @on_one_store
    @given(state=st.dictionaries(st.text(max_size=8), json_values, min_size=1, max_size=5))
    def test_04_any_json_document_comes_back_equal(
        self, store: Store, state: dict[str, Any]
    ) -> None:
        document = saved("any")._replace(state=state)
        assert store.save(document) is True
        assert store.load("any") == document

    def test_05_a_later_save_replaces_an_earlier_one(self, store: Store) -> None:
        store.save(saved(offset=100, n=1))
        assert store.save(saved(offset=200, n=2)) is True
        assert store.load("session-a") == saved(offset=200, n=2)

    def test_06_a_save_that_knows_less_changes_nothing(self, store: Store) -> None:
        rich = saved(Session("session-a", branch="main"), offset=200, n=2)
        store.save(rich, [fact("n1", "rich")], [message("r1", "first")])
        thin = saved(Session("session-a", branch="thin", title="thin"), offset=100, n=1)
        assert store.save(thin, [fact("n1", "thin"), fact("n2")], [message("r2")]) is False
        assert store.load("session-a") == rich
        assert [known.text for known in store.facts("session-a")] == ["rich"]
        assert store.search("staging") == []

    def test_07_an_empty_state_never_replaces_a_full_one(self, store: Store) -> None:
        store.save(saved(offset=100, n=1))
        assert store.save(saved(offset=900)._replace(state={})) is False
        assert store.load("session-a") == saved(offset=100, n=1)

    def test_08_at_the_same_place_the_last_save_wins(self, store: Store) -> None:
        store.save(saved(n=1))
        assert store.save(saved(n=2)) is True
        assert store.load("session-a") == saved(n=2)

    def test_09_a_new_generation_replaces_at_any_offset(self, store: Store) -> None:
        store.save(saved(offset=9000, n=1))
        assert store.save(saved(offset=10, generation=1, n=2)) is True
        assert store.load("session-a") == saved(offset=10, generation=1, n=2)
        assert store.save(saved(offset=99999, generation=0, n=3)) is False

    def test_10_the_same_save_twice_is_one(self, store: Store) -> None:
        for _ in range(2):
            assert store.save(saved(n=1), [fact()], [message()]) is True
        assert store.load("session-a") == saved(n=1)
        assert store.facts("session-a") == [fact()]
        assert len(store.search("staging")) == 1
        assert len(store.search("5433")) == 1
        assert len(store.sessions()) == 1

    def test_11_a_save_that_fails_leaves_nothing_of_itself(self, store: Store) -> None:
        store.save(saved(offset=100, n=1), [fact("n1", "before")])
        broken = fact("n2")._replace(text=None)  # type: ignore[arg-type]
        with pytest.raises((TypeError, AttributeError)):
            store.save(saved(offset=200, n=2), [fact("n1", "after"), broken])
        assert store.load("session-a") == saved(offset=100, n=1)
        assert store.facts("session-a") == [fact("n1", "before")]
        assert store.save(saved(offset=200, n=2)) is True

    def test_12_empty_session_fields_never_replace_known_ones(self, store: Store) -> None:
        full = Session(
            "session-a", "claude-code", "/p", "/w", "/c", "main", "Title", "/t", EARLY, LATER, LATER
        )
        store.save(saved(full, offset=100))
        store.save(saved(Session("session-a"), offset=200))
        assert store.session("session-a") == full

    def test_13_a_field_said_anew_replaces_the_old_one(self, store: Store) -> None:
        store.save(saved(Session("session-a", branch="main", title="Old"), offset=100))
        store.save(saved(Session("session-a", branch="topic"), offset=200))
        assert store.session("session-a") == Session("session-a", branch="topic", title="Old")

    def test_14_a_start_only_moves_back_and_an_update_only_forward(self, store: Store) -> None:
        store.save(saved(Session("session-a", started=LATER, updated=LATER), offset=100))
        store.save(saved(Session("session-a", started=EARLY, updated=EARLY), offset=200))
        store.save(saved(Session("session-a", started=LATEST), offset=300))
        assert store.session("session-a") == Session("session-a", started=EARLY, updated=LATER)

    def test_15_a_session_is_found_by_a_prefix_that_names_one(self, store: Store) -> None:
        for name in ("3f2a-one", "3f2b-two", "3f"):
            store.save(saved(name))
        assert [store.session(p) and store.session(p).id for p in ("3f2a", "3f2a-one", "3f")] == [  # type: ignore[union-attr]
            "3f2a-one",
            "3f2a-one",
            "3f",
        ]
        for nothing in ("3f2", "4", "", "3f2a-one-more", "%", "_f2a"):
            assert store.session(nothing) is None

    def test_16_sessions_come_latest_first_by_project_and_in_pages(self, store: Store) -> None:
        for number, (project, updated) in enumerate(
            [("/p", EARLY), ("/q", LATEST), ("/p", LATEST), ("/p", LATER)]
        ):
            store.save(saved(Session(f"s{number}", project=project, updated=updated)))
        assert [session.id for session in store.sessions(project="/p")] == ["s2", "s3", "s0"]
        assert [session.id for session in store.sessions(project="/p", limit=1, offset=1)] == ["s3"]
        assert len(store.sessions()) == 4
        assert store.sessions(project="/elsewhere") == []

    def test_17_a_session_ends_and_can_be_taken_up_again(self, store: Store) -> None:
        store.save(saved())
        store.end_session("session-a", LATER)
        assert store.session("session-a") == Session("session-a", ended=LATER)
        store.end_session("session-a", "")
        assert store.session("session-a") == Session("session-a")
        store.end_session("nobody", LATER)
        assert store.session("nobody") is None

    def test_18_two_sessions_never_mix(self, store: Store) -> None:
        for name in ("a", "b"):
            store.save(
                saved(name, who=name), [fact("n1", f"port of {name}")], [message("r1", name)]
            )
            store.checkpoint(saved(name, who=name), "test", 0, EARLY)
            store.record_compaction(Compaction(name, 0, EARLY, "auto", summary=name))
            store.record_delivery(Delivery(name, 0, "brief", "hook", EARLY, name))
            store.archive(name, 0, 0, 1, name.encode(), EARLY)
        for name in ("a", "b"):
            assert store.load(name) == saved(name, who=name)
            assert [known.text for known in store.facts(name)] == [f"port of {name}"]
            assert store.fact(name, "n1") == fact("n1", f"port of {name}")
            assert [made.session_id for made in store.checkpoints(name)] == [name]
            assert [made.summary for made in store.compactions(name)] == [name]
            assert [made.text for made in store.deliveries(name)] == [name]
            assert list(store.read_archive(name)) == [(0, 0, 1, name.encode())]
            assert texts(store, "port", session_id=name) == [f"port of {name}"]

    def test_19_a_fact_is_updated_in_place(self, store: Store) -> None:
        store.save(saved(offset=1), [fact("t1", "write tests", kind="task", detail="all of them")])
        changed = fact("t1", "write more tests", kind="task", status=DONE, start=40, time=LATER)
        store.save(saved(offset=2), [changed])
        assert store.fact("session-a", "t1") == changed
        assert store.facts("session-a") == [changed]

    def test_20_facts_not_mentioned_stay_as_they_were(self, store: Store) -> None:
        store.save(saved(offset=1), [fact("n1"), fact("n2", "other", start=5)])
        store.save(saved(offset=2), [fact("n2", "changed", start=5)])
        assert store.facts("session-a") == [fact("n1"), fact("n2", "changed", start=5)]

    def test_21_a_whole_save_drops_the_facts_it_does_not_name(self, store: Store) -> None:
        store.save(saved(offset=1), [fact("n1", "stays"), fact("n2", "rewound")], [message()])
        store.save(saved("other"), [fact("n2", "rewound elsewhere")])
        store.save(saved(offset=2), [fact("n1", "stays")], whole=True)
        assert store.facts("session-a") == [fact("n1", "stays")]
        assert texts(store, "rewound") == ["rewound elsewhere"]
        assert len(store.search("staging")) == 1
        store.save(saved(offset=3), whole=True)
        assert store.facts("session-a") == []

    def test_22_facts_come_in_the_order_of_the_transcript(self, store: Store) -> None:
        store.save(saved(), [fact("n3", start=30), fact("n1", start=10), fact("n2", start=20)])
        assert [known.id for known in store.facts("session-a")] == ["n1", "n2", "n3"]

    def test_23_facts_are_chosen_by_kind_and_standing(self, store: Store) -> None:
        store.save(
            saved(),
            [
                fact("t1", kind="task", start=1),
                fact("t2", kind="task", status=DONE, start=2),
                fact("e1", kind="error", status=RESOLVED, start=3),
            ],
        )
        chosen = store.facts("session-a", kind="task", status=OPEN)
        assert [known.id for known in chosen] == ["t1"]
        assert [known.id for known in store.facts("session-a", kind="task")] == ["t1", "t2"]
        assert [known.id for known in store.facts("session-a", status=RESOLVED)] == ["e1"]
        assert store.facts("nobody") == []

    def test_24_an_unknown_fact_is_none(self, store: Store) -> None:
        store.save(saved(), [fact("n1")])
        assert store.fact("session-a", "n2") is None
        assert store.fact("nobody", "n1") is None

    def test_25_a_checkpoint_keeps_the_state_of_its_moment(self, store: Store) -> None:
        then = saved(Session("session-a", branch="main"), offset=100, n=1)
        made = store.checkpoint(then, "precompact", 0, EARLY)
        store.save(saved(Session("session-a", branch="topic"), offset=200, n=2))
        assert made == Checkpoint(made.id, "session-a", 0, "precompact", EARLY, (0, 100))
        assert store.load_checkpoint(made.id) == then
        assert store.checkpoints("session-a") == [made]

    def test_26_the_same_state_again_answers_the_existing_checkpoint(self, store: Store) -> None:
        first = store.checkpoint(saved(n=1), "threshold", 0, EARLY)
        assert store.checkpoint(saved(n=1), "precompact", 0, LATER) == first
        assert store.checkpoints("session-a") == [first]

    def test_27_another_state_makes_another_checkpoint_latest_first(self, store: Store) -> None:
        first = store.checkpoint(saved(offset=100, n=1), "threshold", 0, EARLY)
        same_place = store.checkpoint(saved(offset=100, n=2), "threshold", 0, LATER)
        later = store.checkpoint(saved(offset=200, n=2), "precompact", 1, LATEST)
        assert store.checkpoints("session-a") == [later, same_place, first]
        other = store.checkpoint(saved(Session("b", project="/p"), n=3), "end", 0, LATER)
        assert store.checkpoints() == [later, other, same_place, first]
        assert store.checkpoints(project="/p") == [other]
        assert store.checkpoints("session-a", project="/p") == []
        assert store.checkpoints(limit=2, offset=1) == [other, same_place]

    def test_28_a_checkpoint_is_also_a_save_but_never_a_step_back(self, store: Store) -> None:
        store.checkpoint(saved(offset=200, n=2), "threshold", 0, EARLY)
        assert store.load("session-a") == saved(offset=200, n=2)
        late = store.checkpoint(saved(offset=100, n=1), "threshold", 0, LATER)
        assert store.load("session-a") == saved(offset=200, n=2)
        assert store.load_checkpoint(late.id) == saved(offset=100, n=1)

    def test_29_an_unknown_checkpoint_is_none(self, store: Store) -> None:
        assert store.load_checkpoint(4711) is None
        assert store.checkpoints("nobody") == []
