"""Option B on the real client: the chat starts afresh before the context is full."""

import asyncio
import random
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import AssistantMessage, Message, ResultMessage

from holdfast.sdk import ChatMemory, Keeper
from holdfast.sdk.claude import Chat, Reset
from support.claude import Client, Lane, Reply, Request, ScriptedApi, bash, oldest_client, text

from .bakery import (
    REQUEST,
    RULE,
    SECRET,
    collect,
    everything,
    make_options,
    missing,
    story,
    typed,
)

pytestmark = [pytest.mark.client, pytest.mark.slow]


METHODS = {"clear": {}, "process": {"method": "process"}}


@pytest.mark.parametrize("method", [*METHODS, "verbatim", "oldest"])
def test_a_reset_between_turns_loses_nothing(
    api: ScriptedApi, client: Client, chat: ChatMemory, method: str
) -> None:
    client.binary = oldest_client() if method == "oldest" else None
    replies = story(client.project)
    api.say(*replies[:-1], replies[-1].filling(150_000), text("The printer is on."))
    resets: list[Reset] = []
    options = make_options(client, verbatim_prompts=method == "verbatim")

    async def talk() -> list[Message]:
        more: Any = METHODS.get(method, {})
        async with Chat(options, chat, on_reset=resets.append, **more) as bot:
            await collect(bot.ask(RULE))
            await collect(bot.ask(REQUEST))
            before = bot.session_id
            answer = await collect(bot.ask("Is the printer on?"))
            assert bot.session_id != before
            return answer

    answer = asyncio.run(talk())
    assert isinstance(answer[-1], ResultMessage)
    assert answer[-1].result == "The printer is on."
    expected = "clear" if method in ("clear", "oldest") else "process"
    assert [(reset.method, reset.before) for reset in resets] == [(expected, 150_000)]
    last = api.main_requests[-1]
    # The oldest client has no task tools in this mode: its model's calls fail.
    assert missing(last) == (["open task", "done task"] if method == "oldest" else [])
    assert "Is the printer on?" in everything(last)
    assert SECRET not in everything(last)
    assert len(last.messages) < 4
    assert [typed(api, words) for words in (RULE, REQUEST, "Is the printer on?")] == [1, 1, 1]
    assert [fact.text for fact in chat.facts("request")] == [RULE, REQUEST, "Is the printer on?"]
    assert not api.summary_requests


def test_a_turn_that_outgrows_the_context_goes_on_in_a_fresh_one(
    api: ScriptedApi, client: Client, chat: ChatMemory
) -> None:
    replies = story(client.project)
    api.say(*replies[:-2], replies[-2].filling(160_000), text("All is counted."))
    resets: list[Reset] = []

    async def talk() -> list[Message]:
        async with Chat(make_options(client), chat, on_reset=resets.append) as bot:
            await collect(bot.ask(RULE))
            return await collect(bot.ask(REQUEST))

    answer = asyncio.run(talk())
    assert isinstance(answer[-1], ResultMessage)
    assert answer[-1].result == "All is counted."
    assert sum(isinstance(message, ResultMessage) for message in answer) == 1
    assert len(resets) == 1
    last = api.main_requests[-1]
    assert missing(last) == []  # the result of the tool that ran last among them
    assert "go on with the last request" in everything(last)
    assert [typed(api, words) for words in (RULE, REQUEST)] == [1, 1]
    assert [fact.text for fact in chat.facts("request")] == [RULE, REQUEST]  # no words of ours


@pytest.mark.parametrize("version", ["newest", "oldest"])
def test_a_user_s_slash_command_is_words(
    api: ScriptedApi, client: Client, chat: ChatMemory, version: str
) -> None:
    client.binary = oldest_client() if version == "oldest" else None
    api.say(text("Noted."), text("I cannot clear that."))

    async def talk() -> None:
        async with Chat(make_options(client), chat) as bot:
            await collect(bot.ask(RULE))
            await collect(bot.ask("/clear the counter, please"))

    asyncio.run(talk())
    assert typed(api, "/clear the counter, please") == 1
    assert RULE in everything(api.main_requests[-1])


def test_an_answer_nobody_waits_for_is_ended(
    api: ScriptedApi, client: Client, chat: ChatMemory
) -> None:
    api.say(text("Thinking.") + bash("sleep 20"), text("Second answer."))

    async def talk() -> list[Message]:
        async with Chat(make_options(client), chat) as bot:
            async with aclosing(bot.ask("First question")) as answer:
                async for message in answer:
                    if isinstance(message, AssistantMessage):
                        break
            return await collect(bot.ask("Second question"))

    answer = asyncio.run(talk())
    assert isinstance(answer[-1], ResultMessage)
    assert answer[-1].result == "Second answer."


