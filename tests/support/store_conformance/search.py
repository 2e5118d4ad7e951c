"""Promises 30 to 43: search, and the list of messages."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.state.facts import DONE, SUPERSEDED
from holdfast.store.protocol import Session
from holdfast.store.sql_store import Store
from support.store_conformance.samples import (
    EARLY,
    LATEST,
    fact,
    message,
    on_one_store,
    saved,
    texts,
)


class SearchConformance:
    @pytest.mark.parametrize(
        "query",
        [
            "5433",
            "retry_limit",
            "limit",
            "retr",
            "db_pool.py",
            "src/app/db_pool.py",
            "app/db_pool",
            "parseConfig",
            "parse config",
            "config",
            "httpserver",
            "server",
            '"retry_limit must"',
            "RETRY_LIMIT",
            "über",
            "feature/pool-42",
            "a1b2c3d",
        ],
    )
    def test_30_identifiers_paths_and_their_parts_are_found(self, store: Store, query: str) -> None:
        told = (
            "retry_limit must stay 5433 in src/app/db_pool.py, parseConfig and HTTPServer say"
            " Über; branch feature/pool-42 at a1b2c3d9"
        )
        store.save(saved(), [fact("n1", told), fact("n2", "nothing of that kind")])
        assert texts(store, query) == [told]

    def test_31_search_reads_texts_details_and_messages(self, store: Store) -> None:
        store.save(
            saved(),
            [fact("n1", "in the text: walrus"), fact("n2", "see below", detail="a walrus again")],
            [message("r1", "the walrus said", who="agent")],
        )
        found = store.search("walrus")
        assert {hit.fact.id if hit.fact else "message" for hit in found} == {"n1", "n2", "message"}
        assert all("walrus" in hit.snippet for hit in found)
        assert all((hit.fact is None) != (hit.message is None) for hit in found)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)

    def test_32_among_equals_what_still_stands_comes_first(self, store: Store) -> None:
        store.save(
            saved(),
            [
                fact("n1", "the port is 5433", status=SUPERSEDED, time=LATEST),
                fact("n2", "the port is 5434", time=EARLY),
                fact("n3", "the port is 5435", status=SUPERSEDED, time=LATEST),
            ],
        )
        assert texts(store, "port")[0] == "the port is 5434"

    def test_33_what_has_all_the_words_comes_before_what_has_some(self, store: Store) -> None:
        store.save(
            saved(), [fact("n1", "walrus"), fact("n2", "the walrus met the carpenter at noon")]
        )
        assert texts(store, "walrus carpenter")[0] == "the walrus met the carpenter at noon"
        assert "walrus" in texts(store, "walrus zebra")

    def test_34_search_is_narrowed_by_session_project_and_kind(self, store: Store) -> None:
        store.save(
            saved(Session("a", project="/p")),
            [fact("n1", "walrus note"), fact("e1", "walrus error", kind="error")],
            [message("r1", "walrus said")],
        )
        store.save(saved(Session("b", project="/q")), [fact("n1", "walrus elsewhere")])
        assert texts(store, "walrus", session_id="b") == ["walrus elsewhere"]
        assert sorted(texts(store, "walrus", project="/p")) == [
            "walrus error", "walrus note", "walrus said",
        ]  # fmt: skip
        assert texts(store, "walrus", kind="error") == ["walrus error"]
        assert texts(store, "walrus", kind="message") == ["walrus said"]
        assert texts(store, "walrus", session_id="b", project="/p") == []

    def test_35_pages_of_a_search_are_disjoint_and_complete(self, store: Store) -> None:
        store.save(saved(), [fact(f"n{n}", f"walrus number {n} " + "x " * n) for n in range(7)])
        everything = texts(store, "walrus", limit=50)
        pages = [texts(store, "walrus", limit=3, offset=offset) for offset in (0, 3, 6, 9)]
        assert [len(page) for page in pages] == [3, 3, 1, 0]
        assert [text for page in pages for text in page] == everything

    def test_36_search_follows_a_changed_text(self, store: Store) -> None:
        store.save(saved(offset=1), [fact("n1", "the walrusPort is 1")])
        store.save(saved(offset=2), [fact("n1", "the zebra is 2")])
        assert store.search("walrus") == []
        assert texts(store, "zebra") == ["the zebra is 2"]

    def test_37_a_changed_standing_shows_in_what_is_found(self, store: Store) -> None:
        store.save(saved(offset=1), [fact("n1", "walrus")])
        store.save(saved(offset=2), [fact("n1", "walrus", status=DONE)])
        assert [hit.fact and hit.fact.status for hit in store.search("walrus")] == [DONE]

    @on_one_store
    @given(query=st.text(max_size=80) | st.text('"*^(){}[]:+-~\\/AND OR NOT NEAR%_\0', max_size=40))
    @example(query='"')
    @example(query='""')
    @example(query='AND OR NOT NEAR("')
    @example(query="text: walrus")
    @example(query="wal* -rus ^x {a b}: c")
    @example(query='walrus\0"')
    @example(query="\ud800 walrus")
    @example(query="x" * 60_000)
    @example(query=" ".join(f"word{n}" for n in range(3000)))
    def test_38_no_words_are_a_syntax_error(self, store: Store, query: str) -> None:
        store.save(saved(), [fact("n1", "walrus text")], [message()])
        assert len(store.search(query, limit=1)) <= 1
        assert store.search(query, offset=1000) == []

    def test_39_words_that_say_nothing_find_nothing(self, store: Store) -> None:
        store.save(saved(), [fact()], [message()])
        for query in ("", "   ", '"', "???", "-- * --"):
            assert store.search(query) == []

    @on_one_store
    @given(
        text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
        number=st.integers(0, 9999),
    )
    def test_40_any_text_is_kept_exactly_and_found_by_its_words(
        self, store: Store, text: str, number: int
    ) -> None:
        told = f"{text} walrus{number}tusk"
        store.save(saved("any", n=number), [fact("n1", told)])
        known = store.fact("any", "n1")
        assert known is not None
        assert known.text == told
        assert texts(store, f"walrus{number}tusk", session_id="any") == [told]

    def test_41_half_a_surrogate_pair_does_not_stop_a_save(self, store: Store) -> None:
        broken = "cut \ud83d here"
        assert store.save(saved(cut=broken), [fact("n1", broken)], [message("r1", broken)]) is True
        loaded = store.load("session-a")
        assert loaded is not None
        assert loaded.state["cut"] == broken
        assert texts(store, "cut here", kind="note") == ["cut ? here"]

    def test_42_a_row_that_says_several_things_keeps_them_all(self, store: Store) -> None:
        store.save(saved(), [], [message("r1", "walrus one"), message("r1", "walrus two")])
        assert sorted(texts(store, "walrus")) == ["walrus one", "walrus two"]

    def test_43_messages_are_listed_latest_last_and_by_session(self, store: Store) -> None:
        said = [message(f"r{number}", f"word {number}", who="ran") for number in range(5)]
        store.save(saved(), [], said)
        store.save(saved("other"), [], [message("r9", "of another session")])
        assert [one.text for one in store.messages("session-a", 3)] == [
            "word 2",
            "word 3",
            "word 4",
        ]
        assert list(store.messages("nobody", 3)) == []
