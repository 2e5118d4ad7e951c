"""pydantic-ai with a scripted model: the history processor hears, compacts and stays silent."""

import asyncio
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from holdfast.sdk import ChatMemory
from holdfast.sdk.pydantic_ai import count_tokens, history
from support.chat_story import RULE, SECRET, STORY, filler, missing, pydantic_ai_messages


class Scripted:
    def __init__(self) -> None:
        self.asked: list[list[ModelMessage]] = []

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append(list(messages))
        return ModelResponse(parts=[TextPart("Understood.")])


def run(agent: Agent[None, str], text: str, message_history: Any = None) -> Any:
    return asyncio.run(agent.run(text, message_history=message_history))


def test_every_planted_fact_after_each_of_two_compactions(chat: ChatMemory) -> None:
    scripted = Scripted()
    processor: Any = ProcessHistory(history(chat, above=5_000, max_chars=6_000, keep=4_000))
    agent = Agent(FunctionModel(scripted.answer), capabilities=[processor])
    before = pydantic_ai_messages(STORY + filler(30))
    ran = run(agent, "Go on.", message_history=before)
    again = run(
        agent,
        "And now the invoices.",
        message_history=[*ran.all_messages(), *pydantic_ai_messages(filler(30, 500), 500)],
    )
    for request in scripted.asked:
        assert missing(repr(request)) == []
        assert SECRET not in repr(request)
        assert "You run a bakery." in repr(request)
        assert repr(request).count("<holdfast-state") == 1
        assert count_tokens(request) < 5_000
    assert "And now the invoices." in repr(scripted.asked[1][-1])
    assert len(again.all_messages()) < 20
    assert [fact.text for fact in chat.facts("rule")] == [RULE]
    requests = [fact.text for fact in chat.facts("request")]
    assert requests[-2:] == ["Go on.", "And now the invoices."]


def test_a_short_history_is_left_alone_and_heard(chat: ChatMemory) -> None:
    scripted = Scripted()
    processor: Any = ProcessHistory(history(chat))
    agent = Agent(FunctionModel(scripted.answer), capabilities=[processor])
    ran = run(agent, RULE)
    run(agent, "Go on.", message_history=ran.all_messages())
    assert "<holdfast-state" not in repr(scripted.asked)
    assert [fact.text for fact in chat.facts("request")] == [RULE, "Go on."]
