"""The light road: what a hook can answer from the session's tray alone.

Its time is on the agent's clock at every prompt, so it imports `os`, `time`, `_json` and our
own smallest modules, and nothing else; a test holds the list. Everything it cannot answer it
leaves to the heavy road by answering None.
"""

from __future__ import annotations

import os
import time

from holdfast.clients.claude_code.outputs import LIMIT, additional_context, quoted
from holdfast.files import exists, read_from, size
from holdfast.lifecycle import handoff
from holdfast.lifecycle.tray import PATTERNS, Prepared, Tray, data_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.clients.claude_code.payloads import Payload

__all__ = ["Answer", "answer", "data_folder"]

PROMPT = 20_000  # characters of a prompt that are kept; what is longer is pasted material
# The sources of prompts that somebody typed; most clients name none.
TYPED = frozenset(("", "user", "sdk"))
WORKING = frozenset(("PostToolBatch", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop"))
# An answer from Stop would make the agent go on by itself: the next prompt brings the gap.
DELIVERING = frozenset(("PostToolBatch", "PostToolUse", "PostToolUseFailure"))


LOOKED_AT = 512 * 1024  # bytes that a transcript may have grown by and still be looked through


class Answer:
    """What to print, and what to do after the client has been let go."""

    __slots__ = ("later", "text")

    def __init__(self, text: str = "", later: Callable[[], None] | None = None) -> None:
        self.text = text
        self.later = later


def answer(payload: Payload, data: str) -> Answer | None:
    """None: this needs the heavy road."""
    event = payload.event
    tray = Tray(data, payload.session_id)
    if event == "UserPromptSubmit":
        if payload.prompt and payload.source in TYPED and not payload.agent_id:
            _note_prompt(tray, payload)
        return Answer(_pending(tray, payload))
    if event == "UserPromptExpansion":
        if payload.command and not payload.agent_id:
            _note_command(tray, payload)
        return Answer(_pending(tray, payload))
    if event == "SessionStart":
        return _session_start(payload, tray)
    if event in WORKING:
        return _working(payload, tray)
    if event == "SessionEnd":
        return Answer("", _heavy(payload, data))
    return None


def now_text(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def delivered(tray: Tray, what: str, event: str, given: Prepared) -> None:
    """Note for the store that a text was handed over."""
    fields = (
        f'"what":{quoted(what)},"epoch":{given.epoch},"road":{quoted(event)},'
        f'"time":{quoted(now_text(time.time()))},"facts":{quoted(given.facts)},'
        f'"text":{quoted(given.text)}'
    )
    _note(tray, "{" + fields + "}")


def client_process() -> int:
    """The client that runs us: it says so, or it is our parent, as there is no shell between."""
    said = os.environ.get("CLAUDE_PID", "")
    return int(said) if said.isdecimal() else os.getppid()


def _session_start(payload: Payload, tray: Tray) -> Answer | None:
    if payload.source == "compact":
        prepared = tray.prepared()
        if prepared is None or not is_fresh(prepared, payload.transcript):
            return None
        if not tray.latch(f"delivered.{prepared.epoch}", time.time()):
            return Answer()
        delivered(tray, "brief", payload.event, prepared)
        return Answer(additional_context(payload.event, prepared.text))
    if payload.source in ("startup", "clear"):
        offered = handoff.offer(
            tray.data, payload.cwd, payload.session_id, client_process(), time.time()
        )
        if offered is not None:
            delivered(tray, "handoff", payload.event, offered)
            return Answer(additional_context(payload.event, offered.text))
        return Answer()
    # Resumed or forked: read what is new beside the client, so that the first compaction
    # does not have to.
    return Answer(_pending(tray, payload), _heavy(payload, tray.data))


def is_fresh(prepared: Prepared, transcript: str) -> bool:
    """Whether the transcript tells nothing that the brief does not know."""
    grown = size(transcript) - prepared.offset
    if grown == 0:
        return True
    if not 0 < grown <= LOOKED_AT:
        return False
    # The client appends a few rows of its own book-keeping after PreCompact.
    from holdfast.clients.claude_code.quiet_rows import says_nothing

    rows = read_from(transcript, prepared.offset, grown)
    return len(rows) == grown and says_nothing(rows)


def _working(payload: Payload, tray: Tray) -> Answer | None:
    prepared = tray.prepared()
    grown = prepared is None or not is_fresh(prepared, payload.transcript)
    if payload.event in DELIVERING and (
        tray.gap_waits() or tray.waits("low-agent") or tray.waits("messages")
    ):
        text = _pending(tray, payload)
        return Answer(text, _heavy(payload, tray.data) if grown else None)
    return None if grown else Answer()


def _pending(tray: Tray, payload: Payload) -> str:
    """What waits, if we are the one who may deliver it; never into a subagent."""
    if payload.agent_id:
        return ""
    text = message = ""
    if tray.gap_waits():
        gap = tray.claim_gap()
        if gap is not None:
            delivered(tray, "gap", payload.event, gap)
            text = gap.text
    # Who compacts now need not be told that it is time to.
    if payload.prompt.startswith("/compact"):
        return additional_context(payload.event, text)
    if tray.waits("low-agent"):
        line = tray.take("low-agent")
        text = f"{text}\n{line}" if text and line else text or line
    if tray.waits("messages"):
        told = _messages(tray, payload.event, LIMIT - len(text) - 1)
        text = f"{text}\n{told}" if text and told else text or told
    # What a background hook says is not shown to the user: the next prompt's is.
    if payload.event == "UserPromptSubmit":
        for name in ("low-user", "tell-user"):
            if not message and tray.waits(name):
                message = tray.take(name)
    return additional_context(payload.event, text, message)


def _messages(tray: Tray, event: str, room: int) -> str:
    """What other agents wrote, as far as there is room; each once."""
    from holdfast.lifecycle import letterbox

    taken = letterbox.take(tray.folder, room)
    if not taken:
        return ""
    prepared = tray.prepared()
    epoch = prepared.epoch if prepared is not None else 0
    for one in taken:
        delivered(tray, f"message:{one.id}", event, Prepared(epoch, 0, 0, "", "", one.text))
    return "\n".join([letterbox.HEADING, *(one.text for one in taken)])


def _note_prompt(tray: Tray, payload: Payload) -> None:
    """Whose words these are is decided when they are read: the row may be there by then."""
    stamp, text = quoted(now_text(time.time())), quoted(_clean(tray, payload.prompt))
    prompt_id = quoted(payload.prompt_id)
    _note(tray, f'{{"what":"prompt","time":{stamp},"id":{prompt_id},"text":{text}}}')


def _note_command(tray: Tray, payload: Payload) -> None:
    stamp, name = quoted(now_text(time.time())), quoted(payload.command)
    arguments = quoted(_clean(tray, payload.command_arguments))
    line = f'"what":"command","time":{stamp},"text":{name},"arguments":{arguments}'
    _note(tray, "{" + line + "}")


def _clean(tray: Tray, text: str) -> str:
    from holdfast.redact.prefilter import suspicious

    window = text[: 2 * PROMPT]
    own = exists(f"{tray.data}/{PATTERNS}")  # the user's own patterns, kept by the heavy road
    if own or suspicious(window):
        from holdfast.redact import redact

        if own:
            from holdfast.lifecycle.patterns import use_kept

            use_kept(tray.data)
        window = redact(window)
    return window[:PROMPT]


def _note(tray: Tray, line: str) -> None:
    try:  # noqa: SIM105  contextlib costs 3 ms
        tray.note(line)
    except OSError:
        pass  # no place to note it is no reason not to answer; doctor looks at the disk


def _heavy(payload: Payload, data: str) -> Callable[[], None]:
    client = client_process()  # asked now: a detached process has another parent

    def work() -> None:
        from holdfast.hooks import heavy

        heavy.answer(payload, data, client)

    return work
