"""Option B on the real client: the chat starts afresh before the context is full."""

import asyncio
import random
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import AssistantMessage, Message, ResultMessage

from holdfast.sdk import ChatMemory, Keeper, StoreError
from holdfast.sdk.claude import Chat, Reset
from holdfast.sdk.claude import chat as chat_module
from holdfast.sdk.claude.protection import Protection
from holdfast.sdk.storage import StoreAccess
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
    typed_in,
)

pytestmark = [pytest.mark.client, pytest.mark.slow]


METHODS = {"clear": {}, "process": {"method": "process"}}


async def no_answer(*_: object) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize("method", [*METHODS, "verbatim", "oldest", "no hooks"])
def test_a_reset_between_turns_loses_nothing(
    api: ScriptedApi,
    client: Client,
    chat: ChatMemory,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
) -> None:
    client.binary = oldest_client() if method == "oldest" else None
    replies = story(client.project)
    api.say(*replies[:-1], replies[-1].filling(150_000), text("The printer is on."))
    resets: list[Reset] = []
    options = make_options(client, verbatim_prompts=method == "verbatim")
    if method == "no hooks":  # a client that does not ask them after /clear
        monkeypatch.setattr(Protection, "_on_session_start", no_answer)

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
    expected = "process" if method in ("process", "verbatim") else "clear"
    assert [(reset.method, reset.before) for reset in resets] == [(expected, 150_000)]
    last = api.main_requests[-1]
    assert missing(last) == []
    # The oldest client has no task tools in this mode: its model's calls failed, and are no tasks.
    assert ("Open tasks:" in everything(last)) == (method != "oldest")
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


def test_a_job_that_ends_with_its_client_is_named_so(
    api: ScriptedApi, client: Client, chat: ChatMemory, caplog: pytest.LogCaptureFixture
) -> None:
    job = bash("sleep 600", run_in_background=True, description="Bake the rye")
    api.say(job, text("It bakes."), text("I start it again."))

    async def talk() -> None:
        async with Chat(make_options(client), chat, method="process") as bot:
            await collect(bot.ask("Bake in the background."))
            await bot.reset()
            await collect(bot.ask("And?"))

    asyncio.run(talk())
    told = everything(api.main_requests[-1])
    assert "Bake the rye" in told.partition("were ended")[2]
    assert "Still running in the background" not in told
    assert caplog.text == ""  # nor did anybody wait for an answer of the client that was ended


@pytest.mark.parametrize("version", ["newest", "oldest"])
def test_a_message_while_the_client_works_by_itself_is_answered(
    api: ScriptedApi, client: Client, chat: ChatMemory, version: str
) -> None:
    """A job that ends starts a turn of its own; words that join it would get no result."""
    client.binary = oldest_client() if version == "oldest" else None
    api.say(
        bash("sleep 1", run_in_background=True),
        text("It bakes."),
        bash("sleep 2; echo looked"),
        text("The job has ended."),
        text("The oven has 210 degrees."),
    )
    idle: list[Message] = []

    async def talk() -> list[Message]:
        async with Chat(make_options(client), chat, on_idle=idle.append) as bot:
            await collect(bot.ask("Bake in the background."))
            while len(api.main_requests) < 3:
                await asyncio.sleep(0.05)
            return await collect(bot.ask("How hot is the oven?"))

    answer = asyncio.run(talk())
    assert isinstance(answer[-1], ResultMessage)
    assert answer[-1].result == "The oven has 210 degrees."
    assert isinstance(idle[-1], ResultMessage)
    assert idle[-1].result == "The job has ended."
    assert typed(api, "How hot is the oven?") == 1


def test_a_callback_cannot_wait_for_the_chat_that_waits_for_it(
    api: ScriptedApi, client: Client, chat: ChatMemory
) -> None:
    job = bash("sleep 1", run_in_background=True)
    api.say(job, text("It bakes."), text("The job has ended."), text("Yes."), text("No."))
    refused: list[str] = []
    later: list[asyncio.Task[list[Message]]] = []
    idle = asyncio.Event()

    async def talk() -> list[list[Message]]:
        async def on_idle(message: Message) -> None:
            with pytest.raises(RuntimeError, match="on_idle"):
                await collect(bot.ask("Is it baked?"))
            if isinstance(message, ResultMessage):
                refused.append("on_idle")
                idle.set()

        async def on_reset(_: Reset) -> None:
            with pytest.raises(RuntimeError, match="on_reset"):
                await asyncio.create_task(collect(bot.ask("Are you there?")))
            with pytest.raises(RuntimeError, match="on_reset"):
                await bot.reset()
            refused.append("on_reset")
            later.append(asyncio.create_task(collect(bot.ask("Tell me afterwards."))))

        options = make_options(client)
        async with Chat(options, chat, on_reset=on_reset, on_idle=on_idle) as bot:
            await collect(bot.ask("Bake in the background."))
            await idle.wait()
            await bot.reset()
            return [await later[0], await collect(bot.ask("And now?"))]

    answers = asyncio.run(talk())
    assert refused == ["on_idle", "on_reset"]
    results = [answer[-1] for answer in answers]
    assert [getattr(result, "result", None) for result in results] == ["Yes.", "No."]
    assert typed(api, "Are you there?") == typed(api, "Is it baked?") == 0


