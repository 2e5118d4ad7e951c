"""Files: what was changed, created, read, searched or named, and the symbols worked on there.

Bounded: the file that was only named gives way first, then the oldest that was only read;
a changed file stays. Deleted files keep their entry with the standing `cancelled`, so that
nobody looks for them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import CommandRan, FileTouched, Origin, Searched
from holdfast.state.facts import CANCELLED, OPEN, Fact, clip, keep, put
from holdfast.state.moment import Moment
from holdfast.state.shell import deeds
from holdfast.state.symbols import Table, symbols_in, touch

LIMIT = 240
READ_WINDOW = 24_000  # of what a read showed; beyond that, more text adds few new names
TYPED_WINDOW = 40_000
HUNKS = 3
HUNK_LINES = 8
SEARCH_LINES = 120

_SEARCH_LINE = re.compile(r"^([^\s:][^:\n]{0,300}?)[:-](\d+)[:-](.*)$")
_PATH = re.compile(
    r"(?<![\w/.@-])(?:[\w@.+-]*/)*[\w@+-][\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/])"
)
_LOCATION = re.compile(r"(?:^|[\s(\"'])((?:[\w@.+-]*/)*[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,9}):(\d+)\b")


class File(NamedTuple):
    number: int
    path: str
    standing: str  # open: it is there; cancelled: deleted
    created: bool
    changed: int  # how often
    read: int
    named: int  # in commands, searches and output
    step: int  # last touched
    changed_step: int  # last changed, -1 for never
    symbols: Table
    hunks: tuple[tuple[int, tuple[str, ...]], ...]  # latest last: first line, changed lines
    at: Origin


def _expendable(file: File) -> bool:
    return not file.changed and not file.created and not file.read


def _new(table: dict[str, File], path: str, moment: Moment, at: Origin) -> File:
    number = 1 + max((file.number for file in table.values()), default=0)
    return File(number, path, OPEN, False, 0, 0, 0, moment.step, -1, {}, (), at)


def _put(table: dict[str, File], file: File) -> dict[str, File]:
    if len(table) >= LIMIT and file.path not in table:
        for expendable in (_expendable, lambda known: not known.changed):
            if any(map(expendable, table.values())):
                return put(table, file.path, file, LIMIT, expendable)
    return put(table, file.path, file, LIMIT)


def on_file_touched(table: dict[str, File], event: FileTouched, moment: Moment) -> dict[str, File]:
    if not event.ok or not event.path:
        return table
    file = table.get(event.path) or _new(table, event.path, moment, event.at)
    if event.how == "read":
        seen = symbols_in(event.text[:READ_WINDOW])
        file = file._replace(read=file.read + 1, symbols=touch(file.symbols, (), seen, moment.step))
    else:
        typed = symbols_in(event.text[:TYPED_WINDOW])
        context = "\n".join(line for hunk in event.hunks for line in hunk.lines)[:READ_WINDOW]
        seen = (symbols_in(context) | symbols_in(event.before[:TYPED_WINDOW])) - typed
        file = file._replace(
            created=file.created or event.how == "created",
            changed=file.changed + 1,
            changed_step=moment.step,
            symbols=touch(file.symbols, typed, seen, moment.step),
            hunks=(file.hunks + _hunks(event))[-HUNKS:],
        )
    return _put(table, file._replace(standing=OPEN, step=moment.step, at=event.at))


def _hunks(event: FileTouched) -> tuple[tuple[int, tuple[str, ...]], ...]:
    kept = []
    for hunk in event.hunks[:HUNKS]:
        changed = [keep(line, 160) for line in hunk.lines if line[:1] in "+-"][:HUNK_LINES]
        if changed:
            kept.append((hunk.start, tuple(changed)))
    return tuple(kept)


def on_searched(table: dict[str, File], event: Searched, moment: Moment) -> dict[str, File]:
    """A search names files and shows lines of them; its pattern was typed by the agent."""
    if not event.ok:
        return table
    asked = symbols_in(event.pattern)
    seen: dict[str, set[str]] = {}
    where = event.where if "." in event.where.rsplit("/", 1)[-1] else ""
    for line in event.output[:READ_WINDOW].split("\n", SEARCH_LINES)[:SEARCH_LINES]:
        found = _SEARCH_LINE.match(line)
        if found:
            path, content = found.group(1), found.group(3)
            if not _PATH.fullmatch(path):
                path, content = where, line
        elif _PATH.fullmatch(line):
            path, content = line, ""
        else:
            path, content = where, line
        if path:
            seen.setdefault(path, set()).update(symbols_in(content))
    for path, words in list(seen.items())[:30]:
        full = _resolve(table, path)
        file = table.get(full) or _new(table, full, moment, event.at)
        typed = words & asked
        file = file._replace(
            named=file.named + 1,
            step=moment.step,
            symbols=touch(file.symbols, typed, words - typed, moment.step),
        )
        table = _put(table, file)
    return table


def on_command_ran(table: dict[str, File], event: CommandRan, moment: Moment) -> dict[str, File]:
    if event.ok:
        for deed in deeds(event.command):
            words = deed.split()
            if words[0] == "git" and len(words) > 1 and words[1] in ("rm", "mv"):
                words = words[1:]
            if words[0] in ("rm", "unlink", "mv"):
                table = _removed(table, words, moment, event.at)
    # Places in the output ("path:line") are what failing checks point at.
    named: dict[str, None] = dict.fromkeys(_PATH.findall(event.command[:2000]))
    places: dict[str, set[str]] = {}
    output = event.output if len(event.output) <= 12_000 else event.output[-12_000:]
    for line in output.split("\n"):
        if ":" in line and "." in line:
            found = _LOCATION.search(line[:400])
            if found and len(places) < 20:
                places.setdefault(found.group(1), set()).update(symbols_in(line[:400]))
    for path in [*named, *places][:30]:
        full = _resolve(table, path)
        if full not in table and not _worth_naming(path):
            continue
        file = table.get(full) or _new(table, full, moment, event.at)
        file = file._replace(
            named=file.named + 1,
            step=moment.step,
            symbols=touch(file.symbols, (), places.get(path, ()), moment.step),
        )
        table = _put(table, file)
    return table


def _worth_naming(path: str) -> bool:
    """A bare word with a dot is more often a version, a host or a method than a file."""
    return "/" in path and "://" not in path and not path.startswith(("//", "www."))


def _resolve(table: dict[str, File], path: str) -> str:
    """The full path of a file we know by its end, else the path as it stands."""
    if path in table:
        return path
    path = path.removeprefix("./")
    ending = "/" + path
    for known in reversed(table):
        if known.endswith(ending):
            return known
    return path


def _removed(
    table: dict[str, File], words: list[str], moment: Moment, at: Origin
) -> dict[str, File]:
    arguments = [word.strip("'\"") for word in words[1:] if not word.startswith("-")]
    gone = arguments[:-1] if words[0] == "mv" else arguments
    new = dict(table)
    for name in gone:
        name = name.removeprefix("./").rstrip("/")
        if not name or "*" in name:
            continue
        for path, file in table.items():
            if path == name or path.endswith("/" + name) or f"/{name}/" in path:
                new[path] = file._replace(standing=CANCELLED, step=moment.step, at=at)
    return new


def facts(table: dict[str, File]) -> Iterator[Fact]:
    for file in table.values():
        deeds_done = [
            word
            for word, count in (
                ("created", int(file.created)),
                (f"changed {file.changed}x", file.changed),
                (f"read {file.read}x", file.read),
            )
            if count
        ] or ["named"]
        if file.standing == CANCELLED:
            deeds_done.append("deleted")
        typed = sorted(file.symbols, key=lambda word: file.symbols[word][:3], reverse=True)
        detail = ", ".join(deeds_done) + ("; " + " ".join(typed[:40]) if typed else "")
        yield Fact(f"f{file.number}", "file", clip(file.path, 400), file.standing, file.at, detail)
