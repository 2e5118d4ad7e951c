"""How full the context is, and what follows, without a client."""

from pathlib import Path

import pytest

from holdfast.brief.low import agent_line, focus_text, user_line
from holdfast.clients.claude_code.window import Configured
from holdfast.events import CommandRan, Origin, TaskCreated, UsageMeasured, UserSaid
from holdfast.lifecycle import pressure
from holdfast.lifecycle.keep import Kept, Scene
from holdfast.lifecycle.terms import Terms
from holdfast.lifecycle.track import FRESH
from holdfast.lifecycle.tray import Tray
from holdfast.settings.reading import combined
from holdfast.state import EMPTY, State, fold_all
from holdfast.store.protocol import Session

AT = Origin("row", 0, 1, "2026-01-01T10:00:00.000Z")
SMALL = Configured(window=100_000)  # compacts at 67,000


def used(tokens: int) -> State:
    asked = UserSaid(AT, "Build the shop")
    return fold_all([asked, UsageMeasured(AT, "claude-sonnet-4-5", tokens, 10)])


def scene(**environ: str) -> Scene:
    settings = combined([], {f"HOLDFAST_{name.upper()}": v for name, v in environ.items()})
    return Scene("s1", "", "/shop", Terms(settings, SMALL))


@pytest.fixture
def tray(tmp_path: Path) -> Tray:
    return Tray(str(tmp_path), "s1")


def watch(tray: Tray, state: State, where: Scene | None = None) -> None:
    kept = Kept(Session("s1"), FRESH._replace(state=state))
    pressure.watch(None, tray, where or scene(), ("2026-01-01T10:00:00Z", 1e9), kept, state)


def test_it_is_measured_against_the_point_and_the_window_that_was_told(tray: Tray) -> None:
    assert pressure.pressure(used(33_500), tray, scene()).left == 50
    assert pressure.pressure(EMPTY, tray, scene()).left == 100
    tray.write("window", b"1000000")
    wide = scene()._replace(terms=Terms())
    assert pressure.pressure(used(483_500), tray, wide).left == 50
    tray.write("window", b"nonsense")
    assert pressure.pressure(used(83_500), tray, wide).left == 50


def test_both_are_told_once_per_epoch_and_no_longer_after_the_context_was_emptied(
    tray: Tray,
) -> None:
    watch(tray, used(60_000))
    assert tray.take("low-user").startswith("Holdfast: 10 % of the context is left")
    assert tray.take("low-agent").startswith("Holdfast: 10 % of the context is left")
    watch(tray, used(62_000))
    assert not tray.waits("low-user")
    second = used(62_000)
    watch(tray, second._replace(moment=second.moment._replace(epoch=1)))
    assert tray.waits("low-user")
    watch(tray, used(1_000))
    assert not tray.waits("low-user")
    assert not tray.waits("low-agent")


def test_nobody_is_warned_by_a_guess_and_a_wrong_warning_hides_no_right_one(tray: Tray) -> None:
    wide = scene()._replace(terms=Terms())
    asked = UserSaid(AT, "Build the shop")

    def at(tokens: int, requested: str = "claude-opus-5-5") -> State:
        return fold_all([asked, UsageMeasured(AT, "claude-opus-5-5", tokens, 10, requested)])

    watch(tray, at(190_000), wide)
    assert not tray.waits("low-user")
    tray.write("window", b"200000")  # the status line said so, of another model
    watch(tray, at(160_000), wide)
    assert "160,000 of 167,000" in tray.take("low-user")
    tray.write("window", b"1000000")
    watch(tray, at(170_000), wide)
    assert not tray.waits("low-user")
    watch(tray, at(900_000), wide)
    assert "900,000 of 967,000" in tray.take("low-user")


def test_nothing_is_said_while_a_compaction_is_under_way(tray: Tray) -> None:
    tray.latch("delivered.0", 1e9)
    watch(tray, used(60_000))
    assert not tray.waits("low-user")


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"low_context_tell": "user"}, {"low-user"}),
        ({"low_context_tell": "agent"}, {"low-agent"}),
        ({"low_context_tell": "nobody"}, set()),
        ({"low_context_percent": "0"}, set()),
        ({"low_context_percent": "5"}, set()),
    ],
)
def test_who_is_told_and_when_can_be_chosen(
    tray: Tray, chosen: dict[str, str], told: set[str]
) -> None:
    watch(tray, used(60_000), scene(**chosen))
    assert {name for name in ("low-user", "low-agent") if tray.waits(name)} == told


def test_the_focus_names_what_a_summary_should_dwell_on() -> None:
    state = fold_all(
        [
            UserSaid(AT, "Build the shop. Never use float for money."),
            TaskCreated(AT, "1", "Wire the cart"),
            CommandRan(AT, "pytest -q", "FAILED tests/a.py::test_total - x\n1 failed", False, 1),
        ]
    )
    focus = focus_text(state)
    assert focus.startswith("keep Wire the cart; failing: tests/a.py::test_total")
    assert "Never use float for money" in focus
    assert focus_text(EMPTY) == ""
    for room in (0, 20, 60, 100):
        assert len(focus_text(state, room)) <= room


def test_the_lines_are_one_line_each() -> None:
    for line in (user_line(9, 61_000, 67_000, "keep it"), agent_line(9, "keep it")):
        assert "\n" not in line
    assert user_line(9, 61_000, 67_000, "").endswith("/compact")
    assert "offered" not in agent_line(9, "")


def test_the_status_file_says_what_the_status_line_shows(tray: Tray) -> None:
    watch(tray, fold_all([TaskCreated(AT, "1", "Wire the cart")], used(1_234)))
    assert Path(tray.folder, "status").read_text() == "0 1234 1 1000000000\n"
