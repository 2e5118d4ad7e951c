"""Rules: what holds from now on, in the user's words, until the user takes it back."""

import pytest

from .story import Story


@pytest.mark.parametrize(
    "said",
    [
        "Always run the tests before you commit.",
        "never push to main",
        "Please don't amend commits - it messes with our workflow",
        "do not push to github anything",
        "From now on write commit messages in English.",
        "You must not touch the generated files.",
        "We use pnpm here, not npm.",
        "Prefer small functions.",
        "Make sure the linter passes before every commit.",
        "Don’t add dependencies.",
    ],
)
def test_a_standing_instruction_is_a_rule_word_for_word(said: str) -> None:
    assert Story().user(said).texts("rule", "open") == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Add a test for the parser.",
        "Make sure there is a table for the messages in it.",
        "can you make sure the tests always pass?",
        "I don't know why it fails.",
        "it somehow always lists these twice",
        "This makes the calculation deterministic rather than heuristic.",
        "go: cannot find main module in /var/folders/x",
        "+    // Fall back to a new id (this should never happen)",
        "if getting the config errors, the command fails in config.go:12",
        "The function must_not() was renamed == fine",
        "let's keep it for now",
        "Use spaces instead of tabs.",
        "Write the plan to a file, don't commit.",
        "I worry about branches where we add files but don't change the tree",
        "Cart is now an alias of Basket (no more wrappers)",
        "don't fix anything, but just look whether it works",
        "Also don't give it a number",
        "> you must never edit this file",
        "~~~\nalways ask twice\n~~~",
        "    never call this twice",
        'the readme says "you must always use the wrapper"',
        "From CONTRIBUTING.md:\nHouse rules: never push. Always rebase.",
        "the readme says 'you don't ever push, you must never push' hm",
        "the page says ‘you must always restart’ hm",
        "the readme says «you must never push to main»",
        'I was sent "Never push.\nAlways rebase, whatever comes." today',
        "CONTRIBUTING.md says you must always sign your commits. Remove that sentence.",
        "README says: never use yarn. Change it to npm.",
        "According to the docs, you must never call this twice.",
        "I get this error: You must always pass a timeout. Fix it.",
        "House rules: never use globals; always write docs.\n(from CONTRIBUTING.md)",
        "Here is CONTRIBUTING.md:\n\nHouse rules:\n- Never push\n\nMore:\n- Always write docs",
        "AGENTS.md:\n# House rules\n\n- Never push.\n\n# Other\n- You must not sleep.",
        "The lead said:\n\nNever push.",
        "Bob's mail:\n\nHi all,\nFrom now on we never merge without review.",
        "<document>\nNever push. Always rebase.\n</document>\nshorten it",
        "2026-01-01 10:00 You must always set HOME\nERROR never call this",
        "12:00:01 WARN you must always set HOME\nRuntimeError: you must always close it",
        "// Never remove this line\n# Always keep this one\nwhat are these for",
    ],
)
def test_a_request_a_question_or_a_paste_is_not_a_rule(said: str) -> None:
    assert Story().user(said).texts("rule") == []


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        (
            "It says 'too slow'. Never use sleep in tests, don't ask.",
            ["Never use sleep in tests, don't ask."],
        ),
        ('Always write "count" first, and don\'t write "total".', 2),
        ("Never log at DEBUG level.", 1),
        ("Error handling: always return a Result.", 1),
        ("I said you must never push.", 1),
        ("The lead said:\n\nNever push.\n\nAlways ask me first.", ["Always ask me first."]),
        ("Never return Vec<String> from the API; see </b> in it.", 1),
        ("Look at a.py:\nit is slow\n\nAlways profile first.", ["Always profile first."]),
    ],
)
def test_the_users_own_sentence_beside_words_of_others_is_a_rule(
    said: str, rules: list[str] | int
) -> None:
    found = Story().user(said).texts("rule")
    assert (found if isinstance(rules, list) else len(found)) == rules


def test_a_correction_supersedes_the_rule_it_corrects() -> None:
    story = Story().user("Always indent with tabs.").user("Actually, indent with four spaces.")
    assert story.texts("rule", "superseded") == ["Always indent with tabs."]
    assert story.texts("rule", "open") == ["Actually, indent with four spaces."]
    assert "superseded by r2" in story.facts("rule", "superseded")[0].detail


def test_a_withdrawn_rule_is_gone_and_nothing_takes_its_place() -> None:
    story = Story().user("Never touch the migrations folder.")
    story.user("Forget the rule about the migrations folder, you can edit it now.")
    assert story.texts("rule", "open") == []
    assert story.texts("rule", "superseded") == ["Never touch the migrations folder."]


def test_a_correction_leaves_rules_on_other_subjects_alone() -> None:
    story = Story().user("Never push to main.").user("Always indent with tabs.")
    story.user("No, use spaces, not tabs.")
    assert "Never push to main." in story.texts("rule", "open")
    assert "Always indent with tabs." not in story.texts("rule", "open")


def test_everything_in_a_paragraph_that_announces_rules_is_a_rule() -> None:
    story = Story().user(
        "House rules for this repo: money is integer cents. Round half up. No new dependencies.\n\n"
        "Please add a discount to the cart."
    )
    assert len(story.texts("rule", "open")) == 3
    assert "Round half up." in story.texts("rule", "open")


def test_a_list_under_a_heading_is_a_list_of_rules() -> None:
    story = Story().user("Some conventions:\n- snake case for files\n- one class per file")
    assert story.texts("rule", "open") == ["snake case for files", "one class per file"]


def test_an_announced_rule_is_superseded_when_the_user_was_wrong() -> None:
    story = Story().user("House rule: round half up to the cent. Integer cents only.")
    story.user("No wait, I was wrong about the rounding: half to even, not half up.")
    assert [rule for rule in story.texts("rule", "open") if "half up to" in rule] == []
    assert "No wait, I was wrong about the rounding: half to even, not half up." in story.texts(
        "rule", "open"
    )


def test_of_two_demands_in_a_sentence_one_can_be_taken_back() -> None:
    story = Story().user("Never edit the schema by hand, and always answer in French.")
    assert story.texts("rule", "open") == [
        "Never edit the schema by hand",
        "always answer in French.",
    ]
    story.user("Forget the French, English is fine.")
    assert story.texts("rule", "open") == ["Never edit the schema by hand"]


def test_the_same_rule_twice_is_one() -> None:
    story = Story().user("Never push to main.").user("Never push to main.")
    assert len(story.texts("rule", "open")) == 1


def test_words_in_code_and_quotes_are_not_rules() -> None:
    assert Story().user("Look at this:\n```\n# never do this\nalways()\n```").texts("rule") == []
    assert Story().user('I dislike:\n"""\n// never fail here\n"""').texts("rule") == []


def test_a_long_paste_makes_no_rules() -> None:
    assert Story().user("Never do this. " * 1000).texts("rule") == []


def test_a_refusal_can_set_a_rule() -> None:
    story = Story().user("never use sudo", "refusal", "Bash: sudo rm -rf build")
    assert story.texts("rule", "open") == ["never use sudo"]


def test_a_rule_says_where_it_was_said() -> None:
    story = Story().user("Hello.").user("Never push to main.")
    (rule,) = story.facts("rule")
    assert (rule.at.row, rule.at.start, rule.at.end) == ("row-2", 2000, 3000)
