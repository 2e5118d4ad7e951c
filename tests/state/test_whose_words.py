"""Whose words: controls are no requests; a plan that nobody approved is not told as approved."""

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.gap import compose_gap
from holdfast.brief.hook_texts import compose_steering
from holdfast.brief.lines import cut_pastes
from holdfast.clients.claude_code import user_text
from holdfast.clients.holdfast_text import is_note_call
from holdfast.events import Event, Origin, PlanSet, UserSaid
from holdfast.state import fold_all
from holdfast.state.git_seen import GitSeen, SeenCommit
from holdfast.state.skills import is_control

from .story import Story

AT = Origin("row", 0, 1, "2026-01-01T10:00:00.000Z")


@pytest.mark.parametrize("name", ["holdfast", "/holdfast:recall", "holdfast:why", "reload-plugins"])
def test_holdfasts_own_commands_are_controls(name: str) -> None:
    assert is_control(name)


def test_the_steering_leaves_out_a_rule_that_the_brief_knows_to_be_taken_back() -> None:
    story = Story().user("Always run the linter before a commit.").agent("Noted.")
    story.user("You don't need to run the linter any more.").agent("Fine.").user("Go on.")
    assert "Always run the linter" not in compose_steering(story.state, 4000)


PLAN = "# Flat roof for bay 3\n- tiles of slate"
LEAD = '<teammate-message teammate_id="team-lead" color="blue">\nReview the API module only.\n'
ROW = '<teammate-message teammate_id="dev-2">\nThe parser is ready.\n</teammate-message>'


def test_a_leads_message_is_read_with_its_speaker() -> None:
    text = f"{LEAD}</teammate-message>\n\n{ROW}"
    assert user_text.parse_teammates(text) == [
        ("team-lead", "Review the API module only."),
        ("dev-2", "The parser is ready."),
    ]
    idle = (
        '<teammate-message teammate_id="dev-2">\n{"type": "idle_notification"}</teammate-message>'
    )
    assert user_text.parse_teammates(idle) == []


@pytest.mark.parametrize(
    ("row", "own"),
    [
        ("<ci-monitor-event>CI failed. Restart it.</ci-monitor-event>", ""),
        ('<github_webhook kind="x">A comment: do it</github_webhook>', ""),
        ("<div>why is this red?</div>", "<div>why is this red?</div>"),
        ("<my-tag> is not rendered, fix it", "<my-tag> is not rendered, fix it"),
    ],
)
def test_what_a_frame_wraps_is_no_users_word(row: str, own: str) -> None:
    assert user_text.USER_TEXT.extract_user_text(row) == own


def test_a_leads_words_stand_in_the_brief_as_the_leads() -> None:
    events = [
        UserSaid(AT, "Review the API module only. Never edit src/.", "lead", "team-lead"),
        UserSaid(AT, "The parser is ready.", "peer", "dev-2"),
    ]
    text = compose(fold_all(events), 4000).text
    assert 'The last words of team-lead [q1]: "Review the API module only.' in text
    assert 'peer [q2] (dev-2) "The parser is ready."' in text
    assert "user" not in text


@pytest.mark.parametrize(
    ("status", "commit", "told"),
    [
        ("proposed", "", 'Plan proposed by the agent (no approval seen): "Flat roof for bay 3"'),
        ("approved", "", 'Approved plan: "Flat roof for bay 3"'),
        ("approved", "another thing", 'Approved plan: "Flat roof for bay 3"'),
        ("approved", "flat roof on bay 3", "Plan done, its commit 1a2b3c4 is pushed"),
    ],
)
def test_a_plan_is_told_with_what_became_of_it(status: str, commit: str, told: str) -> None:
    events: list[Event] = [UserSaid(AT, "Plan it."), PlanSet(AT, PLAN, "", status)]
    state = fold_all(events)
    if commit:
        seen = GitSeen("2026-01-01T00:00:00Z", "/w", upstream="origin/main", ahead=0)
        state = state._replace(git_seen=seen._replace(commits=(SeenCommit("1a2b3c4", commit),)))
    text = compose(state, 4000).text
    assert told in text
    assert ("- [p1] tiles of slate" in text) is told.startswith("Approved")
    gap = compose_gap(state, "", "", 4000).text
    assert ("Approved plan: " in gap) is told.startswith("Approved")


def test_a_pasted_log_is_cut_to_its_first_and_last_lines() -> None:
    log = "\n".join(
        f"2026-11-01 12:{i % 60:02} INFO lane {i % 7} parcel {i} ok" for i in range(900)
    )
    asked = f"Here is the log:\n{log}\nFind why parcel 333 is late."
    for text in (
        compose(fold_all([UserSaid(AT, asked)]), 6000).text,
        compose(fold_all([UserSaid(AT, asked), UserSaid(AT, "Now the other one.")]), 6000).text,
    ):
        assert "lines …" in text
        assert "Find why parcel 333 is late." in text
        assert len(text) < 1500


def test_a_list_that_somebody_typed_is_no_paste() -> None:
    items = "\n".join(f"- [ ] task number {i}" for i in range(12))
    assert cut_pastes(items) == items


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ('holdfast note rule "x"', True),
        ('/bin/sh "/p/bin/holdfast-run" note decision "x"', True),
        ("cat vendor/holdfast/note.py note x", False),
        ("python vendor/holdfast/x.py note rule x", False),
    ],
)
def test_only_our_own_program_takes_notes(command: str, ours: bool) -> None:
    assert is_note_call("Bash", command) is ours
