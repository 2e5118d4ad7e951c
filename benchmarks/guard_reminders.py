"""How often rules remind in real sessions: `python -m benchmarks.guard_reminders FOLDER...`

Replays recorded sessions call by call. Rules are those in force after the last prompt, as the
hooks know them; each reminds once between two compactions. Prints every reminder with its call,
for a reader to judge, and the number of calls.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast import clients
from holdfast.events import CommandRan, Compacted, Event, FileTouched, Searched, ToolRan, UserSaid
from holdfast.fastpath.guards import Guard
from holdfast.state import EMPTY_STATE, FoldSession
from holdfast.state.guards import read_guards
from holdfast.state.redaction_gate import redact_events
from holdfast.state.rules import list_standing

CALLS = (CommandRan, FileTouched)
# Says nothing of rules, and is most of a session.
PASSED_OVER = (*CALLS, Searched, ToolRan)


class Reminder(NamedTuple):
    session: str
    sentence: str
    call: str


class Count(NamedTuple):
    calls: int
    guarded: int  # calls while at least one rule was a guard
    reminders: tuple[Reminder, ...]


def main(folders: list[str]) -> int:
    calls = guarded = sessions = reminded = 0
    for path in sorted(one for folder in folders for one in Path(folder).rglob("*.jsonl.gz")):
        counted = count_reminders(path)
        sessions += 1
        calls += counted.calls
        guarded += counted.guarded
        reminded += len(counted.reminders)
        for one in counted.reminders:
            print(f"{one.session[:8]}  {one.sentence[:160]!r}\n          {one.call[:160]!r}")
    print(
        f"{sessions} sessions, {calls} commands and edits, {guarded} of them with a guard in force"
    )
    print(f"{reminded} reminders")
    return 0


def count_reminders(packed: Path) -> Count:
    folded, guards, told = FoldSession(EMPTY_STATE), list[Guard](), set[str]()
    known: list[tuple[str, str]] = []
    calls = guarded = 0
    found: list[Reminder] = []
    for event in _read_events(packed):
        if isinstance(event, CALLS) and not (
            isinstance(event, FileTouched) and event.action == "read"
        ):
            calls += 1
            guarded += bool(guards)
            for guard in guards:
                if guard.id not in told and _forbids(guard, event, folded):
                    told.add(guard.id)
                    found.append(Reminder(packed.name, guard.sentence, _describe(event)))
        if isinstance(event, PASSED_OVER):
            continue
        folded.apply([event])
        if isinstance(event, Compacted):
            told.clear()
        if isinstance(event, UserSaid):
            standing = list_standing(folded.state().rules)
            now = [(key, text) for key, text, later in standing if not later]
            if now != known:
                known, guards = now, read_guards(now)
    return Count(calls, guarded, tuple(found))


def _forbids(guard: Guard, event: Event, folded: FoldSession) -> bool:
    cwd = folded.state().session.cwd
    if isinstance(event, FileTouched):
        return guard.forbids(event.path, "", cwd, {"new_string": event.text})
    return isinstance(event, CommandRan) and guard.forbids("", event.command, cwd)


def _describe(event: Event) -> str:
    return event.path if isinstance(event, FileTouched) else getattr(event, "command", "")


def _read_events(packed: Path) -> Iterator[Event]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / packed.name.removesuffix(".gz")
        path.write_bytes(gzip.decompress(packed.read_bytes()))
        client = clients.of_file(str(path))
        adapter = client.adapter()
        with client.open_transcript(str(path)) as reader:
            for row in reader.rows():
                yield from redact_events(adapter.events(row))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
