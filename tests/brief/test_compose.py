"""The message: the words of user and agent, where it stood, the state of the work."""

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.corrections import find_corrections
from holdfast.brief.hook_texts import compose_steering
from holdfast.brief.statements import value_line
from holdfast.events import (
    CommandInvoked,
    Origin,
    PlanSet,
    SessionSeen,
    TaskCreated,
    ToolRan,
    ToolRefused,
    UserSaid,
)
from state.story import Story

LOG = "2026-01-01 12:00:00 worker-7 wrote part {n} of the nightly dump to bucket {n}\n"
UNCOMMITTED = "uncommitted in the working tree as far as seen"


def text(story: Story, max_chars: int = 6000) -> str:
    return compose(story.state, max_chars).text


def work(turns: int) -> Story:
    """A session with more to tell than fits anywhere."""
    story = Story()
    for n in range(turns):
        story.user(f"Please add endpoint_{n} to the router and keep field_{n} optional.")
        story.touched(f"/w/src/router_{n}.py", "changed", f"def endpoint_{n}(): pass")
        story.agent(
            f"Endpoint_{n} is registered in router_{n}.py. The handler_{n} reads field_{n} from the"
            f" query. I left cache_{n} out because the proxy already caches it."
        )
    return story


def test_a_short_answer_stands_with_what_it_answers() -> None:
    story = Story().user("How do we store it?")
    story.agent("Option 1 is a table of its own. Option 2 is a column. Which one?").user("2")
    assert 'The user\'s last request [q2]: "2"' in text(story)
    assert "Before that the agent had said [a1]:" in text(story)
    assert "Option 2 is a column. … Which one?" in text(story)


def test_what_the_agent_said_last_is_told() -> None:
    story = Story().user("Fix the parser").agent("The parser is fixed; next I will run the suite.")
    assert "The agent's last words [a1]: \"The parser is fixed; next I will run" in text(story)


def test_a_failing_test_that_was_only_printed_reaches_agent_and_summariser() -> None:
    printed = "FAILED tests/test_refund.py::test_half - assert 3 == 4\n1 failed in 0.1s"
    story = Story().user("Make it green").ran("cat build.log; exit 1", printed, ok=False)
    line = "- failed: `cat build.log; exit 1`: tests/test_refund.py::test_half"
    assert text(story).count("cat build.log") == 1
    assert line in text(story)
    assert line in compose_steering(story.state, 3000)
    assert line not in text(story.ran("pytest -q", "4 passed in 0.1s"))


def test_a_slash_command_is_the_last_request() -> None:
    story = Story().user("Build it").agent("It is built.")
    story.tell(CommandInvoked(story.at(), "deploy", "staging", "user"))
    assert 'The user\'s last request [q2]: "/deploy staging"' in text(story)
    assert "Before that the agent had said" not in text(story)  # it needs no other words


def test_every_prompt_of_an_ordinary_session_is_quoted() -> None:
    story = Story()
    for n in range(30):
        story.user(f"Remember that service {n} listens on socket s{n}.").agent("Noted.")
    told = text(story)
    assert [n for n in range(30) if f"service {n} listens" not in told] == []


def test_an_instruction_behind_a_long_paste_survives() -> None:
    paste = "".join(LOG.format(n=n) for n in range(6000))
    assert len(paste) > 400_000
    story = Story().user(f"Here is what it wrote:\n{paste}Find out why part 17 is missing.")
    story.user("Look at the other thing first.").agent("Looking.")
    assert "Find out why part 17 is missing." in text(story, 4000)
    assert "Here is what it wrote:" in text(story, 4000)


def test_twenty_requirements_in_one_prompt_survive() -> None:
    wanted = [f"The report must show column {n} as metric_{n}." for n in range(20)]
    story = Story().user("Build the report:\n" + "\n".join(f"- {one}" for one in wanted))
    story.agent("I will start with the first columns.").user("ok go on")
    told = text(story)
    assert [one for one in wanted if one not in told] == []


