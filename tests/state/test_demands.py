"""What the user demands now: taken back in other words, held and released, typed or only shown."""

import json
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.hook_texts import compose_steering
from holdfast.brief.pages import format_handoff_page
from holdfast.state.rules import Rule, list_demands, list_standing

from .story import Story

BANKS = Path(__file__).parent / "banks"
PAIRS = json.loads((BANKS / "taken_back.json").read_text("utf-8"))
PASTES = json.loads((BANKS / "pasted.json").read_text("utf-8"))
CONSTRAINTS = json.loads((BANKS / "constraints.json").read_text("utf-8"))
DEMANDS = json.loads((BANKS / "demands.json").read_text("utf-8"))
CHANGED = json.loads((BANKS / "changed_later.json").read_text("utf-8"))
# Pairs that share no word, kind of value or cue: to see the change, one would have to know what a
# thing is. Both sentences stand in order in what the user typed.
MISSED = (
    "Always write docstrings for public functions.",
    "Only edit files below src/.",
    "No new dependencies.",
    "Stick to CSS modules.",
    "Amounts in cents.",
    "Always answer in one paragraph.",
    "Benutze niemals any.",
    "Dates are written as DD/MM/YYYY.",
    "Nie usuwaj testów.",
)


def list_in_force(table: dict[str, Rule]) -> list[tuple[str, str]]:
    """Those that no later words speak of."""
    return [(key, text) for key, text, later in list_standing(table) if not later]


def demanded(story: Story) -> list[str]:
    return [text for _, text in list_in_force(story.state.rules)]


@pytest.mark.parametrize("pair", PAIRS, ids=[pair["rule"] for pair in PAIRS])
def test_what_was_taken_back_in_other_words_is_not_in_force(pair: dict[str, str]) -> None:
    rule, later, other_half = pair["rule"], pair["later"], pair["other_half"]
    story = Story().user(rule).agent("Noted.")
    assert demanded(story)
    story.user("Have a look at the parser first.").agent("Done.").user(later).agent("Understood.")
    story.user("and what about the cache?")
    of_old = [text.strip(" .") for text in demanded(story) if text in rule or rule in text]
    steering = compose_steering(story.state, 4000)
    assert later in steering
    if rule in MISSED:
        return
    assert of_old == ([other_half] if other_half else [])
    told = [
        rule.text
        for one in list_demands(story.state.rules)
        for rule in (one.rule, *(since for _, since in one.since))
    ]
    assert any(text in later or later in text for text in told)
    for text in (
        steering,
        compose(story.state, 6000).text,
        format_handoff_page(story.state, "s", ""),
    ):
        assert later in text


@pytest.mark.parametrize("pasted", PASTES)
def test_what_is_pasted_or_only_shown_is_never_a_demand(pasted: str) -> None:
    assert demanded(Story().user(pasted)) == []


@pytest.mark.parametrize(("rule", "later"), DEMANDS["stand"])
def test_a_rule_stands_beside_words_that_do_not_speak_of_it(rule: str, later: str) -> None:
    story = Story().user(rule).agent("Noted.").user(later)
    assert [text for _, text, _ in list_standing(story.state.rules)] == [rule]


@pytest.mark.parametrize(("rule", "later"), DEMANDS["in_force"])
def test_a_word_in_common_is_not_the_same_subject(rule: str, later: str) -> None:
    """Written before the cues had seen them."""
    assert demanded(Story().user(rule).agent("Noted.").user(later)) == [rule]


@pytest.mark.parametrize("said", DEMANDS["remarks"])
def test_a_remark_a_request_or_a_question_demands_nothing(said: str) -> None:
    assert demanded(Story().user(said)) == []


@pytest.mark.parametrize("said", DEMANDS["rules"])
def test_an_instruction_that_holds_is_a_rule(said: str) -> None:
    assert demanded(Story().user(said))


@pytest.mark.parametrize("said", DEMANDS["holds"])
def test_what_waits_for_the_users_word_is_a_hold(said: str) -> None:
    assert list_in_force(Story().user(said).state.rules)[0][0].startswith("h")


@pytest.mark.parametrize("framing", ["{}", "For the rest of this session: {}", "From now on: {}"])
def test_side_constraints_are_recognised(framing: str) -> None:
    texts = [one["text"] for one in CONSTRAINTS]
    found = [text for text in texts if demanded(Story().user(framing.format(text)))]
    assert len(found) >= 28, set(texts) - set(found)


def test_a_hold_stands_first_in_every_text_with_its_turn() -> None:
    story = Story().user("Never log names.").user("Don't commit yet.").agent("I wait.")
    line = '- [h2] "Don\'t commit yet." (turn 2)'
    for text in (compose(story.state, 2000).text, compose_steering(story.state, 4000)):
        holds, rules = text.index(line), text.index('"Never log names."')
        assert holds < rules
    assert list_in_force(story.state.rules)[0] == ("h2", "Don't commit yet.")
    assert 'On hold: "Don\'t commit yet." (turn 2)' in format_handoff_page(story.state, "s", "")


def test_words_of_release_that_are_not_sure_are_quoted_beside_the_hold() -> None:
    story = Story().user("Show me the plan before you change anything.").agent("Here it is: ...")
    story.user("go ahead")
    assert demanded(story) == []
    told = compose(story.state, 2000).text
    assert (
        '"go ahead" (turn 2; turn 1 [h1]: "Show me the plan before you change anything.")' in told
    )


