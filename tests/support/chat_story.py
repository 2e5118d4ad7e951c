"""One conversation with planted facts, in the shapes of several agent libraries.

Written by hand: a bakery's order bot, with a rule, a request, values, tasks, a failed attempt, a
failing test and a secret among what its tools answered.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

RULE = "Never refund an order without asking Marta first."
REQUEST = "Make src/orders/pricing.py round every total to five cents, the till has port 7311."
SECRET = "sk-ant-api03-" + "Kq9" * 24
FACTS = {
    "rule": "Never refund an order without asking Marta first",
    "request": "round every total to five cents",
    "port": "7311",
    "file": "src/orders/pricing.py",
    "open task": "Document the rounding rule",
    "done task": "Write round_total",
    "failed attempt": "BankersRoundingError",
    "failing test": "test_half_cent",
}


class Step(NamedTuple):
    """One message: the user's, or the agent's with a call and what the tool answered."""

    user: str = ""
    agent: str = ""
    tool: str = ""
    input: dict[str, Any] = {}  # noqa: RUF012  never changed
    answer: str = ""
    failed: bool = False


def todos(first: str, second: str) -> dict[str, Any]:
    return {
        "todos": [
            {"content": "Write round_total", "status": first},
            {"content": "Document the rounding rule", "status": second},
        ]
    }


STORY = (
    Step(user=RULE),
    Step(agent="Understood, Marta decides on refunds."),
    Step(user=REQUEST),
    Step(
        agent="Two tasks.",
        tool="write_todos",
        input=todos("in_progress", "pending"),
        answer="Updated",
    ),
    Step(
        tool="write_file",
        input={
            "path": "src/orders/pricing.py",
            "content": "def round_total(cents):\n    return 5 * round(cents / 5)\n",
        },
        answer="Wrote src/orders/pricing.py",
    ),
    Step(
        agent="First I try the decimal module.",
        tool="execute",
        input={"command": "python try_decimal.py"},
        answer="BankersRoundingError: 0.025 became 0.02\n[Command failed with exit code 1]",
        failed=True,
    ),
    Step(tool="execute", input={"command": "cat .env"}, answer=f"API_KEY={SECRET}"),
    Step(tool="write_todos", input=todos("completed", "in_progress"), answer="Updated"),
    Step(
        tool="execute",
        input={"command": "pytest tests/test_pricing.py"},
        answer="FAILED tests/test_pricing.py::test_half_cent - assert 5 == 0\n1 failed in 0.02s\n"
        "[Command failed with exit code 1]",
        failed=True,
    ),
    Step(agent="One test fails, test_half_cent. Next I look at negative totals."),
)


def filler(count: int, start: int = 0) -> tuple[Step, ...]:
    """Long answers of tools that nobody needs later."""
    return tuple(
        Step(
            tool="execute",
            input={"command": f"cat logs/day{number}.log"},
            answer=f"day {number}\n" + "all ovens are warm and nothing is wrong\n" * 40,
        )
        for number in range(start, start + count)
    )


def anthropic_messages(story: tuple[Step, ...] = STORY, start: int = 0) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for number, step in enumerate(story, start):
        if step.user:
            out.append({"role": "user", "content": step.user})
            continue
        blocks: list[dict[str, Any]] = [{"type": "text", "text": step.agent}] if step.agent else []
        if step.tool:
            call = f"toolu_{number:04d}"
            blocks.append({"type": "tool_use", "id": call, "name": step.tool, "input": step.input})
        out.append({"role": "assistant", "content": blocks})
        if step.tool:
            answer = {"type": "tool_result", "tool_use_id": call, "content": step.answer}
            out.append({"role": "user", "content": [{**answer, "is_error": step.failed}]})
    return out


def openai_messages(story: tuple[Step, ...] = STORY, start: int = 0) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = [{"role": "system", "content": "You run a bakery."}]
    for number, step in enumerate(story, start):
        if step.user:
            out.append({"role": "user", "content": step.user})
            continue
        said: dict[str, Any] = {"role": "assistant", "content": step.agent or None}
        if step.tool:
            call = f"call_{number:04d}"
            function = {"name": step.tool, "arguments": json.dumps(step.input)}
            said["tool_calls"] = [{"id": call, "type": "function", "function": function}]
        out.append(said)
        if step.tool:
            out.append({"role": "tool", "tool_call_id": call, "content": step.answer})
    return out


def responses_items(story: tuple[Step, ...] = STORY, start: int = 0) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for number, step in enumerate(story, start):
        if step.user:
            out.append({"role": "user", "content": step.user})
            continue
        if step.agent:
            content = [{"type": "output_text", "text": step.agent, "annotations": []}]
            out.append(
                {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}
            )
        if step.tool:
            call = f"call_{number:04d}"
            asked = {"call_id": call, "name": step.tool, "arguments": json.dumps(step.input)}
            out.append({"type": "function_call", **asked})
            out.append({"type": "function_call_output", "call_id": call, "output": step.answer})
    return out


def langchain_messages(story: tuple[Step, ...] = STORY, start: int = 0) -> list[Any]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    out: list[Any] = [SystemMessage("You run a bakery.", id="system")]
    for number, step in enumerate(story, start):
        if step.user:
            out.append(HumanMessage(step.user, id=f"human-{number}"))
            continue
        call = f"call_{number:04d}"
        calls = [{"name": step.tool, "args": step.input, "id": call}] if step.tool else []
        out.append(AIMessage(step.agent, tool_calls=calls, id=f"ai-{number}"))
        if step.tool:
            status: Any = "error" if step.failed else "success"
            out.append(
                ToolMessage(step.answer, tool_call_id=call, status=status, id=f"tool-{number}")
            )
    return out


def pydantic_ai_messages(story: tuple[Step, ...] = STORY, start: int = 0) -> list[Any]:
    from pydantic_ai import messages as pa

    out: list[Any] = []
    for number, step in enumerate(story, start):
        if step.user:
            out.append(pa.ModelRequest(parts=[pa.UserPromptPart(content=step.user)]))
            continue
        parts: list[Any] = [pa.TextPart(content=step.agent)] if step.agent else []
        call = f"call_{number:04d}"
        if step.tool:
            parts.append(pa.ToolCallPart(step.tool, json.dumps(step.input), tool_call_id=call))
        out.append(pa.ModelResponse(parts=parts))
        if step.tool:
            answer = pa.ToolReturnPart(step.tool, step.answer, tool_call_id=call)
            out.append(pa.ModelRequest(parts=[answer]))
    out[0].parts.insert(0, pa.SystemPromptPart(content="You run a bakery."))
    return out


SHAPES = {
    "anthropic": anthropic_messages,
    "openai": openai_messages,
    "responses": responses_items,
    "langchain": langchain_messages,
    "pydantic_ai": pydantic_ai_messages,
}


def missing(text: str) -> list[str]:
    """The planted facts that do not stand in a text."""
    return [name for name, fact in FACTS.items() if fact not in text]
