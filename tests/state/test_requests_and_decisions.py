"""Facts that come from words: requests, decisions, next steps."""

from holdfast.brief.hook_texts import compose_steering
from holdfast.brief.pages import format_handoff_page
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
    story = Story().user("Let's go with option b.").agent("One lock would do.")
    assert story.texts("decision") == []
    story.agent("That works. We decided to use streams, because files are large.")
    (decision,) = story.state.decisions.values()
    assert (decision.by, decision.text) == (
        "agent",
        "We decided to use streams, because files are large.",
    )


def test_a_message_that_is_nothing_but_code_decides_nothing() -> None:
    story = Story().user("Show me.").agent("```\nUsing = because\n```")
    assert story.texts("decision") == []


CHOSEN = (
    "decided to use PKCE flow for public clients",
    "Chose HS256 over RS256 because we run one server.",
    "Using JWT for stateless authentication.",
    "We'll use Redis for sessions because Postgres locks under load.",
    "I decided: the orders go into SQLite.",
    "Decision: keep the old endpoint until 3.0.",
    "Going with option B, since it needs no migration.",
    "I picked Tailwind rather than plain CSS.",
    "Settled on cursor pagination instead of offsets.",
    "We opted for a monorepo to avoid version skew.",
    "Went with UUIDv7 for primary keys.",
    "Sticking with REST; GraphQL is too much here.",
    "I chose argon2id over bcrypt for the password hash.",
    "We keep the lock file in git so that CI is reproducible.",
    "**Decision**: feature flags live in the database.",
    "Changed the JWT algorithm from RS256 to HS256.",
    "We will not support Python 3.9, since tomllib is missing there.",
    "Migrations run at start-up, decided against a separate job.",
    "The retry limit is set to 5 because the gateway drops the first two.",
    "It is a small change, so I'll leave the test in place since it is explicit.",
    "The retry budget stays at 3; more would hide a dead upstream.",
    "I prefer argon2id over bcrypt here, as bcrypt truncates at 72 bytes.",
    "Switched from moment to date-fns because it tree-shakes.",
    "Rather than caching in memory, the sessions go into Redis, since workers share none.",
    "Dropped the GraphQL layer: only one client uses it.",
    "SQLite in WAL mode it is; the readers must not wait for the writer.",
    "The API will return 202 and a job id, because the export takes minutes.",
    "Timestamps are stored as UTC, formatted in the browser only, since users travel.",
    "Let's cap uploads at 20 MB: the proxy buffers them in memory.",
    "Leaving the old endpoint in place until March, since two partners still call it.",
    "The cache key now includes the locale so that translations never mix.",
    "We're not going to shard yet: one node holds five years of data.",
    "I went for exponential backoff with jitter, otherwise all clients retry at once.",
    "The retry budget lives in the gateway, not in each worker, so that one place can be tuned.",
    "Rather than patching the vendored parser I replaced it with tomllib.",
    "Invoices are rounded half-even, as the accountants' export does it.",
    "Made the importer idempotent by keying on the id, because the feed replays on reconnect.",
    "I split the settings module in two, since the CLI must start without Django.",
    "Sessions expire after 30 minutes instead of 24 hours, to satisfy the auditors.",
    "For the queue I went with SQS, because nobody wants to operate RabbitMQ.",
    "To keep the image small we compile in one stage and copy the binary into scratch.",
    "I ended up with a trie rather than a hash map, as prefixes are what users type.",
    "We'll gate the importer behind a flag because accounting wants to try it first.",
)
NOT_CHOSEN = (
    "Using the Read tool for this.",
    "Using TodoWrite to track it.",
    "Let me pick the first one.",
    "Picked up where we left off.",
    "Opted out users are skipped.",
    "We need to decide on a database.",
    "Should we use JWT for auth?",
    "I'll use the existing function.",
    "You chose option 2, so the parser is next.",
    "I changed the parser and its test.",
    "I'll run the tests now because the parser changed.",
    "The function picks the first entry since the list is sorted.",
    "The server decided to close the connection because the header was missing.",
    "I dropped the stash by accident; it is back now.",
    "The test failed because the fixture uses the old schema.",
    "The build will fail because the library is missing.",
    "Going to read the config instead of guessing.",
    "I'm going with the flow and opening the second file.",
    "I don't see the file because it is ignored by git.",
    "Using ripgrep to find the callers instead of grep.",
    "I moved on to the second file because the first one is generated.",
    "The decision is yours.",
    "I'm using the Explore agent because the repository is large.",
    "The test is skipped because the server is not running.",
    "The function returns None instead of raising.",
    "I've added a test so that you can reproduce it.",
    "I made a mistake in the regex, so the match failed.",
    "Kept failing with the same error, so I looked at the log.",
    "We could use Redis instead of Postgres.",
    "Rather than guessing, let me read the source.",
)


def test_plain_decisions_of_the_agent_are_quoted_and_none_is_made_up() -> None:
    story = Story()
    for place, said in enumerate((*CHOSEN, *NOT_CHOSEN)):
        story.agent(f"Part {place} is read.\n- {said}")
    quoted = [said.removeprefix("**") for said in CHOSEN]
    assert [d.text for d in story.state.decisions.values()] == quoted
    steering = compose_steering(story.state, 4000)
    page = format_handoff_page(story.state, "s", "2026-01-01T00:00:00Z")
    # The latest; the page quotes as many as the seed's list.
    assert [said for said in CHOSEN[-14:] if said not in steering] == []
    assert [said for said in CHOSEN[-14:] if said not in page] == []


def test_the_reason_may_stand_in_the_next_sentence() -> None:
    said = "We settled on cursor pagination. Otherwise deep pages get slow. The tests pass."
    assert Story().agent(said).texts("decision") == [
        "We settled on cursor pagination. Otherwise deep pages get slow."
    ]


def test_code_alone_decides_nothing() -> None:
    story = Story().agent("```\nfrom shop import cart  # because of using it\n```")
    assert story.texts("decision") == []


def test_a_list_of_decisions_is_one_whatever_its_sentences_say() -> None:
    said = "Where we are.\n\n## Key decisions\n- PostgreSQL for users\n- bcrypt\n\n- A cat\n\nMore."
    assert Story().agent(said).texts("decision") == ["PostgreSQL for users", "bcrypt"]


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


def test_words_that_are_all_code_decide_nothing() -> None:
    said = Story().agent("```\nDecisions: use SQLite instead of files\n```")
    assert said.state.decisions == {}
