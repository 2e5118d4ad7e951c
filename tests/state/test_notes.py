"""Notes laid over a state: each once, in the order of writing, never twice with the transcript."""

from holdfast.events import NoteTaken, Origin, UserSaid
from holdfast.state import fold_all, list_facts
from holdfast.state.notes import NoteLine, build_note_table, list_open_notes, overlay_notes

AT = Origin("row", 0, 1, "2027-01-15T08:00:00.000Z")
TIME = "2027-01-15T09:00:00Z"


def test_a_note_is_a_fact_of_its_kind() -> None:
    table = build_note_table([NoteLine("dead_end", "Blue-green needs the plan", "user", TIME)])
    (fact,) = [f for f in list_facts(overlay_notes(fold_all([]), table)) if f.id == "m1"]
    assert (fact.kind, fact.text, fact.status) == (
        "dead_end",
        "Blue-green needs the plan",
        "open",
    )
    assert fact.detail == "noted by the user"


def test_the_same_words_are_one_note_and_ids_stay() -> None:
    written = [
        NoteLine("note", "a b", "user", TIME),
        NoteLine("note", "a  b", "agent", TIME),
        NoteLine("note", "c", "user", TIME),
    ]
    assert {key: note.text for key, note in build_note_table(written).items()} == {
        "m1": "a b",
        "m3": "c",
    }


def test_a_later_next_step_takes_the_place_of_an_earlier_one() -> None:
    table = build_note_table(
        [NoteLine("next_step", text, "agent", TIME) for text in ("first", "second")]
    )
    state = overlay_notes(fold_all([]), table)
    assert [note.text for _, note in list_open_notes(state, "next_step")] == ["second"]
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
        NoteLine("decision", "Integer cents", "agent", TIME),
        NoteLine("rule", "Ask before deploying", "agent", TIME),
        NoteLine("dead_end", "Blue-green", "agent", TIME),
    ]
    shown = overlay_notes(state, build_note_table(written))
    texts = [f.text for f in list_facts(shown) if f.kind in ("decision", "rule", "dead_end")]
    assert sorted(texts) == ["Ask before deploying", "Blue-green", "Integer cents"]
    assert state.decisions  # the state itself is as it was
