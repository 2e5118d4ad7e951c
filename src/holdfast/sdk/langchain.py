"""LangChain and deepagents: their summarising middleware with the chat's state for a summary.

The middleware of either still decides when it compacts and which messages stay; the text comes
from the chat, without a model call. Needs `holdfast[langchain]`, or `holdfast[deepagents]`.

LangChain's own default gives its summariser the last 4,000 tokens, from a human message on, and
where a history of tool calls has none in there it keeps "Previous conversation was too long to
summarize." So nothing is trimmed here: our text costs the same for any history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import SummarizationMiddleware
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage, get_buffer_string
from langgraph.config import get_config

from holdfast.clients.messages.writing import redact_message
from holdfast.sdk.guard import LOGGER, run_guarded
from holdfast.sdk.keeper import DEFAULT_COMPACT_CHARS, ChatMemory, Keeper

if TYPE_CHECKING:
    from deepagents.backends.protocol import BackendProtocol

FALLBACK_PROMPT = (
    "Summarise this conversation so that the work can go on from your summary alone: the user's "
    "rules and requests word for word, what was done, what is open, exact values.\n\n{messages}"
)


class HoldfastMiddleware(SummarizationMiddleware[Any, Any]):
    """`SummarizationMiddleware` whose summary is the state of the chat.

    The chat is `chat` where one is given, else the one named by the thread's id. Takes `trigger`
    and `keep` as its parent does; messages that stay lose their secrets unless `redact` is False.
    """

    def __init__(
        self,
        model: str | BaseChatModel,
        keeper: Keeper,
        *,
        chat: str = "",
        max_chars: int = DEFAULT_COMPACT_CHARS,
        redact: bool = True,
        **options: Any,
    ) -> None:
        chosen = init_chat_model(model) if isinstance(model, str) else model
        super().__init__(
            chosen,
            summarizer=make_summarizer(chosen, keeper, chat, max_chars),
            trim_tokens_to_summarize=None,
            **options,
        )
        self._keeper, self._chat, self._redact = keeper, chat, redact

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Hear what is new, and compact where it is time."""
        messages = self._with_ids(state)
        if (chat := find_chat(self._keeper, self._chat)) is not None:
            chat.hear(messages)
        return self._clean_messages(super().before_model(state, runtime))

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        messages = self._with_ids(state)
        if (chat := find_chat(self._keeper, self._chat)) is not None:
            await chat.ahear(messages)
        return self._clean_messages(await super().abefore_model(state, runtime))

    def _with_ids(self, state: Any) -> list[AnyMessage]:
        messages: list[AnyMessage] = state["messages"]
        self._ensure_message_ids(messages)
        return messages

    def _clean_messages(self, update: dict[str, Any] | None) -> dict[str, Any] | None:
        if update is None or not self._redact:
            return update
        kept = [
            message if isinstance(message, RemoveMessage) else redact_message(message)
            for message in update["messages"]
        ]
        return {**update, "messages": kept}


def deep_summarization(
    model: BaseChatModel,
    backend: BackendProtocol,
    keeper: Keeper,
    *,
    chat: str = "",
    max_chars: int = DEFAULT_COMPACT_CHARS,
    redact: bool = True,
    **options: Any,
) -> Any:
    """The middleware for `create_deep_agent(middleware=[...])`; it takes the place of its own.

    Triggers and what stays are deepagents' for the model, or given in `options`. Messages that stay
    lose their secrets unless `redact` is False.
    """
    from deepagents.middleware import summarization

    class SummarizationMiddleware(summarization.SummarizationMiddleware):
        """Named as deepagents' own: by its name it takes the place of that."""

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            memory = find_chat(keeper, chat)
            if memory is not None:
                memory.hear(request.messages)
            return super().wrap_model_call(request, lambda made: handler(clean(made)))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            memory = find_chat(keeper, chat)
            if memory is not None:
                await memory.ahear(request.messages)
            return await super().awrap_model_call(request, lambda made: handler(clean(made)))

    def clean(request: Any) -> Any:
        """What the model is given behind a summary of ours; what is stored stays."""
        memory = find_chat(keeper, chat)
        ours = memory is not None and any(
            memory.is_own_text(str(one.text)) for one in request.messages
        )
        if not (redact and ours):
            return request
        return request.override(messages=[redact_message(one) for one in request.messages])

    chosen: dict[str, Any] = {**summarization.compute_summarization_defaults(model), **options}
    return SummarizationMiddleware(
        model=model,
        backend=backend,
        summarizer=make_summarizer(model, keeper, chat, max_chars),
        trim_tokens_to_summarize=None,
        **chosen,
    )


def make_summarizer(
    model: BaseChatModel, keeper: Keeper, chat: str, max_chars: int
) -> Callable[[Sequence[AnyMessage]], str]:
    """The function that both take as `summarizer`."""

    def summarize(messages: Sequence[AnyMessage]) -> str:
        memory = find_chat(keeper, chat)
        if memory is not None:
            memory.hear(messages)
            text = memory.brief(max_chars, messages_follow=True)
            if text:
                return text
        # Without us the model does it, as it would have.
        asked = FALLBACK_PROMPT.format(messages=get_buffer_string(list(messages)))
        return str(model.invoke([HumanMessage(asked)]).text)

    return summarize


def find_chat(keeper: Keeper, chat: str) -> ChatMemory | None:
    """None where neither the caller nor the run names one: chats must not share a memory.

    Nor in a subagent, which runs below a tool of the thread: its task is not the user's words.
    """
    run: Mapping[str, Any] = run_guarded("finding the thread", _read_run, {})
    if any(place.startswith("tools:") for place in str(run.get("checkpoint_ns", "")).split("|")):
        return None
    chat = chat or str(run.get("thread_id") or "")
    if not chat:
        LOGGER.warning("no thread_id and no chat: this run is not kept")
        return None
    return keeper.chat(chat)


def _read_run() -> Mapping[str, Any]:
    """What the graph says of the run; outside of one nothing."""
    try:
        return get_config().get("configurable", {})
    except RuntimeError:
        return {}
