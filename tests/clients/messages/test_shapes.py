"""Messages of real libraries and what is read of them."""

from typing import Any

import pytest

from holdfast.clients.messages.shapes import (
    Answer,
    Call,
    ChatMessage,
    exit_code,
    is_transcript_row,
    read_message,
)
from support.chat_story import REQUEST, RULE, SHAPES, STORY


def told(messages: list[Any]) -> list[ChatMessage]:
    return [one for one in map(read_message, messages) if one.role != "system"]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_library_tells_the_same(shape: str) -> None:
    read = told(SHAPES[shape]())
    assert [one.text for one in read if one.role == "user" and one.text] == [RULE, REQUEST]
    said = [one.text for one in read if one.role == "assistant" and one.text]
    assert said == [step.agent for step in STORY if step.agent]
    calls = [call for one in read for call in one.calls]
    assert [(call.name, call.input) for call in calls] == [
        (step.tool, step.input) for step in STORY if step.tool
    ]
    answers = [answer for one in read for answer in one.answers]
    assert [answer.id for answer in answers] == [call.id for call in calls]
    assert [(answer.text, answer.failed) for answer in answers] == [
        (step.answer, step.failed) for step in STORY if step.tool
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_keys_are_the_same_each_time_and_differ(shape: str) -> None:
    messages = SHAPES[shape]()
    keys = [read_message(one).key for one in messages]
    assert keys == [read_message(one).key for one in messages]
    assert len(set(keys)) == len(keys)


def test_an_answer_of_the_anthropic_package() -> None:
    from anthropic.types import Message, TextBlock, ToolUseBlock, Usage

    answer = Message(
        id="msg_1",
        type="message",
        role="assistant",
        model="claude-sonnet-5",
        content=[
            TextBlock(type="text", text="Hello"),
            ToolUseBlock(type="tool_use", id="toolu_1", name="bash", input={"command": "ls"}),
        ],
        stop_reason="tool_use",
        stop_sequence=None,
        usage=Usage(input_tokens=10, output_tokens=2, cache_read_input_tokens=5),
    )
    read = read_message(answer)
    assert (read.key, read.has_id, read.role, read.text) == ("msg_1", True, "assistant", "Hello")
    assert read.calls == (Call("toolu_1", "bash", {"command": "ls"}),)
    assert (read.context, read.model) == (15, "claude-sonnet-5")


def test_an_answer_of_the_openai_package() -> None:
    from openai.types.chat import ChatCompletionMessage
    from openai.types.responses import ResponseFunctionToolCall

    said = {
        "role": "assistant",
        "content": "Hello",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        ],
    }
    read = read_message(ChatCompletionMessage.model_validate(said))
    assert (read.role, read.text, read.calls) == ("assistant", "Hello", (Call("c1", "ls", {}),))
    item = ResponseFunctionToolCall(
        arguments='{"path": "a"}', call_id="c2", name="read_file", type="function_call"
    )
    assert read_message(item).calls == (Call("c2", "read_file", {"path": "a"}),)


def test_a_summary_that_langchain_made_is_not_the_user_s() -> None:
    from langchain_core.messages import HumanMessage

    made = HumanMessage("All is done.", additional_kwargs={"lc_source": "summarization"})
    assert read_message(made).is_summary


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code 2\nno", 2),
        ("no\n[Command failed with exit code 1]", 1),
        ('{"exit_code": 3, "out": ""}', 3),
        ("[Command succeeded with exit code 0]", 0),
        ("exited with code -9", -9),
        ("a code of 5", None),
        ("", None),
    ],
)
def test_exit_codes_that_outputs_name(text: str, code: int | None) -> None:
    assert exit_code(text) == code


def test_an_openai_answer_that_begins_with_an_error_failed() -> None:
    item = {"type": "function_call_output", "call_id": "c", "output": "Error: no such order"}
    assert read_message(item).answers == (Answer("c", "Error: no such order", True),)


@pytest.mark.parametrize(
    "strange",
    [None, 5, "words", [], {}, {"role": 5, "content": 6}, {"role": "user", "content": [None, 1]},
     {"role": "assistant", "tool_calls": [None, {"function": 3}]}, object(),
     {"type": "function_call", "arguments": "{", "call_id": 4},
     {"kind": "request", "parts": [None, 3]}],
)  # fmt: skip
def test_nothing_strange_raises(strange: object) -> None:
    assert isinstance(read_message(strange), ChatMessage)


def test_rows_of_claude_code_are_told_apart() -> None:
    row = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "x"}}
    assert is_transcript_row(row)
    assert not is_transcript_row({"type": "message", "role": "user", "content": "x"})
    assert not is_transcript_row({"type": "function_call", "name": "x"})