@pytest.mark.parametrize(
    "said",
    [
        "Bitte keine neuen Abhängigkeiten, und die Namen bleiben englisch.",
        "新しい依存関係は追加しないでください",
        "Usa siempre el puerto 6033 y no instales nada global.",
        "Не меняй публичный интерфейс библиотеки.",
    ],
)
def test_the_users_words_survive_in_any_language(said: str) -> None:
    story = work(12)
    story.user(said)
    for n in range(12, 24):
        story.user(f"Now add endpoint_{n}.").agent(f"Added endpoint_{n}.")
    assert said in text(story, 4000)


def test_a_correction_stands_beside_what_it_corrects() -> None:
    story = Story().user("Use port 5173 for the preview.").agent("It runs there.")
    story.user("Sorry, port 5188 for the preview, 5173 is taken.").agent("Moved.").user("Go on.")
    (line,) = [line for line in text(story).split("\n") if "5173 for the preview" in line]
    assert '(said before that: "Use port 5173 for the preview.")' in line
    assert "port 5188" in line


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Sort the list by name.", "Change of mind: sort by date."),
        ("Wait 5 seconds between tries.", "Make it 20 seconds between tries."),
        ("Call the command fetch.", "Let's call it pull rather than fetch."),
        (
            "Let's go with tall-v8 as the format of ledger files.",
            "Let's go with wide-v9 as the format of ledger files.",
        ),
        ("Antworte auf Deutsch.", "Doch lieber nicht mehr auf Deutsch."),
    ],
)
def test_a_later_word_takes_the_place_of_an_earlier_one(earlier: str, later: str) -> None:
    (found,) = find_corrections([earlier, "and a test for the parser, please", later])
    assert (found.earlier, found.later, found.taken, found.left) == (0, 2, earlier, "")


def test_what_was_not_taken_back_goes_on_standing() -> None:
    said = ["Never edit the schema, and always answer in French.", "No more French, please."]
    (found,) = find_corrections(said)
    assert (found.taken, found.left) == ("always answer in French.", "Never edit the schema")


@pytest.mark.parametrize(
    "said",
    [
        ["Add a test for the parser.", "Add a test for the printer."],
        ["The port is 8080.", "The timeout is 30 seconds."],
        ["Fix the login form.", "thanks, looks good"],
        ["hmm, the release test is red and I cannot merge", "hmm, failed again"],
        ["Service 1 listens on socket s1.", "Service 2 listens on socket s2."],
        ["Is there anything that would explain this?", "no, I did not say commit anything"],
        [
            "Let's go with tall-v8 as the format of ledger files.",
            "Let's go with wide-v9 as the format of voucher files.",
        ],
    ],
)
def test_another_request_corrects_nothing(said: list[str]) -> None:
    assert find_corrections(said) == []


def test_one_thing_after_another_in_the_same_words_is_no_correction() -> None:
    bugs = [f"Fix bug {number} in the parser." for number in (11, 18, 20, 31)]
    assert find_corrections(bugs) == []
    (one,) = find_corrections(["Wait 5 seconds for the lock.", "Wait 20 seconds for the lock."])
    assert (one.later, one.earlier) == (1, 0)


def test_a_question_on_the_subject_corrects_nothing() -> None:
    said = ["Write the release notes for the tray.", "How can we make it show up in the tray?"]
    assert find_corrections(said) == []
    asked = ["Sort the list by name.", "Can you sort it by date instead?"]
    assert len(find_corrections(asked)) == 1


def test_a_word_of_the_whole_session_is_no_subject() -> None:
    said = [f"Vault {name} is empty after the login." for name in ("one", "two", "three", "four")]
    said += ["Look into the vault.", "Actually the vault was a new account."]
    assert find_corrections(said) == []


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("ボタンの色は青にして。", "やっぱりボタンの色は緑にして。"),
        ("按钮颜色用蓝色。", "按钮颜色改成绿色。"),
        ("목록은 이름순으로 정렬해 주세요.", "아니요, 날짜순으로 정렬해 주세요."),
        ("استخدم اللون الأزرق للأزرار.", "بل استخدم اللون الأخضر للأزرار."),
    ],
)
def test_corrections_are_seen_without_spaces_and_latin_letters(earlier: str, later: str) -> None:
    (found,) = find_corrections([earlier, "ok", later])
    assert (found.earlier, found.later) == (0, 2)


def test_endings_that_every_sentence_has_are_no_subject() -> None:
    assert find_corrections(["ログを消してください。", "やっぱりテストを書いてください。"]) == []


