"""Facts that come from words: requests, decisions, next steps."""

from holdfast.events import AgentSaid, CommandInvoked, SummaryGiven
from holdfast.state import requests

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
    assert story.state.position.turn == 2  # said twice is said twice
    assert story.texts("request", "open") == ["Build it."]


def test_the_first_requests_stay_however_long_the_session_gets() -> None:
    story = Story().user("The goal is a parser.")
    for number in range(200):
        story.user(f"step {number} " + "and more of it " * 100)
    assert story.texts("request")[0] == "The goal is a parser."
    assert story.texts("request")[-1].startswith("step 199")
    assert (
        sum(map(len, story.texts("request")))
        <= requests.MAX_TOTAL_CHARS + requests.MAX_REQUEST_CHARS
    )


def test_short_requests_are_all_kept() -> None:
    story = Story()
    for number in range(400):
        story.user(f"step {number}")
    assert len(story.texts("request")) == 400


def test_an_instruction_behind_a_long_paste_is_kept() -> None:
    story = Story().user("This is the log:\n" + "a line of the log\n" * 20_000 + "Fix the parser.")
    (text,) = story.texts("request")
    assert text.startswith("This is the log:")
    assert text.endswith("Fix the parser.")
    assert len(text) <= requests.MAX_REQUEST_CHARS


def test_a_slash_command_is_a_request_and_a_control_is_none() -> None:
    story = Story()
    story.tell(CommandInvoked(story.at(), "deploy", "staging", "user"))
    story.tell(CommandInvoked(story.at(), "compact", "", "user"))
    story.user("/compact keep the plan")
    assert story.texts("request") == ["/deploy staging"]
    assert story.state.position.turn == 2


def test_what_the_agent_said_is_kept_in_its_words() -> None:
    story = Story().user("Why?").agent("Because the cache is keyed by path.")
    (reply,) = story.state.replies.values()
    assert (reply.text, reply.by, reply.turn) == ("Because the cache is keyed by path.", "agent", 1)


def test_only_the_latest_summary_is_kept_and_as_nobodys_words() -> None:
    story = Story()
    story.tell(SummaryGiven(story.at(), "First summary"))
    story.tell(SummaryGiven(story.at(), "Second summary"))
    assert [(r.text, r.by) for r in story.state.replies.values()] == [("Second summary", "summary")]


def test_an_answer_to_a_question_is_a_decision_of_the_user() -> None:
    story = Story().user("PostgreSQL", "answer", "Which database?")
    assert story.texts("decision", "open") == ["Which database? → PostgreSQL"]
    assert story.facts("decision")[0].detail == "by the user"


def test_prose_decides_nothing_unless_it_says_so() -> None:
    story = Story().user("Let's go with option b.").agent("Using one lock rather than many.")
    assert story.texts("decision") == []
    story.agent("That works. We decided to use streams, because files are large.")
    (decision,) = story.state.decisions.values()
    assert (decision.by, decision.text) == (
        "agent",
        "We decided to use streams, because files are large.",
    )


def test_the_next_step_is_the_last_stated_intention() -> None:
    story = Story().agent("The parser works. Next I'll write the printer. Tests are green.")
    assert story.texts("next_step", "open") == ["Next I'll write the printer."]


def test_last_words_without_an_intention_are_kept_as_done() -> None:
    story = Story().agent("Next I'll write the printer.").agent("All of it is finished.")
    (step,) = story.facts("next_step")
    assert (step.text, step.status) == ("All of it is finished.", "done")


def test_words_of_a_subagent_are_not_the_agents_words() -> None:
    story = Story()
    story.tell(AgentSaid(story.at("sub-1"), "I'll use tabs instead of spaces because of width."))
    assert story.state.replies == {}
