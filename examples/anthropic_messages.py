"""Plain messages of Anthropic's API, compacted before they are sent."""

from conversation import make_keeper, messages, report

with make_keeper() as keeper:
    chat = keeper.chat("customer-42")
    shorter = chat.compact(messages(), keep=4_000)
    report(shorter)  # client.messages.create(model=..., messages=shorter)
    print("  rules known:", [fact.text for fact in chat.facts("rule")])
