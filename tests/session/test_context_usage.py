"""How full the context is, and what follows, without a client."""

from contextlib import closing
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
    FileTouched,
    Origin,
    TaskChanged,
    TaskCreated,
    UsageMeasured,
    UserSaid,
)
from holdfast.fastpath.pending_texts import PendingTexts
from holdfast.fastpath.session_dir import SessionDir
from holdfast.session import context_usage
from holdfast.session.context import EffectiveConfig, SessionContext, SessionRef
from holdfast.session.context_usage import (
    build_focus_text,
    find_due_cause,
    format_agent_notice,
    format_user_notice,
)
from holdfast.session.follow import INITIAL
from holdfast.session.update import SessionView
from holdfast.settings.loader import merge_settings
from holdfast.state import EMPTY_STATE, State, fold_all
from holdfast.store.protocol import Compaction, Session
from holdfast.store.sqlite.store import SqliteStore

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
    snapshot = SessionView(Session("s1"), INITIAL._replace(state=state))
    context_usage.check_context_usage(where or ctx(session_dir), snapshot._replace(overlaid=state))


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
    assert session_dir.pending.claim_text("low-user").startswith(
        "Holdfast: 10 % of the context is left"
    )
    assert session_dir.pending.claim_text("low-agent").startswith(
        "Holdfast: 10 % of the context is left"
    )
    watch(session_dir, used(62_000))
    assert "low-user" not in session_dir.pending.list_waiting()
    second = used(62_000)
    watch(session_dir, second._replace(position=second.position._replace(epoch=1)))
    assert "low-user" in session_dir.pending.list_waiting()
    watch(session_dir, used(1_000))
    assert "low-user" not in session_dir.pending.list_waiting()
    assert "low-agent" not in session_dir.pending.list_waiting()


def test_nobody_is_warned_by_a_guess_and_a_wrong_warning_hides_no_right_one(
    session_dir: SessionDir,
) -> None:
    wide = ctx(session_dir)._replace(config=EffectiveConfig())
    asked = UserSaid(AT, "Build the shop")

    def at(tokens: int, requested: str = "claude-opus-5-5") -> State:
        return fold_all([asked, UsageMeasured(AT, "claude-opus-5-5", tokens, 10, requested)])

    watch(session_dir, at(190_000), wide)
    assert "low-user" not in session_dir.pending.list_waiting()
    session_dir.write("window", b"200000")  # the status line said so, of another model
    watch(session_dir, at(160_000), wide)
    assert "160,000 of 167,000" in session_dir.pending.claim_text("low-user")
    session_dir.write("window", b"1000000")
    watch(session_dir, at(170_000), wide)
    assert "low-user" not in session_dir.pending.list_waiting()
    watch(session_dir, at(900_000), wide)
    assert "900,000 of 967,000" in session_dir.pending.claim_text("low-user")


def test_nothing_is_said_while_a_compaction_is_under_way(session_dir: SessionDir) -> None:
    session_dir.latch("delivered.0", 1e9)
    watch(session_dir, used(60_000))
    assert "low-user" not in session_dir.pending.list_waiting()


def test_nothing_is_said_past_the_point_where_the_client_compacts_before_it_asks_again(
    session_dir: SessionDir,
) -> None:
    watch(session_dir, used(67_000))
    assert "low-user" not in session_dir.pending.list_waiting()
    assert "low-agent" not in session_dir.pending.list_waiting()
    watch(session_dir, used(66_000))  # the context shrank since: now it is time
    assert session_dir.pending.claim_text("low-user").startswith(
        "Holdfast: 1 % of the context is left"
    )


def test_past_the_point_both_are_told_where_only_the_user_compacts(session_dir: SessionDir) -> None:
    manual = WindowConfig(auto_compact=False)
    where = ctx(session_dir)
    where = where._replace(config=where.config._replace(compaction_config=manual))
    session_dir.write("window", b"200000")
    watch(session_dir, used(190_000), where)
    assert "low-user" in session_dir.pending.list_waiting()
    assert "low-agent" in session_dir.pending.list_waiting()


def test_a_warning_written_while_a_compaction_began_is_withdrawn(
    session_dir: SessionDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = PendingTexts.put

    def put_and_compact(here: PendingTexts, kind: str, text: str) -> None:
        session_dir.latch("delivered.0", 1e9)
        put(here, kind, text)

    monkeypatch.setattr(PendingTexts, "put", put_and_compact)
    watch(session_dir, used(60_000))
    assert "low-user" not in session_dir.pending.list_waiting()
    assert "low-agent" not in session_dir.pending.list_waiting()


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
    assert {
        name for name in ("low-user", "low-agent") if name in session_dir.pending.list_waiting()
    } == told


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
        format_agent_notice(9),
    ):
        assert "\n" not in line
    assert format_user_notice(9, 61_000, 67_000, "/compress").endswith("To compact now: /compress")


def test_the_status_file_says_what_the_status_line_shows(session_dir: SessionDir) -> None:
    watch(session_dir, fold_all([TaskCreated(AT, "1", "Wire the cart")], used(1_234)))
    assert Path(session_dir.path, "status").read_text() == (
        "0 1234 1 1000000000 0 67000 100000 1 1\n"
    )


