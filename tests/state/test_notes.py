"""Notes laid over a state: each once, in the order of writing, never twice with the transcript."""

from holdfast.events import NoteTaken, Origin, UserSaid
from holdfast.state import facts, fold_all
from holdfast.state.notes import Written, laid_over, standing, table_of

AT = Origin("row", 0, 1, "2027-01-15T08:00:00.000Z")
TIME = "2027-01-15T09:00:00Z"


def test_a_note_is_a_fact_of_its_kind() -> None:
    table = table_of([Written("dead_end", "Blue-green needs the plan", "user", TIME)])
    (fact,) = [f for f in facts(laid_over(fold_all([]), table)) if f.id == "m1"]
    assert (fact.kind, fact.text, fact.standing) == (
        "dead_end",
        "Blue-green needs the plan",
        "open",
    )
    assert fact.detail == "noted by the user"


def test_the_same_words_are_one_note_and_ids_stay() -> None:
    written = [
        Written("note", "a b", "user", TIME),
        Written("note", "a  b", "agent", TIME),
        Written("note", "c", "user", TIME),
    ]
    assert {key: note.text for key, note in table_of(written).items()} == {"m1": "a b", "m3": "c"}


def test_a_later_next_step_takes_the_place_of_an_earlier_one() -> None:
    table = table_of([Written("next_step", text, "agent", TIME) for text in ("first", "second")])
    state = laid_over(fold_all([]), table)
    assert [note.text for _, note in standing(state, "next_step")] == ["second"]
    assert [note.text for note in table.values()] == ["first", "second"]


def test_what_the_transcript_told_of_a_note_stands_once() -> None:
    state = fold_all(
        [
            UserSaid(AT, "Go."),
            NoteTaken(AT, "decision", "Integer cents"),
            NoteTaken(AT, "rule", "Ask before deploying"),
            NoteTaken(AT, "dead_end", "Blue-green"),
        ]
    )
    written = [
        Written("decision", "Integer cents", "agent", TIME),
        Written("rule", "Ask before deploying", "agent", TIME),
        Written("dead_end", "Blue-green", "agent", TIME),
    ]
    shown = laid_over(state, table_of(written))
    texts = [f.text for f in facts(shown) if f.kind in ("decision", "rule", "dead_end")]
    assert sorted(texts) == ["Ask before deploying", "Blue-green", "Integer cents"]
    assert state.decisions  # the state itself is as it was
