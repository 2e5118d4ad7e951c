"""A conversation: the messages of a session or of a stretch of it, and one message up close.

They come from the transcript, or from what was archived of it. What is shown has passed the
redactor. Must not write.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.text import Text

from holdfast import events as ev
from holdfast.cli.output import CliError, format_one_line
from holdfast.cli.screen import Screen
from holdfast.cli.store_access import open_user_store
from holdfast.clients.client_protocol import Client
from holdfast.clients.messages.shapes import read_message
from holdfast.clock import format_minute
from holdfast.records import NamedTuple
from holdfast.redact import redact
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.session.archive import export_rows
from holdfast.session.follow import follow_transcript
from holdfast.session.messages import collect_messages
from holdfast.session.replay import locate_rows, map_line_numbers
from holdfast.text import pluralize, truncate
from holdfast.transcript.reader import Row

# The end of a conversation says where it is; `--full` shows the rest.
MAX_MESSAGES_SHOWN = 30
MAX_LINE_CHARS = 240  # of what the agent did
MAX_TEXT_CHARS = 1_200
# Of one message, unless it is asked for whole.
MAX_MESSAGE_CHARS = 2_000

_SPEAKER_STYLES = {
    "user": "bold green",
    "agent": "bold",
    "decision": "bold magenta",
    "subagent": "bold cyan",
    "compaction": "bold yellow",
}
_COMPACTION = re.compile(r"c([1-9]\d*)")
_TIME = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?")
_TOOL_CALL = re.compile(r"([\w.-]+) (\{.*\})", re.DOTALL)


class DigestEntry(NamedTuple):
    line: int
    row: str
    time: str
    kind: str  # "compaction", "decision" or a message's speaker
    text: str
    ok: bool = True


def build_digest(path: str) -> list[DigestEntry]:
    """In file order; what the user rewound is left out."""
    events: list[ev.Event] = []
    followed = follow_transcript(path, on_event=events.append, final=True)
    numbers = map_line_numbers(path)
    found: dict[tuple[str, str, str], DigestEntry] = {}
    for event in events:
        at = event.at
        if at.agent or any(start <= at.start < end for start, end in followed.abandoned):
            continue
        for kind, text in _describe_event(event):
            text = truncate(redact(truncate_safely(text, 2 * MAX_TEXT_CHARS)), MAX_TEXT_CHARS)
            line = numbers.get(at.start, 0)
            one = DigestEntry(line, at.row, at.time, kind, text, kind != "failed")
            # After a rewind every event comes again.
            found.setdefault((at.row or str(at.start), kind, text), one)
    return sorted(found.values(), key=lambda one: one.line)


def _describe_event(event: ev.Event) -> Iterator[tuple[str, str]]:
    """What is kept to be found again, and beside it what only a reader of the whole wants."""
    if isinstance(event, ev.Compacted):
        tokens = f", {event.tokens_before:,} tokens" if event.tokens_before else ""
        yield "compaction", f"{event.trigger or 'unknown trigger'}{tokens}"
    elif isinstance(event, ev.UserSaid) and event.source == "answer":
        yield "decision", f"{event.about} → {event.text}" if event.about else event.text
    elif isinstance(event, ev.NoteTaken):
        yield "decision", f"noted, {event.kind.replace('_', ' ')}: {event.text}"
    elif isinstance(event, ev.TaskChanged) and event.status:
        yield "task", f"#{event.task} {event.status.replace('_', ' ')}"
    elif isinstance(event, ev.ToolRefused):
        yield "failed", f"{event.tool} rejected by the user: {event.asked}"
    else:
        yield from ((one.speaker, one.text) for one in collect_messages([event]))


def load_messages(
    path: str, session_id: str = "", first: str = "", last: str = ""
) -> list[DigestEntry]:
    """The messages of a transcript or of a stored session, all or those of a range."""
    with _find_rows_file(path, session_id) as (rows, archived):
        told = build_digest(rows)
        low, high = _parse_bound(told, first, rows), _parse_bound(told, last, rows)
    if archived:
        Screen(stderr=True).note("the transcript no longer exists; showing the archived rows")
    if isinstance(low, str):
        told = [one for one in told if one.time >= low]
    elif low is not None:
        told = [one for one in told if one.line >= low]
    if isinstance(high, str):  # "to 10:22" includes that minute
        return [one for one in told if one.time[: len(high)] <= high]
    return told if high is None else [one for one in told if one.line <= high]


@contextmanager
def _find_rows_file(path: str, session_id: str) -> Iterator[tuple[str, bool]]:
    """(a file of rows, whether it comes from the archive)."""
    if os.path.exists(path) or not session_id:
        yield require_transcript(path, session_id), False
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        rows = os.path.join(folder, "rows.jsonl")
        with open_user_store() as store:
            total = export_rows(store, session_id, rows)
        if not total:
            raise CliError(
                f"The transcript of session {session_id[:8]} no longer exists and was not archived",
                "The setting `archive` keeps its rows from its first turn on.",
            )
        yield rows, True


def require_transcript(path: str, session_id: str) -> str:
    """The transcript, which must be there."""
    if not os.path.exists(path):
        what = path or f"the transcript of session {session_id[:8]}"
        raise CliError(f"{what}: no such file", "Check the path.")
    return path


def _parse_bound(told: list[DigestEntry], name: str, path: str) -> int | str | None:
    """The line that a name means, or the time; None where there is none."""
    if not name:
        return None
    if compaction := _COMPACTION.fullmatch(name):
        found = [one.line for one in told if one.kind == "compaction"]
        number = int(compaction[1])
        if number > len(found):
            raise CliError(f"No compaction {number}: the session has {len(found)}")
        return found[number - 1]
    return name.replace(" ", "T") if _TIME.fullmatch(name) else _find_line(path, name)


def _find_line(path: str, name: str) -> int:
    """The line of the row that a line number, an id or the beginning of one names."""
    rows = locate_rows(path, name)
    if len(rows) != 1:
        raise CliError(
            f"{name!r} matches {len(rows)} rows" if rows else f"{path} has no row {name!r}",
            f"`holdfast show {path}` prints the rows of what was said.",
        )
    return rows[0]


def print_conversation(
    messages: Sequence[DigestEntry], whole: bool, *, paged: bool = False
) -> None:
    """Words under who said them and when; what the agent did as lines beneath. On a terminal it may
    be `paged`, and is whole then.
    """
    out = Screen()
    if not (paged and out.is_terminal):
        _print_entries(out, messages, whole)
        return
    os.environ.setdefault("LESS", "-FRX")  # colours as they are, and no pager for one screen
    with out.pager(styles=True):
        _print_entries(out, messages, True)


def _print_entries(out: Screen, messages: Sequence[DigestEntry], whole: bool) -> None:
    shown = messages if whole else messages[-MAX_MESSAGES_SHOWN:]
    if earlier := len(messages) - len(shown):
        out.say(f"… {pluralize(earlier, 'earlier message')}; --full shows all", "dim")
    for number, one in enumerate(shown):
        if one.kind in _SPEAKER_STYLES:
            if number:
                out.print()
            speaker = (one.kind.capitalize(), _SPEAKER_STYLES[one.kind])
            moment = (f"  {format_minute(one.time)} UTC  {one.row[:8]}", "dim")
            out.print(Text.assemble(speaker, moment))
            out.indented(one.text.strip())
        else:
            text = format_one_line(one.text, MAX_LINE_CHARS)
            out.indented(text, "dim" if one.ok else "red", indent=4, first="  ·")
    if not messages:
        out.say("No messages.")


def print_message(row: bytes, client: Client, time: str, full: bool) -> None:
    """Who said it and when, and what was said; a tool's input by its names."""
    data = json.loads(row.replace(b"\0", b"").decode("utf-8", "replace"))
    events = client.adapter().events(Row(data, 0, len(row)))
    time = time or next((event.at.time for event in events if event.at.time), "")
    who, text = _read_words(data, client, events)
    when = f" on {format_minute(time)} UTC" if time else ""
    out = Screen()
    out.print(Text(f"{who}{when}:", style="bold"))
    shown = "\n".join(_format_call(part) for part in text.split("\n")).strip() or "(nothing)"
    if not full and len(shown) > MAX_MESSAGE_CHARS:
        shown = f"{shown[:MAX_MESSAGE_CHARS]}… ({len(shown):,} characters; --full shows all)"
    out.indented(shown)


