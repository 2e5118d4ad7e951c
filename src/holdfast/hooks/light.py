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
from holdfast.lifecycle.tray import OWED, PATTERNS, Prepared, Tray, data_folder

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


AT_WORK = frozenset((OWED, "gap", "low-agent", "messages"))
PENDING = AT_WORK | {"low-user", "tell-user"}
LINE = 1_000  # room for a warning
LOOKED_AT = 512 * 1024  # bytes that a transcript may have grown by and still be looked through


class Answer:
    """What to print, what to note once that is done, and what to do after the client was let go.

    Nothing counts as delivered before it was printed: a hook can be killed at any moment.
    """

    __slots__ = ("later", "printed", "text")

    def __init__(
        self,
        text: str = "",
        later: Callable[[], None] | None = None,
        printed: Callable[[], None] | None = None,
    ) -> None:
        self.text = text
        self.later = later
        self.printed = printed


def answer(payload: Payload, data: str) -> Answer | None:
    """None: this needs the heavy road."""
    event = payload.event
    tray = Tray(data, payload.session_id)
    if event == "UserPromptSubmit":
        if payload.prompt and payload.source in TYPED and not payload.agent_id:
            _note_prompt(tray, payload)
        return _pending(tray, payload)
    if event == "UserPromptExpansion":
        if payload.command and not payload.agent_id:
            _note_command(tray, payload)
        return _pending(tray, payload)
    if event == "SessionStart":
        return _session_start(payload, tray)
    if event == "SubagentStop":
        return _subagent_stopped(payload, tray)
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
        prepared = tray.restored() or tray.prepared()
        if prepared is None or not is_fresh(prepared, payload.transcript):
            return None
        if not tray.claim_brief(prepared, time.time()):
            return Answer()
        return brief_to_print(tray, payload.event, prepared)
    if payload.source in ("startup", "clear"):
        offered = handoff.offer(
            tray.data, payload.cwd, payload.session_id, client_process(), time.time()
        )
        if offered is None:
            return Answer()
        text = additional_context(payload.event, offered.text)
        return Answer(text, printed=lambda: delivered(tray, "handoff", payload.event, offered))
    # Resumed or forked: read what is new beside the client, so that the first compaction
    # does not have to.
    return _pending(tray, payload, _heavy(payload, tray.data))


def brief_to_print(tray: Tray, event: str, brief: Prepared) -> Answer:
    """For the one that claimed it."""

    def printed() -> None:
        delivered(tray, "brief", event, brief)
        tray.settle(OWED)

    return Answer(additional_context(event, brief.text), printed=printed)


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


def _subagent_stopped(payload: Payload, tray: Tray) -> Answer | None:
    """The client waits: for a summary it has to, for an ordinary subagent it need not."""
    if payload.is_summarisers and tray.is_compacting():
        return None if payload.last_words else Answer()
    answer = _working(payload, tray)
    return Answer(later=_heavy(payload, tray.data)) if answer is None else answer


def _working(payload: Payload, tray: Tray) -> Answer | None:
    prepared = tray.prepared()
    grown = prepared is None or not is_fresh(prepared, payload.transcript)
    if payload.event in DELIVERING and AT_WORK & tray.waiting():
        return _pending(tray, payload, _heavy(payload, tray.data) if grown else None)
    return None if grown else Answer()


def _pending(tray: Tray, payload: Payload, later: Callable[[], None] | None = None) -> Answer:
    """What waits, if we are the one who may deliver it; never into a subagent."""
    waiting = set() if payload.agent_id else tray.waiting()
    if not waiting & PENDING:
        return Answer(later=later)
    event = payload.event
    text = message = ""
    given: list[tuple[str, Prepared]] = []  # to be noted for the store
    claimed = []
    if OWED in waiting:
        brief = tray.claim_owed()
        if brief is not None:
            claimed.append(OWED)
            given.append(("brief", brief))
            text = brief.text
    # With a brief that came late the gap may not fit: it comes with what happens next.
    if "gap" in waiting and not text:
        gap = tray.claim_gap()
        if gap is not None:
            claimed.append("gap")
            given.append(("gap", gap))
            text = gap.text
    # Who compacts now need not be told that it is time to.
    if not payload.prompt.startswith("/compact"):
        if "low-agent" in waiting and len(text) < LIMIT - LINE:
            claimed.append("low-agent")
            line = tray.take("low-agent")
            text = f"{text}\n{line}" if text and line else text or line
        if "messages" in waiting:
            taken = _messages(tray, LIMIT - len(text) - 1)
            given += taken
            told = _told(taken)
            text = f"{text}\n{told}" if text and told else text or told
        # What a background hook says is not shown to the user: the next prompt's is.
        if event == "UserPromptSubmit":
            for name in ("low-user", "tell-user"):
                if not message and name in waiting:
                    claimed.append(name)
                    message = tray.take(name)

    def printed() -> None:
        for what, one in given:
            delivered(tray, what, event, one)
        for name in claimed:
            tray.settle(name)

    return Answer(additional_context(event, text, message), later, printed)


def _messages(tray: Tray, room: int) -> list[tuple[str, Prepared]]:
    """What other agents wrote, as far as there is room; each once."""
    from holdfast.lifecycle import letterbox

    prepared = tray.prepared()
    epoch = prepared.epoch if prepared is not None else 0
    return [
        (f"message:{one.id}", Prepared(epoch, 0, 0, "", "", one.text))
        for one in letterbox.take(tray.folder, room)
    ]


def _told(messages: list[tuple[str, Prepared]]) -> str:
    if not messages:
        return ""
    from holdfast.lifecycle.letterbox import HEADING

    return "\n".join([HEADING, *(one.text for _, one in messages)])


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