def test_a_loop_of_compactions_is_told_to_the_user_with_what_fills_the_window(
    session_dir: SessionDir,
) -> None:
    with closing(SqliteStore(str(Path(session_dir.data_dir, "holdfast.db")))) as store:
        where = ctx(session_dir)._replace(store=store)
        events: list[Event] = []
        for epoch, minute in enumerate((0, 7, 14)):
            context_usage.warn_of_loop(where, fold_all(events))
            time = f"2026-01-01T10:{minute:02}:00Z"
            store.record_compaction(Compaction("s1", epoch, time, "auto", summary="Work."))
            read = FileTouched(AT._replace(time=time), "/shop/log.txt", "read", ok=True)
            events += [read, Compacted(AT._replace(time=time), "auto", 90_000, 9_000, ())]
            assert PendingTexts(session_dir.path).claim_text("advice") == ""
        context_usage.warn_of_loop(where, fold_all(events))
    line = PendingTexts(session_dir.path).claim_text("advice")
    assert "compacted 3 times in 14 minutes" in line
    assert "log.txt" in line
    assert "\n" not in line


def ended(*more: Event, tokens: int = 40_000) -> State:
    """40 % of the context is left, and `more` happened for the last request."""
    return fold_all(
        [
            UserSaid(AT, "Build the shop"),
            FileTouched(AT, "/shop/cart.py", "changed", ok=True, text="total = 1"),
            *more,
            UsageMeasured(AT, "claude-sonnet-4-5", tokens, 10),
        ]
    )


GREEN = CommandRan(AT, "pytest", "4 passed in 0.1s", True, 0)
RED = CommandRan(AT, "pytest", "FAILED t.py::test_a\n1 failed in 0.1s", False, 1)
COMMIT = CommandRan(AT, "git commit -am Cart", "[main 4c1f2aa] Cart\n 1 file changed", True, 0)
EDIT = FileTouched(AT, "/shop/cart.py", "changed", ok=True, text="total = 2")
TASK, WORKS = TaskCreated(AT, "1", "Wire the cart"), TaskChanged(AT, "1", status="in_progress")
CLOSED = TaskChanged(AT, "1", status="completed")


def advise(where: SessionContext, state: State) -> str:
    snapshot = SessionView(Session("s1"), INITIAL._replace(state=state), overlaid=state)
    context_usage.check_context_usage(where, snapshot, turn_ended=True)
    return where.session_dir.pending.claim_text("advice")


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ((GREEN, COMMIT), "commit 4c1f2aa was made and the last check passed"),
        ((COMMIT,), "commit 4c1f2aa was made"),
        ((GREEN,), "the last check passed"),
        ((TASK, CLOSED), "all tasks are done"),
        ((), ""),
        ((COMMIT, EDIT), ""),
        ((GREEN, EDIT), ""),
        ((RED,), ""),
        ((RED, COMMIT), ""),
        ((TASK, WORKS, GREEN, COMMIT), ""),
        ((TASK, TaskCreated(AT, "2", "Ship it"), CLOSED), ""),
    ],
)
def test_a_good_moment_is_when_a_piece_of_work_has_ended(
    session_dir: SessionDir, events: tuple[Event, ...], why: str
) -> None:
    told = advise(ctx(session_dir), ended(*events))
    assert bool(told) is bool(why)
    if why:
        assert f"if you want to: {why}, and 40 % of the context is left" in told
        assert told.endswith('/compact keep the request "Build the shop"; files /shop/cart.py')


def test_it_is_told_once_per_epoch_between_half_and_low_and_to_a_person_alone(
    session_dir: SessionDir,
) -> None:
    here = ctx(session_dir)
    headless = here._replace(config=here.config._replace(is_headless=True))
    assert advise(headless, ended(COMMIT)) == ""
    assert advise(here, ended(COMMIT, tokens=30_000)) == ""
    assert advise(here, ended(COMMIT, tokens=60_000)) == ""
    assert advise(ctx(session_dir, low_context_notify="agent"), ended(COMMIT)) == ""
    assert advise(here, ended(COMMIT)) != ""
    assert advise(here, ended(COMMIT, tokens=45_000)) == ""
    state = ended(COMMIT)
    assert advise(here, state._replace(position=state.position._replace(epoch=1))) != ""


def test_advice_that_was_not_read_goes_when_work_goes_on(session_dir: SessionDir) -> None:
    where = ctx(session_dir)
    for state in (ended(COMMIT), ended(COMMIT, EDIT)):
        snapshot = SessionView(Session("s1"), INITIAL._replace(state=state), overlaid=state)
        context_usage.check_context_usage(where, snapshot, turn_ended=True)
    assert "advice" not in where.session_dir.pending.list_waiting()


def test_a_client_whose_compaction_fails_again_and_again_is_told_with_the_way_out(
    session_dir: SessionDir,
) -> None:
    where = ctx(session_dir)
    for tried in range(3):
        assert session_dir.pending.claim_text("advice") == ""
        context_usage.warn_of_failing(where, session_dir.begin_compaction(1e9 + 60 * tried))
    told = session_dir.pending.claim_text("advice")
    assert "began to compact 3 times" in told
    assert "holdfast session handoff" in told
    session_dir.end_compaction()
    assert session_dir.begin_compaction(1e9 + 200) == 1
    assert session_dir.begin_compaction(1e9 + 9_000) == 1


PERCENTS = (30, 15, 5)


@pytest.mark.parametrize(
    ("tokens", "reached"),
    [(0, 0), (49_999, 0), (50_000, 50_000), (59_999, 50_000), (60_000, 60_000), (187_500, 180_000)],
)
def test_the_first_is_at_50_000_and_then_every_10_000(tokens: int, reached: int) -> None:
    assert find_due_cause(tokens, ()) == (f"tokens:{reached}" if reached else "")


def test_both_figures_can_be_chosen_and_none_at_all() -> None:
    assert find_due_cause(45_000, (), first=20_000, every=20_000) == "tokens:40000"
    assert find_due_cause(45_000, (), first=0) == ""


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
