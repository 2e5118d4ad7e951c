"""Which stretch of what a search found is shown, and in which order."""

from pathlib import Path
from typing import cast

from holdfast.events import Origin
from holdfast.paths import store_path
from holdfast.recall.passages import (
    gather_matters,
    list_about_file,
    list_telling_words,
    rank_passages,
    search_passages,
)
from holdfast.state.facts import DONE, OPEN, Fact
from holdfast.store.protocol import Hit, Message
from holdfast.store.sql_store import Store
from holdfast.store.sqlite.store import SqliteStore

from .recorded_store import remember


def said(row: str, text: str, speaker: str = "agent") -> Hit:
    return Hit("s", 1.0, text[:40], message=Message(row, speaker, text, "2026-01-01T00:00:00Z"))


def fact(name: str, text: str, status: str = OPEN) -> Hit:
    return Hit(
        "s",
        1.0,
        text,
        fact=Fact(name, "rule", text, status, Origin(name, 0, 1, "2026-01-01T00:00:00Z")),
    )


def test_the_passage_that_answers_is_shown_and_not_the_beginning() -> None:
    long = said(
        "r1", "We talk of many other things first. " * 30 + "The proxy listens on port 8123."
    )
    (best, *_) = rank_passages("which port has the proxy", [long])
    assert "listens on port 8123" in best.text
    assert len(best.text) <= 500
    assert best.has_all


def test_all_words_come_before_some_and_a_whole_word_before_its_beginning() -> None:
    some = said("r1", "deploy deploy deploy deploy")
    every = said("r2", "The deploy waits for a long and careful review by Marta, as it always did.")
    begins = said("r3", "redeployment reviewers")
    order = [one.hit for one in rank_passages("deploy review", [some, begins, every])]
    assert order == [every, some, begins]
    assert not rank_passages("deploy rollback", [some])[0].has_all


def test_what_stands_comes_before_an_announcement_and_before_what_is_done() -> None:
    announced = said("r1", "Let me read the ledger rules.")
    stands, done = fact("r4", "The ledger rules: cents only."), fact("r5", "Ledger rules go.", DONE)
    order = [one.hit for one in rank_passages("ledger rules", [announced, done, stands])]
    assert order[0] == stands
    assert order[-1] == announced


def test_an_option_is_a_word() -> None:
    plain, forced = said("r1", "$ rm build", "ran"), said("r2", "$ rm -rf build", "ran")
    best = rank_passages("rm -rf", [plain, forced])[0]
    assert best.hit == forced
    assert best.has_all


def test_one_matter_is_shown_once_before_another_and_the_same_words_are_not_shown_again() -> None:
    twice = "The cache lives for an hour."
    first, again = said("r1", "The cache lives an hour."), said("r2", twice)
    other = said("r3", "A cache of pictures lies in another folder, which nobody deletes.")
    ranked = rank_passages("cache lives", [first, again, said("r4", twice), other])
    assert [one.hit for one in ranked][1] == other
    assert len(ranked) == 3


def test_the_words_of_a_message_come_before_the_fact_that_is_the_same_words(tmp_path: Path) -> None:
    data = tmp_path / "data"
    remember(data, tmp_path / "work", "11111111-0000", ["Which port is free?", "Use another."])
    store = SqliteStore(store_path(str(data)))
    try:
        best, *_ = search_passages(store, "which port is free")
        assert best.hit.message is not None
    finally:
        store.close()


def test_the_first_hit_tells_what_else_its_session_has_and_no_later_hit_says_it_again() -> None:
    asked = said("r1", "The proxy needs a port.", "user")
    proxy = said("r3", "The proxy of the tests is started by the runner, without a certificate.")
    elsewhere = said("r4", "A proxy port may be anything above 1024 here.")._replace(session_id="t")
    ranked = rank_passages("proxy port", [asked, proxy, elsewhere])
    first, *others = gather_matters(ranked)
    assert first.passage.hit == asked
    assert [one.hit for one in first.also] == [proxy]
    assert [one.passage.hit for one in others] == [elsewhere]


def test_of_a_file_it_is_told_what_was_done_to_it_and_said_of_it() -> None:
    path = "/w/shop/cart.py"
    kept = [
        Message("r1", "agent", "I round in cart.py. The server comes later.", "t1"),
        Message("r2", "edited", f"{path}: def total(): return round(cents)", "t2"),
        Message("r3", "edited", "/w/shop/server.py: import cart", "t3"),
        Message("r4", "user", "Half to even in cart.py, please.", "t4"),
    ]

    class Kept:
        def messages(self, session_id: str, limit: int) -> list[Message]:
            return kept[-limit:]

    told = list_about_file(cast(Store, Kept()), "s", "shop/cart.py")
    assert [who for who, _ in told] == ["agent", "edited", "user"]
    assert told[1][1] == "def total(): return round(cents)"


def test_the_words_of_a_question_without_those_that_stand_everywhere() -> None:
    assert list_telling_words("Which port does the API use?") == ["port", "API"]
