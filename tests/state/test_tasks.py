"""Tasks: by id and as whole lists, from created to done, cancelled or reworded."""

from holdfast.events import PlanSet, TaskChanged, TaskCreated, TasksListed

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
