"""Commands, identifiers, subagents, background jobs, skills and the session itself."""

import pytest

from holdfast.events import (
    CommandInvoked,
    CommandRan,
    FileTouched,
    JobEnded,
    JobStarted,
    LinkSeen,
    SessionSeen,
    SubagentEnded,
    SubagentStarted,
    TitleSet,
    UsageMeasured,
)
from holdfast.state.shell import effective_commands

from .story import Story


def test_a_command_keeps_its_own_last_word() -> None:
    story = Story().ran("npm install", "resolving\nadded 31 packages in 2s")
    (command,) = story.facts("command", "done")
    assert command.detail == "ok, run 1x: added 31 packages in 2s"


def test_a_chain_is_several_commands_and_the_last_one_reached_failed() -> None:
    story = Story().ran("git add -A && git push", "error: failed to push", ok=False)
    outcome = {fact.text: fact.status for fact in story.facts("command")}
    assert outcome == {"git add -A": "done", "git push": "open"}


def test_what_a_look_up_printed_is_not_the_outcome_of_the_command_before_it() -> None:
    story = Story().ran("git add -A && git status", "On branch main\n\tmodified: a.py")
    assert [fact.detail for fact in story.facts("command")] == ["ok, run 1x"]


def test_what_is_printed_before_a_silent_look_is_the_outcome_and_may_say_that_it_failed() -> None:
    story = Story().ran("ship status || true", '{\n  "state": "green"\n}')
    story.ran("ship start || true", '{\n  "success": false,\n  "error": "no session"\n}')
    found = {fact.text: (fact.status, fact.detail) for fact in story.facts("command")}
    assert found["ship status"] == ("done", 'outcome not shown, run 1x: { "state": "green" }')
    assert found["ship start"] == ("open", 'failed, run 1x: "error": "no session"')


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("R=acme/shop\ngh pr edit 4 -R $R", ["R=acme/shop && gh pr edit 4 -R $R"]),
        ("cd /w; A=1; make $A ${B}", ["A=1 && cd /w && make $A ${B}"]),
        ("A=1; A=$(date); make $A", ["make $A"]),
        ("A=1; for A in 1 2; do make $A; done", ["make $A"]),
    ],
)
def test_a_command_is_kept_with_the_plain_variables_it_uses(line: str, done: list[str]) -> None:
    assert Story().ran(line).texts("command") == done


def test_look_ups_filters_and_redirections_are_no_commands() -> None:
    story = Story().ran("cd /r && ls -la && cat a.py | grep x && git status 2>/dev/null", "…")
    assert story.texts("command") == []


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("make  2>&1", ["make"]),
        ("sh ./check.sh", ["sh ./check.sh"]),
        ("sh a.sh; sh b.sh", ["sh a.sh", "sh b.sh"]),
        ("make > out 2>&1", ["make > out"]),
        ("make >& 2>&1", ["make"]),
        ("make </dev/null 2>&1", ["make"]),
        ("make 2>&1 > out", ["make > out"]),
        ("make -C a2>&1", ["make -C a"]),
        (
            "git commit -F - <<'EOF' && make\nrm a; rm b\nEOFS\nEOF\ngit push",
            ["git commit -F - <<EOF", "make", "git push"],
        ),
        ("git commit -F - <<EOF\nrm a; rm b", ["git commit -F - <<EOF"]),
        ("ship \\\n  --to 'the shop' \\\n  --now", ["ship --to 'the shop' --now"]),
        (
            "token=$(curl -s -X POST http://shop/in | jq -r .t) && sell",
            ["curl -s -X POST http://shop/in", "sell"],
        ),
        ('last="$(make count)"', ["make count"]),
        ("last=$(git log -1 --format=%h) && sum=$(( 1 + 2 ))", []),
        ("A=1 B='2 3' make", ["make"]),
        ('git commit -m "a | b \\" ; c" && make', ['git commit -m "a | b \\" ; c"', "make"]),
    ],
)
def test_what_is_done_is_told_without_noise(line: str, done: list[str]) -> None:
    assert list(effective_commands(line)) == done


def test_a_command_run_again_is_counted() -> None:
    story = Story().ran("make deploy", "ok").ran("make deploy", "boom", ok=False)
    (command,) = story.state.commands.values()
    assert (command.times, command.failures, command.ok) == (2, 1, False)


def test_a_piped_check_that_fails_is_a_failed_command() -> None:
    story = Story().ran("pytest 2>&1 | tail -3", "1 failed in 0.1s")
    assert [fact.status for fact in story.facts("command")] == ["open"]


@pytest.mark.parametrize(
    ("said", "identifier"),
    [
        ("Use port 8123 for the dev server", "port 8123"),
        ("it runs on localhost:5432", "port 5432"),
        ("see https://example.com/issues/7.", "url https://example.com/issues/7"),
        ("this is ENT-221", "ticket ENT-221"),
    ],
)
def test_exact_values_in_the_users_words(said: str, identifier: str) -> None:
    story = Story().user(said)
    assert identifier in story.texts("identifier", "open")


@pytest.mark.parametrize("said", ["UTF-8 and SHA-256", "port 99999", "version 1.2.3", "deadbeef"])
def test_what_only_looks_like_an_identifier(said: str) -> None:
    assert Story().user(said).texts("identifier") == []


