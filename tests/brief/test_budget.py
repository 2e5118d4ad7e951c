"""The budget is a hard bound: whatever is known, whoever reads, however little room there is."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.brief.compose import compose
from holdfast.brief.role import ROLES, Role, RolePart, find_role
from holdfast.brief.sections import SECTIONS
from holdfast.events import (
    AgentSaid,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    Hunk,
    JobStarted,
    Origin,
    PlanSet,
    SessionSeen,
    SubagentEnded,
    SubagentStarted,
    TaskChanged,
    TaskCreated,
    Todo,
    TodosSet,
    ToolRefused,
    UserSaid,
)
from holdfast.state import State, fold_all

from .role_states import sample_before_compaction

pytestmark = pytest.mark.slow

words = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="ab /.:_-#\n'`é→", max_size=400),
    st.sampled_from(
        [
            "",
            "Never use floats. Always run the tests; don't push.",
            "Let me fix parse_config next. That did not work, so I decided to use b instead of a.",
            "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed in 0.1s",
            "port 8123 at http://localhost:8123/x for ABC-123 in commit 0a1b2c3",
        ]
    ),
)
paths = st.sampled_from(
    ["/w/a.py", "/w/src/main.go", "/w/src/a.py", "b.py", "src/b.py", "/", "/else/x.ts", "é/ü.rs"]
)
ids = st.sampled_from(["1", "2", "3", "4", "x"])
commands = st.sampled_from(
    ["pytest -q", "pytest tests/test_a.py", "ruff check", "make build", "git push", "rm a.py", ""]
)


@st.composite
def events(draw: st.DrawFn) -> Event:
    start = draw(st.integers(0, 10**6))
    at = Origin(draw(ids), start, start + 10, draw(st.sampled_from(["", "2026-01-01T00:00:00Z"])))
    kind = draw(st.integers(0, 17))
    if kind == 0:
        return UserSaid(at, draw(words), draw(st.sampled_from(["prompt", "queued", "answer"])))
    if kind == 1:
        return AgentSaid(at, draw(words))
    if kind <= 4:
        return CommandRan(at, draw(commands), draw(words), draw(st.booleans()), None)
    if kind <= 7:
        how = draw(st.sampled_from(["read", "changed", "created"]))
        hunks = (Hunk(draw(st.integers(0, 99)), (f"+{draw(words)}", "-b")),)
        return FileTouched(at, draw(paths), how, True, draw(words), draw(words), hunks)
    if kind == 8:
        return TaskCreated(at, draw(ids), draw(words), draw(words))
    if kind == 9:
        status = draw(st.sampled_from(["pending", "in_progress", "completed", "deleted", "odd"]))
        blocked = tuple(draw(st.lists(ids, max_size=2)))
        return TaskChanged(at, draw(ids), status, draw(words), None, draw(words), blocked, blocked)
    if kind == 10:
        return TodosSet(at, (Todo(draw(words), "in_progress"), Todo(draw(words), "completed")))
    if kind == 11:
        return SubagentStarted(at, draw(ids), draw(words), draw(words), draw(words))
    if kind == 12:
        return SubagentEnded(at, draw(ids), draw(st.booleans()), draw(words))
    if kind == 13:
        return Compacted(at, "auto", 9, 1, ())
    if kind == 14:
        return PlanSet(at, draw(words), "/w/p.md", "approved")
    if kind == 15:
        return ToolRefused(at, "Bash", draw(words))
    if kind == 16:
        return JobStarted(at, draw(ids), draw(words))
    return SessionSeen(at, "s", "/w", draw(words), "claude-code 2")


states = st.lists(events(), max_size=40).map(fold_all)
budgets = st.one_of(st.integers(0, 20_000), st.integers(0, 400))


@settings(max_examples=300, deadline=None)
@given(states, budgets, st.sampled_from(list(ROLES)), words)
def test_no_brief_is_longer_than_its_budget(
    state: State, max_chars: int, role: str, title: str
) -> None:
    made = compose(state, max_chars, title=title, role=find_role(role))
    assert len(made.text) <= max_chars


@st.composite
def roles(draw: st.DrawFn) -> Role:
    chosen = draw(st.lists(st.sampled_from([*SECTIONS]), unique=True, max_size=30))
    headings = st.text(max_size=30)
    shares = st.floats(0, 1)
    parts = tuple(RolePart(name, draw(headings), draw(headings), draw(shares)) for name in chosen)
    return Role("any", parts, draw(shares), draw(st.floats(0, 100)))


@settings(max_examples=200, deadline=None)
@given(roles(), budgets)
def test_no_role_can_make_a_brief_outgrow_its_budget(role: Role, max_chars: int) -> None:
    assert len(compose(sample_before_compaction(), max_chars, role=role).text) <= max_chars


@given(budgets, st.sampled_from(list(ROLES)))
@settings(max_examples=60, deadline=None)
def test_the_same_state_gives_the_same_text(max_chars: int, role: str) -> None:
    state = sample_before_compaction()
    assert compose(state, max_chars, role=find_role(role)) == compose(
        state, max_chars, role=find_role(role)
    )


def test_nothing_known_or_no_room_gives_nothing() -> None:
    assert compose(fold_all([]), 4000).text == ""
    assert compose(sample_before_compaction(), 0).text == ""
    assert compose(sample_before_compaction(), -5).text == ""


def test_a_heading_never_stands_without_an_entry() -> None:
    state = sample_before_compaction()
    for name in ROLES:
        for max_chars in range(0, 6000, 37):
            text = compose(state, max_chars, role=find_role(name)).text
            lines = [*text.split("\n"), ""]
            headings = {
                part.heading(tight) for part in find_role(name).parts for tight in (False, True)
            }
            for line, after in itertools.pairwise(lines):
                if line and line in headings:
                    assert after, (name, max_chars, line)
                    assert after not in headings
