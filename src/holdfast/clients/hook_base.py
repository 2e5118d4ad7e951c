"""What the hooks ask of the client that called them, with what nearly every client answers.

A client's class writes down what differs (`clients/codex/hooks.py`). Imported by the
lightest hooks: `os` and what is in `fastpath`.
"""

from __future__ import annotations

import os

from holdfast.fastpath import hook_json
from holdfast.fastpath.hook_json import HookPayload, parse_object, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar


class HookClient:
    NAME: ClassVar[str]
    # Of what one hook may say to the agent.
    MAX_OUTPUT_CHARS: ClassVar[int] = 40_000
    # Whether every call names the session's file.
    NAMES_TRANSCRIPT: ClassVar[bool] = True
    # Whether SessionStart may speak, and names the session's file; else both wait for the hook of
    # the first prompt.
    STARTS_WITH_CONTEXT: ClassVar[bool] = True
    # Whether the work of a tool's or a turn's hook goes on in a process of its own: where the agent
    # waits for the hook, or the client ends it with itself (`codex exec` kills Stop).
    DETACHES_WORK: ClassVar[bool] = True
    # Whether what PreCompact prints reaches the summariser.
    STEERS: ClassVar[bool] = False
    # What a user types to compact; a focus may follow where it ends with a space.
    COMPACT_COMMAND: ClassVar[str] = "/compact "
    # The client's events in the words of the hooks, where it has words of its own.
    EVENTS: ClassVar[dict[str, str]] = {}
    # Whether what is to be said of a tool's call is said when it has run: the hook before it would
    # be one process more, or reaches no model.
    REMINDS_AFTER_TOOLS: ClassVar[bool] = False
    # What is in the row of a compaction, for a client that reports it by no hook whose words
    # stay: the next prompt's or tool's hook looks for it, and restores.
    COMPACTION_MARK: ClassVar[bytes] = b""
    # Where the client says its process, if it does.
    PROCESS_VARIABLE: ClassVar[str] = ""
    # How rows of the transcript begin that mean nothing.
    BOOKKEEPING: ClassVar[tuple[bytes, ...]] = ()

    def leaves_to_others(self, environ: Mapping[str, str]) -> bool:
        """Whether another install of ours answers this event."""
        return False

    def parse_payload(self, raw: bytes, event: str) -> HookPayload | None:
        """None for anything that is not a call of this client for a session that is written down.

        `event` is the client's word.
        """
        ours = self.EVENTS.get(event) if self.EVENTS else event
        fields = parse_object(raw)
        if ours is None or fields is None:
            return None
        if read_text(fields, "hook_event_name") not in ("", event):
            return None
        payload = HookPayload(ours, fields)
        self.fill_payload(payload, fields)
        named = payload.transcript_path or not self.NAMES_TRANSCRIPT
        return payload if payload.session_id and named else None

    def fill_payload(self, payload: HookPayload, fields: dict[str, Any]) -> None:
        """Reads the fields that clients do not share."""

    def find_transcript(self, payload: HookPayload, environ: Mapping[str, str]) -> str:
        """The session's file, for a client that does not name it in every call."""
        return payload.transcript_path

    def receive(self, payload: HookPayload, data: str) -> None:
        """Writes down what the call brought of the session, where the client leaves that to us."""

    def is_subagents_own(self, payload: HookPayload, data: str) -> bool:
        """Whether the event is of a subagent's own context, which is ignored."""
        return bool(payload.agent_id)

    def find_own_transcript(self, payload: HookPayload) -> str:
        """Of the subagent whose own context this event is of, where it is to be steered or given
        back; "" where the client lets us do neither.
        """
        return ""

    def find_process(self, environ: Mapping[str, str]) -> int:
        """The client's process: most run hooks in a shell, which gives its place to us."""
        said = environ.get(self.PROCESS_VARIABLE, "")
        return int(said) if said.isdecimal() and len(said) < 10 else os.getppid()

    def format_context(self, event: str, text: str, message: str = "") -> str:
        """The stdout that hands `text` to the model and shows `message` to the user."""
        named = (theirs for theirs, ours in self.EVENTS.items() if ours == event)
        return hook_json.format_context(next(named, event), text, message)

    def format_question(self, text: str, question: str) -> str:
        """The stdout before a tool runs that has the client ask its user, where it can."""
        return self.format_context("PreToolUse", text)

    def read_request(self, request: bytes, /) -> tuple[str, str] | None:
        """The summary in a request, and what follows it; None where none does."""
        return None

    def format_request(self, request: bytes, text: str, /) -> str:
        """What a hook prints to send the request with this text as its last message."""
        return ""

    def is_bookkeeping(self, rows: bytes) -> bool:
        """Whether these rows of the transcript mean nothing. Whole rows only: a torn last line may
        become anything.
        """
        if not rows.endswith(b"\n"):
            return not rows
        return all(self.is_bookkeeping_row(row) for row in rows[:-1].split(b"\n"))

    def is_bookkeeping_row(self, row: bytes) -> bool:
        return row.startswith(self.BOOKKEEPING)

    def format_instructions(self, text: str) -> str:
        """What a hook prints to steer the summary, "" where the client takes nothing."""
        return self.format_context("PreCompact", text) if self.STEERS else ""

    def extract_summary(self, answer: str) -> str:
        """The part of the summariser's answer that stays in context."""
        return answer.strip()

    def check_output(self, event: str, stdout: str) -> list[str]:
        """What the client would refuse of this output, a line each: for `holdfast doctor`, which
        tries the hooks of the default client.
        """
        return []
