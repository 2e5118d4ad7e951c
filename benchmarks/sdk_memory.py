"""What a chat's messages leave behind a compaction: ours against what frameworks do by themselves.

Real conversations are turned into messages and compacted at the places where they once were. Of
each text the same number of characters is read: ours, LangChain's summarising middleware as it
comes, and the last messages, which is what trimming a session (OpenAI Agents) or a history
(pydantic-ai) leaves. Where LangChain asks its model, that answers with the summary that the
conversation really got.

Needs transcripts and annotations, as `make quality` does: $CORPUS and $GOLD, or $HOLDFAST_CORPUS
and $HOLDFAST_GOLD. Without them it has no rows.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, ToolMessage

from benchmarks.quality import must_know, said
from benchmarks.quality.transcripts import (
    Row,
    blocks,
    content,
    find_transcripts,
    main_chain,
    read_prompt,
    read_rows,
    read_summary,
    read_text,
)
from holdfast.sdk import Keeper

SIZE = 6_000  # characters of each text
OURS, LANGCHAIN, LAST = "Holdfast", "LangChain's default", "the last messages"


class Measure(NamedTuple):
    what: str
    ratio: float
    milliseconds: float
    limit: float
    runs: int


def run() -> list[Measure]:
    named = os.environ.get("CORPUS") or os.environ.get("HOLDFAST_CORPUS", "")
    corpus = [Path(one) for one in named.split(":") if one]
    gold = os.environ.get("GOLD") or os.environ.get("HOLDFAST_GOLD", "")
    if not corpus or not gold:
        return []
    told, wanted = {OURS: 0, LANGCHAIN: 0, LAST: 0}, 0
    kept, stated, runs = {OURS: 0, LANGCHAIN: 0, LAST: 0}, 0, 0
    annotated = must_know.read_gold(Path(gold))
    with tempfile.TemporaryDirectory() as folder, Keeper(f"{folder}/chats.db") as keeper:
        for transcript in find_transcripts(corpus, {one.session: one.repo for one in annotated}):
            rows = main_chain(read_rows(transcript.path))
            for one in annotated:
                if one.session != transcript.session:
                    continue
                cut = next((n for n, r in enumerate(rows) if r.get("uuid") == one.boundary), None)
                if cut is None:
                    continue
                scores = {
                    name: must_know.score_must_know(one, text)
                    for name, text in _texts(keeper, rows, cut)
                }
                wanted += scores[OURS].weight
                for name, score in scores.items():
                    told[name] += score.told
                runs += 1
            planted = said.plant_statements(rows, "1")
            if planted is not None:
                for name, text in _texts(keeper, planted.rows, planted.cut):
                    kept[name] += sum(n for _, n in said.score_said(planted, text).kinds.values())
                stated += len(planted.said)
    return [
        Measure(f"{what} lost in {SIZE:,} characters: ours / {other}",
                (of - got[OURS]) / max(of - got[other], 1), 0, 1, count)
        for what, got, of, count in (
            ("must-know", told, wanted, runs), ("Said", kept, stated, stated)
        )
        for other in (LANGCHAIN, LAST)
    ]  # fmt: skip


def _texts(keeper: Keeper, rows: list[Row], cut: int) -> Iterator[tuple[str, str]]:
    """What each leaves of the messages before this place."""
    messages = list(_to_messages(rows[:cut]))
    chat = keeper.chat("measured")
    chat.forget()
    chat.hear(messages)
    yield OURS, chat.brief(SIZE)
    yield LANGCHAIN, _summarised(messages, read_summary(rows, cut))
    yield LAST, _tail(messages, SIZE)


def _to_messages(rows: list[Row]) -> Iterator[AnyMessage]:
    for number, row in enumerate(rows):
        if row.get("isMeta") or row.get("isCompactSummary"):
            continue
        if row.get("type") == "assistant":
            calls: list[Any] = [
                {"id": block["id"], "name": block["name"], "args": dict(block.get("input") or {})}
                for block in blocks(row, "tool_use")
            ]
            text = read_text(content(row))
            if calls or text:
                yield AIMessage(text, tool_calls=calls, id=f"{number}")
        for block in blocks(row, "tool_result"):
            failed = block.get("is_error") is True
            yield ToolMessage(
                read_text(block.get("content")),
                tool_call_id=str(block.get("tool_use_id")),
                status="error" if failed else "success",
                id=f"{number}-{block.get('tool_use_id')}",
            )
        if prompt := read_prompt(row):
            yield HumanMessage(prompt, id=f"{number}")


def _summarised(messages: list[AnyMessage], summary: str) -> str:
    """The summary that is left, and behind it the newest of what LangChain keeps."""
    model = FakeListChatModel(responses=[summary or "Nothing."])
    middleware: Any = SummarizationMiddleware(model, trigger=("messages", 21))
    update = middleware.before_model({"messages": messages}, None)
    if update is None:
        return _tail(messages, SIZE)
    left = [one for one in update["messages"] if not isinstance(one, RemoveMessage)]
    head = str(left[0].text)[:SIZE]
    return f"{head}\n{_tail(left[1:], SIZE - len(head))}"


def _tail(messages: list[AnyMessage], size: int) -> str:
    whole = "\n".join(f"{one.text} {getattr(one, 'tool_calls', None) or ''}" for one in messages)
    return whole[-size:] if size > 0 else ""
