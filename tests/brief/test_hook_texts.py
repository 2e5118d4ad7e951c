"""The summariser's text: facts, in the user's words, plain and bounded."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.hook_texts import compose_steering
from holdfast.clients.claude_code.fastpath.hook_output import check_output, format_instructions
from holdfast.events import AgentSaid, Origin, TaskChanged, TaskCreated, UserSaid
from holdfast.session.follow import follow_transcript
from holdfast.state import EMPTY_STATE, fold_all
from support.growing_session import BOUNDARY, Follow

AT = Origin("row", 0, 1, "2027-01-15T08:00:00.000Z")


def test_it_tells_every_kind_of_fact(follow: Follow) -> None:
    follow.write(BOUNDARY)
    text = compose_steering(follow_transcript(str(follow.transcript)).state, 4000)
    assert '- [r1] "House rule for this repo: money is integer cents' in text
    assert 'last request [q4]: "Go on, make the server test green and finish the list."' in text
    assert "- #2 Expose the discount in GET /cart (in progress)" in text
    assert "test_view_shows_the_discount" in text
    assert "port 8123" in text
    assert "shop/server.py" in text
    assert "Done, not to be redone: #1 Add Cart.apply_discount" in text
    assert "Uncommitted changes in the working tree: tests/test_server.py" in text
    assert 'Before that the agent had said [a8]: "test_view_shows_the_discount is still red' in text


def test_decision_next_step_and_the_question_that_waits_are_told() -> None:
    said = "I decided to use COPY because it is faster. Next I write the mapping. Which schema?"
    state = fold_all([UserSaid(AT, "Build the importer"), AgentSaid(AT, said)])
    text = compose_steering(state, 4000)
    assert '- agent: "I decided to use COPY because it is faster."' in text
    assert "Next I write the mapping. … Which schema?" in text


def test_a_withdrawn_rule_is_not_told() -> None:
    state = fold_all(
        [
            UserSaid(AT, "Always indent with tabs."),
            UserSaid(AT, "Actually, always indent with spaces, not tabs."),
        ]
    )
    text = compose_steering(state, 4000)
    assert '- [r2] "Actually, always indent with spaces, not tabs."' in text
    assert "Always indent with tabs." not in text


def test_finished_and_cancelled_work_is_not_open() -> None:
    state = fold_all(
        [
            TaskCreated(AT, "1", "Paint it"),
            TaskCreated(AT, "2", "Sand it"),
            TaskChanged(AT, "1", status="completed"),
            TaskChanged(AT, "2", status="deleted"),
        ]
    )
    text = compose_steering(state, 4000)
    assert "Open task" not in text
    assert "Done, not to be redone: #1 Paint it" in text
    assert "Cancelled: #2 Sand it" in text


def test_nothing_known_is_nothing_said() -> None:
    assert compose_steering(EMPTY_STATE, 4000) == ""


@given(st.lists(st.text(max_size=500), max_size=6), st.integers(300, 4000))
def test_it_keeps_its_bound_and_is_never_json(prompts: list[str], limit: int) -> None:
    state = fold_all([UserSaid(AT, f"Never {words}") for words in prompts])
    text = format_instructions(compose_steering(state, limit))
    assert len(text) <= limit
    assert check_output("PreCompact", text) == []
