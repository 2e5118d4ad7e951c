"""A store of chats, and one chat in it: what is heard, what is known, what is handed over.

Synchronous and safe for threads; every method that waits for the store has an async twin (`a...`)
that waits in a thread. What a turn depends on (`hear`, `brief`, `compact`, `gap`, `steering`) never
raises: a failure is logged and the chat goes on without us. Must not import any framework.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from holdfast.brief.gap import compose_gap
from holdfast.brief.hook_texts import compose_steering
from holdfast.brief.pages import format_handoff_page
from holdfast.clients.client_protocol import ConversationMessage
from holdfast.clients.messages.adapter import MessagesAdapter, to_row
from holdfast.clients.messages.overlap import MAX_KEYS, find_new
from holdfast.clients.messages.own_text import (
    holds_own_text,
    mark_text,
    marked_size,
    remove_own_text,
)
from holdfast.clients.messages.shapes import UNREAD, is_transcript_row, read_message
from holdfast.clients.messages.tool_names import TOOL_KINDS
from holdfast.clients.messages.writing import make_user_message, redact_message
from holdfast.clock import format_now
from holdfast.compaction.module_handlers import select_verbatim
from holdfast.events import AgentSaid, Event, SummaryGiven, UserSaid
from holdfast.redact import redact
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.sdk.chat_text import compose_chat_brief
from holdfast.sdk.guard import log_failure, run_guarded
from holdfast.sdk.storage import StoreAccess
from holdfast.session.follow import (
    INITIAL,
    FollowState,
    follow_rows,
    from_saved,
    latest_plausible_time,
    to_saved,
)
from holdfast.state import Fact, State, UnreadableState, list_facts
from holdfast.state.notes import NOTE_KINDS, NoteLine, build_note_table, overlay_notes
from holdfast.store.protocol import Message, SavedState, Session, StoreError
from holdfast.transcript.reader import START_CURSOR, Cursor
from holdfast.transcript.row_list import RowList

DEFAULT_BRIEF_CHARS = 6_000
DEFAULT_COMPACT_CHARS = 9_000
DEFAULT_KEEP_CHARS = 40_000
DEFAULT_GAP_CHARS = 3_000
DEFAULT_STEERING_CHARS = 4_000
MAX_MESSAGE_CHARS = 20_000  # of one message, kept for search
MAX_ATTEMPTS = 3  # a save that came too late is tried again on top of the one that was first
MAX_CLEANED = 64  # messages handed back without a secret, whose originals are remembered
MAX_UNSAVED = 2_000  # messages of one chat that wait for a store that does not answer
LOCKS = 64
_SPEAKERS = {UserSaid: "user", AgentSaid: "agent", SummaryGiven: "summary"}


class Keeper:
    """`database` is a file, a `postgresql://` URL (`holdfast team db migrate` makes its tables), or
    nothing for a file in the data directory. A tenant sees its own chats alone. `tools` says of
    tools of your own what they do: "command", "read", "write", "edit", "search" or "todos"."""

    def __init__(
        self, database: str = "", *, tenant: str = "", tools: Mapping[str, str] | None = None
    ) -> None:
        for kind in (tools or {}).values():
            if kind not in TOOL_KINDS:
                raise ValueError(f"a tool's kind is one of {', '.join(TOOL_KINDS)}, not {kind!r}")
        self.tools = dict(tools or {})
        self.access = StoreAccess(database, tenant)
        self._locks = tuple(threading.RLock() for _ in range(LOCKS))
        self._unsaved: dict[str, list[Any]] = {}

    def chat(self, chat_id: str) -> ChatMemory:
        return ChatMemory(self, chat_id)

    def chats(self, limit: int = 50, offset: int = 0) -> list[str]:
        """The ids of the chats, latest first."""
        project = self.access.project
        listed = self.access.run(
            lambda store: store.sessions(project=project, limit=limit, offset=offset)
        )
        return [session.id for session in listed]

    def close(self) -> None:
        self.access.close()

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def lock_of(self, chat_id: str) -> threading.RLock:
        """Two chats may share one; two threads of one chat always do."""
        return self._locks[hash(chat_id) % LOCKS]

    def take_unsaved(self, chat_id: str) -> list[Any]:
        return self._unsaved.pop(chat_id, [])

    def has_unsaved(self, chat_id: str) -> bool:
        return bool(self._unsaved.get(chat_id))

    def put_unsaved(self, chat_id: str, messages: list[Any]) -> None:
        self._unsaved[chat_id] = messages[-MAX_UNSAVED:]


class _Known(NamedTuple):
    """What is saved of a chat."""

    followed: FollowState = INITIAL
    heard: tuple[str, ...] = ()  # keys of the messages heard last
    pins: tuple[NoteLine, ...] = ()
    # Of messages that were handed back without their secrets: the key, and that of the original.
    cleaned: tuple[tuple[str, str], ...] = ()

    def display(self) -> State:
        return overlay_notes(self.followed.state, build_note_table(self.pins))


class ChatMemory:
    """One conversation. Holds nothing but its name: what is known is in the store."""

    def __init__(self, keeper: Keeper, chat_id: str) -> None:
        if not chat_id:
            raise ValueError("a chat needs an id")
        self.keeper = keeper
        self.id = chat_id
        self._owner = f"{keeper.access.project}/{chat_id}"

    def hear(self, messages: Iterable[Any]) -> int:
        """Keep what these messages tell; answers how many were new.

        Messages of Anthropic, OpenAI, LangChain or pydantic-ai, or Claude Code's rows; the whole
        history or what is new of it. What was heard before is passed over. Never raises: messages
        that could not be saved are tried again with the next ones.
        """
        return run_guarded(f"hearing chat {self.id}", lambda: self._hear_waiting(messages), 0)

    def brief(self, max_chars: int = DEFAULT_BRIEF_CHARS, *, messages_follow: bool = False) -> str:
        """What is known, as text for the model; "" when that is nothing.

        `messages_follow` says that the last messages stand behind it.
        """

        def compose() -> str:
            return compose_chat_brief(
                self._load().display(),
                format_now(),
                max_chars,
                self._owner,
                messages_follow=messages_follow,
            )

        return run_guarded(f"the brief of chat {self.id}", compose, "")

    def compact(
        self,
        messages: Sequence[Any],
        max_chars: int = DEFAULT_COMPACT_CHARS,
        keep: int = DEFAULT_KEEP_CHARS,
        *,
        redact: bool = True,
    ) -> list[Any]:
        """The state as a first message, then the last ones, of the same kind as those given.

        `keep` is characters of messages that stay word for word; the last one always does, with
        what belongs to it. Secrets in them are replaced unless `redact` is False. Where nothing is
        known, or something fails, the messages as they came.
        """
        given = list(messages)
        self.hear(given)
        return run_guarded(
            f"compacting chat {self.id}",
            lambda: self._compact(given, max_chars, keep, redact),
            given,
        )

    def gap(self, summary: str, max_chars: int = DEFAULT_GAP_CHARS, *, delivered: str = "") -> str:
        """What still stands and this summary does not tell; "" when it tells everything.

        Nor what was `delivered` behind it already.
        """

        def compose() -> str:
            state = self._load().display()
            room = max_chars - marked_size(0)
            told = compose_gap(state, redact(summary), delivered, room)
            return mark_text(told.text, self._owner)

        return run_guarded(f"the gap of chat {self.id}", compose, "")

    def steering(self, max_chars: int = DEFAULT_STEERING_CHARS) -> str:
        """What a model that summarises this chat should keep; "" when nothing is known."""
        return run_guarded(
            f"the steering of chat {self.id}",
            lambda: compose_steering(self._load().display(), max_chars),
            "",
        )

    def facts(self, kind: str = "") -> list[Fact]:
        """What is known: "rule", "request", "task", "file" ... or all. Raises StoreError."""
        found = list_facts(self._load().display())
        return [fact for fact in found if not kind or fact.kind == kind]

    def pin(self, text: str, kind: str = "rule") -> None:
        """Keep this, whatever is said later: a "rule", "decision", "note" ... Raises StoreError."""
        if kind not in NOTE_KINDS:
            raise ValueError(f"a pin's kind is one of {', '.join(NOTE_KINDS)}, not {kind!r}")
        with self.keeper.lock_of(self.id):
            line = NoteLine(kind, redact(text), "user", format_now())
            self._change(lambda known: known._replace(pins=(*known.pins, line)))

    def forget(self) -> None:
        """Drop everything about this chat. Raises StoreError."""
        with self.keeper.lock_of(self.id):
            self.keeper.take_unsaved(self.id)
            self.keeper.access.run(lambda store: store.delete_session(self.id))

    def handoff(self) -> str:
        """A page of Markdown for a person or the next agent. Raises StoreError."""
        return format_handoff_page(self._load().display(), self.id, format_now())

    async def ahear(self, messages: Iterable[Any]) -> int:
        return await asyncio.to_thread(self.hear, list(messages))

    async def abrief(
        self, max_chars: int = DEFAULT_BRIEF_CHARS, *, messages_follow: bool = False
    ) -> str:
        return await asyncio.to_thread(self.brief, max_chars, messages_follow=messages_follow)

    async def acompact(
        self,
        messages: Sequence[Any],
        max_chars: int = DEFAULT_COMPACT_CHARS,
        keep: int = DEFAULT_KEEP_CHARS,
        *,
        redact: bool = True,
    ) -> list[Any]:
        return await asyncio.to_thread(self.compact, messages, max_chars, keep, redact=redact)

    async def agap(
        self, summary: str, max_chars: int = DEFAULT_GAP_CHARS, *, delivered: str = ""
    ) -> str:
        return await asyncio.to_thread(self.gap, summary, max_chars, delivered=delivered)

    async def asteering(self, max_chars: int = DEFAULT_STEERING_CHARS) -> str:
        return await asyncio.to_thread(self.steering, max_chars)

    async def afacts(self, kind: str = "") -> list[Fact]:
        return await asyncio.to_thread(self.facts, kind)

    async def apin(self, text: str, kind: str = "rule") -> None:
        await asyncio.to_thread(self.pin, text, kind)

    async def aforget(self) -> None:
        await asyncio.to_thread(self.forget)

    async def ahandoff(self) -> str:
        return await asyncio.to_thread(self.handoff)

    def mark(self, text: str) -> str:
        """The text with this chat's mark: read back, it is not taken for the user's words."""
        return mark_text(text, self._owner)

    def is_own_text(self, text: str) -> bool:
        """Whether Holdfast wrote it, or a part of it, for this chat."""
        return holds_own_text(text, self._owner)

    @property
    def has_unsaved(self) -> bool:
        """Whether messages wait here because the store did not take them."""
        return self.keeper.has_unsaved(self.id)

    def state(self) -> State:
        """The typed state with the pins on top. Raises StoreError."""
        return self._load().display()

    def _hear_waiting(self, messages: Iterable[Any]) -> int:
        with self.keeper.lock_of(self.id):
            waiting = [*self.keeper.take_unsaved(self.id), *messages]
            try:
                return self._hear(waiting)
            except (StoreError, OSError):
                self.keeper.put_unsaved(self.id, waiting)
                raise

    def _hear(self, messages: list[Any]) -> int:
        for _ in range(MAX_ATTEMPTS):
            known = self._load()
            rows, heard = self._new_rows(known, messages)
            if not rows:
                return 0
            events: list[Event] = []
            cursor = known.followed.cursor
            followed = follow_rows(
                RowList(rows, cursor if isinstance(cursor, Cursor) else START_CURSOR),
                MessagesAdapter(
                    known.followed.parser_state,
                    newest=latest_plausible_time(),
                    owner=self._owner,
                    tools=self.keeper.tools,
                ),
                known.followed,
                on_event=events.append,
                on_error=lambda error: log_failure(f"reading a message of {self.id}", error),
            )
            before = known.followed.state
            now = known._replace(followed=followed, heard=heard)
            if self._save(now, before, events):
                return len(rows)
        raise StoreError(f"chat {self.id} is written to by others all the time")

    def _new_rows(
        self, known: _Known, messages: list[Any]
    ) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
        """The rows of what is new, in order, and the keys to remember."""
        rows = [dict(one) for one in messages if is_transcript_row(one)]
        read = [
            run_guarded(f"reading a message of {self.id}", partial(read_message, one), UNREAD)
            for one in messages
            if not is_transcript_row(one)
        ]
        # Our own text is not part of the history: it stands where another part of it stood.
        read = [
            one
            for one in read
            if one.role and not (one.role == "user" and self._is_ours_alone(one.text))
        ]
        originals = dict(known.cleaned)
        read = [one._replace(key=originals.get(one.key, one.key)) for one in read]
        now = format_now()
        count = known.followed.cursor.rows
        new = find_new(known.heard, [one.key for one in read])
        for number, place in enumerate(new):
            one = read[place]
            # Without an id of its own, the same words may be said again.
            own = one.key if one.has_id else f"{one.key}#{count + number}"
            rows.append(to_row(one, own, now))
        heard = (*known.heard, *(read[place].key for place in new))
        return rows, heard[-MAX_KEYS:]

    def _is_ours_alone(self, text: str) -> bool:
        return self.is_own_text(text) and not remove_own_text(text, self._owner).strip()

    def _compact(
        self, messages: list[Any], max_chars: int, keep: int, redact_kept: bool
    ) -> list[Any]:
        text = self.brief(max_chars, messages_follow=True)
        if not text:
            return messages
        described = [self._describe(message) for message in messages]
        heads = [message for message, one in zip(messages, described, strict=True) if not one.role]
        body = [
            (message, one) for message, one in zip(messages, described, strict=True) if one.role
        ]
        places = _select_tail([one for _, one in body], keep)
        kept = [body[place][0] for place in places]
        if redact_kept:
            kept = self._clean(kept)
        return [*heads, make_user_message(messages, text), *kept]

    def _clean(self, messages: list[Any]) -> list[Any]:
        """Without secrets. What is handed back so is heard again: it must not be taken for new."""
        cleaned = [redact_message(message) for message in messages]
        changed = [
            (read_message(after).key, read_message(before).key)
            for before, after in zip(messages, cleaned, strict=True)
            if after is not before
        ]
        new = tuple(pair for pair in changed if pair[0] != pair[1])
        if new:
            with self.keeper.lock_of(self.id):
                run_guarded(
                    f"remembering messages of {self.id}", lambda: self._add_cleaned(new), None
                )
        return cleaned

    def _add_cleaned(self, pairs: tuple[tuple[str, str], ...]) -> None:
        if not set(pairs) <= set(self._load().cleaned):
            self._change(
                lambda known: known._replace(
                    cleaned=tuple(dict.fromkeys((*known.cleaned, *pairs)))[-MAX_CLEANED:]
                )
            )

    def _change(self, change: Callable[[_Known], _Known]) -> None:
        """Save what is known beside the messages."""
        for _ in range(MAX_ATTEMPTS):
            known = change(self._load())
            # A save of the same revision could be taken for one that knows less.
            cursor = known.followed.cursor
            moved = Cursor(cursor.position + 1, rows=cursor.rows)
            known = known._replace(followed=known.followed._replace(cursor=moved))
            if self._save(known, known.followed.state, ()):
                return
        raise StoreError(f"chat {self.id} is written to by others all the time")

    def _describe(self, message: Any) -> ConversationMessage:
        """For choosing what stays; the role of a system message is "": it always does."""
        read = read_message(message)
        ours = self.is_own_text(read.text) or read.is_summary
        role = "" if read.role == "system" else "assistant" if read.role == "assistant" else "user"
        return ConversationMessage(
            role,
            read.size,
            role == "user" and bool(read.text) and not read.answers,
            tuple(call.id for call in read.calls),
            tuple(answer.id for answer in read.answers),
            ours,
        )

    def _load(self) -> _Known:
        saved = self.keeper.access.run(lambda store: store.load(self.id))
        if saved is None:
            return _Known()
        try:
            followed = from_saved(saved.state, saved.position)
        except UnreadableState:  # another version's; what was said before is not there any more
            followed = INITIAL._replace(generation=saved.revision[0] + 1)
        chat = saved.position.get("chat")
        kept = chat if isinstance(chat, dict) else {}
        return _Known(
            followed,
            tuple(map(str, kept.get("heard", ()))),
            tuple(NoteLine(*map(str, pin)) for pin in kept.get("pins", ()) if len(pin) == 4),
            tuple((str(a), str(b)) for a, b in kept.get("cleaned", ())),
        )

    def _save(self, known: _Known, before: State, events: Iterable[Event]) -> bool:
        state, position = to_saved(known.followed)
        position["chat"] = {
            "heard": list(known.heard),
            "pins": [list(pin) for pin in known.pins],
            "cleaned": [list(pair) for pair in known.cleaned],
        }
        place = known.followed.state.session
        session = Session(
            self.id,
            client=place.client,
            project=self.keeper.access.project,
            cwd=place.cwd,
            title=place.title,
            started=place.started or format_now(),
            updated=place.updated or format_now(),
        )
        saved = SavedState(session, known.followed.revision, state, position)
        old = {fact.id: fact for fact in list_facts(before)}
        changed = [f for f in list_facts(known.followed.state) if old.get(f.id) != f]
        said = _collect_messages(events)
        return self.keeper.access.run(lambda store: store.save(saved, changed, said))


def _select_tail(messages: list[ConversationMessage], keep: int) -> list[int]:
    """The places of what stays. The last message does, with the calls and answers around it."""
    last = len(messages) - 1
    total = sum(message.size for message in messages)
    room = keep
    while True:
        places = select_verbatim(messages, room)
        if last < 0 or last in places:
            return places
        if room > total:
            break
        room = max(room * 2, 1)
    # A call that waits for its answer: everything since the user's last words.
    asked = max((n for n, m in enumerate(messages) if m.is_prompt), default=0)
    return sorted({*places, *range(asked, len(messages))})


def _collect_messages(events: Iterable[Event]) -> list[Message]:
    return [
        Message(event.at.row, who, text, event.at.time, event.at.start, event.at.end)
        for event in events
        if (who := _SPEAKERS.get(type(event))) and not event.at.agent
        if (text := truncate_safely(getattr(event, "text", ""), MAX_MESSAGE_CHARS)).strip()
    ]
