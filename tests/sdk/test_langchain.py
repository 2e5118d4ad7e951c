"""LangChain and deepagents with a scripted model: compaction keeps the chat and asks no model."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from holdfast.sdk import Keeper
from holdfast.sdk.langchain import HoldfastMiddleware, deep_summarization
from support.chat_story import RULE, SECRET, STORY, filler, langchain_messages, missing

CONFIG: Any = {"configurable": {"thread_id": "thread-1"}}


class ScriptedModel(BaseChatModel):
    """Answers "Understood." and remembers what it was asked."""

    asked: list[list[BaseMessage]] = []  # noqa: RUF012  pydantic copies it
    seen: str = ""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        self.asked.append(list(messages))
        said = AIMessage("Understood.", id=f"answer-{len(self.asked)}")
        return ChatResult(generations=[ChatGeneration(message=said)])

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        return self


def text_of(messages: list[BaseMessage]) -> str:
    return "\n".join(
        f"{message.content} {getattr(message, 'tool_calls', '')}" for message in messages
    )


def history() -> Any:
    return [*langchain_messages(STORY + filler(30))[1:], HumanMessage("Go on.", id="go-on")]


def test_the_default_of_langchain_loses_all_and_asks_no_model() -> None:
    """What this module is for. When this fails, LangChain has become better."""
    model = ScriptedModel()
    own = SummarizationMiddleware(model, trigger=("messages", 10), keep=("messages", 4))
    create_agent(model, [], middleware=[own]).invoke({"messages": history()})
    (request,) = model.asked
    assert "Previous conversation was too long to summarize." in text_of(request)
    assert len(missing(text_of(request))) == 8


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_every_planted_fact_stands_in_the_request_after_each_of_two_compactions(
    keeper: Keeper, way: str
) -> None:
    model = ScriptedModel()
    middleware = HoldfastMiddleware(
        model, keeper, trigger=("messages", 10), keep=("messages", 4), max_chars=6_000
    )
    agent = create_agent(model, [], middleware=[middleware], checkpointer=InMemorySaver())

    def run(messages: Any) -> None:
        if way == "invoke":
            agent.invoke({"messages": messages}, CONFIG)
        else:
            asyncio.run(agent.ainvoke({"messages": messages}, CONFIG))

    run(history())
    rules = [fact.text for fact in keeper.chat("thread-1").facts("rule")]
    more = langchain_messages(filler(30, 500), 500)[1:]
    run([*more, HumanMessage("And now the invoices.", id="invoices")])
    first, second = model.asked  # one request each: none for a summary
    for request in (first, second):
        assert missing(text_of(request)) == []
        assert SECRET not in text_of(request)
        assert len(request) < 10
        assert text_of(request).count("<holdfast-state") == 1
    assert rules == [RULE]
    assert [fact.text for fact in keeper.chat("thread-1").facts("rule")] == rules
    requests = [fact.text for fact in keeper.chat("thread-1").facts("request")]
    assert requests[-2:] == ["Go on.", "And now the invoices."]
    assert keeper.chats() == ["thread-1"]


def test_messages_that_stay_lose_their_secrets(keeper: Keeper) -> None:
    model = ScriptedModel()
    told: Any = [*langchain_messages(filler(20))[1:], HumanMessage(f"The key: {SECRET}", id="key")]
    middleware = HoldfastMiddleware(
        model, keeper, chat="c", trigger=("messages", 10), keep=("messages", 4)
    )
    create_agent(model, [], middleware=[middleware]).invoke({"messages": told})
    assert "The key: [redacted" in text_of(model.asked[0])
    assert SECRET not in text_of(model.asked[0])


def test_without_a_thread_nothing_is_kept_and_the_model_summarises(keeper: Keeper) -> None:
    model = ScriptedModel()
    middleware = HoldfastMiddleware(model, keeper, trigger=("messages", 10), keep=("messages", 4))
    create_agent(model, [], middleware=[middleware]).invoke({"messages": history()})
    summary, request = model.asked
    assert "Summarise this conversation" in text_of(summary)
    assert "Understood." in text_of(request)
    assert keeper.chats() == []


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_deepagents_with_our_summary(keeper: Keeper, way: str) -> None:
    model = ScriptedModel()
    middleware = deep_summarization(
        model,
        StateBackend(),
        keeper,
        trigger=("messages", 10),
        keep=("messages", 4),
        max_chars=6_000,
    )
    agent: Any = create_deep_agent(model, middleware=[middleware], checkpointer=InMemorySaver())

    def run(messages: Any) -> None:
        if way == "invoke":
            agent.invoke({"messages": messages}, CONFIG)
        else:
            asyncio.run(agent.ainvoke({"messages": messages}, CONFIG))

    run(history())
    more = langchain_messages(filler(30, 500), 500)[1:]
    run([*more, HumanMessage("And now the invoices.", id="invoices")])
    first, second = model.asked
    for request in (first, second):
        assert missing(text_of(request)) == []
        assert SECRET not in text_of(request)
    assert [fact.text for fact in keeper.chat("thread-1").facts("rule")] == [RULE]


def test_deepagents_messages_that_stay_lose_their_secrets(keeper: Keeper) -> None:
    model = ScriptedModel()
    told: Any = [*langchain_messages(filler(20))[1:], HumanMessage(f"The key: {SECRET}", id="key")]
    middleware = deep_summarization(
        model, StateBackend(), keeper, trigger=("messages", 10), keep=("messages", 4)
    )
    agent: Any = create_deep_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    ended = agent.invoke({"messages": told}, CONFIG)
    (request,) = model.asked
    assert "The key: [redacted" in text_of(request)
    assert SECRET not in text_of(request)
    assert SECRET in text_of(ended["messages"])  # what deepagents stores is its own


class DelegatingModel(ScriptedModel):
    """Gives a task to a subagent, which looks around until its context is full."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        self.asked.append(list(messages))
        number = len(self.asked)
        task = {"description": SUBTASK, "subagent_type": "general-purpose"}
        look = {"id": f"call-{number}", "name": "ls", "args": {"path": "/"}}
        delegate = {"id": "call-1", "name": "task", "args": task}
        calls = [delegate] if number == 1 else [look] if number < 10 else []
        said = AIMessage("I look.", id=f"answer-{number}", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


SUBTASK = "Never open the oven. Count the loaves."


def test_the_task_of_a_subagent_is_not_the_user_s_rule(keeper: Keeper) -> None:
    model = DelegatingModel()
    middleware = deep_summarization(
        model, StateBackend(), keeper, trigger=("messages", 6), keep=("messages", 2)
    )
    agent: Any = create_deep_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    agent.invoke({"messages": [HumanMessage(RULE, id="rule")]}, CONFIG)
    assert any("Summarise this conversation" in text_of(request) for request in model.asked)
    assert keeper.chats() == ["thread-1"]
    assert [fact.text for fact in keeper.chat("thread-1").facts("rule")] == [RULE]
    assert [fact.text for fact in keeper.chat("thread-1").facts("request")] == [RULE]
    its_own = [request for request in model.asked if SUBTASK in text_of(request[:2])]
    assert its_own
    assert not any(RULE in text_of(request) for request in its_own)