def test_what_was_taken_back_is_neither_a_rule_nor_a_value() -> None:
    story = Story().user("Never edit api.ts, and always answer in Dutch. Use port 7411 for tests.")
    story.agent("Understood.").user("English again for your answers, no more Dutch.")
    story.agent("Fine.").user("Actually use socket 9 for tests.").agent("Done.").user("Go on.")
    told = text(story)
    assert '- [r1] "Never edit api.ts"' in told
    assert '] "always answer in Dutch' not in told
    assert "- [i1] port 7411" not in told
    assert '(said before that: "Use port 7411 for tests.")' in told


def test_the_message_of_a_commit_is_told_where_it_was_made() -> None:
    story = Story().user("Fix the importer")
    story.tell(SessionSeen(story.at(), "s", "/w", "main", "claude-code 2.1.325"))
    story.touched("/w/a.py", "changed", "a = 1")
    story.ran(
        "git commit -am 'Read both forms' -m 'The old form has no header, so the first row decides"
        " which\nof the two it is. Rejected: asking the user.'",
        "[main 1234abc] Read both forms\n 1 file changed",
    )
    story.user("And now the exporter").agent("I am looking at it.")
    (line,) = [line for line in text(story).split("\n") if "commit [g1]" in line]
    said = "The old form has no header, so the first row decides which of the two it is."
    assert f'user [q1] "Fix the importer" commit [g1] (1234abc) "{said} Rejected: asking' in line


def test_a_pull_request_is_told_that_the_user_named_by_its_number() -> None:
    story = Story().user("Go on with 4711")
    story.tell(SessionSeen(story.at(), "s", "/w", "topic", "claude-code 2.1.325"))
    story.touched("/w/a.py", "changed", "a = 1")
    story.ran("./plan", "see https://github.com/acme/shop/pull/4700")
    assert "pull request seen" not in text(story)  # scrolled past once
    story.ran("./plan 4711", "see https://github.com/acme/shop/pull/4711")
    assert "pull request seen: https://github.com/acme/shop/pull/4711" in text(story)


def test_the_head_of_a_table_is_not_quoted_without_its_rows() -> None:
    story = Story().user("Compare them")
    story.agent(
        "| Package | Before | After |\n|---|--:|--:|\n| tray | 160 | 157 |\nBoth are smaller."
    )
    story.user("thanks").agent("Glad to.")
    told = text(story)
    assert "tray | 160 | 157" in told
    assert "Package" not in told


def test_what_the_reader_sees_anyway_is_not_told() -> None:
    story = Story().user("We keep all prices in cents.").agent("Understood.")
    seen = "user: We keep all prices in cents.\nagent: Understood."
    assert compose(story.state, 4000, visible=seen).text == ""


def test_of_git_what_it_printed_is_quoted_and_what_is_not_known_left_out() -> None:
    story = Story().user("Do it")
    story.tell(SessionSeen(story.at(), "s", "/w", "main", "claude-code 2.1.325"))
    story.touched("/w/a.py", "created", "a = 1").touched("/w/b.py", "changed", "b = 1")
    assert "Git, as last printed: branch main (" in text(story)
    assert f"Changed in this session, {UNCOMMITTED}: /w/b.py, /w/a.py" in text(story)
    story.ran("git add a.py && git commit -m 'Add a'", "[main 1234abc] Add a\n 1 file changed")
    told = text(story)
    assert '): 1234abc "Add a" (not pushed as far as seen)\n' in told
    assert "Changed" not in told
    assert "ommitted" not in told
    story.ran("git push", "To github.com:x/y\n   0000000..1234abc  main -> main")
    story.touched("/w/b.py", "changed", "b = 2")
    told = text(story)
    assert '1234abc "Add a" (then pushed)' in told
    assert 'push "0000000..1234abc main -> main"' not in told
    assert f"Changed since that commit, {UNCOMMITTED}: /w/b.py" in told


