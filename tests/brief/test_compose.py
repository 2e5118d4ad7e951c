"""The message: the words of user and agent, where it stood, the state of the work."""

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.corrections import find_corrections
from holdfast.brief.hook_texts import compose_steering
from holdfast.events import (
    CommandInvoked,
    Origin,
    PlanSet,
    SessionSeen,
    SubagentStarted,
    ToolRefused,
    UserSaid,
)
from state.story import Story

LOG = "2026-01-01 12:00:00 worker-7 wrote part {n} of the nightly dump to bucket {n}\n"


def text(story: Story, max_chars: int = 6000, summary: str = "") -> str:
    return compose(story.state, max_chars, summary=summary).text


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
    assert "no open PR known" in text(story)  # scrolled past once
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


def test_what_the_summary_tells_gives_way_to_what_it_lost() -> None:
    story = Story().user("The mobile app caches every response for an hour.").agent("I see.")
    story.user("The ledger keeps every price of a product in cents.").agent("I see.")
    story.user("Go on with the exporter")
    size = next(n for n in range(100, 600) if "ledger keeps" in text(story, n))
    assert "mobile app" not in text(story, size)
    summary = "As the user said, the ledger keeps every price of a product in cents."
    assert "mobile app" in text(story, size, summary=summary)
    assert "ledger keeps" not in text(story, size, summary=summary)


def test_what_the_reader_sees_anyway_is_not_told() -> None:
    story = Story().user("We keep all prices in cents.").agent("Understood.")
    seen = "user: We keep all prices in cents.\nagent: Understood."
    assert compose(story.state, 4000, visible=seen).text == ""


def test_uncommitted_and_committed_work_is_told() -> None:
    story = Story().user("Do it")
    story.tell(SessionSeen(story.at(), "s", "/w", "main", "claude-code 2.1.325"))
    story.touched("/w/a.py", "created", "a = 1").touched("/w/b.py", "changed", "b = 1")
    assert "Nothing was committed in this session; uncommitted changes" in text(story)
    story.ran("git add a.py && git commit -m 'Add a'", "[main 1234abc] Add a\n 1 file changed")
    told = text(story)
    assert 'Committed in this session: 1234abc "Add a" (not pushed)' in told
    assert "Uncommitted changes in the working tree: " in told
    story.ran("git push", "To github.com:x/y\n   0000000..1234abc  main -> main")
    assert '1234abc "Add a" (pushed)' in text(story)


def test_a_check_says_whether_anything_was_edited_since() -> None:
    story = Story().user("Do it").touched("/w/a.py", "changed", "a = 1")
    assert "no test, lint or build was seen to run (last edited: /w/a.py)" in text(story)
    story.ran("pytest -q", "3 passed in 0.1s")
    assert "- passed: `pytest -q` (3 passed in 0.1s); nothing edited since" in text(story)
    story.touched("/w/a.py", "changed", "a = 2")
    assert "; not run since the edit of a.py" in text(story)


def test_a_test_that_passed_alone_since_is_told_beside_the_failure() -> None:
    story = Story().user("Do it")
    story.ran("make test", "FAILED tests/test_a.py::test_round - assert\n1 failed in 1s", ok=False)
    story.ran("pytest tests/test_a.py::test_round", "1 passed in 0.1s")
    (line,) = [line for line in text(story).split("\n") if "failed: `make test`" in line]
    assert "passed later by itself: `pytest tests/test_a.py::test_round`" in line


def test_where_subagents_worked_nobody_knows_that_no_check_ran() -> None:
    story = Story().user("Do it").touched("/w/a.py", "changed", "a = 1")
    story.tell(SubagentStarted(story.at(), "agent-7", "runner", "Run every test", ""))
    assert "no test, lint or build" not in text(story)


def test_an_edit_of_text_alone_is_told_as_such() -> None:
    story = Story().touched("/w/a.py").ran("make test", "12 passed").touched("/w/notes.md")
    assert "- passed: `make test` (12 passed); no code edited since, only notes.md" in text(story)
    story.touched("/w/b.py")
    assert "- passed: `make test` (12 passed); not run since the edit of b.py" in text(story)


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
