"""Many chats of which two are live: the others are parked, and go on where they were."""

import asyncio
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage

from holdfast.sdk import Keeper
from holdfast.sdk.claude import Chats
from support.claude import Client, Lane, Reply, Request, ScriptedApi, text

from .bakery import collect, everything, make_options

pytestmark = [pytest.mark.client, pytest.mark.slow]


def test_idle_chats_are_parked_and_resumed(
    api: ScriptedApi, tmp_path: Path, keeper: Keeper
) -> None:
    def model(request: Request) -> Reply:
        return text(f"{len(api.main_requests)}.")

    api.script(Lane.MAIN, model)
    clients = {name: Client(tmp_path / name, api) for name in ("Ada", "Bob", "Cyd")}

    def options_for(chat_id: str) -> ClaudeAgentOptions:
        return make_options(clients[chat_id])

    async def talk() -> None:
        async with Chats(options_for, keeper, live=2, idle_seconds=60) as chats:
            for name in clients:
                answer = await collect(chats.ask(name, f"I am {name}."))
                assert isinstance(answer[-1], ResultMessage)
            assert chats.live == ["Bob", "Cyd"]
            await collect(chats.ask("Ada", "Who am I?"))
            assert chats.live == ["Cyd", "Ada"]
            assert await chats.park("Cyd")
            assert not await chats.park("Cyd")
            both = [collect(chats.ask("Ada", "First")), collect(chats.ask("Ada", "Second"))]
            await asyncio.gather(*both)
        assert chats.live == []

    asyncio.run(talk())
    resumed = next(r for r in api.main_requests if "Who am I?" in everything(r))
    assert "I am Ada." in everything(resumed)
    assert "<holdfast-state" not in everything(resumed)  # the conversation itself is there
    for request in api.main_requests:
        names = {name for name in clients if f"I am {name}." in everything(request)}
        assert len(names) == 1
    assert keeper.chat("Bob").state().position.turn == 1
    assert keeper.chat("Ada").state().position.turn == 4


def test_a_chat_that_cannot_be_resumed_goes_on_from_its_brief(
    api: ScriptedApi, client: Client, keeper: Keeper
) -> None:
    api.script(Lane.MAIN, text("Yes."))

    async def talk() -> None:
        async with Chats(lambda _: make_options(client), keeper, idle_seconds=0.2) as chats:
            await collect(chats.ask("Ada", "Never sell rye on Mondays."))
            for _ in range(100):
                if not chats.live:
                    break
                await asyncio.sleep(0.1)
            assert chats.live == []  # parked by itself
            for transcript in client.home.rglob("*.jsonl"):
                transcript.unlink()
            answer = await collect(chats.ask("Ada", "May I sell rye?"))
            assert isinstance(answer[-1], ResultMessage)

    asyncio.run(talk())
    assert "Never sell rye on Mondays." in everything(api.main_requests[-1])
