"""Files: what was changed, created, read, searched or named, and the symbols worked on there.

Bounded: the file that was only named gives way first, then the oldest that was only read;
a changed file stays. Deleted files keep their entry with the standing `cancelled`, so that
nobody looks for them again.
"""

from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from holdfast.events import CommandRan, FileTouched, Origin, Searched
from holdfast.lazy_regex import lazy_compile
from holdfast.path_spelling import is_absolute, spell_path
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.facts import CANCELLED, OPEN, Fact, Position, next_number, put_record
from holdfast.state.shell import effective_commands
from holdfast.state.symbols import (
    MAX_SEARCH_CHARS,
    MAX_SEEN_CHARS,
    MAX_TYPED_CHARS,
    find_frequent_symbols,
    find_symbols,
)
from holdfast.text import truncate

MAX_FILES = 240
MAX_SYMBOLS_PER_FILE = 120  # symbols known to stand in one file; the longest unseen give way
MAX_HUNKS = 3
MAX_HUNK_LINES = 8
MAX_SEARCH_LINES = 120
MAX_OUTPUT_CHARS = 12_000  # of what a command printed: its end

_AROUND = lazy_compile(r"([^\s:-][^:]*?\.\w+)-\d+-(.*)")
_PATH = lazy_compile(
    r"(?<![\w/.@-])(?:[\w@.+-]*/)*[\w@+-][\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/])"
)
# What every place holds. It begins with a plain character, for which `re` looks quickly.
_LOCATION_CUE = lazy_compile(r"\.[A-Za-z]\w{0,9}:\d")
_LOCATION = lazy_compile(
    r"(?:^|[\s(\"'])((?:[\w@.+-]*/)*[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,9}):(\d+)\b"
)
# The same in a session on Windows, once its backslashes are slashes.
_WINDOWS_PATH = lazy_compile(
    r"(?<![\w/.@:-])(?:[A-Za-z]:/)?(?:[\w@.+-]*/)*[\w@+-][\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/])"
)
_WINDOWS_LOCATION = lazy_compile(
    r"(?:^|[\s(\"'])((?:[A-Za-z]:/)?(?:[\w@.+-]*/)*[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,9}):(\d+)\b"
)
_WINDOWS_START = lazy_compile(r"(?:[A-Za-z]:[\\/])?[\w@.+-]+(?:[\\/][\w@.+-]+)+")
_ANY_DRIVE = "C:/"  # of a session that has drives; which one is all the same


_REMOVING = ("rm ", "unlink ", "mv ", "git ")
_HOSTS = frozenset("com org net io dev ai co app sh me gov edu local".split())


class TouchedFile(NamedTuple):
    number: int
    path: str
    status: str  # open: it is there; cancelled: deleted
    created: bool
    changed: int  # how often
    read: int
    named: int  # in commands, searches and output
    step: int  # last touched
    changed_step: int  # last changed, -1 for never
    symbols: dict[str, int]  # where each was last seen here, in steps
    hunks: tuple[tuple[int, tuple[str, ...]], ...]  # latest last: first line, changed lines
    at: Origin


MAX_PATH_CHARS = 4096  # no system opens a longer one


def _expendable(file: TouchedFile) -> bool:
    return not file.changed and not file.created and not file.read


def _new(table: dict[str, TouchedFile], path: str, position: Position, at: Origin) -> TouchedFile:
    number = next_number(table)
    return TouchedFile(number, path, OPEN, False, 0, 0, 0, position.step, -1, {}, (), at)


def _put(table: dict[str, TouchedFile], file: TouchedFile) -> dict[str, TouchedFile]:
    if len(table) >= MAX_FILES and file.path not in table:
        for expendable in (_expendable, lambda known: not known.changed):
            if any(map(expendable, table.values())):
                return put_record(table, file.path, file, MAX_FILES, expendable)
    return put_record(table, file.path, file, MAX_FILES)


def on_file_touched(
    table: dict[str, TouchedFile], event: FileTouched, position: Position
) -> dict[str, TouchedFile]:
    if not event.ok or not 0 < len(event.path) <= MAX_PATH_CHARS:
        return table
    table, file = _known(table, event.path, position, event.at)
    reads = event.action == "read"
    text = event.text[: MAX_SEEN_CHARS if reads else MAX_TYPED_CHARS]
    touched = TouchedFile(
        number=file.number,
        path=file.path,
        status=OPEN,
        created=file.created or event.action == "created",
        changed=file.changed + (not reads),
        read=file.read + reads,
        named=file.named,
        step=position.step,
        changed_step=file.changed_step if reads else position.step,
        symbols=_with(file.symbols, find_frequent_symbols(text, MAX_SYMBOLS_PER_FILE), position),
        hunks=file.hunks if reads else (file.hunks + _hunks(event))[-MAX_HUNKS:],
        at=event.at,
    )
    return _put(table, touched)