def test_nothing_is_called_uncommitted_where_a_command_or_somebody_may_have_committed_it() -> None:
    def tell(story: Story) -> str:
        return text(story.touched("/w/a.py", "changed", "a = 1"))

    assert UNCOMMITTED in tell(Story().user("Do it").ran("make test", "ok"))
    quiet = Story().user("Do it").touched("/w/b.py", "changed", "b = 1")
    quiet.ran("git commit -qam 'Add b'", "")
    assert f"Changed in this session, {UNCOMMITTED}: /w/a.py" in tell(quiet)
    assert "before `git commit -qam 'Add b'`, whose outcome was not seen: /w/b.py" in text(quiet)
    for command in (
        "erk pr submit",
        "scripts/release.sh 2",
        "gt modify -a",
        "npx changeset publish",
    ):
        story = Story().user("Do it").touched("/w/a.py", "changed", "a = 1").ran(command, "")
        assert "uncommitted" not in text(story)
    assert "uncommitted" not in text(quiet.user("I committed it"))
    assert "uncommitted" in tell(Story().user("Do it").ran("rm docs/plan-submit.md", ""))
    for words in ("Read committed.go first", "Total committed:     94", "It lists committed work."):
        assert UNCOMMITTED in text(Story().touched("/w/a.py", "changed", "a = 1")
                                                    .user(words))  # fmt: skip


def test_a_commit_or_push_that_failed_is_none() -> None:
    story = Story().user("Do it").touched("/w/a.py", "changed", "a = 1")
    story.ran("git commit -am x", "ruff....Failed\n- hook id: ruff", ok=False)
    assert f"{UNCOMMITTED}: /w/a.py" in text(story)
    story.ran("git commit -am y", "[main 1234abc] y\n 1 file changed")
    story.ran("git push", "error: failed to push some refs to 'x'", ok=False)
    assert '1234abc "y" (not pushed as far as seen)' in text(story)
    story.ran("git fetch -q && git push -q", "remote: denied", ok=False)
    assert "not pushed as far as seen" not in text(story)


def test_that_nothing_was_checked_is_never_said() -> None:
    story = Story().user("Do it").ran("./bin/acceptance", "0 problems")
    assert "none seen" not in text(story.touched("/w/a.py", "changed", "a = 1"))


def test_what_was_sent_outside_is_told_by_its_numbers_and_a_failure_is_not() -> None:
    story = Story().user("Answer the review")
    for number in (270001, 270002):
        story.ran(f"gh api repos/x/y/pulls/7/comments/{number}/replies -f body='Done'", "{}")
    story.ran("gh pr create --title 'Add a'", "https://github.com/x/y/pull/8")
    story.ran("gh pr comment 9 --body 'Hi'", "HTTP 404: Not Found", ok=False)
    told = text(story)
    assert "comments/270002/replies`, likewise for: 270001, 270002" in told
    assert "`gh pr create --title 'Add a'` → https://github.com/x/y/pull/8" in told
    assert "] `gh pr comment 9" not in told.partition("What works")[0].partition("Sent")[2]
    for number, title in ((4, "Split it"), (5, "Name it")):
        story.ran(f"gh issue create --title '{title}'", f"https://github.com/x/y/issues/{number}")
    told = text(story)
    assert "'Split it'` → https://github.com/x/y/issues/4" in told
    assert "'Name it'` → https://github.com/x/y/issues/5" in told


def test_a_pull_request_is_a_draft_until_it_is_marked_ready() -> None:
    story = Story().user("Open it")
    story.tell(SessionSeen(story.at(), "s", "/w", "side", "claude-code 2.1.325"))
    story.ran("gh pr create --draft --title 'Add a'", "https://github.com/x/y/pull/8")
    assert "pull/8 (a draft, as far as seen)" in text(story)
    assert "a draft, as far as seen" not in text(story.ran("gh pr ready 8", "marked as ready"))


def test_a_command_is_told_as_typed_with_its_folder_and_chores_are_not() -> None:
    story = Story().user("Start the server")
    story.ran("cd services/api && pnpm --filter api dev --port 3000", "listening")
    story.ran("git add -A", "").ran("mkdir -p out", "")
    told = text(story)
    assert "`cd services/api && pnpm --filter api dev --port 3000`" in told
    assert "git add" not in told.partition("Commands run here")[2]
    assert "] `mkdir" not in told


