"""What `holdfast.sdk` costs a bot: turns and resets on the real client, and many chats at once.

The model is scripted, on loopback. A turn is measured beside the same turn without us, taken in
turns; a wait is the time from handing in a message to its request at the API.
"""

import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient  # noqa: E402
from langchain.agents import create_agent  # noqa: E402
from langchain.agents.middleware import SummarizationMiddleware  # noqa: E402

from holdfast.sdk import Keeper  # noqa: E402
from holdfast.sdk.claude import Chat  # noqa: E402
from holdfast.sdk.langchain import HoldfastMiddleware  # noqa: E402
from sdk.test_langchain import ScriptedModel, history, text_of  # noqa: E402
from support.chat_story import missing  # noqa: E402
from support.claude import (  # noqa: E402
    Client,
    Lane,
    Reply,
    Request,
    ScriptedApi,
    prompt_too_long,
    summary,
    text,
)

TURNS = 20
SUMMARY_SECONDS = 3.0
CHATS, CHAT_TURNS = 2_000, 5
TURN_MILLISECONDS = 20.0  # at most, for the slowest of a hundred turns
CHAT_KILOBYTES = 64.0  # at most, for a chat that is held


class Row(NamedTuple):
    what: str
    ratio: float
    milliseconds: float
    limit: float
    runs: int


def run() -> list[Row]:
    # The SDK's client inherits this environment: it must see none of the user's.
    before = dict(os.environ)
    os.environ.clear()
    os.environ["PATH"] = before["PATH"]
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            return [*asyncio.run(_turns(place)), *_many_chats(place), _facts_lost(folder)]
    finally:
        os.environ.update(before)


class _Stage:
    """A scripted model that notes when it was asked, and the clients that ask it."""

    def __init__(self, folder: Path, api: ScriptedApi) -> None:
        self.api, self.folder = api, folder
        self.asked_at = 0.0
        self.used = 20_000
        self.too_long = False
        api.script(Lane.MAIN, self._answer)

    def _answer(self, _: Request) -> Reply:
        self.asked_at = time.perf_counter()
        if self.too_long:
            self.too_long = False
            return prompt_too_long()
        return text("Understood.").filling(self.used)

    def options(self, name: str) -> ClaudeAgentOptions:
        client = Client(self.folder / name, self.api)
        return ClaudeAgentOptions(
            env={**client.environment(), "CLAUDE_CONFIG_DIR": str(client.config_dir)},
            cwd=str(client.project),
            model=client.model,
            permission_mode="bypassPermissions",
            setting_sources=[],
        )


async def _turns(folder: Path) -> list[Row]:
    with ScriptedApi() as api, Keeper(str(folder / "chats.db")) as keeper:
        stage = _Stage(folder, api)
        api.script(Lane.SUMMARY, summary("All is well.").after(SUMMARY_SECONDS))
        plain: list[float] = []
        ours: list[float] = []
        waits, resets = [], []
        async with (
            ClaudeSDKClient(stage.options("plain")) as client,
            Chat(stage.options("chat"), keeper.chat("1")) as chat,
        ):
            for number in range(TURNS):
                for sides in (plain, ours) if number % 2 else (ours, plain):
                    started = time.perf_counter()
                    await (_ask(client, number) if sides is plain else _ask_chat(chat, number))
                    sides.append(time.perf_counter() - started)
                    if sides is ours:
                        waits.append(stage.asked_at - started)
            for number in range(TURNS):
                stage.used = 150_000
                await _ask_chat(chat, number)
                stage.used = 20_000
                started = time.perf_counter()
                await _ask_chat(chat, number)
                resets.append(stage.asked_at - started)
            stage.too_long = True
            started = time.perf_counter()
            await _ask(client, TURNS)
            compaction = stage.asked_at - started
        assert chat.resets == TURNS
        turn, wait = statistics.median(ours), statistics.median(resets)
        ordinary = statistics.median(waits)
        return [
            Row("turn of a Chat / the client alone", turn / statistics.median(plain),
                turn * 1000, 1.1, TURNS),
            Row("wait at a reset / ordinary wait", wait / ordinary, wait * 1000, 5, TURNS),
            Row("wait at a reset / compaction with a 3 s summary", wait / compaction,
                compaction * 1000, 0.1, TURNS),
        ]  # fmt: skip


async def _ask(client: ClaudeSDKClient, number: int) -> None:
    await client.query(f"Message {number}")
    async for _ in client.receive_response():
        pass


async def _ask_chat(chat: Chat, number: int) -> None:
    async for _ in chat.ask(f"Message {number}"):
        pass


def _many_chats(folder: Path) -> list[Row]:
    """Each turn loads, folds and saves a chat; nothing of it stays in memory but its name."""
    taken, processor = [], []
    with Keeper(str(folder / "many.db")) as keeper:
        chats = [keeper.chat(f"chat-{number}") for number in range(CHATS)]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for turn in range(CHAT_TURNS):
            for number, chat in enumerate(chats):
                said: list[Any] = [
                    {"role": "user", "content": f"Order {turn} of {number}: {turn + 3} rolls."},
                    {"role": "assistant", "content": f"{turn + 3} rolls are noted for {number}."},
                ]
                started, worked = time.perf_counter(), time.process_time()
                chat.hear(said)
                taken.append(1000 * (time.perf_counter() - started))
                processor.append(1000 * (time.process_time() - worked))
        held = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / CHATS
    slow, heavy = (statistics.quantiles(one, n=100)[-1] for one in (taken, processor))
    return [
        # By the clock it says as much of what else the machine does.
        Row(f"{CHATS} chats: p99 of a turn / 20 ms", slow / TURN_MILLISECONDS, slow, 0, len(taken)),
        Row(f"{CHATS} chats: p99 of a turn / 20 ms, processor", heavy / TURN_MILLISECONDS, heavy, 1,
            len(taken)),
        Row(f"{CHATS} chats: KB held for one / 64", held / CHAT_KILOBYTES, 0, 1, CHATS),
    ]  # fmt: skip


def _facts_lost(folder: str) -> Row:
    """Of eight planted facts, behind one compaction: ours against LangChain's own default."""
    with Keeper(f"{folder}/facts.db") as keeper:
        lost = []
        for kind in (HoldfastMiddleware, SummarizationMiddleware):
            model = ScriptedModel()
            model.asked.clear()
            more: Any = {"trigger": ("messages", 10), "keep": ("messages", 4)}
            middleware: Any = (
                HoldfastMiddleware(model, keeper, chat="1", max_chars=4_000, **more)
                if kind is HoldfastMiddleware
                else SummarizationMiddleware(model, **more)
            )
            create_agent(model, [], middleware=[middleware]).invoke({"messages": history()})
            lost.append(len(missing(text_of(model.asked[-1]))))
    return Row(
        "planted facts lost: ours / LangChain's default", lost[0] / max(lost[1], 1), 0, 0.1, 8
    )
