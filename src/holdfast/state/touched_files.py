"""Files: what was changed, created and read, and the names that were typed into them.

Bounded: the file that was only read longest ago gives way first. Deleted files keep their entry
with the standing `cancelled`, so that nobody looks for them again.
"""

from collections.abc import Collection, Iterator
from itertools import islice

from holdfast.events import CommandRan, FileTouched, Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.path_spelling import is_absolute, spell_path
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.facts import CANCELLED, OPEN, Fact, FactKind, Position
from holdfast.state.shell import effective_commands
from holdfast.state.symbols import MAX_TYPED_CHARS, find_frequent_symbols
from holdfast.text import truncate

MAX_FILES = 240
MAX_SYMBOLS_PER_FILE = 40  # those seen longest ago give way
MAX_HUNKS = 3
MAX_HUNK_LINES = 8
_ANY_DRIVE = "C:/"  # of a session that has drives; which one does not matter


_RECURSIVE = lazy_compile(r"-[a-zA-Z]*[rR]|--recursive$")
_REMOVING = ("rm ", "unlink ", "mv ", "git ")


class TouchedFile(NamedTuple):
    number: int
    path: str
    status: str  # open: it is there; cancelled: deleted
    created: bool
    changed: int  # how often
    read: int
    step: int  # last touched
    changed_step: int  # last changed, -1 for never
    symbols: dict[str, int]  # typed in edits; each with the step of the last one
    hunks: tuple[tuple[int, tuple[str, ...]], ...]  # latest last: first line, changed lines
    at: Origin

    @property
    def fact_id(self) -> str:
        return KIND.fact_id(self.number)


Table = dict[str, TouchedFile]


MAX_PATH_CHARS = 4096  # no system opens a longer one


def on_file_touched(table: Table, event: FileTouched, position: Position) -> Table:
    if not event.ok or not 0 < len(event.path) <= MAX_PATH_CHARS:
        return table
    file = table.get(event.path) or TouchedFile(
        facts.next_number(table), event.path, OPEN, False, 0, 0, 0, -1, {}, (), event.at
    )
    reads = event.action == "read"
    text = "" if reads else event.text[:MAX_TYPED_CHARS]
    touched = file._replace(
        status=OPEN,
        created=file.created or event.action == "created",
        changed=file.changed + (not reads),
        read=file.read + reads,
        step=position.step,
        changed_step=file.changed_step if reads else position.step,
        symbols=_with_symbols(
            file.symbols, find_frequent_symbols(text, MAX_SYMBOLS_PER_FILE), position
        ),
        hunks=file.hunks if reads else (file.hunks + _number_hunks(event))[-MAX_HUNKS:],
        at=event.at,
    )
    return _put_file(table, touched)


def _put_file(table: Table, file: TouchedFile) -> Table:
    return facts.put_record(table, file.path, file, MAX_FILES, lambda known: not known.changed)


def _with_symbols(
    symbols: dict[str, int], shown: Collection[str], position: Position
) -> dict[str, int]:
    """The symbols of a file with these seen now, latest last."""
    if not shown:
        return symbols
    new = symbols.copy()
    for word in shown:
        new.pop(word, None)
    new.update(dict.fromkeys(shown, position.step))
    surplus = len(new) - MAX_SYMBOLS_PER_FILE
    return dict(islice(new.items(), surplus, None)) if surplus > 0 else new


def _number_hunks(event: FileTouched) -> tuple[tuple[int, tuple[str, ...]], ...]:
    kept = []
    for hunk in event.hunks[:MAX_HUNKS]:
        lines = (truncate_safely(line, 160) for line in hunk.lines if line.startswith(("+", "-")))
        changed = tuple(islice(lines, MAX_HUNK_LINES))
        if changed:
            kept.append((hunk.start, changed))
    return tuple(kept)


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    """What it removed or moved."""
    if not event.ok:
        return table
    for command in effective_commands(event.command):
        if not command.startswith(_REMOVING):
            continue
        words = command.split()
        if words[0] == "git" and len(words) > 1 and words[1] in ("rm", "mv"):
            words = words[1:]
        if words[0] in ("rm", "unlink", "mv"):
            table = _list_removed(table, words, position, event.at)
    return table


def _list_removed(table: Table, words: list[str], position: Position, at: Origin) -> Table:
    arguments = [word.strip("'\"") for word in words[1:] if not word.startswith("-")]
    # Where the session's files lie on a drive, its tools print backslashes.
    if any(path[1:3] == ":/" for path in islice(table, 8)):
        arguments = [spell_path(name, _ANY_DRIVE) for name in arguments]
    gone = arguments[:-1] if words[0] == "mv" else arguments
    # Without -r neither `rm` nor `unlink` takes a folder with what is below it.
    folders = words[0] == "mv" or any(_RECURSIVE.match(word) for word in words)
    new = dict(table)
    for name in gone:
        name = name.removeprefix("./").rstrip("/")
        if not name or "*" in name:
            continue
        for path, file in table.items():
            before, found, below = _split_around(path, name)
            if not found or file.status == CANCELLED or (below and not folders):
                continue
            new[path] = file._replace(status=CANCELLED, step=position.step, at=at)
            if words[0] == "mv":
                target = _name_target(arguments[-1], name)
                moved = (target if is_absolute(target) else before + target) + below
                known = new.get(moved, file._replace(number=facts.next_number(new)))
                new = _put_file(
                    new, known._replace(path=moved, status=OPEN, step=position.step, at=at)
                )
    return new


def _split_around(path: str, name: str) -> tuple[str, bool, str]:
    """What stands before and below a name in a path, and whether it stands there."""
    full = is_absolute(name)
    before, found, below = f"{path}/".rpartition(f"{name}/" if full else f"/{name}/")
    if not found or (full and before):
        return "", False, ""
    return ("" if full else f"{before}/"), True, f"/{below}".rstrip("/")


def _name_target(target: str, name: str) -> str:
    """Where something of this name is moved to: into a folder, or to a name of its own."""
    target = target.removeprefix("./")
    file = name.rpartition("/")[2]
    into = target.endswith("/") or ("." in file and "." not in target.rpartition("/")[2])
    return f"{target.rstrip('/')}/{file}" if into else target


def list_facts(table: Table) -> Iterator[Fact]:
    for file in table.values():
        done = [
            word
            for word, count in (
                ("created", int(file.created)),
                (f"changed {file.changed}x", file.changed),
                (f"read {file.read}x", file.read),
            )
            if count
        ]
        if file.status == CANCELLED:
            done.append("deleted")
        latest = list(reversed(file.symbols))[:40]
        detail = ", ".join(done) + ("; " + " ".join(latest) if latest else "")
        yield Fact(file.fact_id, KIND.name, truncate(file.path, 400), file.status, file.at, detail)


KIND = FactKind(
    "file",
    "f",
    TouchedFile,
    list_facts,
    gap=facts.AskedInGap("Edited file", most=16, rank=12),
    status_words={OPEN: "exists", CANCELLED: "deleted"},
)