def test_words_that_joined_a_turn_of_the_client_s_own_end_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sent in the moment in which it began: no other result will come."""
    monkeypatch.setattr(chat_module, "TAKEN_UP_SECONDS", 0.01)

    def result(origin: Any) -> ResultMessage:
        made = ResultMessage("success", 1, 1, False, 1, "s", result="Both.")
        made.origin = origin
        return made

    async def read(*messages: Message | None) -> list[Message]:
        turn: asyncio.Queue[Message | None] = asyncio.Queue()
        for message in messages:
            turn.put_nowait(message)
        return [message async for message in chat_module._read_answer(turn)]

    job, ours = result({"kind": "task-notification"}), result(None)
    said = AssistantMessage([], "m")
    assert asyncio.run(read(said, job)) == [said, job]
    assert asyncio.run(read(job, said, ours)) == [said, ours]
    assert asyncio.run(read(job, None)) == []


@pytest.mark.parametrize("moment", ["between turns", "inside a turn"])
def test_what_is_not_saved_is_not_cleared(
    api: ScriptedApi, client: Client, chat: ChatMemory, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def refuse(self: StoreAccess, action: object) -> None:
        raise StoreError("the disk is full")

    replies = [text("Noted.").filling(150_000)]
    if moment == "inside a turn":
        replies = [bash("echo one").filling(160_000), bash("echo two").filling(160_000)]
    api.say(text("Noted."), *replies, text("Yes."), text("Yes, again."))
    resets: list[Reset] = []

    async def talk() -> None:
        async with Chat(make_options(client), chat, on_reset=resets.append) as bot:
            await collect(bot.ask(RULE))
            with monkeypatch.context() as patch:
                patch.setattr(StoreAccess, "run", refuse)
                await collect(bot.ask(REQUEST))
                await collect(bot.ask("Is the printer on?"))
                assert resets == []
            bot.used = 150_000
            await collect(bot.ask("And now?"))

    asyncio.run(talk())
    before = next(r for r in api.main_requests if typed_in(r, "Is the printer on?"))
    assert RULE in everything(before)
    assert REQUEST in everything(before)
    # The store answers again: what had waited is in the brief.
    assert len(resets) == 1
    assert RULE in resets[0].brief
    assert REQUEST in resets[0].brief


def first_requests(api: ScriptedApi) -> list[Request]:
    """Those of a conversation that has just begun: nothing was answered in it yet."""
    return [
        request
        for request in api.main_requests
        if not any(message["role"] == "assistant" for message in request.messages)
    ]


@pytest.mark.parametrize("method", [*METHODS, "oldest"])
def test_three_chats_at_once_with_messages_thrown_in(
    tmp_path: Path, keeper: Keeper, method: str
) -> None:
    """14 messages each, sent while the agent works; resets, a long turn, a user's "/clear"."""
    binary = oldest_client() if method == "oldest" else None
    more: Any = METHODS.get(method, {})

    async def one(name: str, seed: int) -> tuple[list[str], ScriptedApi, list[Reset]]:
        api = stack.enter_context(ScriptedApi())
        client = Client(tmp_path / name, api, binary=binary)
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
        words += [f"Bake {n + 11} rolls for {name} and customer {seed}{n:03d}." for n in range(12)]
        words.append(f"/clear said {name}")
        resets: list[Reset] = []
        rnd = random.Random(seed)
        memory = keeper.chat(name)
        async with Chat(make_options(client), memory, on_reset=resets.append, **more) as bot:
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
            # A lone command is no request; for the oldest client it is made to be none.
            heard = [chat_module.NO_COMMAND + words[-1]] if method == "oldest" else []
            assert sorted(said) == sorted(words[:-1] + heard)
            sent = "\n".join(everything(request) for request in api.main_requests)
            assert not any(other in sent for other in {"Ada", "Bob", "Cyd"} - {name})
            assert resets
            assert {reset.method for reset in resets} == {
                "process" if method == "process" else "clear"
            }
            fresh = first_requests(api)
            assert len(fresh) > len(resets)
            for request in fresh:
                before = api.main_requests[: api.main_requests.index(request)]
                known = [one for one in words[:-1] if any(typed_in(r, one) for r in before)]
                assert [one for one in known if one not in everything(request)] == []
            assert words[0] in everything(api.main_requests[-1])