def test_what_failed_is_told_whatever_the_tool_until_it_works() -> None:
    story = Story().user("Look it up").agent("I look.")
    story.tell(ToolRan(story.at(), "mcp__docs__find", '{"q":"ports"}', "server timed out", False))
    assert "`mcp__docs__find" in text(story)
    assert "failed (server timed out)" in text(story)
    story.tell(ToolRan(story.at(), "mcp__docs__find", '{"q":"ports"}', "3 pages", True))
    assert "server timed out" not in text(story)


def test_options_that_most_calls_of_a_tool_carry_are_told_with_how_many() -> None:
    story = Story().user("Look at the pull requests").ran("gh pr list", "no repository", ok=False)
    for number in range(3):
        story.ran(f"gh pr view {number} --repo acme/shop --json state | head -3", "OPEN")
        story.ran(f"npm view left-pad@1.{number}.0 --json", "{}")
    assert "- `gh pr`: 3 of 3 calls with `--repo acme/shop`" in text(story)
    story.ran("R=acme/shop\ngh issue list -R $R", "none").ran("gh api user", "{}")
    assert "- `gh pr`, `gh issue`: 4 of 4 calls with `--repo acme/shop`" in text(story)
    assert "- `R=acme/shop && gh issue list -R $R`" in text(story, 20_000)
    assert "`npm`:" not in text(story)  # how something is printed is no habit of this place
    assert "- `gh pr view 2 --repo acme/shop --json state`" in text(story, 20_000)


def test_an_open_task_is_told_with_what_it_asks_where_there_is_room() -> None:
    story = Story().user("Go on")
    story.tell(TaskCreated(story.at(), "3", "Ship it", "Run make dist on the old machine."))
    assert "- #3 Ship it: Run make dist on the old machine." in text(story, 9500)
    assert "- #3 Ship it\n" in text(story, 4000) + "\n"


def test_what_was_looked_at_last_is_told_until_something_changes_or_the_agent_went_on() -> None:
    story = Story().user("Which one listens?").agent("I look.").ran("ls -la src", "a.py")
    story.ran("lsof -i :3000", "node 4711 LISTEN")
    assert "- `lsof -i :3000` → node 4711 LISTEN" in text(story, 9500)
    assert "`ls " not in text(story, 9500)  # files can be read again
    story.touched("/w/shop/cart.py", "read").ran("grep -n port src/a.py", "7: port = 5")
    assert "- read or searched: `grep -n port src/a.py`; /w/shop/cart.py" in text(story, 9500)
    story.agent("4711 it is.").agent("It is an old one.").agent("I leave it.")
    assert "node 4711 LISTEN" not in text(story, 9500)
    story.ran("lsof -i :5000", "nginx 12 LISTEN").touched("/w/a.py", "changed", "port = 5000")
    assert "nginx 12 LISTEN" not in text(story, 9500)


def test_code_that_the_agent_s_last_words_give_is_told_with_them() -> None:
    story = (
        Story()
        .user("Commit it")
        .agent("Signing was refused. Run it yourself:\n```sh\ngit commit\n```")
    )
    assert "Run it yourself: … `git commit`" in text(story, 9500)
    story = Story().user("Show it").agent("This is all of it:\n```py\n" + "a = 1\n" * 80 + "```")
    assert "a = 1" not in text(story, 9500)


def test_how_an_approved_plan_is_to_be_verified_is_told_beside_it() -> None:
    steps = "# Rotate keys\n\n## Steps\n\nRewrite the store.\n\n## Verification\n\n### By hand\n"
    checks = "- Upload a file and open it again\n\n## Later\n\n- The desktop"
    story = Story().user("Plan it")
    story.tell(PlanSet(story.at(), steps + checks, "", "approved"))
    told = text(story, 9500)
    assert 'How it is to be verified, in its words [p1]: "Upload a file and open it again"' in told


def test_a_command_is_told_where_it_can_be_run_again() -> None:
    story = Story().user("Look around")
    story.ran("number=$(gh pr view --json number)", "").ran("make seed COUNT=3", "3 rows")
    story.ran("curl -s localhost:80/jobs/$id", "{}").ran(
        "gh pr comment 7 --body 'Done in 1a2b'", ""
    )
    story.ran("deploy-tool --region $AWS_REGION --all", "deployed").ran("make last", "")
    told = text(story, 9500).partition("Commands run here")[2].partition("Exact")[0]
    assert "make seed" in told
    assert "$AWS_REGION" in told
    assert not any(one in told for one in ("number=", "$id", "gh pr comment"))


