"""The messages that matter of a session's past: requests, decisions, tool calls with outcomes.

From the transcript, or from the rows that were archived at its compactions where the transcript is
gone. What it hands out has passed the redactor. Writes nothing but a file of rows that it is
given a place for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast import events as ev
from holdfast.files import open_output
from holdfast.redact import redact
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.session.follow import follow_transcript
from holdfast.session.replay import map_line_numbers
from holdfast.state.checks import read_check_run
from holdfast.state.shell import effective_commands
from holdfast.store.protocol import Store
from holdfast.text import truncate
from holdfast.transcript.reader import Loads

MAX_TEXT_CHARS = 1_200


class DigestEntry(NamedTuple):
    line: int
    row: str
    time: str
    kind: str  # "user" | "agent" | "decision" | "tool" | "task" | "subagent" | "compaction"
    text: str
    ok: bool = True


def build_digest(path: str, *, loads: Loads | None = None) -> list[DigestEntry]:
    """In file order; what the user rewound is left out."""
    events: list[ev.Event] = []
    followed = follow_transcript(path, loads=loads, on_event=events.append, final=True)
    numbers = map_line_numbers(path)
    found: dict[tuple[str, str, str], DigestEntry] = {}
    for event in events:
        at = event.at
        if at.agent or any(start <= at.start < end for start, end in followed.abandoned):
            continue
        for kind, text, ok in _describe_event(event):
            text = truncate(redact(truncate_safely(text, 2 * MAX_TEXT_CHARS)), MAX_TEXT_CHARS)
            one = DigestEntry(numbers.get(at.start, 0), at.row, at.time, kind, text, ok)
            # After a rewind everything was heard once more.
            found.setdefault((at.row or str(at.start), kind, text), one)
    return sorted(found.values(), key=lambda one: one.line)


def _describe_event(event: ev.Event) -> Iterator[tuple[str, str, bool]]:
    if isinstance(event, ev.UserSaid):
        about = f"{event.about} → " if event.about else ""
        yield ("decision" if event.source == "answer" else "user"), about + event.text, True
    elif isinstance(event, ev.AgentSaid):
        yield "agent", event.text, True
    elif isinstance(event, ev.NoteTaken):
        yield "decision", f"noted, {event.kind.replace('_', ' ')}: {event.text}", True
    elif isinstance(event, ev.Compacted):
        tokens = f", {event.tokens_before:,} tokens" if event.tokens_before else ""
        yield "compaction", f"{event.trigger or 'unknown trigger'}{tokens}", True
    elif isinstance(event, ev.TaskCreated):
        yield "task", f"#{event.task} created: {event.subject}", True
    elif isinstance(event, ev.TaskChanged) and event.status:
        yield "task", f"#{event.task} {event.status.replace('_', ' ')}", True
    elif isinstance(event, ev.SubagentEnded):
        yield "subagent", event.result, event.ok
    elif isinstance(event, ev.PlanSet):
        yield "decision", f"plan {event.status}: {event.text}", True
    else:
        yield from _describe_tool_call(event)


def _describe_tool_call(event: ev.Event) -> Iterator[tuple[str, str, bool]]:
    if isinstance(event, ev.CommandRan):
        run = read_check_run(event.command[:4000], event.output, event.ok)
        if run is not None:
            said = f" ({run.verdict.summary})" if run.verdict.summary else ""
            ok = run.verdict.result != "failed"
            yield "tool", f"`{run.check.command}` {run.verdict.result}{said}", ok
            return
        for deed in effective_commands(event.command[:4000])[:3]:
            yield "tool", f"`{deed}` {_describe_outcome(event.ok, event.output)}", event.ok
    elif isinstance(event, ev.FileTouched) and (event.action != "read" or not event.ok):
        error = f": {event.error}" if event.error else ""
        yield "tool", f"{event.path} {event.action if event.ok else 'failed'}{error}", event.ok
    elif isinstance(event, ev.ToolRefused):
        yield "tool", f"{event.tool} rejected by the user: {event.asked}", False
    elif isinstance(event, ev.ToolRan):
        yield (
            "tool",
            f"{event.tool} {truncate_safely(event.input, 300)} {_describe_outcome(event.ok, '')}",
            event.ok,
        )


def _describe_outcome(ok: bool, output: str) -> str:
    if ok:
        return "ok"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return f"failed: {truncate_safely(lines[-1], 200)}" if lines else "failed"


def export_archived_rows(store: Store, session_id: str, path: str) -> int:
    """Write what was archived of a session to a file, in order; answers how many bytes."""
    total = 0
    with open(open_output(path), "wb") as file:
        for _, _, _, rows in store.read_archive(session_id):
            file.write(rows if rows.endswith(b"\n") else rows + b"\n")
            total += len(rows)
    return total


class ArchiveMatch(NamedTuple):
    """An archived row that holds the words that were looked for."""

    session_id: str
    row: str
    time: str
    excerpt: str


def search_archive(
    store: Store, session_id: str, words: list[str], limit: int, *, loads: Loads
) -> list[ArchiveMatch]:
    """The archived rows that hold all of the words, the latest last. Plain text, no index."""
    wanted = [word.lower().encode() for word in words if word]
    found: dict[str, ArchiveMatch] = {}
    for _, _, _, rows in store.read_archive(session_id):
        for line in rows.splitlines():
            lowered = line.lower()
            if wanted and all(word in lowered for word in wanted):
                one = _match_line(session_id, line, wanted[0].decode(), loads)
                if one is not None:
                    found[one.row or one.excerpt] = one
    return list(found.values())[-limit:]


def _match_line(session_id: str, line: bytes, word: str, loads: Loads) -> ArchiveMatch | None:
    try:
        data = loads(line)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    for text in _iterate_strings(data.get("message", data)):
        at = text.lower().find(word)
        if at >= 0:
            around = " ".join(text[max(0, at - 80) : at + 220].split())
            time = data.get("timestamp")
            row = data.get("uuid")
            return ArchiveMatch(
                session_id,
                row if isinstance(row, str) else "",
                time if isinstance(time, str) else "",
                around,
            )
    return None


def _iterate_strings(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < 12:
        inside = value.values() if isinstance(value, dict) else value
        if isinstance(inside, list | type({}.values())):
            for item in inside:
                yield from _iterate_strings(item, depth + 1)
