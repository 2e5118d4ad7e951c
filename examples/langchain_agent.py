"""A LangChain agent: HoldfastMiddleware in place of SummarizationMiddleware."""

from conversation import make_keeper, messages, report
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, convert_to_messages

from holdfast.sdk.langchain import HoldfastMiddleware


class ScriptedModel(GenericFakeChatModel):
    """Stands for your model."""

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        report([message.content for message in messages])
        return super()._generate(messages, stop, run_manager, **options)


def as_langchain(messages):
    """LangChain keeps calls and answers beside the content."""
    for message in messages:
        content = message["content"]
        block = content[0] if isinstance(content, list) else {}
        if block.get("type") == "tool_use":
            call = {"name": block["name"], "args": block["input"], "id": block["id"]}
            yield AIMessage("", tool_calls=[call])
        elif block.get("type") == "tool_result":
            answer = {"role": "tool", "tool_call_id": block["tool_use_id"]}
            yield from convert_to_messages([{**answer, "content": block["content"]}])
        else:
            yield from convert_to_messages([message])


if __name__ == "__main__":
    with make_keeper() as keeper:
        model = ScriptedModel(messages=iter([AIMessage("48 days are done.")]))
        middleware = HoldfastMiddleware(
            model, keeper, trigger=("messages", 40), keep=("messages", 6)
        )
        agent = create_agent(model, [], middleware=[middleware])
        thread = {"configurable": {"thread_id": "customer-42"}}
        done = agent.invoke({"messages": list(as_langchain(messages()))}, thread)
        print("The agent:", done["messages"][-1].content)
