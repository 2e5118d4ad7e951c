"""OpenAI Agents with a scripted model: the session hands out a compacted history, loses nothing."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, set_tracing_disabled
from agents.memory import Session
from agents.models.interface import Model
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from holdfast.sdk import ChatMemory
from holdfast.sdk.openai_agents import HoldfastSession, count_tokens
from support.chat_story import RULE, SECRET, STORY, filler, missing, responses_items

set_tracing_disabled(True)


class ScriptedModel(Model):
    def __init__(self) -> None:
        self.asked: list[list[Any]] = []

    async def get_response(
        self, system_instructions: Any, input: Any, *args: Any, **more: Any
    ) -> Any:
        self.asked.append(list(input))
        number = len(self.asked)
        text = ResponseOutputText(type="output_text", text=f"Understood {number}.", annotations=[])
        said = ResponseOutputMessage(
            id=f"answer_{number}",
            type="message",
            role="assistant",
            status="completed",
            content=[text],
        )
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def test_every_planted_fact_after_each_of_two_compactions(chat: ChatMemory) -> None:
    model = ScriptedModel()
    agent = Agent(name="bakery", model=model)

    async def talk() -> list[Any]:
        inner = SQLiteSession("42")
        session = HoldfastSession(inner, chat, above=6_000, max_chars=6_000, keep=4_000)
        assert isinstance(session, Session)
        items: Any = responses_items(STORY + filler(30))
        await session.add_items(items)
        await Runner.run(agent, "Go on.", session=session)
        more: Any = responses_items(filler(30, 500), 500)
        await session.add_items(more)
        await Runner.run(agent, "And now the invoices.", session=session)
        await Runner.run(agent, "Thanks.", session=session)
        kept = await inner.get_items()
        inner.close()
        return kept

    kept = asyncio.run(talk())
    assert len(kept) > 100  # the store keeps everything
    for request in model.asked:
        assert missing(repr(request)) == []
        assert SECRET not in repr(request)
        assert repr(request).count("<holdfast-state") == 1
        assert count_tokens(request) < 6_000
    second, third = model.asked[1:]
    assert third[: len(second)] == second  # the same prefix, for the provider's cache
    assert [fact.text for fact in chat.facts("rule")] == [RULE]
    requests = [fact.text for fact in chat.facts("request")]
    assert requests[-3:] == ["Go on.", "And now the invoices.", "Thanks."]


def test_taking_items_back_and_clearing(chat: ChatMemory) -> None:
    async def talk() -> None:
        inner = SQLiteSession("42")
        session = HoldfastSession(inner, chat, above=2_000, keep=1_000)
        items: Any = responses_items(STORY + filler(10))
        await session.add_items(items)
        assert "<holdfast-state" in repr(await session.get_items())
        for _ in range(len(items) - 2):
            await session.pop_item()
        assert await session.get_items() == items[:2]
        assert await session.get_items(1) == items[1:2]
        await session.clear_session()
        assert await session.get_items() == []
        inner.close()

    asyncio.run(talk())
    assert chat.facts() == []