def test_a_restarted_bot_goes_on_from_its_brief(
    api: ScriptedApi, client: Client, chat: ChatMemory
) -> None:
    api.say(*story(client.project), text("The printer is on."))

    async def talk(*words: str) -> None:
        async with Chat(make_options(client), chat) as bot:
            for one in words:
                await collect(bot.ask(one))

    asyncio.run(talk(RULE, REQUEST))
    asyncio.run(talk("Is the printer on?"))
    assert missing(api.main_requests[-1]) == []
    assert [fact.text for fact in chat.facts("request")] == [RULE, REQUEST, "Is the printer on?"]


def test_a_client_that_died_is_replaced(api: ScriptedApi, client: Client, chat: ChatMemory) -> None:
    api.say(*story(client.project), text("The printer is on."))

    async def talk() -> list[Message]:
        async with Chat(make_options(client), chat) as bot:
            await collect(bot.ask(RULE))
            await collect(bot.ask(REQUEST))
            transport: Any = bot._client and bot._client._transport
            transport._process.kill()
            assert bot._reading is not None
            await asyncio.wait([bot._reading])
            return await collect(bot.ask("Is the printer on?"))

    answer = asyncio.run(talk())
    assert isinstance(answer[-1], ResultMessage)
    assert answer[-1].result == "The printer is on."
    assert missing(api.main_requests[-1]) == []


def test_a_reset_waits_for_a_job_and_the_job_survives_it(
    api: ScriptedApi, client: Client, chat: ChatMemory
) -> None:
    job = bash("sleep 3; echo job-is-done > done.txt", run_in_background=True)
    api.say(job, text("It bakes.").filling(150_000), text("Still baking.").filling(150_000))
    resets: list[Reset] = []

    async def talk() -> int:
        async with Chat(make_options(client), chat, on_reset=resets.append) as bot:
            await collect(bot.ask("Bake in the background."))
            await collect(bot.ask("And?"))
            waited = len(resets)
            await bot.reset()
            for _ in range(200):
                if (client.project / "done.txt").exists():
                    break
                await asyncio.sleep(0.1)
            return waited

    assert asyncio.run(talk()) == 0
    assert "Still running in the background" in resets[0].brief
    assert (client.project / "done.txt").read_text() == "job-is-done\n"


def test_three_chats_at_once_with_messages_thrown_in(tmp_path: Path, keeper: Keeper) -> None:
    """14 messages each, sent while the agent works; resets, a long turn, a user's "/clear"."""

    async def one(name: str, seed: int) -> tuple[list[str], ScriptedApi, list[Reset]]:
        api = stack.enter_context(ScriptedApi())
        client = Client(tmp_path / name, api)
        count = iter(range(1, 1_000))

        def model(request: Request) -> Reply:
            number = next(count)
            used = 60_000 + 25_000 * (number % 5)
            if number == 9:  # a turn that outgrows the context by itself
                return bash("echo long turn").filling(160_000)
            if number % 3 == 0:
                return bash(f"echo {name} {number}").filling(used)
            return text(f"{name} answer {number}").filling(used)

        api.script(Lane.MAIN, model)
        words = [f"Rule of {name}: never mix {name}-flour with rye."]
        words += [f"{name} message {seed}{n:03d}" for n in range(12)]
        words.append(f"/clear said {name}")
        resets: list[Reset] = []
        rnd = random.Random(seed)
        memory = keeper.chat(name)
        async with Chat(make_options(client), memory, on_reset=resets.append) as bot:
            await collect(bot.ask(words[0]))

            async def later(said: str) -> Any:
                await asyncio.sleep(rnd.random())
                return (await collect(bot.ask(said)))[-1]

            results = await asyncio.gather(*(later(said) for said in words[1:]))
            assert all(isinstance(result, ResultMessage) for result in results)
        return words, api, resets

    async def all_three() -> Any:
        return await asyncio.gather(one("Ada", 1), one("Bob", 2), one("Cyd", 3))

    with ExitStack() as stack:
        for (words, api, resets), name in zip(
            asyncio.run(all_three()), ("Ada", "Bob", "Cyd"), strict=True
        ):
            assert [typed(api, said) for said in words] == [1] * 14
            said = [fact.text for fact in keeper.chat(name).facts("request")]
            assert sorted(said) == sorted(words[:-1])  # a lone command is no request
            sent = "\n".join(everything(request) for request in api.main_requests)
            assert not any(other in sent for other in {"Ada", "Bob", "Cyd"} - {name})
            assert resets
            assert words[0] in everything(api.main_requests[-1])
