"""Many chats of which two are live: the others are parked, and go on where they were."""

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage

from holdfast.sdk import ChatMemory, Keeper
from holdfast.sdk.claude import Chats
from holdfast.sdk.claude import pool as pool_module
from support.claude import Client, Lane, Reply, Request, ScriptedApi, bash, text

from .bakery import collect, everything, make_options


@pytest.mark.client
@pytest.mark.slow
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


@pytest.mark.client
@pytest.mark.slow
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


@pytest.mark.client
@pytest.mark.slow
def test_a_job_that_ended_with_its_parked_client_is_named(
    api: ScriptedApi, client: Client, keeper: Keeper
) -> None:
    job = bash("sleep 60", run_in_background=True, description="Bake the rye")
    api.say(job, text("It bakes."), text("I start it again."))

    async def talk() -> None:
        async with Chats(lambda _: make_options(client), keeper) as chats:
            await collect(chats.ask("Ada", "Bake in the background."))
            assert await chats.park("Ada")
            await collect(chats.ask("Ada", "Is it done?"))

    asyncio.run(talk())
    told = everything(api.main_requests[-1])
    assert "were ended" in told
    assert "Bake the rye" in told.partition("were ended")[2]
    said = [fact.text for fact in keeper.chat("Ada").facts("request")]
    assert said == ["Bake in the background.", "Is it done?"]


class StubChat:
    """A chat without a client; that of "slow" does not start until it is let."""

    jobs: ClassVar[dict[str, str]] = {}
    may_start: ClassVar[asyncio.Event]

    def __init__(self, options: Any, memory: ChatMemory, **_: Any) -> None:
        self.id, self.session_id, self.used = memory.id, f"session of {memory.id}", 0

    async def connect(self) -> None:
        if self.id == "slow":
            await self.may_start.wait()

    async def disconnect(self) -> None:
        pass

    async def ask(self, words: str) -> Any:
        yield words

    def carry(self, words: str) -> None:
        pass

    def describe_jobs(self, sentence: str = "") -> str:
        return self.jobs.get(self.id, "")


@pytest.fixture
def stub_chats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "Chat", StubChat)
    monkeypatch.setattr(StubChat, "jobs", {})


@pytest.mark.usefixtures("stub_chats")
def test_a_client_that_starts_slowly_holds_up_no_other_chat(keeper: Keeper) -> None:
    async def talk() -> list[str]:
        StubChat.may_start = asyncio.Event()
        async with Chats(lambda _: ClaudeAgentOptions(), keeper) as chats:
            slow = asyncio.create_task(collect(chats.ask("slow", "one")))
            await asyncio.sleep(0)
            answered: list[Any] = await collect(chats.ask("fast", "two"))
            assert not slow.done()
            StubChat.may_start.set()
            return [*answered, *(await slow)]

    assert asyncio.run(talk()) == ["two", "one"]


@pytest.mark.usefixtures("stub_chats")
def test_room_is_made_where_no_job_runs(keeper: Keeper) -> None:
    async def talk() -> None:
        async with Chats(lambda _: ClaudeAgentOptions(), keeper, live=2) as chats:
            StubChat.jobs = {"Ada": "bakes"}
            for name in ("Ada", "Bob", "Cyd"):
                await collect(chats.ask(name, "hello"))
            assert chats.live == ["Ada", "Cyd"]
            StubChat.jobs = {"Ada": "bakes", "Cyd": "cools"}
            await collect(chats.ask("Dov", "hello"))
            assert chats.live == ["Cyd", "Dov"]

    asyncio.run(talk())


@pytest.mark.usefixtures("stub_chats")
def test_a_chat_that_cannot_start_leaves_nothing_behind(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: StubChat) -> None:
        raise OSError("no such program")

    async def talk() -> None:
        async with Chats(lambda _: ClaudeAgentOptions(), keeper) as chats:
            with monkeypatch.context() as patch:
                patch.setattr(StubChat, "connect", fail)
                with pytest.raises(OSError, match="no such program"):
                    await collect(chats.ask("Ada", "hello"))
            assert chats.live == []
            answered: list[Any] = await collect(chats.ask("Ada", "again"))
            assert answered == ["again"]

    asyncio.run(talk())
