"""A bot that is killed: asks its prompts one after the other, and notes each that was answered.

python killed_bot.py CONFIG.json
"""

import asyncio
import json
import os
import sys

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage

from holdfast.sdk import Keeper
from holdfast.sdk.claude import Chat


async def main(config: dict[str, object]) -> None:
    options = ClaudeAgentOptions(**config["options"])  # type: ignore[arg-type]
    progress = str(config["progress"])
    with Keeper(str(config["database"])) as keeper:
        async with Chat(options, keeper.chat("bot")) as chat:
            for prompt in list(config["prompts"])[_count(progress) :]:  # type: ignore[call-overload]
                async for message in chat.ask(prompt):
                    if isinstance(message, ResultMessage):
                        _note(progress, prompt)


def _count(path: str) -> int:
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as file:
        return len(file.read().splitlines())


def _note(path: str, prompt: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"{prompt}\n")
        file.flush()
        os.fsync(file.fileno())


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        asyncio.run(main(json.load(file)))
