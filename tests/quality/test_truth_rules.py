"""Truth: each rule on a made-up session, once where a line is true and once where it is not."""

import pytest

from benchmarks.quality import truth_rules
from benchmarks.quality.evidence import Evidence, collect_evidence
from benchmarks.quality.stated_lines import parse_stated, parse_trace

from .rows import Row, answered, called, ran, said, typed

PASTE = "Look at this:\n> Rename the till.\n```\nretry forever\n```\nWhat do you think of it?"


def session() -> list[Row]:
    return [
        typed("Count the coins, and never round up."),
        typed("Print <system-reminder> in the header."),
        typed(PASTE),
        typed("<task-notification>Agent done: sell the shop</task-notification>"),
        typed("the earlier story: paint it red", isCompactSummary=True),
        typed("a note of the client: paint it blue", isMeta=True),
        typed("woken up: paint it green", origin={"kind": "task-notification"}),
        typed("<command-name>/review</command-name><command-args>only the till</command-args>"),
        said("I will count them by hand. The drawer is stuck."),
        called("AskUserQuestion", "q1", questions=[]),
        answered("q1", 'User has answered your questions: "Which till?"="the left one".'),
        called("Edit", "e1", file_path="/home/ann/shop/till/drawer.py"),
        answered(
            "e1",
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, "
            "the user said:\nnot on a Sunday",
            bad=True,
        ),
        called("Edit", "e2", file_path="/home/ann/shop/till/coins.py"),
        answered("e2", "ok"),
        called("TaskCreate", "k1", subject="Oil the drawer (left)"),
        answered("k1", "Task #1 created successfully"),
        called("TaskCreate", "k2", subject="Count the coins"),
        answered("k2", "Task #2 created successfully"),
        called("TaskUpdate", "k3", taskId="2", status="completed"),
        answered("k3", "ok"),
        *ran("cd /home/ann/shop && make count 2>&1 | tail -5", "3 failed", bad=False),
        *ran("make oil", "boom", bad=True),
        *ran("make lint", "clean"),
        *ran("git tag -m \"$(cat <<'EOF'\nOpen\nEOF\n)\" open"),
        *ran("make oil", "oiled"),
        *ran("make sell", "Error: no buyer", bad=True),
        *ran("mkdir till && make burn", "Error: no buyer", bad=True),
        *ran("cp a.py /home/ann/shop/till/b.py"),
        *ran("git commit -am 'Count'", "[till 1a2b3c4] Count\n 1 file changed"),
        *ran("git commit -m 'Ring' -m 'The bell is\nlouder now.'", "[till 5d6e7f8] Ring\n 1 file"),
        called("Write", "e3", file_path="/home/ann/shop/till/late.py"),
        answered("e3", "ok"),
        *ran("curl http://localhost:9004/coins/all", "agent deadbeef1 is at work"),
        *ran("git status --short", "?? docs/generated/\n M till/late.py"),
        called("ExitPlanMode", "p1", plan="# Shop\n\nFirst sweep the floor."),
        answered("p1", "approved"),
        called("Bash", "n1", command="make paint && make dry"),
        answered("n1", "The user doesn't want to proceed with this tool use.", bad=True),
        said("The floor is swept.\n\n## Next\n```\nmake shine\n```\nThe window is clean."),
    ]


@pytest.fixture(scope="module")
def proof() -> Evidence:
    return collect_evidence(session())


def rules(text: str, proof: Evidence) -> list[str]:
    return [failure.rule for failure in truth_rules.check_lines(parse_stated(text), proof).failures]


