"""Claude Code's side: reading payloads, building outputs, and checking them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.clients.claude_code.hooks import HOOKS
from holdfast.fastpath.hook_json import strip_terminal_codes

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(texts.filter(bool))
def test_any_text_survives_the_output(text: str) -> None:
    output = HOOKS.format_context("SessionStart", text)
    assert HOOKS.check_output("SessionStart", output) == []
    if not strip_terminal_codes(text):
        assert output == ""
        return
    assert json.loads(output)["hookSpecificOutput"]["additionalContext"] == strip_terminal_codes(
        text
    )


def test_a_text_of_terminal_codes_alone_prints_nothing() -> None:
    assert HOOKS.format_context("SessionStart", "\x1b") == ""
    assert json.loads(HOOKS.format_context("SessionStart", "\x1b", "seen")) == {
        "systemMessage": "seen"
    }


@given(texts, texts, texts)
def test_any_payload_is_read_as_json_reads_it(session: str, prompt: str, cwd: str) -> None:
    raw = json.dumps(
        {"session_id": session, "prompt": prompt, "cwd": cwd, "more": [1, {"a": None}]}
    )
    payload = HOOKS.parse_payload(raw.encode(), "UserPromptSubmit")
    if not session:
        assert payload is None
        return
    assert payload is not None
    assert (payload.session_id, payload.prompt, payload.cwd) == (session, prompt, cwd)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    payload = HOOKS.parse_payload(raw, "Stop")
    assert payload is None or payload.event == "Stop"


@pytest.mark.parametrize(
    ("event", "stdout", "problem"),
    [
        ("PreCompact", "{}", "printed JSON"),
        ("PreCompact", '{"systemMessage": "x"}', "printed JSON"),
        ("PreCompact", "x" * 10_001, "cut at"),
        ("PostCompact", "hello", "never reaches the model"),
        ("SessionEnd", HOOKS.format_context("SessionEnd", "x"), "never reaches the model"),
        ("Notification", "hello", "not an event"),
        ("SessionStart", "plain", "did not print JSON"),
        ("SessionStart", '{"decision": "block"}', "other than hookSpecificOutput"),
        ("SessionStart", HOOKS.format_context("Stop", "x"), "hookEventName"),
        ("SessionStart", HOOKS.format_context("SessionStart", "x" * 10_001), "more than"),
        (
            "Stop",
            '{"hookSpecificOutput": {"hookEventName": "Stop", "other": 1}}',
            "unknown fields",
        ),
    ],
)
def test_what_the_client_would_refuse_is_found(event: str, stdout: str, problem: str) -> None:
    assert any(problem in found for found in HOOKS.check_output(event, stdout))


def test_silence_is_always_right() -> None:
    assert all(
        HOOKS.check_output(event, "") == []
        for event in ("PreCompact", "SessionEnd", "Stop", "Other")
    )


def test_what_could_be_taken_for_json_is_not_printed() -> None:
    assert HOOKS.format_instructions('{"a": 1}') == ""
    assert HOOKS.format_instructions(" [1]") == ""
    assert HOOKS.format_instructions("The user said {x}.") == "The user said {x}."


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        ("<analysis>\nlong\n</analysis>\n\n<summary>\nShort.\n</summary>", "Short."),
        ("<analysis>long</analysis>\nShort.", "Short."),
        ("<summary>cut off in the mid", "cut off in the mid"),
        ("Plain words.", "Plain words."),
        ("", ""),
    ],
)
def test_the_analysis_is_not_part_of_the_summary(answer: str, summary: str) -> None:
    assert HOOKS.extract_summary(answer) == summary


QUIET = b'{"type":"last-prompt","lastPrompt":"x"}\n{"type":"atis-latch","atis":""}\n'


@pytest.mark.parametrize(
    ("rows", "quiet"),
    [
        (b"", True),
        (QUIET, True),
        (QUIET[:-1], False),
        (QUIET + b'{"parentUuid":null,"type":"user"}\n', False),
        (b'{"type":"last-prompt-of-another-kind"}\n', False),
        (b'{"type":"queue-operation","operation":"enqueue","content":"do more"}\n', False),
        (b'{"type":"queue-operation","operation":"enqueue","content":"/compact"}\n', True),
        (b"\n", False),
    ],
)
def test_only_known_book_keeping_says_nothing(rows: bytes, quiet: bool) -> None:
    assert HOOKS.is_bookkeeping(rows) is quiet