def test_what_worked_later_as_it_was_is_no_other_form() -> None:
    story = Story().user("Check it").ran("curl -s localhost:80/health", "refused", ok=False)
    story.ran("sleep 5 && curl -s localhost:80/health 2>/dev/null", "ok")
    assert "worked:" not in text(story, 9500)


def test_what_a_probe_echoed_at_a_moment_is_no_lesson() -> None:
    story = Story().user("Is it up?")
    story.ran('pg_isready -h db || (echo "DB: DOWN"; exit 1)', "DB: DOWN", ok=False)
    story.ran("# the cache\nredis-cli ping", "command not found: redis-cli", ok=False).ran("make")
    told = text(story, 9500)
    assert "DB: DOWN" not in told.partition("What works here")[2]
    assert "`redis-cli ping` failed (command not found: redis-cli)" in told


def test_what_does_something_is_told_before_what_only_asks() -> None:
    story = Story().user("Start it").ran("just serve --port 4000", "")
    for number in range(40):
        story.ran(f"curl -s localhost:4000/jobs/{number * 7919}/parts/{number}/status", "{}")
    told = text(story, 9500)
    assert "`just serve --port 4000`" in told


def test_what_a_value_is_stands_beside_it() -> None:
    story = Story().user("See here.\nThe API listens on port 8431, not on 8000.").ran("make")
    (port,) = story.state.identifiers.values()
    assert value_line(port) == "port 8431: The API listens on port 8431, not on 8000."


def test_of_a_pasted_log_the_ends_are_told_and_what_went_wrong() -> None:
    printed = [f"=== step-{n}: main.py:{n}0 wrote /tmp/run{n}.json {n}ms" for n in range(10, 40)]
    odd = [f"{'abcdefgh'[n % 8]}{n}.py | {n * 7} ++--" for n in range(30)]
    log = [one for pair in zip(printed, odd, strict=True) for one in pair]
    log.insert(30, "step-7: main.py:70 Error: no such table")
    story = Story().user("The counts are off:\n" + "\n".join(log)).agent("I look.").user("And now?")
    told = text(story, 9500)
    assert "The counts are off" in told
    assert "Error: no such table" in told
    assert "step-20:" not in told


def test_what_a_server_answered_is_told_with_the_id_it_gave() -> None:
    story = Story().user("File it")
    created = '{"identifier":"OPS-12","title":"Rotate keys"}'
    story.tell(
        ToolRan(story.at(), "mcp__tracker__create", '{"title":"Rotate keys"}', created, True)
    )
    story.agent("Filed.").agent("Next.").touched("/w/a.py", "changed", "a = 1")
    assert "tracker create" in text(story, 9500)
    assert "OPS-12" in text(story, 9500)


def test_a_check_says_whether_anything_was_edited_since() -> None:
    story = Story().user("Do it").touched("/w/a.py", "changed", "a = 1")
    assert "seen to run" not in text(story)  # what is not in the transcript may have run
    story.ran("pytest -q", "3 passed in 0.1s")
    assert "- passed: `pytest -q` (3 passed in 0.1s); no edit seen since" in text(story)
    story.touched("/w/a.py", "changed", "a = 2")
    assert "; not run since the edit of a.py" in text(story)


def test_a_test_that_passed_alone_since_is_told_beside_the_failure() -> None:
    story = Story().user("Do it")
    story.ran("make test", "FAILED tests/test_a.py::test_round - assert\n1 failed in 1s", ok=False)
    story.ran("pytest tests/test_a.py::test_round", "1 passed in 0.1s")
    (line,) = [line for line in text(story).split("\n") if "failed: `make test`" in line]
    assert "passed later by itself: `pytest tests/test_a.py::test_round`" in line


def test_an_edit_of_text_alone_is_told_as_such() -> None:
    story = Story().touched("/w/a.py").ran("make test", "12 passed").touched("/w/notes.md")
    assert "- passed: `make test` (12 passed); no code edited since, only notes.md" in text(story)
    story.touched("/w/b.py")
    assert "- passed: `make test` (12 passed); not run since the edit of b.py" in text(story)


