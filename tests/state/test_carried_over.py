"""What a session's handoff page carries over from the sessions before it."""

from holdfast.brief.carried_over import (
    MAX_CHARS,
    MAX_SESSIONS,
    OFFERED,
    RESUMED,
    CarriedOver,
    format_carried,
    has_open_tasks,
    leave_out_settled,
    read_carried,
    take_from_page,
)
from holdfast.brief.hook_texts import compose_handoff_offer, is_unfinished
from holdfast.brief.pages import format_handoff_page
from holdfast.state import State

from .story import Story

RULE = "Never paint on a wet floor."
OTHER_RULE = "Always use British English in comments."
TASK = "Mark lane 4 in yellow paint"
FIRST, SECOND, THIRD = "first-session", "second-session", "third-session"
FINISHED = Story().user("Hello.").agent("All done.").state


def page_of(state: State, session_id: str, carried: list[CarriedOver] | None = None) -> str:
    return format_handoff_page(state, session_id, "2026-01-01T00:00:00Z", carried or [])


def first_page() -> str:
    story = Story().user(f"{RULE} {OTHER_RULE}").task("1", TASK).task_is("1", "in_progress")
    return page_of(story.state, FIRST)


def carried_into(state: State, how: str = RESUMED) -> list[CarriedOver]:
    return leave_out_settled(take_from_page(first_page(), FIRST, how), state)


def test_rules_and_open_tasks_of_the_page_that_was_taken_up_stand_in_the_next() -> None:
    page = page_of(FINISHED, SECOND, carried_into(FINISHED))
    _, _, section = page.partition(f"## Carried over from session {FIRST} (resumed)\n")
    assert f'- Rule: "{RULE}"\n' in section
    assert f"- Open: #1 {TASK} (in progress)\n" in section


def test_a_third_session_has_what_neither_of_the_two_before_it_finished() -> None:
    story = Story().user("Count the racks before lunch.").task("1", "Count racks of hall B")
    second = page_of(story.state, SECOND, carried_into(story.state))
    third = leave_out_settled(take_from_page(second, SECOND, RESUMED), FINISHED)
    assert [one.session for one in third] == [SECOND, FIRST]
    assert third[0].tasks == ("#1 Count racks of hall B",)
    assert f'"{RULE}"' in third[1].rules
    assert third[1].tasks == (f"#1 {TASK} (in progress)",)


def test_what_the_session_finished_dropped_or_lists_itself_is_not_carried() -> None:
    for status in ("completed", "deleted", "pending"):
        story = Story().user("Go on.").task("7", f"{TASK}!").task_is("7", status)
        (one,) = carried_into(story.state)
        assert one.tasks == (), status
        assert one.rules


def test_a_rule_that_the_user_took_back_or_gave_again_is_not_carried() -> None:
    taken_back = Story().user("Forget British English, use American English from now on.")
    (one,) = carried_into(taken_back.state)
    assert OTHER_RULE not in "".join(one.rules)
    assert f'"{RULE}"' in one.rules
    again = Story().user(RULE)
    (one,) = carried_into(again.state)
    assert RULE not in "".join(one.rules)


def test_words_that_may_have_changed_a_rule_stand_beside_it() -> None:
    page = page_of(Story().user("Don't commit yet.").state, FIRST)
    later = "You can commit now."
    state = Story().user(later).state
    (one,) = leave_out_settled(take_from_page(page, FIRST, RESUMED), state)
    assert one.rules == (f'On hold: "Don\'t commit yet." (said since: "{later}")',)


def test_lines_of_an_edited_page_are_carried_as_they_were_edited() -> None:
    edited = first_page().replace(TASK, "Ask Maria about the paint")
    (one,) = leave_out_settled(take_from_page(edited, FIRST, RESUMED), FINISHED)
    assert one.tasks == ("#1 Ask Maria about the paint (in progress)",)


def test_only_so_many_sessions_and_characters_are_carried() -> None:
    page = ""
    for number in range(6):
        story = Story().user(f"Work {number}.").task("1", f"Build part {number}")
        taken = take_from_page(page, f"s{number - 1}", RESUMED) if page else []
        page = page_of(story.state, f"s{number}", leave_out_settled(taken, story.state))
    taken = take_from_page(page, "s5", RESUMED)
    assert [one.session for one in taken] == ["s5", "s4", "s3"]
    assert len(taken) == MAX_SESSIONS
    tasks = tuple(f"#{number} {number} {'word ' * 50}" for number in range(60))
    kept = leave_out_settled([CarriedOver("x", RESUMED, (), tasks)], FINISHED)
    assert 0 < len(format_carried(kept)) < MAX_CHARS + 500


def test_open_tasks_that_were_taken_up_make_a_session_unfinished_and_are_offered() -> None:
    carried = carried_into(FINISHED)
    assert not is_unfinished(FINISHED)
    assert is_unfinished(FINISHED, carried)
    offer = compose_handoff_offer(FINISHED, SECOND, carried)
    assert TASK in offer
    assert OTHER_RULE in offer
    assert len(offer) <= 600


def test_what_was_only_offered_is_told_but_leaves_the_session_finished() -> None:
    carried = carried_into(FINISHED, OFFERED)
    assert f"from session {FIRST} (offered at the start)" in page_of(FINISHED, SECOND, carried)
    assert not has_open_tasks(carried)
    # A session that resumes the second one was not itself offered the first.
    page = page_of(FINISHED, SECOND, carried)
    assert [one.how for one in take_from_page(page, SECOND, RESUMED)] == [RESUMED, OFFERED]


def test_what_is_kept_is_read_as_it_was_written() -> None:
    taken = take_from_page(first_page(), FIRST, OFFERED)
    assert read_carried(format_carried(taken)) == taken
    assert read_carried("half\n## Carried over") == []
