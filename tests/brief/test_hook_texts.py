"""The summariser's text: facts, in the user's words, plain and bounded."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief.hook_texts import compose_steering, format_title
from holdfast.clients.claude_code.hooks import HOOKS
from holdfast.events import AgentSaid, Origin, TaskChanged, TaskCreated, TitleSet, UserSaid
from holdfast.session.follow import follow_transcript
from holdfast.state import EMPTY_STATE, fold_all
from holdfast.state.git_seen import GitSeen, SeenFile
from state.story import Story
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
    assert "M shop/server.py · ?? tests/test_server.py" in text
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


def test_3500_characters_have_room_for_tasks_files_checks_decisions_and_errors() -> None:
    story = Story().user("Build the shop.")
    for number in range(25):
        story.touched(f"/work/shop/src/part_{number}.py", "created")
    for number in range(12):
        story.task(str(number), f"Task {number} of the shop list")
    for number in range(6):
        story.ran(f"pytest tests/test_{number}.py", "2 passed in 0.1s")
    for number in range(15):
        story.agent(f"We decided on choice{number} for matter{number} of area{number}.")
    for number in range(8):
        story.ran(f"tool{number} --go", f"error: thing{number} is broken", ok=False)
    text = compose_steering(story.state, 3_500)
    assert len(text) <= 3_500
    wanted = {" (new)": 20, " of the shop list": 10, "pytest tests/": 5, "choice": 15, "thing": 8}
    assert {word: text.count(word) >= least for word, least in wanted.items()} == dict.fromkeys(
        wanted, True
    )


def test_files_that_git_does_not_name_are_told_as_edited() -> None:
    story = Story().user("Build it.")
    for number in range(20):
        story.touched(f"/work/shop/src/part_{number}.py", "created")
    for number in range(15):
        story.agent(f"We decided on choice{number} for matter{number}, as area{number} needs it.")
    seen = GitSeen("2026-01-01T10:00:00Z", "/work/shop", "abc", "main", untracked=1)
    new = seen._replace(files=(SeenFile("src/", "new"), SeenFile("src/part_3.py", "changed")))
    text = compose_steering(story.state._replace(git_seen=new), 3_500)
    told = text.partition("Also edited in this session, latest first:\n")[2].partition("\nCh")[0]
    assert [n for n in range(20) if f"part_{n}.py" not in told] == [3]
    assert [n for n in range(15) if f"area{n} needs" not in text] == []


def test_a_value_that_a_line_above_tells_is_not_listed_again() -> None:
    story = Story().user("Use port 8123 for the dev server.").agent("Port 8123 it is.")
    assert "8123" in compose_steering(story.state, 3500)
    assert "Exact values" not in compose_steering(story.state, 3500)


def test_a_check_that_fails_is_told_before_those_that_passed_later() -> None:
    story = Story().user("Build the shop.")
    failed = "FAILED tests/test_auth.py::test_login - AssertionError: signature invalid\n1 failed"
    story.ran("pytest tests/test_auth.py", failed, ok=False)
    for tool in ("mypy src", "npm run lint", "go test ./...", "cargo test", "npx jest", "tox"):
        story.ran(tool, "3 passed in 0.1s")
    text = compose_steering(story.state, 3_500)
    assert "- failed: `pytest tests/test_auth.py`: " in text
    assert "signature invalid" in text
    assert "`npm run lint`" in text.partition("Checks run before")[2]


def test_what_the_user_answered_and_typed_twice_is_told_once() -> None:
    story = Story().user("Invoices carry the year.").user("Per recipient", "answer", "Revoke how?")
    story.user("Push it to staging.").user("Push it to staging.").user("go on")
    text = compose_steering(story.state, 4000)
    assert [text.count(said) for said in ("Per recipient", "Push it", "Invoices")] == [1, 1, 1]


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
    assert "Off the list, done otherwise or dropped: #2 Sand it" in text


def test_the_sessions_name_stands_in_steering_and_brief_in_one_line() -> None:
    named = TitleSet(AT, "CR-096\n## of the board")
    state = fold_all([UserSaid(AT, "Never touch main."), named])
    assert 'The session is called "CR-096 ## of the board".' in compose_steering(state, 4000)
    assert 'of this session "CR-096 ## of the board" before' in format_title(state, "")
    assert 'session "CR-096 ## of the board", from its' in format_title(state, "", True)
    unnamed = fold_all([UserSaid(AT, "Never touch main.")])
    assert "called" not in compose_steering(unnamed, 4000)
    assert "of this session before" in format_title(unnamed, "")


def test_nothing_known_is_nothing_said() -> None:
    assert compose_steering(EMPTY_STATE, 4000) == ""


@given(st.lists(st.text(max_size=500), max_size=6), st.integers(300, 4000))
def test_it_keeps_its_bound_and_is_never_json(prompts: list[str], limit: int) -> None:
    state = fold_all([UserSaid(AT, f"Never {words}") for words in prompts])
    text = HOOKS.format_instructions(compose_steering(state, limit))
    assert len(text) <= limit
    assert HOOKS.check_output("PreCompact", text) == []


def test_what_the_user_said_has_no_gaps_and_nothing_pasted_in_it() -> None:
    story = Story().user('Call it "open step" in every file we touch. Why is it slow?')
    pasted = "\n".join(f"[{n}] GET /carts/{n} 200 {n} ms" for n in range(9))
    story.user(f"Look at the timings.\n{pasted}\nimport random\n{pasted}\nCarts get slower.")
    text = compose_steering(story.user("go on").state, 3500)
    assert '"Call it "open step" in every file we touch."' in text
    rule = 'Always end a report with "this was generated by hand".'
    assert f'- [r1] "{rule}"' in compose_steering(Story().user(rule).state, 3500)
    assert '"Carts get slower."' in text
    assert [part for part in ('""', "GET /carts", "import random") if part in text] == []


def test_a_status_from_before_a_push_no_longer_says_how_far_ahead() -> None:
    story = Story().user("push it")
    story.ran('git commit -m "Add carts"', "[main 1a2b3c4] Add carts\n 1 file changed")
    story.ran("git status", "On branch main\nYour branch is ahead of 'origin/main' by 1 commit.")
    assert "is ahead of 'origin/main'" in compose_steering(story.state, 3500)
    story.ran("git push", "To github.com:x/y.git\n   0a1b2c3..1a2b3c4  main -> main")
    text = compose_steering(story.state, 3500)
    assert '1a2b3c4 "Add carts" (then pushed)' in text
    assert "is ahead of" not in text