def _known(
    table: dict[str, TouchedFile], path: str, position: Position, at: Origin
) -> tuple[dict[str, TouchedFile], TouchedFile]:
    """The file by its full path, also when only its end was known until now."""
    file = table.get(path)
    if file is not None:
        return table, file
    end = path.find("/") + 1
    while end:
        named = table.get(path[end:])
        if named is not None:
            others = {name: other for name, other in table.items() if other is not named}
            return others, named._replace(path=path)
        end = path.find("/", end) + 1
    return table, _new(table, path, position, at)


def _with(symbols: dict[str, int], shown: Collection[str], position: Position) -> dict[str, int]:
    """The symbols of a file with these seen now, latest last."""
    if not shown:
        return symbols
    new = symbols.copy()
    for word in shown:
        new.pop(word, None)
    new.update(dict.fromkeys(shown, position.step))
    surplus = len(new) - MAX_SYMBOLS_PER_FILE
    return dict(islice(new.items(), surplus, None)) if surplus > 0 else new


def _hunks(event: FileTouched) -> tuple[tuple[int, tuple[str, ...]], ...]:
    kept = []
    for hunk in event.hunks[:MAX_HUNKS]:
        lines = (truncate_safely(line, 160) for line in hunk.lines if line.startswith(("+", "-")))
        changed = tuple(islice(lines, MAX_HUNK_LINES))
        if changed:
            kept.append((hunk.start, changed))
    return tuple(kept)


def on_searched(
    table: dict[str, TouchedFile], event: Searched, position: Position
) -> dict[str, TouchedFile]:
    """A search names files and shows lines of them; its pattern was typed by the agent."""
    if not event.ok:
        return table
    for path, lines in islice(_found(event, _is_windows(table)).items(), 30):
        full = _resolve(table, path)
        file = table.get(full) or _new(table, full, position, event.at)
        words = find_symbols("\n".join(lines)) if lines else _NONE
        table = _put(table, _named(file, words, position))
    return table


_NONE: AbstractSet[str] = frozenset()


def _found(event: Searched, windows: bool) -> dict[str, list[str]]:
    """The files that a search named, each with the lines it showed of them."""
    found: dict[str, list[str]] = {}
    where = event.where if "." in event.where.rsplit("/", 1)[-1] else ""
    for line in event.output[:MAX_SEARCH_CHARS].split("\n", MAX_SEARCH_LINES)[:MAX_SEARCH_LINES]:
        # "path:12:text" for a match, "path-12-text" for the lines around it.
        if windows:
            line = _spell_start(line)
        drive = line[:2] if line[1:3] == ":/" else ""
        line = line[2:] if drive else line
        path, _, rest = line.partition(":")
        number, colon, content = rest.partition(":") if rest else ("", "", "")
        if not (colon and number.isdecimal() and _is_path(path)):
            path, content = where, line
            if " " not in line and "." in line and _is_path(line):
                path, content = line, ""
            elif "-" in line and (around := _AROUND.match(line)) and _is_path(around.group(1)):
                path, content = around.groups()
        if path:
            lines = found.setdefault(path if path is where else drive + path, [])
            if content:
                lines.append(content)
    return found


def _is_windows(table: dict[str, TouchedFile]) -> bool:
    """Whether the session's files lie on a drive: its tools then print backslashes."""
    return any(path[1:3] == ":/" for path in islice(table, 8))


def _spell_start(line: str) -> str:
    """A line of a search with the path that it begins with in our spelling."""
    path = _WINDOWS_START.match(line)
    return spell_path(path[0], _ANY_DRIVE) + line[path.end() :] if path else line


@lru_cache(maxsize=512)  # a search names the same file line after line
def _is_path(text: str) -> bool:
    return len(text) <= 300 and _PATH.fullmatch(text) is not None


def _named(file: TouchedFile, words: AbstractSet[str], position: Position) -> TouchedFile:
    symbols = _with(file.symbols, words, position)
    return file._replace(named=file.named + 1, step=position.step, symbols=symbols)


