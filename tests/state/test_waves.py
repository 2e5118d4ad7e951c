"""Waves: what can run now, what waits for what, and circles that would wait for ever."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.events import Origin
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.tasks import Task
from holdfast.state.waves import list_planned_waves, list_waves

AT = Origin("r", 0, 1, "")


def task(
    name: str, *blocked_by: str, status: str = OPEN, blocks: tuple[str, ...] = ()
) -> tuple[str, Task]:
    return f"t{name}", Task(name, name, "", "", status, "", blocks, blocked_by, 0, 0, AT)


def test_without_dependencies_all_can_run_now() -> None:
    found = list_waves(dict([task("1"), task("2")]))
    assert found.waves == (("t1", "t2"),)
    assert found.ready == ("t1", "t2")
    assert found.cycles == ()


def test_a_task_comes_after_all_that_it_waits_for() -> None:
    found = list_waves(dict([task("1", "2", "3"), task("2", "3"), task("3"), task("4")]))
    assert found.waves == (("t3", "t4"), ("t2",), ("t1",))
    assert found.blockers["t1"] == ("t2", "t3")


def test_both_ways_of_saying_it_count() -> None:
    found = list_waves(dict([task("1", blocks=("2",)), task("2", "1")]))
    assert found.waves == (("t1",), ("t2",))
    assert found.blockers["t2"] == ("t1",)


def test_what_is_finished_cancelled_or_unknown_blocks_nothing() -> None:
    found = list_waves(
        dict([task("1", status=DONE), task("2", status=CANCELLED), task("3", "1", "2", "9")])
    )
    assert found.waves == (("t3",),)


def test_in_the_plan_what_is_finished_keeps_its_wave_and_others_theirs() -> None:
    for status in (OPEN, DONE):
        found = list_planned_waves(
            dict([task("1", status=status), task("2", "1"), task("3", status=CANCELLED)])
        )
        assert found.numbers == {"t1": 0, "t2": 1}


def test_a_circle_is_named_and_does_not_stop_the_rest() -> None:
    found = list_waves(dict([task("1", "2"), task("2", "1"), task("3", "2"), task("4")]))
    assert found.cycles == (("t1", "t2"),)
    assert found.waves == (("t4",), ("t1", "t2"), ("t3",))
    assert found.ready == ("t4",)


def test_a_task_that_waits_for_itself_is_a_circle_of_one() -> None:
    assert list_waves(dict([task("1", "1")])).cycles == (("t1",),)


def test_nothing_open_is_no_wave() -> None:
    assert list_waves({}) == ((), {}, ())


names = st.sampled_from("abcdefgh")


@given(
    st.dictionaries(
        names,
        st.tuples(st.lists(names, max_size=4), st.sampled_from([OPEN, OPEN, DONE])),
        max_size=8,
    )
)
def test_every_open_task_stands_in_one_wave_after_what_it_waits_for(
    drawn: dict[str, tuple[list[str], str]],
) -> None:
    tasks = dict(task(name, *by, status=how) for name, (by, how) in drawn.items())
    found = list_waves(tasks)
    placed = [key for wave in found.waves for key in wave]
    assert sorted(placed) == sorted(key for key, one in tasks.items() if one.status == OPEN)
    number = {key: n for n, wave in enumerate(found.waves) for key in wave}
    circled = {key for circle in found.cycles for key in circle}
    for key, waits_for in found.blockers.items():
        if key not in circled:
            assert all(number[name] < number[key] for name in waits_for)
    for circle in found.cycles:
        for key, following in zip(circle, (*circle[1:], circle[0]), strict=True):
            assert following in found.blockers[key]