def _read_words(data: dict[str, Any], client: Client, events: list[ev.Event]) -> tuple[str, str]:
    """Who said a row, and what; the row itself where it holds no words."""
    message = read_message(data.get("message") or data.get("payload") or data)
    if message.answers:
        return "A tool returned", redact("\n".join(answer.text for answer in message.answers))
    calls = [f"{c.name} {json.dumps(c.input, ensure_ascii=False)}" for c in message.calls]
    text = redact("\n".join(filter(None, [message.text, *calls])))
    if text and message.role == "assistant":
        return "The agent wrote", text
    if text and message.role == "user":
        typed = client.user_text.extract_user_text(message.text)
        return "The user wrote" if typed else "The agent was given", text
    for event in events:
        if isinstance(event, ev.UserSaid | ev.AgentSaid):
            who = "The user" if isinstance(event, ev.UserSaid) else "The agent"
            return f"{who} wrote", redact(event.text)
    return "The client recorded", json.dumps(data, ensure_ascii=False, indent=2)


def _format_call(line: str) -> str:
    """`Bash {"command": "ls"}` as lines of `command: ls`; anything else as it is."""
    found = _TOOL_CALL.fullmatch(line)
    if found is None:
        return line
    try:
        given = json.loads(found[2])
    except ValueError:
        return line
    return "\n  ".join([found[1], *(f"{key}: {_format_value(v)}" for key, v in given.items())])


def _format_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\n", "\n    ")
