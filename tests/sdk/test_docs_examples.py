"""The examples of docs/sdk.md and its pages run as they are there."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from agents import SQLiteSession
from claude_agent_sdk import ClaudeAgentOptions
from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from langchain.agents import create_agent
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.models.test import TestModel

from holdfast.sdk import ChatMemory, Keeper
from support.chat_story import FACTS, anthropic_messages

from .test_anthropic import ScriptedApi, api  # noqa: F401  a fixture
from .test_langchain import ScriptedModel

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, heading: str = "") -> list[str]:
    """The examples of a page, or of its part below a heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [str(one) for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


def test_every_example_is_run_here() -> None:
    """Each test below takes all blocks of its page, or of its part of the page on frameworks."""
    pages = {page.name for page in DOCS.glob("sdk*.md")}
    assert pages == {"sdk.md", "sdk-claude.md", "sdk-frameworks.md"}
    text = (DOCS / "sdk-frameworks.md").read_text(encoding="utf-8")
    run = Path(__file__).read_text(encoding="utf-8")
    for heading in re.findall(r"^## (.+)$", text, re.MULTILINE):
        assert blocks("sdk-frameworks.md", heading)
        assert f'blocks("sdk-frameworks.md", "{heading}")' in run


def test_any_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    (code,) = blocks("sdk.md")
    names: dict[str, Any] = {"messages": anthropic_messages()}
    exec(code, names)
    assert FACTS["rule"] in capsys.readouterr().out
    names["keeper"].close()


def test_anthropic(chat: ChatMemory, api: ScriptedApi) -> None:  # noqa: F811
    for code in blocks("sdk-frameworks.md", "Anthropic messages"):
        names: dict[str, Any] = {
            "chat": chat,
            "client": api.client,
            "model": "m",
            "messages": anthropic_messages(),
        }
        chat.hear(names["messages"])
        exec(code, names)
        assert FACTS["rule"] in repr(names["messages"])


def test_langchain(keeper: Keeper) -> None:
    (code,) = blocks("sdk-frameworks.md", "LangChain")
    exec(
        code,
        {"model": ScriptedModel(), "keeper": keeper, "tools": [], "create_agent": create_agent},
    )


def test_deepagents(keeper: Keeper) -> None:
    (code,) = blocks("sdk-frameworks.md", "deepagents")
    names = {"create_deep_agent": create_deep_agent, "backend": StateBackend(), "keeper": keeper}
    exec(code, {**names, "model": ScriptedModel()})


def test_pydantic_ai(keeper: Keeper) -> None:
    (code,) = blocks("sdk-frameworks.md", "pydantic-ai")
    names: dict[str, Any] = {"ProcessHistory": ProcessHistory, "Agent": Agent, "keeper": keeper}
    names["model"] = TestModel()
    exec(code, names)
    asyncio.run(names["agent"].run("Never sell rye."))
    assert [fact.text for fact in keeper.chat("42").facts("rule")] == ["Never sell rye."]


def test_openai_agents(keeper: Keeper) -> None:
    (code,) = blocks("sdk-frameworks.md", "OpenAI Agents")
    names: dict[str, Any] = {"SQLiteSession": SQLiteSession, "keeper": keeper}
    exec(code, names)
    assert asyncio.run(names["session"].get_items()) == []
    names["session"].inner.close()


def test_claude(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    """That they start: what they do is shown on the real client, in `claude/`."""
    names: dict[str, Any] = {"options": ClaudeAgentOptions(setting_sources=[]), "keeper": keeper}
    names["options_for"] = lambda _: ClaudeAgentOptions()
    first, second, third = blocks("sdk-claude.md")
    exec(first, names)
    assert {"PreCompact", "SessionStart"} <= set(names["options"].hooks)
    started: list[str] = []

    async def connect(self: Any) -> None:
        started.append(self.memory.id)

    async def ask(self: Any, text: str) -> Any:
        yield text

    exec(second, names)
    monkeypatch.setattr(names["Chat"], "connect", connect)
    monkeypatch.setattr(names["Chat"], "ask", ask)
    asyncio.run(names["talk"]())

    async def answer_one() -> None:
        exec(third, names)
        await names["answer"]("telegram:43", "Hello")
        await names["chats"].close()

    asyncio.run(answer_one())
    assert started == ["telegram:42", "telegram:43"]