def test_what_a_program_printed_is_told_as_pasted_and_what_stands_around_it_is_not() -> None:
    printed = "\n".join(f"=== step-{n}: main.py:{n}0 wrote /tmp/run{n}.json" for n in range(3, 9))
    story = Story().user(f"The lines look off to me:\n\n{printed}\nFound metadata.json\n"
                         "Please count the blank lines as well before you go on.")  # fmt: skip
    made = compose(story.user("Go on with the docs.").state, 4000)
    about = {entry.text: entry.about for entry in made.entries if entry.kind == "user"}
    assert about["The lines look off to me:"] == ""
    assert about["Please count the blank lines as well before you go on."] == ""
    assert {shown for text, shown in about.items() if text.startswith("===")} == {"pasted"}


def test_a_demand_that_is_said_again_in_a_longer_text_is_not_taken_back() -> None:
    asked = "Remove the vertical session lines completely."
    again = f"Why is the number so high after I said: revert or merge the work so far. {asked} It "
    again = again.replace(". Remove", " - Remove") + "shows 51894 files in the list of sessions"
    assert "said before" not in text(Story().user(asked).agent("Done.").user(again)).lower()


def test_a_question_or_a_refused_call_is_not_quoted_as_the_users_words() -> None:
    story = Story().user("Set it up").user("5433", "answer", "Which port shall I use?")
    story.user("not to main", "refusal", "Bash: git push origin main").agent("Then not.")
    story.user("Go on with the docs and tell me when they are built.")
    told = text(story)
    assert 'user [q2] (asked "Which port shall I use?") "5433"' in told
    assert 'user [q3] (refusing Bash: git push origin main) "not to main"' in told


def test_what_the_user_only_pasted_is_told_as_pasted() -> None:
    story = Story().user("".join(LOG.format(n=n) for n in range(3)))
    story.user("Go on with the docs and tell me when they are built.")
    assert 'user [q1] (pasted) "2026-01-01 12:00:00 worker-7' in text(story)


def test_a_command_is_told_whole_or_not_to_be_run_again() -> None:
    story = Story().user("Commit it")
    story.ran("git commit -m \"$(cat <<'EOF'\nAdd the cart\nEOF\n)\"", "1 file changed")
    story.ran("ship " + " ".join(f"part_{n}" for n in range(60)), "built")
    story.ran("brew install", "installed")
    told = text(story)
    assert "<<" not in told
    assert "`ship part_0" not in told
    assert "`brew install`" in told


def test_the_last_command_is_cut_where_its_text_begins() -> None:
    story = Story().user("Commit it")
    story.ran("git commit -m \"$(cat <<'EOF'\nAdd the cart\nEOF\n)\"", "1 file changed")
    assert "Last run: `git commit -m …` ok: 1 file changed" in text(story)


def test_a_plan_without_a_file_is_told_without_one() -> None:
    story = Story().tell(
        PlanSet(Story().at(), "# Move the cart\n\nFirst the table.", "", "approved")
    )
    assert 'Approved plan: "Move the cart"\n' in text(story) + "\n"


def test_what_then_worked_is_told_with_what_failed() -> None:
    story = Story().user("Look at the pull request")
    story.ran("gh pr view 12", "no git remotes found", ok=False)
    story.ran("gh pr view 12 --repo shop/cart", "open")
    assert "`gh pr view 12` failed (no git remotes found); worked: `gh pr view 12 --repo" in text(
        story
    )


@pytest.mark.parametrize("size", [1000, 2000, 4000, 6000, 9000, 18_000, 40_000])
def test_the_room_is_used_to_the_end(size: int) -> None:
    told = text(work(400), size)
    assert 0.93 * size < len(told) <= size


def test_every_statement_carries_an_id() -> None:
    made = compose(work(20).state, 6000)
    spoken = [one for one in made.entries if one.kind in ("user", "agent")]
    assert spoken
    for one in spoken:
        assert f"[{one.fact}]" in made.text
        assert one.text in made.text


def test_nothing_known_is_nothing_said() -> None:
    assert text(Story()) == ""