def test_words_that_allow_something_unknown_stand_under_the_rules() -> None:
    story = Story().user("Always use tabs.").user("Only work on the backend.").agent("Noted.")
    story.user("Ten minutes is fine.").user("Frontend is in scope too now.").user("go on")
    for text in (compose(story.state, 6000).text, compose_steering(story.state, 4000)):
        rules, later = text.split("Said later by the user")
        assert "in force unless words below change them" in rules
        assert rules.endswith('\n- [r2] "Only work on the backend."\n- [r1] "Always use tabs."\n')
        assert later.split("\n")[1] == '- [r3] "Frontend is in scope too now." (turn 4)'


def test_an_ordinary_request_releases_no_hold() -> None:
    story = Story().user("Don't commit yet.").user("Go ahead and fix the parser tests.")
    assert demanded(story) == ["Don't commit yet."]


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        (
            "One rule: no new dependencies. Add a retry to the client.",
            ["One rule: no new dependencies."],
        ),
        ("Rule: answer in metric units. Plan the roof.", ["Rule: answer in metric units."]),
        (
            "Rule: never paint on wet floor. My cat is called Momo.",
            ["Rule: never paint on wet floor."],
        ),
        (
            "House rules: round half up. No new dependencies. Please add a health endpoint.",
            ["House rules: round half up.", "No new dependencies."],
        ),
        ("CONSTRAINT: the budget is 500. Count the racks.", ["CONSTRAINT: the budget is 500."]),
    ],
)
def test_an_announcement_covers_its_own_words_and_not_the_request_behind(
    said: str, rules: list[str]
) -> None:
    assert demanded(Story().user(said)) == rules


def test_what_the_user_marks_is_told_though_it_is_no_rule() -> None:
    story = Story().user("FACT: the staging host is kiwi-4.").user("Please fix the login.")
    assert '"FACT: the staging host is kiwi-4."' in compose_steering(story.state, 4000)
    assert demanded(story) == []


def test_typed_words_without_a_known_cue_stand_in_the_steering() -> None:
    story = Story().user("Álltaf skrifa athugasemdir á íslensku.").agent("Já.").user("go on")
    assert "Álltaf skrifa athugasemdir á íslensku." in compose_steering(story.state, 4000)


def test_what_a_thing_to_be_written_should_do_is_no_rule() -> None:
    said = "Write a prompt for the reviewer. It should never edit files and always answer in JSON."
    assert demanded(Story().user(said)) == []


def test_a_request_that_says_when_takes_nothing_back() -> None:
    story = Story().user("Never force push.").user("Please push now.")
    assert demanded(story) == ["Never force push."]


@pytest.mark.parametrize("pair", CHANGED, ids=[pair["said"] for pair in CHANGED])
def test_nothing_is_told_as_in_force_without_what_was_said_of_it_since(
    pair: dict[str, str],
) -> None:
    """Written before the cues had seen them: where a sentence is not known as a rule, both stand
    in order."""
    story = Story().user(pair["said"]).agent("Noted.").user("Look at the parser first.")
    story.agent("Done.").user(pair["later"]).agent("Understood.").user("and the cache?")
    assert pair["said"] in MISSED or not any(pair["old"] in text for text in demanded(story))
    for text in (
        compose(story.state, 6000).text,
        compose_steering(story.state, 4000),
        format_handoff_page(story.state, "s", ""),
    ):
        assert pair["new"] in text
        assert pair["half"] in text


def test_words_on_the_same_thing_stand_beside_a_rule_and_end_nothing() -> None:
    story = Story().user("Never push to main.").agent("Noted.").user("The main push log was long.")
    table = story.state.rules
    assert list_in_force(table) == []
    assert list_standing(table) == [("r1", "Never push to main.", "The main push log was long.")]
    beside = '- [r2] "The main push log was long." (turn 2; turn 1 [r1]: "Never push to main.")'
    for text in (
        compose(story.user("go on").state, 4000).text,
        compose_steering(story.state, 4000),
    ):
        assert beside in text


def test_what_leans_on_the_part_that_was_taken_back_is_no_rule_by_itself() -> None:
    story = Story().user("NOTE: The token is abc-12 and must never be shared.").agent("Noted.")
    story.user("Update: the token has been rotated to def-34.")
    assert not any(
        one.rule.text == "must never be shared" for one in list_demands(story.state.rules)
    )


def test_the_same_words_with_another_measure_take_the_place_of_the_old_ones() -> None:
    story = Story().user("FACT: The deadline is 2027-01-02.").agent("Noted.")
    story.user("FACT: The deadline is 2027-03-04.")
    told = [one for one in list_demands(story.state.rules) if not one.earlier]
    assert [one.rule.text for one in told] == ["FACT: The deadline is 2027-03-04."]


def test_a_measure_named_in_a_remark_takes_nothing_back() -> None:
    story = Story().user("Don't rename fields.").agent("Noted.")
    story.user("The limit is 146 since the old switch drops longer frames.")
    assert list_in_force(story.state.rules) == [("r1", "Don't rename fields.")]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("House rules: use tabs. The build is red by the way.", ["House rules: use tabs."]),
        ("Regeln: keine neuen Pakete. Bau jetzt die Seite.", ["Regeln: keine neuen Pakete."]),
        (
            "RULES:\n- no new deps\n- short functions\n\nBuild it.",
            ["no new deps", "short functions"],
        ),
        ("Reviewer comment: please always use const here.", []),
        ("Slack from Kim: do not release before Tuesday, wait for QA.", []),
    ],
)
def test_an_announcement_covers_its_sentence_or_its_list(said: str, found: list[str]) -> None:
    assert demanded(Story().user(said)) == found
