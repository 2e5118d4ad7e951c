"""What a task took, and when it is cold."""

import pytest

from holdfast import events as ev
from holdfast.state.task_summary import (
    TaskSummary,
    TaskSummaryBuilder,
    decode_summary,
    encode_summary,
    format_summary,
)


def at(row: int) -> ev.Origin:
    return ev.Origin(f"row-{row}", row, row + 1, f"2027-01-15T08:{row:02}:00.000Z")


STORY: list[ev.Event] = [
    ev.TaskCreated(at(1), "1", "Add the login"),
    ev.TaskCreated(at(2), "2", "Write it up"),
    ev.TaskChanged(at(3), "1", status="in_progress"),
    ev.FileTouched(at(4), "/shop/auth.py", "created", True, "x"),
    ev.FileTouched(at(5), "/shop/readme.md", "read", True, "x"),
    ev.AgentSaid(at(6), "I decided to use PKCE rather than a secret for public clients."),
    ev.CommandRan(at(7), "pytest -q", "1 failed, 2 passed in 0.1s", False, 1),
    ev.CommandRan(at(8), "pytest -q", "3 passed in 0.1s", True, 0),
    ev.TaskChanged(at(9), "1", status="completed"),
    ev.TaskChanged(at(10), "2", status="in_progress"),
    ev.FileTouched(at(11), "/shop/page.md", "changed", True, "x"),
]


def heard(*more: ev.Event) -> TaskSummaryBuilder:
    listener = TaskSummaryBuilder()
    for event in (*STORY, *more):
        listener.apply(event)
    return listener


def steps(count: int, start: int = 20) -> list[ev.Event]:
    return [ev.CommandRan(at(start + n), f"touch file-{n}", "", True, 0) for n in range(count)]


def test_a_summary_holds_what_happened_between_start_and_end() -> None:
    (one,) = heard(*steps(18)).list_idle(20)
    assert (one.task, one.subject) == ("1", "Add the login")
    assert one.files == ("/shop/auth.py",)
    assert one.commands == ("pytest -q passed",)
    assert any("PKCE rather than a secret" in outcome for outcome in one.outcomes)
    assert one.errors == ("1 failed, 2 passed in 0.1s (pytest -q)",)
    assert (one.start_turn, one.end_turn) == (3, 8)
    assert (one.row, one.time) == ("row-9", "2027-01-15T08:09:00.000Z")


def test_an_error_that_was_resolved_is_told_in_its_own_words() -> None:
    out = (
        "E   AssertionError: JWT signature invalid\nFAILED tests/test_auth.py::test_login\n1 failed"
    )
    again = (
        ev.TaskChanged(at(30), "2", status="in_progress"),
        ev.CommandRan(at(31), "pytest tests/test_auth.py -v", out, False, 1),
        ev.CommandRan(at(32), "pytest tests/test_auth.py -v", "1 passed in 0.1s", True, 0),
        ev.CommandRan(at(33), "git diff src/auth/", "", True, 0),
        ev.TaskChanged(at(34), "2", status="completed"),
    )
    *_, one = heard(*again, *steps(30, 40)).list_idle(20)
    assert one.commands == ("pytest tests/test_auth.py -v passed", "git diff src/auth/")
    (error,) = one.errors
    assert "AssertionError: JWT signature invalid" in error


def test_twenty_turns_must_have_passed() -> None:
    assert list(heard(*steps(17)).list_idle(20)) == []
    assert [one.task for one in heard(*steps(18)).list_idle(20)] == ["1"]


@pytest.mark.parametrize("words", ["About add the login: fine?", "See #1 again."])
def test_a_task_that_is_spoken_of_is_not_cold(words: str) -> None:
    listener = heard(*steps(15), ev.UserSaid(at(40), words), *steps(10, 41))
    assert list(listener.list_idle(20)) == []


def test_a_task_taken_up_again_is_not_cold_and_gets_a_second_summary() -> None:
    again = ev.TaskChanged(at(50), "1", status="in_progress")
    assert list(heard(*steps(30), again).list_idle(20)) == []
    done = ev.TaskChanged(at(51), "1", status="completed")
    (second,) = heard(*steps(30), again, done, *steps(20)).list_idle(20)
    (first,) = heard(*steps(30)).list_idle(20)
    assert second.key != first.key


def test_what_a_subagent_does_is_not_the_tasks() -> None:
    far = ev.Origin("row", 1, 2, "", "agent-1")
    listener = heard(ev.FileTouched(far, "/elsewhere.py", "changed", True, "x"), *steps(20))
    (one,) = listener.list_idle(20)
    assert "/elsewhere.py" not in one.files


def test_items_of_a_todo_list_are_tasks_too() -> None:
    listener = TaskSummaryBuilder()
    listener.apply(ev.TodosSet(at(1), (ev.Todo("Paint it", "in_progress"),)))
    listener.apply(ev.FileTouched(at(2), "/wall.py", "changed", True, "x"))
    listener.apply(ev.TodosSet(at(3), (ev.Todo("Paint it", "completed"),)))
    for event in steps(20):
        listener.apply(event)
    (one,) = listener.list_idle(20)
    assert (one.subject, one.files) == ("Paint it", ("/wall.py",))


def test_a_summary_survives_its_document_and_its_line_is_bounded() -> None:
    (one,) = heard(*steps(18)).list_idle(20)
    assert decode_summary(encode_summary(one)) == one
    assert format_summary(one) == format_summary(one)
    assert len(format_summary(one._replace(subject="x" * 500, outcomes=("y" * 500,) * 4))) <= 330
    wrongs: tuple[object, ...] = (
        None,
        [],
        {"task": "1"},
        encode_summary(one) | {"start_turn": "x"},
    )
    for wrong in wrongs:
        assert decode_summary(wrong) is None
    assert isinstance(one, TaskSummary)