def test_an_environment_setting_typed_in_a_command() -> None:
    story = Story().ran("HOLDFAST_CORPUS=/data/corpus make bench", "done")
    assert "environment HOLDFAST_CORPUS=/data/corpus" in story.texts("identifier")


def test_what_was_said_about_a_value_beats_where_it_scrolled_past() -> None:
    story = Story().user("Use port 8123 for the dev server").ran("make up", "bound localhost:8123")
    (port,) = [fact for fact in story.facts("identifier") if fact.text == "port 8123"]
    assert port.detail == "Use port 8123 for the dev server"


def test_the_words_around_a_value_begin_with_a_whole_word() -> None:
    lead = "subtotal_cents, discount_cents and total_cents are all that the view should give; "
    story = Story().user(lead + "use port 8123 for the dev server, 8000 belongs to the proxy here")
    context = story.state.identifiers["port 8123"].context
    assert context.startswith("…are all that the view")
    assert "port 8123" in context


def test_the_words_around_a_value_end_with_a_whole_word() -> None:
    other = "https://other.example.org/" + "long/" * 30
    story = Story().user(f"See https://shop.example.org/cart and then {other} for the rest")
    context = story.state.identifiers["url https://shop.example.org/cart"].context
    assert context == "See https://shop.example.org/cart and then…"


def test_a_link_that_the_client_recorded() -> None:
    story = Story()
    story.tell(LinkSeen(story.at(), "pull request a/b#7", "https://github.com/a/b/pull/7"))
    assert story.texts("identifier") == ["link https://github.com/a/b/pull/7"]


def test_a_subagent_runs_until_its_report_comes_back() -> None:
    story = Story()
    story.tell(SubagentStarted(story.at(), "call-1", "Explore", "find the parser", "…"))
    assert story.texts("subagent", "open") == ["Explore: find the parser"]
    story.tell(SubagentEnded(story.at(), "call-1", True, "It is in parse.go."))
    (done,) = story.facts("subagent", "done")
    assert done.detail == "It is in parse.go."


def test_a_subagent_that_failed_is_cancelled() -> None:
    story = Story()
    story.tell(SubagentStarted(story.at(), "call-1", "", "find", ""))
    story.tell(SubagentEnded(story.at(), "call-1", False, "killed"))
    assert [fact.status for fact in story.facts("subagent")] == ["cancelled"]


def test_what_a_subagent_did_is_known_of_it_and_not_of_the_main_thread() -> None:
    story = Story()
    story.tell(SubagentStarted(story.at(), "sub-1", "dev", "implement", ""))
    story.tell(FileTouched(story.at("sub-1"), "/r/a.py", "changed", True, "x"))
    story.tell(CommandRan(story.at("sub-1"), "pytest", "1 failed in 0.1s", False, 1))
    assert story.state.subagents["sub-1"].changed == ("/r/a.py",)
    assert story.state.subagents["sub-1"].actions == 2
    assert story.texts("file") == story.texts("test") == story.texts("error") == []
    assert story.state.position.step == 0


def test_a_background_job_from_start_to_end() -> None:
    story = Story()
    story.tell(JobStarted(story.at(), "b1", "npm run dev"))
    assert story.texts("subagent", "open") == ["job: npm run dev"]
    story.tell(JobEnded(story.at(), "b1", None, "stopped"))
    assert story.texts("subagent", "done") == ["job: npm run dev"]


def test_skills_keep_the_order_of_first_use_and_controls_are_none() -> None:
    story = Story()
    for name in ("review", "compact", "deploy", "review"):
        story.tell(CommandInvoked(story.at(), name, "", "user"))
    assert story.texts("skill") == ["/review", "/deploy"]
    assert story.state.skills["review"].times == 2


def test_usage_is_forgotten_at_a_compaction_until_the_next_answer() -> None:
    story = Story()
    story.tell(UsageMeasured(story.at(), "m", 150_000, 10))
    story.compacted()
    assert (story.state.usage.context, story.state.usage.model) == (0, "m")
    assert story.state.position.epoch == 1


def test_the_session_knows_its_title_its_folders_and_its_times() -> None:
    story = Story()
    story.tell(SessionSeen(story.at(), "s1", "/r", "main", "claude-code 2"))
    story.tell(SessionSeen(story.at(), "s1", "/r/web", "main", "claude-code 2"))
    story.tell(TitleSet(story.at(), "A parser"))
    place = story.state.session
    assert (place.title, place.cwd, place.folders) == ("A parser", "/r/web", ("/r", "/r/web"))
    assert place.started < place.updated


def test_the_end_of_a_long_document_is_not_told_as_what_came_of_a_command() -> None:
    story = Story().ran("gh api repos/o/r/pulls", '{"body": "' + "x " * 3000 + '"}')
    (command,) = story.facts("command")
    assert command.detail == "ok, run 1x"


def test_a_last_line_that_a_look_up_behind_a_pipe_printed_is_not_the_commands() -> None:
    (command,) = Story().ran("make docs; git log --oneline | head -1", "1a2b Tidy").facts("command")
    assert "Tidy" not in command.detail
