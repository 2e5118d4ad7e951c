"""The fast path: what a hook can answer from the session's directory alone.

Its time is on the agent's clock at every prompt, so it imports `os`, `time`, `_json` and what is
in the `fastpath` folders, and nothing else; a test holds that. Says which event asks for what;
`fastpath.delivery` decides what is delivered. Everything it cannot answer it leaves to the full
path by answering None.
"""

from __future__ import annotations

import os
import time

from holdfast.fastpath import delivery
from holdfast.fastpath.session_dir import PrebuiltText, SessionDir
from holdfast.fastpath.spool import spool_command, spool_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.clients.client_protocol import HookPayload

__all__ = ["HookResult", "handle_fast"]

# The sources of prompts that somebody typed; most clients name none.
TYPED_SOURCES = frozenset(("", "user", "sdk"))
# The sources of a SessionStart that begins with an empty context.
NEW_SESSIONS = frozenset(("startup", "clear"))
WORK_EVENTS = frozenset(
    ("PostToolBatch", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop")
)
# An answer from Stop would make the agent go on by itself: the next prompt brings the gap.
DELIVERY_EVENTS = frozenset(("PostToolBatch", "PostToolUse", "PostToolUseFailure"))


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
    if event == "ModelRequest":
        return _model_request(payload, session_dir)
    if event == "UserPromptSubmit":
        if payload.prompt and payload.source in TYPED_SOURCES and not payload.agent_id:
            spool_prompt(session_dir, payload.prompt_id, payload.prompt)
        if not payload.client.STARTS_WITH_CONTEXT and (source := session_dir.claim_start()):
            return _late_start(payload, session_dir, source)
        return _deliver_pending(session_dir, payload)
    if event == "UserPromptExpansion":
        if payload.command and not payload.agent_id:
            spool_command(session_dir, payload.command, payload.command_arguments)
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


def client_process(payload: HookPayload) -> int:
    """The client that runs us."""
    return payload.client.find_process(os.environ)


def build_result(
    payload: HookPayload,
    claimed: delivery.ClaimedText | None,
    later: Callable[[], None] | None = None,
) -> HookResult:
    if claimed is None:
        return HookResult(later=later)
    if payload.request:
        text = payload.client.format_request(payload.request, claimed.text)
    else:
        text = payload.client.format_context(payload.event, claimed.text, claimed.message)
    return HookResult(text, later, claimed.settle)


def is_fresh(brief: PrebuiltText, payload: HookPayload) -> bool:
    return delivery.is_fresh(brief, payload.transcript_path, payload.client.is_bookkeeping)


def _model_request(payload: HookPayload, session_dir: SessionDir) -> HookResult | None:
    """The history was compacted; if this was seen before, all that is to be said may wait here."""
    if session_dir.read_answered_request() != payload.compaction_key:
        return None
    return build_result(payload, delivery.repeat_for_request(session_dir, payload.event))


def _offer_handoff(payload: HookPayload, session_dir: SessionDir) -> HookResult:
    offer = delivery.claim_handoff(
        session_dir,
        payload.cwd,
        payload.session_id,
        client_process(payload),
        payload.event,
        time.time(),
    )
    return build_result(payload, offer)


def _session_start(payload: HookPayload, session_dir: SessionDir) -> HookResult | None:
    event, now = payload.event, time.time()
    if payload.source == "compact":
        brief = delivery.find_fresh_brief(
            session_dir, payload.transcript_path, payload.client.is_bookkeeping
        )
        if brief is None:
            return None
        return build_result(payload, delivery.claim_brief(session_dir, brief, event, now))
    if payload.source == "request":
        standing = session_dir.read_standing_brief(payload.prompt_id)
        if standing is None:
            return None
        return HookResult(payload.client.format_context(event, standing))
    if not payload.client.STARTS_WITH_CONTEXT:
        session_dir.begin_session(payload.source)
        return HookResult()
    if payload.source in NEW_SESSIONS:
        return _offer_handoff(payload, session_dir)
    # Resumed or forked: read what is new beside the client, so that the first compaction
    # does not have to.
    return _deliver_pending(session_dir, payload, _run_full_path(payload, session_dir.data_dir))


def _late_start(payload: HookPayload, session_dir: SessionDir, source: str) -> HookResult:
    """The first prompt of a session whose start was only noted."""
    if source in NEW_SESSIONS:
        return _offer_handoff(payload, session_dir)
    work = _run_full_path(payload, session_dir.data_dir)

    def resume() -> None:
        payload.event, payload.source = "SessionStart", source
        work()

    return _deliver_pending(session_dir, payload, resume)


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
    # At the end of a turn its last rows may not be written yet: the full path waits for them.
    turn_ended = payload.event == "Stop" and bool(payload.last_message) and not payload.agent_id
    grown = turn_ended or prepared is None or not is_fresh(prepared, payload)
    if payload.event in DELIVERY_EVENTS and delivery.is_pending_during_work(session_dir):
        return _deliver_pending(
            session_dir, payload, _run_full_path(payload, session_dir.data_dir) if grown else None
        )
    if grown and payload.client.DETACHES_WORK:
        return HookResult(later=_run_full_path(payload, session_dir.data_dir))
    return None if grown else HookResult()


def _deliver_pending(
    session_dir: SessionDir, payload: HookPayload, later: Callable[[], None] | None = None
) -> HookResult:
    """What waits, if we are the one who may deliver it; never into a subagent."""
    if payload.agent_id:
        return HookResult(later=later)
    claimed = delivery.claim_pending(
        session_dir,
        payload.event,
        payload.client.MAX_OUTPUT_CHARS,
        to_user=payload.event == "UserPromptSubmit",
        warn=not payload.prompt.startswith("/compact"),
    )
    return build_result(payload, claimed, later)


def _run_full_path(payload: HookPayload, data: str) -> Callable[[], None]:
    client = client_process(payload)  # asked now: a detached process has another parent

    def work() -> None:
        from holdfast.hooks import full

        full.handle_full(payload, data, client)

    return work
