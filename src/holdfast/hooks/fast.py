"""The fast path: what a hook can answer from the session's directory alone.

Its time is on the agent's clock at every prompt, so it imports `os`, `time`, `_json`, what is in
`fastpath` and a client's `hooks`, and nothing else; a test holds that. Says which event asks for
what; `fastpath.delivery` decides what is delivered. Everything it cannot answer it leaves to the
full path by answering None.
"""

from __future__ import annotations

import os
import time

from holdfast.fastpath import delivery
from holdfast.fastpath.pending_texts import SESSION_START, PrebuiltText
from holdfast.fastpath.project import locate_project, read_head
from holdfast.fastpath.session_dir import (
    GUARDS_FILE,
    INDEX_FILE,
    NEW_PROMPT_FILE,
    SessionDir,
    note_client,
    spool_command,
    spool_prompt,
)
from holdfast.files import exists, where_possible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.fastpath.hook_json import HookPayload

# The sources of prompts that somebody typed; most clients name none.
TYPED_SOURCES = frozenset(("", "user", "sdk"))
# The sources of a SessionStart that begins with an empty context.
NEW_SESSIONS = frozenset(("startup", "clear"))
WORK_EVENTS = frozenset(("PostToolBatch", "PostToolUse", "Stop", "SubagentStop"))
# Around one tool call; the batch that it is in follows.
CALL_EVENTS = frozenset(("PreToolUse", "PostToolUseFailure"))
# An answer from Stop would make the agent go on by itself: the next prompt brings the gap.
DELIVERY_EVENTS = frozenset(("PostToolBatch", "PostToolUse"))


