"""The fast path: what a hook can answer from the session's directory alone.

Its time is on the agent's clock at every prompt, so it imports `os`, `time`, `_json` and our
own smallest modules, and nothing else; a test holds the list. Everything it cannot answer it
leaves to the full path by answering None.
"""

from __future__ import annotations

import os
import time

from holdfast.clients.claude_code.fastpath.hook_output import (
    MAX_OUTPUT_CHARS,
    encode_json_string,
    format_context,
)
from holdfast.clock import format_now
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.session_dir import (
    UNPRINTED_BRIEF,
    PrebuiltText,
    SessionDir,
)
from holdfast.files import exists, file_size, read_from
from holdfast.paths import PATTERNS_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.clients.client_protocol import HookPayload

__all__ = ["HookResult", "handle_fast"]

MAX_PROMPT_CHARS = 20_000  # characters of a prompt that are kept; what is longer is pasted material
# The sources of prompts that somebody typed; most clients name none.
TYPED_SOURCES = frozenset(("", "user", "sdk"))
WORK_EVENTS = frozenset(
    ("PostToolBatch", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop")
)
# An answer from Stop would make the agent go on by itself: the next prompt brings the gap.
DELIVERY_EVENTS = frozenset(("PostToolBatch", "PostToolUse", "PostToolUseFailure"))


PENDING_DURING_WORK = frozenset((UNPRINTED_BRIEF, "gap", "low-agent", "messages"))
PENDING_AT_PROMPT = PENDING_DURING_WORK | {"low-user", "tell-user"}
MAX_WARNING_CHARS = 1_000  # room for a warning
MAX_SCAN_BYTES = 512 * 1024  # bytes that a transcript may have grown by and still be looked through


class HookResult:
    """What to print, what to note once that is done, and what to do after the client was let go.

    Nothing counts as delivered before it was printed: a hook can be killed at any moment.
    """

    __slots__ = ("background", "on_printed", "text")

    def __init__(
        self,
        text: str = "",
        later: Callable[[], None] | None = None,
        printed: Callable[[], None] | None = None,
    ) -> None:
        self.text = text
        self.background = later
        self.on_printed = printed


def handle_fast(payload: HookPayload, data: str) -> HookResult | None:
    """None: this needs the full path."""
    event = payload.event
    session_dir = SessionDir(data, payload.session_id)
    if event == "UserPromptSubmit":
        if payload.prompt and payload.source in TYPED_SOURCES and not payload.agent_id:
            _spool_prompt(session_dir, payload)
        return _deliver_pending(session_dir, payload)
    if event == "UserPromptExpansion":
        if payload.command and not payload.agent_id:
            _spool_command(session_dir, payload)
        return _deliver_pending(session_dir, payload)
    if event == "SessionStart":
        return _session_start(payload, session_dir)
    if event == "SubagentStop":
        return _subagent_stopped(payload, session_dir)
    if event in WORK_EVENTS:
        return _work_event(payload, session_dir)
    if event == "SessionEnd":
        return HookResult("", _run_full_path(payload, data))
    return None


def record_delivery(session_dir: SessionDir, what: str, event: str, given: PrebuiltText) -> None:
    """Note for the store that a text was handed over."""
    fields = (
        f'"what":{encode_json_string(what)},"epoch":{given.epoch},"road":{encode_json_string(event)},'
        f'"time":{encode_json_string(format_now())},"facts":{encode_json_string(given.fact_ids)},'
        f'"text":{encode_json_string(given.text)}'
    )
    _append_spool(session_dir, "{" + fields + "}")


def client_process() -> int:
    """The client that runs us: it says so, or it is our parent, as there is no shell between."""
    said = os.environ.get("CLAUDE_PID", "")
    return int(said) if said.isdecimal() else os.getppid()


def _session_start(payload: HookPayload, session_dir: SessionDir) -> HookResult | None:
    if payload.source == "compact":
        prepared = session_dir.read_restored_brief() or session_dir.read_brief()
        if prepared is None or not is_fresh(prepared, payload.transcript_path):
            return None
        if not session_dir.claim_brief(prepared, time.time()):
            return HookResult()
        return build_brief_result(session_dir, payload.event, prepared)
    if payload.source in ("startup", "clear"):
        offered = handoff_offers.offer_handoff(
            session_dir.data_dir, payload.cwd, payload.session_id, client_process(), time.time()
        )
        if offered is None:
            return HookResult()
        text = format_context(payload.event, offered.text)
        return HookResult(
            text, printed=lambda: record_delivery(session_dir, "handoff", payload.event, offered)
        )
    # Resumed or forked: read what is new beside the client, so that the first compaction
    # does not have to.
    return _deliver_pending(session_dir, payload, _run_full_path(payload, session_dir.data_dir))


def build_brief_result(session_dir: SessionDir, event: str, brief: PrebuiltText) -> HookResult:
    """For the one that claimed it."""

    def printed() -> None:
        record_delivery(session_dir, "brief", event, brief)
        session_dir.release_claim(UNPRINTED_BRIEF)

    return HookResult(format_context(event, brief.text), printed=printed)


def is_fresh(prepared: PrebuiltText, transcript: str) -> bool:
    """Whether the transcript tells nothing that the brief does not know."""
    grown = file_size(transcript) - prepared.offset
    if grown == 0:
        return True
    if not 0 < grown <= MAX_SCAN_BYTES:
        return False
    # The client appends a few rows of its own book-keeping after PreCompact.
    from holdfast.clients.claude_code.fastpath.bookkeeping_rows import is_bookkeeping

    rows = read_from(transcript, prepared.offset, grown)
    return len(rows) == grown and is_bookkeeping(rows)


def _subagent_stopped(payload: HookPayload, session_dir: SessionDir) -> HookResult | None:
    """The client waits: for a summary it has to, for an ordinary subagent it need not."""
    if payload.is_summariser and session_dir.is_compacting():
        return None if payload.last_message else HookResult()
    answer = _work_event(payload, session_dir)
    return (
        HookResult(later=_run_full_path(payload, session_dir.data_dir))
        if answer is None
        else answer
    )


def _work_event(payload: HookPayload, session_dir: SessionDir) -> HookResult | None:
    prepared = session_dir.read_brief()
    grown = prepared is None or not is_fresh(prepared, payload.transcript_path)
    if payload.event in DELIVERY_EVENTS and PENDING_DURING_WORK & session_dir.list_waiting():
        return _deliver_pending(
            session_dir, payload, _run_full_path(payload, session_dir.data_dir) if grown else None
        )
    return None if grown else HookResult()


def _deliver_pending(
    session_dir: SessionDir, payload: HookPayload, later: Callable[[], None] | None = None
) -> HookResult:
    """What waits, if we are the one who may deliver it; never into a subagent."""
    waiting = set() if payload.agent_id else session_dir.list_waiting()
    if not waiting & PENDING_AT_PROMPT:
        return HookResult(later=later)
    event = payload.event
    text = message = ""
    given: list[tuple[str, PrebuiltText]] = []  # to be noted for the store
    claimed = []
    if UNPRINTED_BRIEF in waiting:
        brief = session_dir.claim_unprinted_brief()
        if brief is not None:
            claimed.append(UNPRINTED_BRIEF)
            given.append(("brief", brief))
            text = brief.text
    # With a brief that came late the gap may not fit: it comes with what happens next.
    if "gap" in waiting and not text:
        gap = session_dir.claim_gap()
        if gap is not None:
            claimed.append("gap")
            given.append(("gap", gap))
            text = gap.text
    # Who compacts now need not be told that it is time to.
    if not payload.prompt.startswith("/compact"):
        if "low-agent" in waiting and len(text) < MAX_OUTPUT_CHARS - MAX_WARNING_CHARS:
            claimed.append("low-agent")
            line = session_dir.claim_text("low-agent")
            text = f"{text}\n{line}" if text and line else text or line
        if "messages" in waiting:
            taken = _claim_messages(session_dir, MAX_OUTPUT_CHARS - len(text) - 1)
            given += taken
            told = _format_messages(taken)
            text = f"{text}\n{told}" if text and told else text or told
        # What a background hook says is not shown to the user: the next prompt's is.
        if event == "UserPromptSubmit":
            for name in ("low-user", "tell-user"):
                if not message and name in waiting:
                    claimed.append(name)
                    message = session_dir.claim_text(name)

    def printed() -> None:
        for what, one in given:
            record_delivery(session_dir, what, event, one)
        for name in claimed:
            session_dir.release_claim(name)

    return HookResult(format_context(event, text, message), later, printed)


def _claim_messages(session_dir: SessionDir, room: int) -> list[tuple[str, PrebuiltText]]:
    """What other agents wrote, as far as there is room; each once."""
    from holdfast.fastpath import inbox

    prepared = session_dir.read_brief()
    epoch = prepared.epoch if prepared is not None else 0
    return [
        (f"message:{one.id}", PrebuiltText(epoch, 0, 0, "", "", one.text))
        for one in inbox.claim_messages(session_dir.path, room)
    ]


def _format_messages(messages: list[tuple[str, PrebuiltText]]) -> str:
    if not messages:
        return ""
    from holdfast.fastpath.inbox import HEADING

    return "\n".join([HEADING, *(one.text for _, one in messages)])


def _spool_prompt(session_dir: SessionDir, payload: HookPayload) -> None:
    """Whose words these are is decided when they are read: the row may be there by then."""
    stamp, text = (
        encode_json_string(format_now()),
        encode_json_string(_redact(session_dir, payload.prompt)),
    )
    prompt_id = encode_json_string(payload.prompt_id)
    _append_spool(session_dir, f'{{"what":"prompt","time":{stamp},"id":{prompt_id},"text":{text}}}')


def _spool_command(session_dir: SessionDir, payload: HookPayload) -> None:
    stamp, name = (
        encode_json_string(format_now()),
        encode_json_string(payload.command),
    )
    arguments = encode_json_string(_redact(session_dir, payload.command_arguments))
    line = f'"what":"command","time":{stamp},"text":{name},"arguments":{arguments}'
    _append_spool(session_dir, "{" + line + "}")


def _redact(session_dir: SessionDir, text: str) -> str:
    from holdfast.redact.prefilter import suspicious

    window = text[: 2 * MAX_PROMPT_CHARS]
    # The user's own patterns, saved by the full path.
    own = exists(f"{session_dir.data_dir}/{PATTERNS_FILE}")
    if own or suspicious(window):
        from holdfast.redact import redact

        if own:
            from holdfast.settings.user_patterns import apply_saved_patterns

            apply_saved_patterns(session_dir.data_dir)
        window = redact(window)
    return window[:MAX_PROMPT_CHARS]


def _append_spool(session_dir: SessionDir, line: str) -> None:
    try:  # noqa: SIM105  contextlib costs 3 ms
        session_dir.append_spool(line)
    except OSError:
        pass  # no place to note it is no reason not to answer; doctor looks at the disk


def _run_full_path(payload: HookPayload, data: str) -> Callable[[], None]:
    client = client_process()  # asked now: a detached process has another parent

    def work() -> None:
        from holdfast.hooks import full

        full.handle_full(payload, data, client)

    return work
