"""Folding in pieces is folding at once, and no state is ever changed by what comes after."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import events as ev
from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.session.follow import follow_transcript
from holdfast.state import (
    EMPTY_STATE,
    State,
    decode_state,
    encode_state,
    fold,
    fold_all,
    list_facts,
)
from holdfast.transcript.reader import TranscriptReader
from support.transcripts import (
    SAMPLE,
    corpus,
    events_of,
    in_pieces,
    printed,
    random_cuts,
    row_starts,
)

WORDS = st.sampled_from(
    "Never push to main.|Always use tabs.|Actually, use spaces, not tabs.|Forget the rule about "
    "tabs.|add a parser|port 8123|see https://example.com/a|I'll use x instead of y because z is "
    "slow and old.|That approach did not work because of the index.|Next I'll write it.|ok|".split(
        "|"
    )
)
COMMANDS = st.sampled_from(
    ["pytest", "pytest tests/a.py", "go test ./...", "make build", "rm /r/a.py", "git push",
     "mise run lint && mise run test", "ls", "./deploy.sh --to x", "npm install"]
)  # fmt: skip
OUTPUTS = st.sampled_from(
    ["", "1 failed in 0.1s", "3 passed in 0.1s", "fatal: no such branch", "a.py:3: error: x",
     "FAILED tests/a.py::test_b - x", "command not found: x",
     "[test] $ go test ./...\nok  \ta/b\t1s"]
)  # fmt: skip
PATHS = st.sampled_from(["/r/a.py", "/r/b.py", "c.py"])
TEXTS = st.sampled_from(["def read_rows(maxLine): pass", "class Reader_One: pass", ""])
IDS = st.sampled_from(["1", "2", "3"])
STATUS = st.sampled_from(["pending", "in_progress", "completed", "deleted", "strange"])


HOW = st.sampled_from(["prompt", "queued", "answer", "refusal"])
OK = st.booleans()
AT = st.just(ev.Origin("", 0, 0, ""))  # each gets its place when the session is put together
EVENTS: st.SearchStrategy[ev.Event] = st.one_of(
    st.builds(ev.UserSaid, AT, WORDS, HOW),
    st.builds(ev.AgentSaid, AT, WORDS),
    st.builds(ev.CommandRan, AT, COMMANDS, OUTPUTS, OK, st.none()),
    st.builds(
        ev.FileTouched, AT, PATHS, st.sampled_from(["read", "changed", "created"]), OK, TEXTS
    ),
    st.builds(ev.Searched, AT, WORDS, PATHS, OUTPUTS, OK),
    st.builds(ev.ToolRefused, AT, st.just("Bash"), COMMANDS),
    st.builds(ev.TaskCreated, AT, IDS, WORDS),
    st.builds(ev.TaskChanged, AT, IDS, STATUS),
    st.builds(ev.TodosSet, AT, st.lists(st.builds(ev.Todo, WORDS, STATUS), max_size=4).map(tuple)),
    st.builds(ev.PlanSet, AT, WORDS, PATHS, st.sampled_from(["approved", "refused"])),
    st.builds(ev.SubagentStarted, AT, IDS, WORDS, WORDS, WORDS),
    st.builds(ev.SubagentEnded, AT, IDS, OK, WORDS),
    st.builds(ev.JobStarted, AT, IDS, COMMANDS),
    st.builds(ev.JobEnded, AT, IDS, OK, OUTPUTS),
    st.builds(ev.CommandInvoked, AT, IDS, WORDS, st.just("user")),
    st.builds(ev.SessionSeen, AT, IDS, PATHS, IDS, st.just("c 1")),
    st.builds(ev.Compacted, AT, IDS, st.none(), st.none(), st.just(())),
    st.builds(ev.UsageMeasured, AT, IDS, st.integers(0, 9), st.just(1)),
)
AGENTS = st.sampled_from(["", "", "", "", "sub-1"])


def told() -> st.SearchStrategy[list[ev.Event]]:
    """A session made up at random, in the order of its rows."""
    return st.lists(st.tuples(EVENTS, AGENTS), min_size=1, max_size=25).map(
        lambda story: [
            event._replace(
                at=ev.Origin(
                    f"r{number}",
                    number * 10,
                    number * 10 + 10,
                    f"2026-01-01T00:00:{number:02}Z",
                    agent,
                )
            )
            for number, (event, agent) in enumerate(story)
        ]
    )


def copied(state: State) -> State:
    return decode_state(printed(state))


@given(told(), st.data())
@settings(max_examples=150, deadline=None)
def test_saving_and_loading_between_any_two_events_changes_nothing(
    story: list[ev.Event], data: st.DataObject
) -> None:
    state = EMPTY_STATE
    for event in story:
        state = fold(state, event)
        if data.draw(st.booleans()):
            state = copied(state)
    assert state == fold_all(story)


@given(told(), told())
@settings(max_examples=100, deadline=None)
def test_a_state_is_never_changed_by_what_is_folded_onto_it(
    story: list[ev.Event], more: list[ev.Event]
) -> None:
    before = fold_all(story)
    as_it_was = printed(before)
    first = fold_all(more, before)
    assert printed(before) == as_it_was
    assert printed(EMPTY_STATE) == printed(State())
    assert fold_all(more, before) == first


@given(told())
@settings(max_examples=100, deadline=None)
def test_every_fact_has_an_id_of_its_own_and_a_place_it_came_from(story: list[ev.Event]) -> None:
    state = fold_all(story)
    known = list(list_facts(state))
    assert len({fact.id for fact in known}) == len(known)
    rows = {event.at.row for event in story}
    assert all(fact.at.row in rows for fact in known)
    assert all(fact.status in ("open", "done", "cancelled", "superseded", "resolved")
               for fact in known)  # fmt: skip
    json.dumps(encode_state(state))


def test_the_sample_in_any_pieces_gives_the_same_state() -> None:
    path = str(SAMPLE)
    whole = follow_transcript(path, final=True)
    assert in_pieces(path, row_starts(path)) == whole
    for seed in range(10):
        assert in_pieces(path, random_cuts(path, seed, 6)) == whole


def test_the_sample_folded_twice_is_the_same_and_earlier_states_stay() -> None:
    story = events_of(str(SAMPLE))
    kept = []
    state = EMPTY_STATE
    for number, event in enumerate(story):
        state = fold(state, event)
        if number % 10 == 0:
            kept.append((state, printed(state)))
    assert fold_all(story) == state
    for earlier, as_it_was in kept:
        assert printed(earlier) == as_it_was


@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus(), ids=lambda path: path.name[:8])
class TestEverySessionOfTheCorpus:
    def test_in_random_pieces_it_gives_the_same_state(self, path: Path) -> None:
        whole = follow_transcript(str(path), final=True)
        for seed in range(3):
            assert in_pieces(str(path), random_cuts(str(path), seed, 8)) == whole

    def test_row_by_row_with_saves_in_between_it_gives_the_same_state(self, path: Path) -> None:
        chance = random.Random(path.name)
        state, adapter = EMPTY_STATE, ClaudeCodeAdapter()
        with TranscriptReader(str(path), final=True) as reader:
            for row in reader.rows():
                if chance.random() < 0.02:
                    adapter = ClaudeCodeAdapter(json.loads(json.dumps(adapter.parser_state())))
                    state = copied(state)
                for event in adapter.events(row):
                    state = fold(state, event)
        assert state == fold_all(events_of(str(path)))

    def test_folding_never_changes_an_earlier_state(self, path: Path) -> None:
        story = events_of(str(path))
        kept = []
        state = EMPTY_STATE
        for number, event in enumerate(story):
            if number % 100 == 0:
                kept.append((state, printed(state), number))
            state = fold(state, event)
        for earlier, as_it_was, _ in kept:
            assert printed(earlier) == as_it_was
        middle, _, number = kept[len(kept) // 2]
        assert fold_all(story[number:], middle) == state
