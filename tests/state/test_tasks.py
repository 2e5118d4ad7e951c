"""Tasks: by id and as whole lists, from created to done, cancelled or reworded."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.events import Origin, PlanSet, TaskChanged, TaskCreated, TasksListed
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.tasks import Task, list_planned_waves, list_waves

from .story import Story


def test_a_task_lives_from_pending_to_done() -> None:
    story = Story().task("1", "Write the parser")
    assert story.facts("task")[0].detail == "pending"
    story.task_is("1", "in_progress")
    assert story.facts("task")[0].detail == "in_progress"
    story.task_is("1", "completed")
    (task,) = story.facts("task")
    assert (task.id, task.status) == ("t1", "done")


def test_a_deleted_task_is_cancelled_not_open() -> None:
    story = Story().task("1", "Write the parser").task_is("1", "deleted")
    assert story.texts("task", "cancelled") == ["Write the parser"]


def test_a_done_task_can_be_taken_up_again() -> None:
    story = Story().task("1", "Fix logging").task_is("1", "completed").task_is("1", "in_progress")
    assert story.texts("task", "open") == ["Fix logging"]


def test_a_change_keeps_what_it_does_not_mention() -> None:
    story = Story()
    story.tell(TaskCreated(story.at(), "7", "Write the parser", "with a cursor"))
    story.tell(TaskChanged(story.at(), "7", owner="reviewer", blocked_by=("3",)))
    story.tell(TaskChanged(story.at(), "7", blocked_by=("4",)))
    task = story.state.tasks["t7"]
    assert (task.subject, task.description, task.client_status) == (
        "Write the parser",
        "with a cursor",
        "pending",
    )
    assert (task.owner, task.blocked_by) == ("reviewer", ("3", "4"))


def test_a_change_of_an_unknown_task_without_a_subject_says_nothing() -> None:
    assert Story().task_is("9", "completed").texts("task") == []


def test_the_clients_own_list_is_taken_at_its_word() -> None:
    story = Story().task("1", "A")
    at = story.at()
    listed = (TaskChanged(at, "1", "completed", "A"), TaskChanged(at, "2", "pending", "B"))
    story.tell(TasksListed(at, listed))
    assert story.texts("task", "done") == ["A"]
    assert story.texts("task", "open") == ["B"]


def test_a_reused_id_with_another_subject_is_another_task() -> None:
    story = Story().task("1", "A").task_is("1", "completed").task("1", "B")
    assert story.texts("task") == ["B"]
    assert story.texts("task", "open") == ["B"]


def test_a_todo_that_is_gone_unfinished_was_cancelled() -> None:
    story = Story().todos(("write parser", "in_progress"), ("update changelog", "pending"))
    story.todos(("write parser", "completed"))
    assert story.texts("task", "done") == ["write parser"]
    assert story.texts("task", "cancelled") == ["update changelog"]


def test_a_finished_todo_that_is_gone_stays_done() -> None:
    story = Story().todos(("write parser", "completed")).todos(("write printer", "pending"))
    assert story.texts("task", "done") == ["write parser"]
    assert story.texts("task", "open") == ["write printer"]


def test_a_reworded_todo_is_the_same_task() -> None:
    story = Story().todos(("Update main.go to remove direct telemetry calls", "pending"))
    story.todos(("Update main.go to use context-based telemetry", "in_progress"))
    (task,) = story.facts("task")
    assert task.text == "Update main.go to use context-based telemetry"
    assert task.detail == "in_progress"


def test_an_emptied_todo_list_cancels_what_was_open() -> None:
    story = Story().todos(("a thing", "pending")).todos()
    assert story.texts("task", "cancelled") == ["a thing"]


def test_task_facts_say_what_blocks_them() -> None:
    story = Story().task("1", "A").task("2", "B")
    story.tell(TaskChanged(story.at(), "2", blocked_by=("1",)))
    assert "blocked by t1" in story.facts("task")[1].detail


def test_an_approved_plan_supersedes_the_one_before() -> None:
    story = Story()
    story.tell(PlanSet(story.at(), "# First", "", "approved"))
    story.tell(PlanSet(story.at(), "# Second", "plan.md", "approved"))
    assert story.texts("plan", "superseded") == ["# First"]
    assert story.texts("plan", "open") == ["# Second"]


def test_a_refused_plan_leaves_the_one_in_force() -> None:
    story = Story()
    story.tell(PlanSet(story.at(), "# First", "", "approved"))
    story.tell(PlanSet(story.at(), "# Second", "", "refused"))
    assert story.texts("plan", "open") == ["# First"]
    assert story.texts("plan", "cancelled") == ["# Second"]


# Waves: what can run now, what waits for what, and circles that would wait for ever.

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
