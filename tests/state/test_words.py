"""Facts that come from words: requests, decisions, next steps."""

import pytest

from .story import Story


def test_the_latest_request_is_open_and_the_earlier_ones_done() -> None:
    story = Story().user("Build the parser.").user("Now the printer.")
    assert story.texts("request", "done") == ["Build the parser."]
    assert story.texts("request", "open") == ["Now the printer."]


def test_an_answer_does_not_end_the_open_request() -> None:
    story = Story().user("Build the parser.").user("JSON", "answer", "Which format?")
    assert story.texts("request", "open") == ["Build the parser."]


def test_a_prompt_that_the_client_wrote_twice_counts_once_as_a_turn_of_its_own() -> None:
    story = Story().user("Build it.").user("Build it.")
    assert story.state.moment.turn == 2  # said twice is said twice
    assert story.texts("request", "open") == ["Build it."]


def test_the_first_requests_stay_however_long_the_session_gets() -> None:
    story = Story().user("The goal is a parser.")
    for number in range(200):
        story.user(f"step {number}")
    assert story.texts("request")[0] == "The goal is a parser."
    assert story.texts("request")[-1] == "step 199"
    assert len(story.texts("request")) <= 60


def test_a_decision_of_the_agent_keeps_its_reason_and_what_was_rejected() -> None:
    story = Story().agent(
        "I'll use a byte cursor instead of re-reading the file, because the file can be large."
    )
    (decision,) = story.state.decisions.values()
    assert decision.by == "agent"
    assert decision.reason.startswith("because the file can be large")
    assert decision.rejected == "re-reading the file"


@pytest.mark.parametrize(
    "said",
    [
        "The best option is a byte cursor that survives a restart.",
        "The right way is to keep the state in one small file.",
        "The simplest solution would be a table of its own here.",
        "I chose the small table over the large one for this.",
        "We settled on four spaces for all of the sources.",
        "I'll keep the old reader so that nothing has to change.",
        "Using one lock rather than many keeps this readable.",
    ],
)
def test_the_ways_in_which_an_agent_says_what_it_decided(said: str) -> None:
    assert Story().agent(said).texts("decision", "open") == [said]


def test_an_answer_to_a_question_is_a_decision_of_the_user() -> None:
    story = Story().user("PostgreSQL", "answer", "Which database?")
    assert story.texts("decision", "open") == ["Which database? → PostgreSQL"]
    assert story.facts("decision")[0].detail == "by the user"


def test_the_same_choice_taken_anew_supersedes_the_first() -> None:
    story = Story().user("Let's use Redis for the session cache.")
    story.user("Let's use Redis for the session cache and for the queue.")
    assert story.texts("decision", "superseded") == ["Let's use Redis for the session cache."]


def test_a_question_is_no_decision() -> None:
    assert Story().user("should we go with option a or option b?").texts("decision") == []
    assert (
        Story()
        .agent("Should we go with the byte cursor or not, because of memory?")
        .texts("decision")
        == []
    )


def test_the_next_step_is_the_last_stated_intention() -> None:
    story = Story().agent("The parser works. Next I'll write the printer. Tests are green.")
    assert story.texts("next_step", "open") == ["Next I'll write the printer."]


def test_last_words_without_an_intention_are_kept_as_done() -> None:
    story = Story().agent("Next I'll write the printer.").agent("All of it is finished.")
    (step,) = story.facts("next_step")
    assert (step.text, step.standing) == ("All of it is finished.", "done")


def test_words_of_a_subagent_are_not_the_agents_words() -> None:
    from holdfast.events import AgentSaid

    story = Story()
    story.tell(AgentSaid(story.at("sub-1"), "I'll use tabs instead of spaces because of width."))
    assert story.texts("decision") == []
    assert story.texts("next_step") == []
