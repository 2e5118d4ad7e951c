"""What of a session is kept to be found again: the words said, and what was run with its outcome.

One owner for the hooks, for `ingest` and for the SDK. The events come without secrets; what is long
is cut to the lines that say something.
"""

from collections.abc import Callable, Iterable

from holdfast.events import (
    AgentSaid,
    CommandRan,
    Event,
    FileTouched,
    PlanSet,
    SubagentEnded,
    SummaryGiven,
    TaskCreated,
    ToolRan,
    UserSaid,
)
from holdfast.records import Any
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.store.protocol import Message

MAX_MESSAGE_CHARS = 20_000  # characters of what was said
MAX_COMMAND_CHARS = 300
MAX_OUTPUT_CHARS = 420
MAX_LINE_CHARS = 160
MAX_EDIT_CHARS = 260
MAX_RESULT_CHARS = 6_000
OUTPUT_ENDS = 3  # lines kept of each end of an output
OUTPUT_TROUBLE = 4  # and of those between that speak of trouble
TROUBLE = ("error", "fail", "not found", "denied", "warn", "refused", "timeout", "timed out")


def collect_messages(events: Iterable[Event]) -> list[Message]:
    """Those of the main thread, in their order."""
    found = []
    for event in events:
        read = _READERS.get(type(event))
        if read is None or event.at.agent:
            continue
        speaker, text = read(event)
        if text.strip():
            at = event.at
            found.append(Message(at.row, speaker, text, at.time, at.start, at.end))
    return found


def digest_output(output: str) -> str:
    """All of it where that is short; else the first and last lines, and between them those that
    speak of trouble."""
    lines = [line.strip()[:MAX_LINE_CHARS] for line in output.splitlines() if line.strip()]
    if len(lines) > 2 * OUTPUT_ENDS and sum(map(len, lines)) + len(lines) > MAX_OUTPUT_CHARS:
        between = lines[OUTPUT_ENDS:-OUTPUT_ENDS]
        trouble = [line for line in between if any(word in line.lower() for word in TROUBLE)]
        lines = [*lines[:OUTPUT_ENDS], *trouble[:OUTPUT_TROUBLE], *lines[-OUTPUT_ENDS:]]
    return "\n".join(lines)[:MAX_OUTPUT_CHARS]


def _read_user_words(event: UserSaid) -> tuple[str, str]:
    about = f"(on: {event.about[:MAX_LINE_CHARS]}) " if event.about else ""
    return "user", truncate_safely(about + event.text, MAX_MESSAGE_CHARS)


def _read_command(event: CommandRan) -> tuple[str, str]:
    ran = f"$ {event.command[:MAX_COMMAND_CHARS]}\n{digest_output(event.output)}"
    return ("ran", ran) if event.ok else ("failed", ran)


def _read_file_change(event: FileTouched) -> tuple[str, str]:
    if not event.ok:
        return "failed", f"{event.action} {event.path}: {event.error[:MAX_OUTPUT_CHARS]}"
    if event.action == "read":
        return "", ""
    return "edited", f"{event.path}: {' '.join(event.text.split())[:MAX_EDIT_CHARS]}"


def _read_tool(event: ToolRan) -> tuple[str, str]:
    called = f"{event.tool} {event.input[:MAX_LINE_CHARS]}: {digest_output(event.output)}"
    return ("ran", called) if event.ok else ("failed", called)


def _says(speaker: str, limit: int) -> Callable[[Any], tuple[str, str]]:
    return lambda event: (
        speaker,
        truncate_safely(getattr(event, "text", "") or getattr(event, "result", ""), limit),
    )


_READERS: dict[type, Callable[[Any], tuple[str, str]]] = {
    UserSaid: _read_user_words,
    AgentSaid: _says("agent", MAX_MESSAGE_CHARS),
    SummaryGiven: _says("summary", MAX_MESSAGE_CHARS),
    CommandRan: _read_command,
    FileTouched: _read_file_change,
    ToolRan: _read_tool,
    SubagentEnded: _says("subagent", MAX_RESULT_CHARS),
    PlanSet: _says("plan", MAX_RESULT_CHARS),
    TaskCreated: lambda event: ("task", f"{event.subject}. {event.description[:300]}"),
}