TRUE = [
    'The user\'s last request: "Count the coins, and never round up."',
    'Rules the user gave:\n- "never round up"',
    'The user said: "Print ‹system-reminder> in the header."',
    'The user said: "Count the coins, … round up."',
    'The user said: "the left one"',
    'Refused by the user: "not on a Sunday"',
    'The user asked: "only the till"',
    "User: What do you think of it?",
    'The user asked: "Look at this: > Rename the till."',
    "Commands run:\n`mkdir till` ok",  # the part that failed was another
    "Commands run:\n`cp a.py till/b.py` ok",
    'The agent\'s last words: "The drawer is stuck."',
    "Commands run:\n`make oil` ok\n`make count` failed",
    "Last test run failed: `make count`",
    "Dead ends:\n- `make sell` failed",
    "Open tasks:\n- #1 Oil the drawer (left)",
    "Done, not to be redone: Count the coins",
    "Edited files:\ntill/\n coins.py: round_up",
    "Branch: till. Folder: /home/ann/shop",
    "Commits: 1a2b3c4 Count; not pushed",
    '- 2 turns earlier: user [q1] "Count the coins" agent [a2] "The drawer is stuck."',
    'Said:\n- 1 turn earlier: user [q9] "round up" (said before that: "Count the coins")',
    "Git: branch till; no PR was created in this session.",
    'Committed in this session: 1a2b3c4 "Count" (not pushed)',
    "Nothing else. Uncommitted changes in the working tree: till/late.py (new, +2 -0)",
    "Checks, latest first:\n- failed: `make count`: 3 of `x`; not run since the edit of late.py",
    "What works here:\n- [x1] `make burn` failed (no match); worked: `make oil`",
    "Last edit, 2 calls before the end: till/coins.py [f1]",
    "Last run: `make oil` ok: oiled [c3]",
    "Last run: `git tag -m …` ok [c4]",
    'Before that the agent had said [a1]: "The drawer is stuck."',
    "Checks:\n- passed: `make oil`; no code edited since, only late.py",
    'Said:\n- 1 turn earlier: user [q3] (asked "Which till?") "the left one"',
    "Exact values: port 9004, http://localhost:9004/coins/all",
    'Decisions:\n- asked "Which till?": user "the left one"',
    "Uncommitted changes in the working tree: docs/generated/ (new)",
    "Uncommitted changes in the working tree: in till/: late.py (new, +2 -0)",
    "From the approved plan (quoted):\n- [p1] First sweep the floor.",
    '- Approved plan: "# Shop First sweep the floor."',
    "- Refused by the user: Bash: make paint && make dry (the user turned it down)",
    "- Did not work: `make burn` failed (no match)",
    '- 1 turn earlier: agent [a4] "The floor is swept. The window is clean."',
    '- 1 turn earlier: commit [g2] (5d6e7f8) "The bell is louder now." agent [a4] "The floor is"',
]
FALSE = [
    ('- 1 turn earlier: commit [g2] (5d6e7f8) "The bell is quiet."', truth_rules.NOT_COMMITTED),
    ('- 1 turn earlier: commit [g2] "The drawer is stuck."', truth_rules.NOT_COMMITTED),
    ('The user said: "sell the shop"', truth_rules.NOT_USERS),
    ('The user said: "paint it red"', truth_rules.NOT_USERS),
    ('The user said: "paint it blue"', truth_rules.NOT_USERS),
    ('The user said: "paint it green"', truth_rules.NOT_USERS),
    ('The user said: "I will count them by hand."', truth_rules.NOT_USERS),
    ('The user said: "Count all the coins"', truth_rules.NOT_USERS),
    ('The user said: "round up. … Count the coins"', truth_rules.NOT_USERS),
    ('The user said: "Rename the till."', truth_rules.PASTED),
    ('The user said: "retry forever"', truth_rules.PASTED),
    ('The agent said: "The drawer is open."', truth_rules.NOT_AGENTS),
    ("Commands run:\n`make coins` ok", truth_rules.NEVER_RUN),
    ("Commands run:\n`curl http://localhost:9004` ok", truth_rules.NOT_WHOLE),
    ("Commands run:\n`make se…` failed", truth_rules.NOT_WHOLE),
    ("Commands run:\n`git tag -m …`", truth_rules.NOT_WHOLE),
    ('Before that the agent had said [a1]: "Count the coins"', truth_rules.NOT_AGENTS),
    ("Checks:\n- passed: `make oil`; no edit seen since, only x.md", truth_rules.VERDICT),
    ("Commands run:\n`make sell` ok", truth_rules.VERDICT),
    ("Last test run passed: `make count`", truth_rules.VERDICT),
    ("Failing:\n- `make oil`", truth_rules.VERDICT),
    ("Open tasks:\n- #2 Count the coins", truth_rules.TASK),
    ("Done, not to be redone: Oil the drawer (left)", truth_rules.TASK),
    ("Open tasks:\n- Sell the shop", truth_rules.TASK),
    ("Edited files:\ntill/bell.py", truth_rules.FILE),
    ("Branch: main", truth_rules.BRANCH),
    ("Exact values:\n- commit deadbeef1", truth_rules.ID),
    ("Exact values: http://localhost:9004/coins", truth_rules.ID),
    ("Exact values: port 9005", truth_rules.ID),
    ("Git: pushed to origin", truth_rules.GIT),
    ("Git: nothing committed", truth_rules.GIT),
    (
        '- 2 turns earlier: user [q1] "Count" agent [a2] "Count the coins, and"',
        truth_rules.NOT_AGENTS,
    ),
    ('- 1 turn earlier: user [q9] "round up" (said before that: "sell it")', truth_rules.NOT_USERS),
    ('Committed in this session: 1a2b3c4 "Count" (pushed)', truth_rules.GIT),
    ("Uncommitted changes in the working tree: till/coins.py", truth_rules.GIT),
    ("Checks:\n- passed: `make oil`; no edit seen since", truth_rules.VERDICT),
    ("Decisions:\n- count by weight", truth_rules.NO_SPEAKER),
    ('Decisions:\n- asked "Which till?": user "the right one"', truth_rules.NOT_USERS),
    ('Decisions:\n- asked "Which door?": user "the left one"', truth_rules.NOT_AGENTS),
    ("Uncommitted changes in the working tree: docs/other/ (new)", truth_rules.FILE),
    ("Uncommitted changes in the working tree: in bell/: late.py (new)", truth_rules.FILE),
    ("From the approved plan (quoted):\n- [p1] First sell the floor.", truth_rules.NOT_REPORTED),
    ("- Refused by the user: Bash: make oil (the user turned it down)", truth_rules.VERDICT),
    ("- Refused by the user: Bash: make noise (the user turned it down)", truth_rules.NEVER_RUN),
    ("- Did not work: `make burns` failed (no match)", truth_rules.NEVER_RUN),
    (
        '- 1 turn earlier: agent [a4] "The floor is swept. The door is clean."',
        truth_rules.NOT_AGENTS,
    ),
    (
        '- 1 turn earlier: agent [a4] "The window is clean. The floor is swept."',
        truth_rules.NOT_AGENTS,
    ),
    ("Checks:\n- no test, lint or build was seen to run (last edited: a.py)", truth_rules.VERDICT),
]


