"""A pydantic-ai agent whose history is compacted when it has grown."""

import asyncio

from conversation import make_keeper, messages, report
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel

from holdfast.sdk.pydantic_ai import history


def as_pydantic_ai(messages):
    for message in messages:
        content = message["content"]
        block = content[0] if isinstance(content, list) else {}
        if block.get("type") == "tool_use":
            yield ModelResponse([ToolCallPart(block["name"], block["input"], block["id"])])
        elif block.get("type") == "tool_result":
            yield ModelRequest([ToolReturnPart("execute", block["content"], block["tool_use_id"])])
        elif message["role"] == "user":
            yield ModelRequest([UserPromptPart(content)])
        else:
            yield ModelResponse([TextPart(content)])


def scripted_model(messages, info):
    report([repr(message) for message in messages])
    return ModelResponse([TextPart("48 days are done.")])


async def main():
    with make_keeper() as keeper:
        processor = ProcessHistory(history(keeper.chat("customer-42"), above=5_000, keep=4_000))
        agent = Agent(FunctionModel(scripted_model), capabilities=[processor])
        *before, last = messages()
        ran = await agent.run(last["content"], message_history=list(as_pydantic_ai(before)))
        print("The agent:", ran.output)


asyncio.run(main())
