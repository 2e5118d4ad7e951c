"""An OpenAI agent: your session keeps every item, the model is given a compacted history."""

import asyncio
import json

from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, set_tracing_disabled
from agents.models.interface import Model
from conversation import make_keeper, messages, report
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from holdfast.sdk.openai_agents import HoldfastSession


class ScriptedModel(Model):
    """Stands for your model."""

    async def get_response(self, system_instructions, input, *args, **more):
        report(input)
        said = ResponseOutputText(type="output_text", text="48 days are done.", annotations=[])
        message = ResponseOutputMessage(
            id="answer", type="message", role="assistant", status="completed", content=[said]
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args, **more):
        raise NotImplementedError


def as_items(messages):
    for message in messages:
        content = message["content"]
        block = content[0] if isinstance(content, list) else {}
        if block.get("type") == "tool_use":
            arguments = json.dumps(block["input"])
            call = {"type": "function_call", "call_id": block["id"], "name": block["name"]}
            yield {**call, "arguments": arguments}
        elif block.get("type") == "tool_result":
            answer = {"type": "function_call_output", "call_id": block["tool_use_id"]}
            yield {**answer, "output": block["content"]}
        else:
            yield message


async def main():
    set_tracing_disabled(True)
    *before, last = messages()
    inner = SQLiteSession("customer-42")
    with make_keeper() as keeper:
        session = HoldfastSession(inner, keeper.chat("customer-42"), above=5_000, keep=4_000)
        await session.add_items(list(as_items(before)))
        agent = Agent(name="export", model=ScriptedModel())
        ran = await Runner.run(agent, last["content"], session=session)
        print("The agent:", ran.final_output)
        print("Your session still has", len(await inner.get_items()), "items.")
    inner.close()


asyncio.run(main())
