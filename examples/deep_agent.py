"""A deep agent: our summary in place of the one that a model would write."""

from conversation import make_keeper, messages
from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from langchain_agent import ScriptedModel, as_langchain
from langchain_core.messages import AIMessage

from holdfast.sdk.langchain import deep_summarization

with make_keeper() as keeper:
    model = ScriptedModel(messages=iter([AIMessage("48 days are done.")]))
    summarization = deep_summarization(
        model, StateBackend(), keeper, trigger=("messages", 40), keep=("messages", 6)
    )
    agent = create_deep_agent(model, middleware=[summarization])
    thread = {"configurable": {"thread_id": "customer-42"}}
    done = agent.invoke({"messages": list(as_langchain(messages()))}, thread)
    print("The agent:", done["messages"][-1].content)