class HookResult:
    """What to print, what to note once that is done, and what to do after the hook has returned.

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
    if session_dir.is_forgotten():
        return HookResult()
    if event == "ModelRequest":
        return _model_request(payload, session_dir)
    if event == "UserPromptSubmit":
        if payload.prompt and payload.source in TYPED_SOURCES and not payload.agent_id:
            spool_prompt(session_dir, payload.prompt_id, payload.prompt)
        later = _note_prompt(session_dir, payload)
        if _is_restore_due(payload, session_dir):
            return None
        if not payload.client.STARTS_WITH_CONTEXT and (source := _claim_start(session_dir)):
            return _late_start(payload, session_dir, source)
        return _deliver_pending(session_dir, payload, later)
    if event in CALL_EVENTS:
        return answer_tool_call(payload, session_dir)
    if event == "UserPromptExpansion":
        if payload.command and not payload.agent_id:
            spool_command(session_dir, payload.command, payload.command_arguments)
        return _deliver_pending(session_dir, payload)
    if event == "SessionStart":
        return _session_start(payload, session_dir)
    if event == "SubagentStop":
        return _subagent_stopped(payload, session_dir)
    if event in WORK_EVENTS:
        if event in DELIVERY_EVENTS and _is_restore_due(payload, session_dir):
            return None
        return _work_event(payload, session_dir)
    if event == "SessionEnd":
        return HookResult("", _run_full_path(payload, data))
    return None


def hand_over_what_lies_ready(payload: HookPayload, data: str) -> HookResult:
    """After a compaction, the brief of a moment ago: no time is left to bring it up to date."""
    session_dir = SessionDir(data, payload.session_id)
    brief = session_dir.read_restored_brief() or session_dir.read_brief()
    if brief is None or payload.event != "SessionStart" or payload.source != "compact":
        return HookResult()
    claimed = delivery.claim_brief(session_dir, brief, payload.event, time.time())
    return build_result(payload, claimed)


def answer_tool_call(payload: HookPayload, session_dir: SessionDir) -> HookResult | None:
    """What is to be said of a call: rules first, then what was known of its file or command. None
    where a rule speaks against it that the last prompt, which was not read yet, may have lifted.
    """
    claimed = None
    if payload.event != "PostToolUseFailure" and exists(f"{session_dir.path}/{GUARDS_FILE}"):
        from holdfast.fastpath import guards

        broken = guards.BrokenGuards(session_dir, payload)
        # A prompt came since the rules were read.
        if broken.found and exists(f"{session_dir.path}/{NEW_PROMPT_FILE}"):
            return None
        claimed = guards.claim_reminders(session_dir, payload, broken) if broken.found else None
    if claimed is None and not payload.agent_id and exists(f"{session_dir.path}/{INDEX_FILE}"):
        from holdfast.fastpath import recall

        claimed = recall.claim_for_call(session_dir, payload)
    return build_result(payload, claimed)


def _note_prompt(session_dir: SessionDir, payload: HookPayload) -> Callable[[], None] | None:
    """A prompt may lift a rule. Where no hook runs before a tool, they are read again beside it."""
    if payload.agent_id or not exists(f"{session_dir.path}/{GUARDS_FILE}"):
        return None
    with where_possible:  # no space: at worst a rule that was lifted just now is quoted
        session_dir.write(NEW_PROMPT_FILE, b"")
    if not payload.client.REMINDS_AFTER_TOOLS:
        return None

    def work() -> None:
        from holdfast.hooks import full

        full.read_rules(payload, session_dir.data_dir)

    return work


def _is_restore_due(payload: HookPayload, session_dir: SessionDir) -> bool:
    """Whether this hook is the first after a compaction of which no other tells."""
    mark = payload.client.COMPACTION_MARK
    if not mark or payload.agent_id:
        return False
    due = delivery.is_restore_due(session_dir, payload.transcript_path, mark)
    payload.restores = due
    return due


def client_process(payload: HookPayload) -> int:
    """The client that runs us."""
    return int(payload.client.find_process(os.environ))


def build_result(
    payload: HookPayload,
    claimed: delivery.ClaimedText | None,
    later: Callable[[], None] | None = None,
) -> HookResult:
    if claimed is None:
        return HookResult(later=later)
    if payload.request:
        text = payload.client.format_request(payload.request, claimed.text)
    elif claimed.question:
        text = payload.client.format_question(claimed.text, claimed.question)
    else:
        text = payload.client.format_context(payload.event, claimed.text, claimed.message)
    return HookResult(text, later, claimed.settle)


def is_fresh(known: PrebuiltText, payload: HookPayload) -> bool:
    return delivery.is_fresh(known, payload.transcript_path, payload.client.is_bookkeeping)


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
    note_client(session_dir.data_dir, client_process(payload))
    if not payload.client.STARTS_WITH_CONTEXT:
        session_dir.pending.put(SESSION_START, payload.source)
        return HookResult(later=_note_start(payload, session_dir.data_dir))
    if payload.source in NEW_SESSIONS:
        offered = _offer_handoff(payload, session_dir)
        offered.background = _note_start(payload, session_dir.data_dir)
        return offered
    # Resumed or forked: read what is new beside the client, so that the first compaction
    # does not have to.
    return _deliver_pending(session_dir, payload, _run_full_path(payload, session_dir.data_dir))


def _claim_start(session_dir: SessionDir) -> str:
    """How the session began, for the first hook that asks; "" for every other."""
    source = session_dir.pending.claim_text(SESSION_START)
    if source:
        session_dir.pending.settle(SESSION_START)
    return source


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
    return answer or HookResult(later=_run_full_path(payload, session_dir.data_dir))


def _work_event(payload: HookPayload, session_dir: SessionDir) -> HookResult | None:
    known = session_dir.read_known()
    # At the end of a turn its last rows may not be written yet: the full path waits for them.
    turn_ended = payload.event == "Stop" and bool(payload.last_message) and not payload.agent_id
    grown = turn_ended or known is None or not is_fresh(known, payload)
    later = _run_full_path(payload, session_dir.data_dir) if grown else None
    if payload.event == "PostToolUse" and payload.client.REMINDS_AFTER_TOOLS:
        reminded = answer_tool_call(payload, session_dir)
        if reminded is not None and reminded.text:
            reminded.background = later
            return reminded
    if payload.event in DELIVERY_EVENTS and delivery.is_pending_during_work(session_dir):
        return _deliver_pending(session_dir, payload, later)
    if grown and payload.client.DETACHES_WORK:
        return HookResult(later=later)
    return None if grown else HookResult()


def _deliver_pending(
    session_dir: SessionDir, payload: HookPayload, later: Callable[[], None] | None = None
) -> HookResult:
    """What waits, if we are the one who may deliver it; never into a subagent."""
    if payload.agent_id:
        return HookResult(later=later)
    room, is_prompt = payload.client.MAX_OUTPUT_CHARS, payload.event == "UserPromptSubmit"
    claimed = delivery.claim_pending(
        session_dir,
        payload.event,
        room,
        to_user=is_prompt,
        warn=not payload.prompt.startswith("/compact"),
    )
    if is_prompt and _asks_something(payload) and exists(f"{session_dir.path}/{INDEX_FILE}"):
        from holdfast.fastpath import recall  # where there was a compaction

        claimed = recall.claim_for_prompt(session_dir, payload.event, payload.query, claimed, room)
    return build_result(payload, claimed, later)


def _asks_something(payload: HookPayload) -> bool:
    """A person, and in words: not by a command of the client's."""
    asked = payload.query
    return bool(asked) and not asked.startswith("/") and payload.source in TYPED_SOURCES


def _note_start(payload: HookPayload, data: str) -> Callable[[], None] | None:
    """Git is asked beside the client; None where no repository is."""
    if not payload.cwd or not os.path.lexists(locate_project(payload.cwd)[1] + "/.git"):
        return None
    head, began = read_head(payload.cwd), time.time()  # before anything can be committed

    def work() -> None:
        from holdfast.hooks import full

        full.note_session_start(payload, data, head, began)

    return work


def _run_full_path(payload: HookPayload, data: str) -> Callable[[], None]:
    client = client_process(payload)  # asked now: a detached process has another parent

    def work() -> None:
        from holdfast.hooks import full

        full.handle_full(payload, data, client)

    return work
