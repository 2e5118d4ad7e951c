"""`protect`: the client's own compactions, manual and automatic, keep the chat's state.

Callbacks in this process: the summariser is given what to keep, the brief follows the summary, and
the next prompt brings what neither said. Nothing is written to settings files. Where the user's
settings already run Holdfast, these stay silent and only listen.
"""

import dataclasses
import os
from collections.abc import Awaitable, Callable
from typing import Any, cast

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher

from holdfast import install
from holdfast.sdk.claude.feed import FeedStore, RowFeed
from holdfast.sdk.guard import run_guarded, wait_guarded
from holdfast.sdk.keeper import ChatMemory

# The client shows 10,000 characters of a hook's text, and of a longer one a small part.
MAX_HOOK_CHARS = 9_500
Callback = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


def protect(options: ClaudeAgentOptions, chat: ChatMemory) -> ClaudeAgentOptions:
    """Options with which a client's compactions keep this chat's state.

    Hooks are added to yours and a session store wraps yours; nothing is replaced.
    """
    return Protection(chat).apply(options)


class Protection:
    """The callbacks of one client, and the feed of its rows."""

    def __init__(self, chat: ChatMemory) -> None:
        self.chat = chat
        self.feed = RowFeed(chat)
        self.session_id = ""
        self.handoff = ""  # a text that the next SessionStart(clear) hands over
        self._has_store = True
        self._silent = False
        self._begins = False  # a new client, which was not given what the last one left
        self._delivered = ""  # the brief behind the last compaction
        self._gap = ""

    def apply(
        self, options: ClaudeAgentOptions, *, owns_prompts: bool = False
    ) -> ClaudeAgentOptions:
        """`owns_prompts` says that the caller sends every prompt and takes `gap` along: then no
        hook runs in an ordinary turn."""
        self._begins = not (owns_prompts or options.resume or options.continue_conversation)
        environment = dict(options.env)
        if environment.get("HOME") and not environment.get("CLAUDE_CONFIG_DIR"):
            # The client drops every row for a store where it looks for them in another home.
            environment["CLAUDE_CONFIG_DIR"] = os.path.join(environment["HOME"], ".claude")
        self._silent = run_guarded(
            "looking for installed hooks", lambda: runs_holdfast(options, environment), False
        )
        has_store = not options.enable_file_checkpointing  # the SDK refuses both
        self._has_store = has_store
        callbacks: dict[str, Callback] = {
            "PreCompact": self._on_precompact,
            "SessionStart": self._on_session_start,
            "PostCompact": self._on_postcompact,
        }
        if not (has_store and owns_prompts):
            callbacks["UserPromptSubmit"] = self._on_prompt
        if not has_store:
            callbacks["Stop"] = self._on_stop
        changed: dict[str, Any] = {"env": environment}
        if has_store:
            changed["session_store"] = cast(Any, FeedStore(self.feed, options.session_store))
        options = dataclasses.replace(options, **changed)
        for event, callback in callbacks.items():
            options = add_hook(options, event, callback)
        return options

    @property
    def is_current(self) -> bool:
        """Whether the client's rows come here, and all that came is saved."""
        feed = self.feed
        comes = feed.rows_received if self._has_store else feed.rows_read
        return bool(comes) and not self.chat.has_unsaved

    def take_gap(self) -> str:
        """What the last summary and brief did not say, once."""
        gap, self._gap = self._gap, ""
        return gap

    async def _on_prompt(self, given: dict[str, Any]) -> dict[str, Any]:
        begins, self._begins = self._begins, False
        if begins and not self._silent:  # the client asks no callback when it starts
            return _context("UserPromptSubmit", await self.chat.abrief(MAX_HOOK_CHARS))
        if not self.feed.rows_received:
            # Nothing came through the store, or there is none.
            await self.feed.catch_up(given.get("transcript_path", ""))
        return _context("UserPromptSubmit", self.take_gap())

    async def _on_precompact(self, given: dict[str, Any]) -> dict[str, Any]:
        await self.feed.flush()
        await self.feed.catch_up(given.get("transcript_path", ""))
        if self._silent:
            return {}
        steering = await self.chat.asteering()
        return {"systemMessage": steering} if steering else {}

    async def _on_session_start(self, given: dict[str, Any]) -> dict[str, Any]:
        source = given.get("source")
        if source == "clear":
            text, self.handoff = self.handoff, ""
            return _context("SessionStart", text)
        if source != "compact" or self._silent:
            return {}
        await self.feed.flush()
        self._delivered = await self.chat.abrief(MAX_HOOK_CHARS)
        return _context("SessionStart", self._delivered)

    async def _on_postcompact(self, given: dict[str, Any]) -> dict[str, Any]:
        summary = given.get("compact_summary")
        if not self._silent and isinstance(summary, str) and summary.strip():
            self._gap = await self.chat.agap(summary, delivered=self._delivered)
        return {}

    async def _on_stop(self, given: dict[str, Any]) -> dict[str, Any]:
        await self.feed.catch_up(given.get("transcript_path", ""))
        return {}


def runs_holdfast(options: ClaudeAgentOptions, environment: dict[str, str]) -> bool:
    """Whether the settings that this client will read have our hooks in them."""
    chosen = options.setting_sources
    if chosen is not None and not chosen:
        return False
    installer = install.get()
    known = {**os.environ, **environment}
    project = str(options.cwd or os.getcwd())
    for source in installer.read_settings_sources(known, known.get("HOME", ""), project):
        read = chosen is None or source.scope in chosen or source.scope == "managed"
        if read and source.usable and installer.parse_entries(source.text):
            return True
    return False


def _context(event: str, text: str) -> dict[str, Any]:
    if not text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _guard(event: str, callback: Callback) -> Any:
    """A callback that answers nothing where it fails, and serves the main thread alone."""

    async def run(given: Any, _tool_use_id: str | None, _context: Any) -> Any:
        if given.get("agent_id"):  # a subagent compacts too
            return {}
        return await wait_guarded(f"the hook {event}", lambda: callback(given), {})

    return run


def add_hook(options: ClaudeAgentOptions, event: str, callback: Callback) -> ClaudeAgentOptions:
    hooks: dict[Any, list[HookMatcher]] = dict(options.hooks or {})
    hooks[event] = [*hooks.get(event, []), HookMatcher(hooks=[_guard(event, callback)])]
    return dataclasses.replace(options, hooks=hooks)