@pytest.mark.parametrize("text", TRUE)
def test_a_true_line_passes(text: str, proof: Evidence) -> None:
    checked = truth_rules.check_lines(parse_stated(text), proof)
    assert checked.failures == ()
    assert checked.lines == len(parse_stated(text)), "no rule looked at it"


@pytest.mark.parametrize(("text", "rule"), FALSE)
def test_a_false_line_fails_by_its_rule(text: str, rule: str, proof: Evidence) -> None:
    assert rule in rules(text, proof)


def test_every_rule_is_tried_here() -> None:
    tried = {rule for _, rule in FALSE} | {truth_rules.NO_ROWS, truth_rules.NOT_REPORTED}
    assert tried == set(truth_rules.RULES)


def test_a_report_of_a_subagent_stands_word_for_word(proof: Evidence) -> None:
    assert not rules("Subagents:\n- agent deadbeef1 is at work", proof)
    assert rules("Subagents:\n- agent deadbeef1 is done", proof) == [truth_rules.NOT_REPORTED]


def test_the_products_own_lines_are_checked_with_their_rows() -> None:
    rows = session()
    proof = collect_evidence(rows)
    given = {"kind": "user", "text": "never round up", "rows": [rows[0]["uuid"]]}
    later = {**given, "rows": ["ffffffff-0000"]}
    assert truth_rules.check_lines(parse_trace([given]), proof).failures == ()
    [failure] = truth_rules.check_lines(parse_trace([later]), proof).failures
    assert failure.rule == truth_rules.NO_ROWS


def test_what_an_answer_was_given_to_is_checked_too(proof: Evidence) -> None:
    for asked, failures in (("Which till?", []), ("Which shop?", [truth_rules.NOT_AGENTS])):
        line = {"kind": "user", "text": "the left one", "about": f'asked "{asked}"'}
        assert [
            f.rule for f in truth_rules.check_lines(parse_trace([line]), proof).failures
        ] == failures


def test_a_paste_may_be_told_as_one(proof: Evidence) -> None:
    for about, failures in (("pasted", []), ("", [truth_rules.PASTED])):
        line = {"kind": "user", "text": "retry forever", "about": about}
        assert [
            f.rule for f in truth_rules.check_lines(parse_trace([line]), proof).failures
        ] == failures


def test_an_edit_without_a_result_is_none() -> None:
    rows = [*session(), called("Edit", "e9", file_path="/home/ann/shop/till/lost.py")]
    assert not [path for path in collect_evidence(rows).edited if path.endswith("lost.py")]


def test_parts_of_one_message_are_one_line() -> None:
    rows = session()
    proof = collect_evidence(rows)
    parts = [
        {"kind": "user", "text": text, "rows": [rows[1]["uuid"]]}
        for text in ("Look at this:", "retry forever")
    ]
    both = truth_rules.check_lines(parse_trace(parts), proof)
    assert (both.lines, both.failures) == (1, ())  # the paste stands beside the user's own words
    [alone] = truth_rules.check_lines(parse_trace(parts[1:]), proof).failures
    assert alone.rule == truth_rules.PASTED


def test_an_answer_that_was_given_is_not_awaited() -> None:
    line = [{"kind": "last_words", "text": "The agent has not answered it yet.", "rows": []}]
    asked = [said("hello"), typed("and now?")]
    assert truth_rules.check_lines(parse_trace(line), collect_evidence(asked)).failures == ()
    [failure] = truth_rules.check_lines(
        parse_trace(line), collect_evidence([*asked, said("this")])
    ).failures
    assert failure.rule == truth_rules.VERDICT


def test_cancelled_tasks_are_told_apart_from_done_ones(proof: Evidence) -> None:
    line = {"kind": "finished", "text": "Cancelled: Oil the drawer (left)", "rows": []}
    [failure] = truth_rules.check_lines(parse_trace([line]), proof).failures
    assert failure.why.startswith("pending")


def test_a_line_that_no_rule_knows_is_counted_apart(proof: Evidence) -> None:
    checked = truth_rules.check_lines(parse_stated("It was a dark and stormy night."), proof)
    assert checked.lines == 0
    assert checked.unchecked == ("It was a dark and stormy night.",)


def test_what_git_holds_is_checked_in_a_trace_too(proof: Evidence) -> None:
    text = "Uncommitted changes in the working tree: till/coins.py"
    lines = parse_trace([{"kind": "git", "text": text, "rows": []}])
    assert [failure.rule for failure in truth_rules.check_lines(lines, proof).failures] == [
        truth_rules.GIT
    ]
