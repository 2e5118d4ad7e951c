"""Claude Code's side: reading payloads, building outputs, and checking them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.clients.claude_code.outputs import additional_context, check, instructions, plain
from holdfast.clients.claude_code.payloads import parse, summary_in
from holdfast.clients.claude_code.quiet_rows import says_nothing

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(texts.filter(bool))
def test_any_text_survives_the_output(text: str) -> None:
    output = additional_context("SessionStart", text)
    assert check("SessionStart", output) == []
    if not plain(text):
        assert output == ""
        return
    assert json.loads(output)["hookSpecificOutput"]["additionalContext"] == plain(text)


def test_a_text_of_terminal_codes_alone_prints_nothing() -> None:
    assert additional_context("SessionStart", "\x1b") == ""
    assert json.loads(additional_context("SessionStart", "\x1b", "seen")) == {
        "systemMessage": "seen"
    }


@given(texts, texts, texts)
def test_any_payload_is_read_as_json_reads_it(session: str, prompt: str, cwd: str) -> None:
    raw = json.dumps(
        {"session_id": session, "prompt": prompt, "cwd": cwd, "more": [1, {"a": None}]}
    )
    payload = parse(raw.encode(), "UserPromptSubmit")
    if not session:
        assert payload is None
        return
    assert payload is not None
    assert (payload.session_id, payload.prompt, payload.cwd) == (session, prompt, cwd)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    payload = parse(raw, "Stop")
    assert payload is None or payload.event == "Stop"


@pytest.mark.parametrize(
    ("event", "stdout", "problem"),
    [
        ("PreCompact", "{}", "printed JSON"),
        ("PreCompact", '{"systemMessage": "x"}', "printed JSON"),
        ("PreCompact", "x" * 10_001, "cut at"),
        ("PostCompact", "hello", "nothing it prints"),
        ("SessionEnd", additional_context("SessionEnd", "x"), "nothing it prints"),
        ("Notification", "hello", "not an event"),
        ("SessionStart", "plain", "printed no JSON"),
        ("SessionStart", '{"decision": "block"}', "other than hookSpecificOutput"),
        ("SessionStart", additional_context("Stop", "x"), "hookEventName"),
        ("SessionStart", additional_context("SessionStart", "x" * 10_001), "more than"),
        (
            "Stop",
            '{"hookSpecificOutput": {"hookEventName": "Stop", "other": 1}}',
            "unknown fields",
        ),
    ],
)
def test_what_the_client_would_refuse_is_found(event: str, stdout: str, problem: str) -> None:
    assert any(problem in found for found in check(event, stdout))


def test_silence_is_always_right() -> None:
    assert all(check(event, "") == [] for event in ("PreCompact", "SessionEnd", "Stop", "Other"))


def test_what_could_be_taken_for_json_is_not_printed() -> None:
    assert instructions('{"a": 1}') == ""
    assert instructions(" [1]") == ""
    assert instructions("The user said {x}.") == "The user said {x}."


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
    assert summary_in(answer) == summary


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
    assert says_nothing(rows) is quiet
