"""Option A on the real client: its own compactions, manual and automatic, keep the state."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeSDKClient, HookMatcher, InMemorySessionStore
from claude_agent_sdk.testing import run_session_store_conformance

from holdfast.install.claude_code import INSTALLER as installer
from holdfast.sdk import ChatMemory, Keeper
from holdfast.sdk.claude import protect
from holdfast.sdk.claude.feed import FeedStore, RowFeed
from support.claude import Client, ScriptedApi, fills_the_window, prompt_too_long, text, texts
from support.claude.oldest_client import oldest_client

from .bakery import FACTS, REQUEST, RULE, SECRET, everything, make_options, missing, story

STEERED = "Keep these facts of the session"


async def say(client: ClaudeSDKClient, words: str) -> list[Any]:
    await client.query(words)
    return [message async for message in client.receive_response()]


def our_texts(request: Any) -> str:
    return "\n".join(piece.text for piece in texts(request) if "<holdfast-state" in piece.text)


@pytest.mark.client
@pytest.mark.slow
@pytest.mark.parametrize("version", ["newest", "oldest"])
@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_two_compactions_keep_every_planted_fact(
    api: ScriptedApi, tmp_path: Path, chat: ChatMemory, trigger: str, version: str
) -> None:
    client = Client(
        tmp_path / "client", api, binary=oldest_client() if version == "oldest" else None
    )
    replies = [*story(client.project), text("One."), text("Two.")]
    if trigger == "auto" and version == "oldest":
        # It does not compact when the API says that the prompt is too long, but when it is full.
        replies[-3:-1] = [fills_the_window(reply) for reply in replies[-3:-1]]
    overflow = [prompt_too_long()] if trigger == "auto" and version == "newest" else []
    api.say(*replies[:-2], *overflow, replies[-2], *overflow, replies[-1])

    async def talk() -> None:
        async with ClaudeSDKClient(protect(make_options(client), chat)) as sdk:
            await say(sdk, RULE)
            await say(sdk, REQUEST)
            for number in range(2):
                if trigger == "manual":
                    await say(sdk, "/compact")
                await say(sdk, f"Go on, part {number}.")

    asyncio.run(talk())
    after = [r for r in api.main_requests if any("<holdfast-state" in p.text for p in texts(r))]
    assert len(api.summary_requests) == 2
    for request in api.summary_requests:
        assert STEERED in everything(request)
        assert RULE in everything(request)
    for request in after[-2:]:
        ours = our_texts(request)
        assert {name for name, fact in FACTS.items() if fact not in ours} == set()
        # The oldest client has no task tools in this mode: its model's calls failed, no tasks.
        assert ("Open tasks:" in ours) == (version != "oldest")
        assert SECRET not in ours
    requests = [fact.text for fact in chat.facts("request")]
    assert requests == [RULE, REQUEST, "Go on, part 0.", "Go on, part 1."]
    assert [fact.text for fact in chat.facts("rule")] == [RULE]


@pytest.mark.client
@pytest.mark.slow
def test_a_new_client_of_the_same_chat_is_given_what_the_last_one_left(
    api: ScriptedApi, tmp_path: Path, chat: ChatMemory
) -> None:
    client = Client(tmp_path / "client", api)
    api.say(text("Understood."), text("On it."), text("Which one?"))

    async def talk(*said: str) -> None:
        async with ClaudeSDKClient(protect(make_options(client), chat)) as sdk:
            for words in said:
                await say(sdk, words)

    asyncio.run(talk(RULE, REQUEST))
    assert our_texts(api.last) == ""
    asyncio.run(talk("What did I ask for?"))
    assert RULE in our_texts(api.last)
    assert REQUEST in our_texts(api.last)


@pytest.mark.client
@pytest.mark.slow
@pytest.mark.parametrize("case", ["checkpointing", "home", "own store and hooks"])
def test_whatever_the_options_are_the_rows_are_heard(
    api: ScriptedApi, client: Client, chat: ChatMemory, case: str
) -> None:
    api.say(*story(client.project), text("One."))
    store = InMemorySessionStore()
    prompts: list[str] = []

    async def own(given: Any, *_: Any) -> Any:
        prompts.append(given["prompt"])
        return {}

    more: dict[str, Any] = {}
    if case == "checkpointing":
        more["enable_file_checkpointing"] = True
    if case == "own store and hooks":
        more["session_store"] = store
        more["hooks"] = {"UserPromptSubmit": [HookMatcher(hooks=[own])]}

    async def talk() -> None:
        async with ClaudeSDKClient(protect(make_options(client, **more), chat)) as sdk:
            await say(sdk, RULE)
            await say(sdk, REQUEST)
            await say(sdk, "/compact")
            await say(sdk, "Go on.")

    asyncio.run(talk())
    assert missing(api.main_requests[-1]) == []
    if case == "own store and hooks":
        assert prompts == [RULE, REQUEST, "Go on."]
        assert store.size == 1


@pytest.mark.client
@pytest.mark.slow
def test_where_the_user_s_settings_run_holdfast_one_of_us_delivers(
    api: ScriptedApi, client: Client, chat: ChatMemory
) -> None:
    from end_to_end.stage import INTERPRETER, SCRIPT

    installer.install(
        str(client.config_dir / "settings.json"),
        data_dir=str(client.root / "install"),
        interpreter=INTERPRETER,
        script=str(SCRIPT),
    )
    api.say(*story(client.project), text("One."))

    async def talk() -> None:
        options = protect(make_options(client, setting_sources=["user"]), chat)
        async with ClaudeSDKClient(options) as sdk:
            await say(sdk, RULE)
            await say(sdk, REQUEST)
            await say(sdk, "/compact")
            await say(sdk, "Go on.")

    asyncio.run(talk())
    told = everything(api.main_requests[-1])
    assert told.count("Holdfast: ") == 1
    assert "<holdfast-state" not in told
    assert missing(api.main_requests[-1]) == []
    assert [fact.text for fact in chat.facts("request")] == [RULE, REQUEST, "Go on."]


def test_the_store_around_another_fulfils_the_sdk_s_own_suite(keeper: Keeper) -> None:
    def make() -> FeedStore:
        return FeedStore(RowFeed(keeper.chat("x")), InMemorySessionStore())

    asyncio.run(run_session_store_conformance(make))


def test_a_store_returns_at_once_and_never_raises(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ChatMemory, "_hear_waiting", lambda *_: 1 / 0)
    feed = RowFeed(keeper.chat("x"))
    store = FeedStore(feed)

    async def append() -> None:
        await store.append({"project_key": "p", "session_id": "s"}, [{"type": "user"}])
        await store.append({"project_key": "p", "session_id": "s", "subpath": "a"}, [{}])
        await feed.flush()
        assert await store.load({"project_key": "p", "session_id": "s"}) is None

    asyncio.run(append())
    assert feed.rows_received == 1
    assert not hasattr(store, "list_sessions")
