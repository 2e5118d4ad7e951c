"""How full the context is, and what follows, without a client."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.clients.client_protocol import WindowConfig
from holdfast.clock import Timestamp
from holdfast.events import (
    CommandRan,
    Compacted,
    Event,
    Origin,
    TaskCreated,
    UsageMeasured,
    UserSaid,
)
from holdfast.fastpath.session_dir import SessionDir
from holdfast.session import context_usage
from holdfast.session.context import EffectiveConfig, SessionContext, SessionRef
from holdfast.session.context_usage import (
    build_focus_text,
    find_due_cause,
    format_agent_notice,
    format_user_notice,
    highest_threshold,
)
from holdfast.session.follow import INITIAL
from holdfast.session.update import SessionSnapshot, SessionView
from holdfast.settings.loader import merge_settings
from holdfast.state import EMPTY_STATE, State, fold_all
from holdfast.store.protocol import Session

AT = Origin("row", 0, 1, "2026-01-01T10:00:00.000Z")
NOW = Timestamp("2026-01-01T10:00:00Z", 1e9)
SMALL = WindowConfig(window=100_000)  # compacts at 67,000


def used(tokens: int) -> State:
    asked = UserSaid(AT, "Build the shop")
    return fold_all([asked, UsageMeasured(AT, "claude-sonnet-4-5", tokens, 10)])


def ctx(session_dir: SessionDir, **environ: str) -> SessionContext:
    settings = merge_settings([], {f"HOLDFAST_{name.upper()}": v for name, v in environ.items()})
    config = EffectiveConfig(settings, SMALL)
    return SessionContext(SessionRef("s1", "", "/shop"), session_dir, NOW, config=config)


@pytest.fixture
def session_dir(tmp_path: Path) -> SessionDir:
    return SessionDir(str(tmp_path), "s1")


def watch(session_dir: SessionDir, state: State, where: SessionContext | None = None) -> None:
    snapshot = SessionSnapshot(Session("s1"), INITIAL._replace(state=state))
    context_usage.check_context_usage(where or ctx(session_dir), SessionView(snapshot, state))


def test_it_is_measured_against_the_point_and_the_window_that_was_told(
    session_dir: SessionDir,
) -> None:
    assert context_usage.measure_context_usage(ctx(session_dir), used(33_500)).percent_left == 50
    assert context_usage.measure_context_usage(ctx(session_dir), EMPTY_STATE).percent_left == 100
    session_dir.write("window", b"1000000")
    wide = ctx(session_dir)._replace(config=EffectiveConfig())
    assert context_usage.measure_context_usage(wide, used(483_500)).percent_left == 50
    session_dir.write("window", b"nonsense")
    assert context_usage.measure_context_usage(wide, used(83_500)).percent_left == 50


def test_a_window_that_once_held_more_is_remembered_of_that_model(session_dir: SessionDir) -> None:
    def left(*measured: Event) -> int:
        where = ctx(session_dir)._replace(config=EffectiveConfig())
        state = fold_all([UserSaid(AT, "Build the shop"), *measured])
        return context_usage.measure_context_usage(where, state).percent_left

    small, large = "claude-sonnet-4-5", "claude-sonnet-4-5[1m]"
    held = UsageMeasured(AT, small, 230_000, 10, small)
    now = UsageMeasured(AT, small, 152_000, 10, small)
    assert left(now) == 9
    assert left(held, now) == 84
    assert left(held, Compacted(AT, "auto", 230_000, 10, ()), now) == 84
    assert left(UsageMeasured(AT, small, 230_000, 10, large), now) == 9
    session_dir.write("window", b"200000")  # the client knows better
    assert left(held, now) == 9


def test_both_are_told_once_per_epoch_and_no_longer_after_the_context_was_emptied(
    session_dir: SessionDir,
) -> None:
    watch(session_dir, used(60_000))
    assert session_dir.claim_text("low-user").startswith("Holdfast: 10 % of the context is left")
    assert session_dir.claim_text("low-agent").startswith("Holdfast: 10 % of the context is left")
    watch(session_dir, used(62_000))
    assert not session_dir.is_waiting("low-user")
    second = used(62_000)
    watch(session_dir, second._replace(position=second.position._replace(epoch=1)))
    assert session_dir.is_waiting("low-user")
    watch(session_dir, used(1_000))
    assert not session_dir.is_waiting("low-user")
    assert not session_dir.is_waiting("low-agent")


def test_nobody_is_warned_by_a_guess_and_a_wrong_warning_hides_no_right_one(
    session_dir: SessionDir,
) -> None:
    wide = ctx(session_dir)._replace(config=EffectiveConfig())
    asked = UserSaid(AT, "Build the shop")

    def at(tokens: int, requested: str = "claude-opus-5-5") -> State:
        return fold_all([asked, UsageMeasured(AT, "claude-opus-5-5", tokens, 10, requested)])

    watch(session_dir, at(190_000), wide)
    assert not session_dir.is_waiting("low-user")
    session_dir.write("window", b"200000")  # the status line said so, of another model
    watch(session_dir, at(160_000), wide)
    assert "160,000 of 167,000" in session_dir.claim_text("low-user")
    session_dir.write("window", b"1000000")
    watch(session_dir, at(170_000), wide)
    assert not session_dir.is_waiting("low-user")
    watch(session_dir, at(900_000), wide)
    assert "900,000 of 967,000" in session_dir.claim_text("low-user")


def test_nothing_is_said_while_a_compaction_is_under_way(session_dir: SessionDir) -> None:
    session_dir.latch("delivered.0", 1e9)
    watch(session_dir, used(60_000))
    assert not session_dir.is_waiting("low-user")


def test_nothing_is_said_past_the_point_where_the_client_compacts_before_it_asks_again(
    session_dir: SessionDir,
) -> None:
    watch(session_dir, used(67_000))
    assert not session_dir.is_waiting("low-user")
    assert not session_dir.is_waiting("low-agent")
    watch(session_dir, used(66_000))  # the context shrank since: now it is time
    assert session_dir.claim_text("low-user").startswith("Holdfast: 1 % of the context is left")


def test_past_the_point_both_are_told_where_only_the_user_compacts(session_dir: SessionDir) -> None:
    manual = WindowConfig(auto_compact=False)
    where = ctx(session_dir)
    where = where._replace(config=where.config._replace(compaction_config=manual))
    session_dir.write("window", b"200000")
    watch(session_dir, used(190_000), where)
    assert session_dir.is_waiting("low-user")
    assert session_dir.is_waiting("low-agent")


def test_a_warning_written_while_a_compaction_began_is_withdrawn(
    session_dir: SessionDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = SessionDir.write

    def write_and_compact(here: SessionDir, name: str, data: bytes) -> None:
        write(here, name, data)
        here.latch("delivered.0", 1e9)

    monkeypatch.setattr(SessionDir, "write", write_and_compact)
    watch(session_dir, used(60_000))
    assert not session_dir.is_waiting("low-user")
    assert not session_dir.is_waiting("low-agent")


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"low_context_notify": "user"}, {"low-user"}),
        ({"low_context_notify": "agent"}, {"low-agent"}),
        ({"low_context_notify": "nobody"}, set()),
        ({"low_context_percent": "0"}, set()),
        ({"low_context_percent": "5"}, set()),
    ],
)
def test_who_is_told_and_when_can_be_chosen(
    session_dir: SessionDir, chosen: dict[str, str], told: set[str]
) -> None:
    watch(session_dir, used(60_000), ctx(session_dir, **chosen))
    assert {name for name in ("low-user", "low-agent") if session_dir.is_waiting(name)} == told


def test_the_focus_names_what_a_summary_should_dwell_on() -> None:
    state = fold_all(
        [
            UserSaid(AT, "Build the shop. Never use float for money."),
            TaskCreated(AT, "1", "Wire the cart"),
            CommandRan(AT, "pytest -q", "FAILED tests/a.py::test_total - x\n1 failed", False, 1),
        ]
    )
    focus = build_focus_text(state)
    assert focus.startswith("keep Wire the cart; failing: tests/a.py::test_total")
    assert "Never use float for money" in focus
    assert build_focus_text(EMPTY_STATE) == ""
    for room in (0, 20, 60, 100):
        assert len(build_focus_text(state, room)) <= room


def test_the_lines_are_one_line_each() -> None:
    for line in (
        format_user_notice(9, 61_000, 67_000, "/compact keep it"),
        format_agent_notice(9, "/compact keep it"),
    ):
        assert "\n" not in line
    assert format_user_notice(9, 61_000, 67_000, "/compress").endswith("To compact now: /compress")
    assert "offered" not in format_agent_notice(9, "")


def test_the_status_file_says_what_the_status_line_shows(session_dir: SessionDir) -> None:
    watch(session_dir, fold_all([TaskCreated(AT, "1", "Wire the cart")], used(1_234)))
    assert Path(session_dir.path, "status").read_text() == "0 1234 1 1000000000\n"


PERCENTS = (30, 15, 5)


@pytest.mark.parametrize(
    ("tokens", "reached"),
    [(0, 0), (49_999, 0), (50_000, 50_000), (59_999, 50_000), (60_000, 60_000), (187_500, 180_000)],
)
def test_the_first_is_at_50_000_and_then_every_10_000(tokens: int, reached: int) -> None:
    assert highest_threshold(tokens) == reached


def test_both_figures_can_be_chosen_and_none_at_all() -> None:
    assert highest_threshold(45_000, first=20_000, every=20_000) == 40_000
    assert highest_threshold(45_000, first=0) == 0


def test_each_is_due_once_and_a_jump_is_one_checkpoint() -> None:
    assert find_due_cause(52_000, []) == "tokens:50000"
    assert find_due_cause(52_000, ["tokens:50000"]) == ""
    assert find_due_cause(95_000, ["precompact:auto", "tokens:50000"]) == "tokens:90000"
    assert find_due_cause(70_000, ["tokens:90000"]) == ""
    assert find_due_cause(10_000, []) == ""


def test_what_is_left_comes_before_tokens_each_once() -> None:
    assert find_due_cause(50_000, [], left=29, percents=PERCENTS) == "left:30"
    assert find_due_cause(50_000, ["left:30"], left=29, percents=PERCENTS) == "tokens:50000"
    assert find_due_cause(50_000, ["left:30", "tokens:50000"], left=29, percents=PERCENTS) == ""
    assert find_due_cause(0, ["left:30"], left=14, percents=PERCENTS) == "left:15"
    assert find_due_cause(0, [], left=3, percents=PERCENTS) == "left:5"
    assert find_due_cause(0, ["left:5"], left=14, percents=PERCENTS) == ""
    assert find_due_cause(0, [], left=31, percents=PERCENTS) == ""


@given(st.lists(st.tuples(st.integers(0, 400_000), st.integers(0, 100)), max_size=30))
def test_no_cause_comes_twice(course: list[tuple[int, int]]) -> None:
    causes: list[str] = []
    for tokens, left in course:
        due = find_due_cause(tokens, causes, left=left, percents=PERCENTS)
        assert due not in causes
        causes += [due] if due else []