def test_a_decision_tells_whose_the_question_is_and_a_long_one_leaves_the_answer() -> None:
    question = "Where do we keep the orders " + "and all that belongs to them " * 20 + "?"
    story = Story().user("Build the shop").user("In SQLite, on one machine.", "answer", question)
    steered = compose_steering(story.state, 4000)
    assert ': user "In SQLite, on one machine."' in steered
    assert 'asked "Where do we keep the orders' in steered


def test_one_sentence_of_a_short_prompt_is_taken_back_and_the_rest_stands() -> None:
    story = Story().user(
        "Keep it as None. Also print a line with the gaps after the import. Commit."
    )
    story.agent("Done.")
    story.user("Now a report by day. Forget the line with the gaps after the import.")
    story.agent("The report is there.").user("And a chart.")
    told = text(story)
    assert 'user [q1] "Keep it as None. … Commit."' in told
    assert '(said before that: "Also print a line with the gaps after the import.")' in told


def test_a_heading_that_tells_nothing_is_not_quoted() -> None:
    story = Story().user("Why does it hang?")
    story.agent("## Summary of the bug\n\nThe lock is taken twice by the writer.\n\n**Details**\n")
    story.agent("## The reader holds the queue lock while it waits\n\nSo both wait.").user("ok")
    told = text(story)
    assert "The lock is taken twice by the writer." in told
    assert "Summary of the bug" not in told
    assert "Details" not in told
    assert "The reader holds the queue lock while it waits" in told


def test_what_came_is_told_before_what_was_announced() -> None:
    story = Story().user("Find the leak.")
    for n in range(40):
        story.agent(
            f"Let me launch probe_{n} to inspect the allocator arena of worker {n} closely."
        )
        story.agent(f"Probe_{n} shows that the allocator arena of worker {n} grows without an end.")
    told = text(story, 2000)
    assert told.count("grows without an end") > 2 * told.count("Let me launch")


def test_a_prompt_on_the_first_row_of_a_file_was_said_first() -> None:
    story = Story()
    story.tell(UserSaid(Origin("row", 0, 10, "2026-01-01T00:00:00Z"), "Paint the header green."))
    story.agent("Painted.").user("Actually, do not paint the header green.").user("go on")
    assert '(said before that: "Paint the header green.")' in text(story)


def test_quotation_marks_in_what_was_said_stay() -> None:
    story = Story().user('"Entire" is the name of the shop').agent('It checks `name == ""` now.')
    story.user('Use --sources "" to stop it').agent('I set --sources "" everywhere. It stops.')
    story.user("go on")
    told = text(story)
    assert 'user [q1] ""Entire" is the name of the shop"' in told
    assert 'agent [a1] "It checks `name == ""` now."' in told
    assert 'user [q2] "Use --sources "" to stop it"' in told


def test_what_follows_a_correction_is_quoted_by_itself() -> None:
    story = Story().user("Paint the header of the page green.").agent("Painted.")
    words = "Actually, do not paint the header of the page green. " + "Ship the catalogue. " * 12
    story.user(words).agent("Noted.").user("go on")
    assert (
        'page green." (said before that: "Paint the header of the page green.") "Ship the'
        in text(story)
    )


def test_a_question_that_was_turned_down_is_no_dead_end() -> None:
    story = Story().user("Plan it")
    story.tell(ToolRefused(story.at(), "AskUserQuestion", '{"questions":[{"question":"Which?"'))
    story.user("Ask me later", "refusal", "AskUserQuestion: Which?")
    assert story.facts("dead_end") == []
    assert "questions" not in text(story)


def test_what_a_session_was_not_seen_to_do_with_its_work_is_left_out() -> None:
    """A script may have committed, and the user opened a pull request in a browser."""
    story = Story().user("Do it")
    story.tell(SessionSeen(story.at(), "s", "/w", "main", "claude-code 2.1.325"))
    assert "made no" not in text(story)
    assert "made no" not in text(story.ran("make release", "ok"))


def test_an_item_that_left_the_todo_list_is_not_called_cancelled() -> None:
    story = Story().user("Do it").todos(("Paint", "pending"), ("Sand", "pending"))
    told = text(story.todos(("Sand", "pending")))
    assert "Off the list, done otherwise or dropped: #d1 Paint" in told