def on_command_ran(
    table: dict[str, TouchedFile], event: CommandRan, position: Position
) -> dict[str, TouchedFile]:
    if event.ok:
        for deed in effective_commands(event.command):
            if not deed.startswith(_REMOVING):
                continue
            words = deed.split()
            if words[0] == "git" and len(words) > 1 and words[1] in ("rm", "mv"):
                words = words[1:]
            if words[0] in ("rm", "unlink", "mv"):
                table = _removed(table, words, position, event.at)
    command, output = event.command[:2000], event.output[-MAX_OUTPUT_CHARS:]
    windows = _is_windows(table)
    if windows:
        command, output = command.replace("\\", "/"), output.replace("\\", "/")
    named: dict[str, None] = {}
    if "." in command:
        dotted = " ".join(word for word in command.split() if "." in word)
        named = dict.fromkeys((_WINDOWS_PATH if windows else _PATH).findall(dotted))
    places = _places(output, windows)
    for path in [*named, *places][:30]:
        full = _resolve(table, spell_path(path, _ANY_DRIVE) if windows else path)
        if full not in table and not _worth_naming(path):
            continue
        file = table.get(full) or _new(table, full, position, event.at)
        lines = places.get(path)
        shown = find_symbols("\n".join(lines)) if lines else _NONE
        table = _put(table, _named(file, shown, position))
    return table


def _places(output: str, windows: bool) -> dict[str, list[str]]:
    """Places in the output ("path:line"), which are what failing checks point at."""
    places: dict[str, list[str]] = {}
    end = 0
    for cue in _LOCATION_CUE.finditer(output):
        if cue.start() < end:
            continue  # one place a line
        start = output.rfind("\n", 0, cue.start()) + 1
        end = output.find("\n", cue.end())
        end = len(output) if end < 0 else end
        line = output[start : min(end, start + 400)]
        found = (_WINDOWS_LOCATION if windows else _LOCATION).search(line)
        if found:
            places.setdefault(found.group(1), []).append(line)
            if len(places) == 20:
                break
    return places


def _worth_naming(path: str) -> bool:
    """A bare word with a dot is more often a version, a host or a method than a file."""
    folder, _, name = path.rpartition("/")
    if not folder or ".." in path or path.startswith(("//", "www.")):
        return False
    return name.rpartition(".")[2] not in _HOSTS


def _resolve(table: dict[str, TouchedFile], path: str) -> str:
    """The full path of a file we know by its end, else the path as it stands."""
    if path in table or is_absolute(path):
        return path
    path = path.removeprefix("./")
    ending = "/" + path
    for known in reversed(table):
        if known.endswith(ending):
            return known
    return path


def _removed(
    table: dict[str, TouchedFile], words: list[str], position: Position, at: Origin
) -> dict[str, TouchedFile]:
    arguments = [word.strip("'\"") for word in words[1:] if not word.startswith("-")]
    if _is_windows(table):
        arguments = [spell_path(name, _ANY_DRIVE) for name in arguments]
    gone = arguments[:-1] if words[0] == "mv" else arguments
    new = dict(table)
    for name in gone:
        name = name.removeprefix("./").rstrip("/")
        if not name or "*" in name:
            continue
        for path, file in table.items():
            before, found, below = _around(path, name)
            if not found or file.status == CANCELLED:
                continue
            new[path] = file._replace(status=CANCELLED, step=position.step, at=at)
            if words[0] == "mv":
                target = _target(arguments[-1], name)
                moved = (target if is_absolute(target) else before + target) + below
                known = new.get(moved, file._replace(number=next_number(new)))
                new = _put(new, known._replace(path=moved, status=OPEN, step=position.step, at=at))
    return new


def _around(path: str, name: str) -> tuple[str, bool, str]:
    """What stands before and below a name in a path, and whether it stands there."""
    full = is_absolute(name)
    before, found, below = f"{path}/".rpartition(f"{name}/" if full else f"/{name}/")
    if not found or (full and before):
        return "", False, ""
    return ("" if full else f"{before}/"), True, f"/{below}".rstrip("/")


def _target(target: str, name: str) -> str:
    """Where something of this name is moved to: into a folder, or to a name of its own."""
    target = target.removeprefix("./")
    file = name.rpartition("/")[2]
    into = target.endswith("/") or ("." in file and "." not in target.rpartition("/")[2])
    return f"{target.rstrip('/')}/{file}" if into else target


def list_facts(table: dict[str, TouchedFile]) -> Iterator[Fact]:
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
        if file.status == CANCELLED:
            deeds_done.append("deleted")
        latest = list(reversed(file.symbols))[:40]
        detail = ", ".join(deeds_done) + ("; " + " ".join(latest) if latest else "")
        yield Fact(
            f"f{file.number}", "file", truncate(file.path, 400), file.status, file.at, detail
        )
