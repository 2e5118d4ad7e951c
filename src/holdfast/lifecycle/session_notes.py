"""The notes of a session: one file that a person can read at any time and write into.

    notes.jsonl   what was noted by command, one JSON line each, only ever appended to
    notes.md      the block that Holdfast keeps true, and around it whatever somebody typed
    notes.log     the entries of the progress log so far
    notes.block   the block as it was written last: a line in the file's block that is not in
                  here was typed by somebody, and moves below the block instead of getting lost

    notes.before  the lines that stood in a page of the tree when the session first saw it

All in the session's tray; a user who wants them in the tree gets notes.md under
.claude/sessions/<session>/ with CURRENT_SESSION beside it. A repository can bring its own
notes.md along: what stood there before the session stays on the page and is nobody's note, and
what is typed there later is a plain note, never a rule or a decision. Owns these files and their
formats.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from holdfast.brief.notes_page import Happening, current_state, happenings
from holdfast.files import File, append, make_folder, open_lock, read
from holdfast.lifecycle.tray import Tray, safe_name
from holdfast.redact import redact, suspicious
from holdfast.state.model import State
from holdfast.state.notes import KINDS, Written

BEGIN = "<!-- holdfast: kept up to date down to the end mark; write above or below it -->"
END = "<!-- holdfast: end -->"
BY_HAND = "## Written by hand"
LOG = 400  # entries
TRIES, WAIT = 100, 0.01  # for the lock of a page
LARGEST = 512 * 1024  # bytes of a notes file that are read
LINES = 40  # typed lines that are taken for notes, the latest
CURRENT = "CURRENT_SESSION"
CLAIM = ".holdfast"
BEFORE = "notes.before"
NAME = 4096  # bytes of a file that names a session

_LABELS = {
    "decision": "decision",
    "rule": "rule",
    "dead end": "dead_end",
    "next": "next_step",
    "next step": "next_step",
}


def add(tray: Tray, note: Written) -> None:
    """In one write, so that two at once never mix. The text has passed the redactor."""
    make_folder(tray.folder)
    line = json.dumps(note._asdict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    append(f"{tray.folder}/notes.jsonl", line)


def written(tray: Tray, page: File) -> list[Written]:
    """What was noted by command, then what was typed into the page."""
    return [*_by_command(tray), *_by_hand(tray, page)]


def _by_command(tray: Tray) -> list[Written]:
    found = []
    for line in (read(f"{tray.folder}/notes.jsonl") or b"").splitlines():
        try:
            fields = json.loads(line)
            one = Written(*(str(fields[name]) for name in Written._fields))
        except (ValueError, KeyError, TypeError):
            continue  # a line cut short by a full disk
        if one.kind in KINDS:
            found.append(one)
    return found


def _by_hand(tray: Tray, page: File) -> list[Written]:
    if page.stat() is None and not page.within:
        return []
    with _page_held(tray):
        text, last = page.text(LARGEST), _last_block(tray)
        before = _there_before(tray, text) if page.within else frozenset()
    if not text:
        return []
    theirs = _parts(text, last)[1]
    lines = [line.strip() for line in theirs if not _is_furniture(line)]
    lines = [line for line in lines if line not in before]
    return [_typed(line, in_tree=bool(page.within)) for line in lines[-LINES:]]


def _there_before(tray: Tray, text: str) -> frozenset[str]:
    """The lines of a page in the tree that this session found there when it first looked."""
    known = read(f"{tray.folder}/{BEFORE}", most=LARGEST)
    if known is None:
        known = text.encode("utf-8", "replace")
        with suppress(OSError):
            tray.write(BEFORE, known)
    return frozenset(line.strip() for line in known.decode("utf-8", "replace").split("\n"))


def _is_furniture(line: str) -> bool:
    line = line.strip()
    return not line or line.startswith(("#", "<!--", "---", "```"))


def _typed(line: str, *, in_tree: bool = False) -> Written:
    said = line.lstrip("-*+ ").strip()
    if in_tree:
        # It is shown between quotation marks, and must not close them.
        said = said.replace('"', "'")
        return Written("note", redact(said) if suspicious(said) else said, "file", "")
    label, colon, rest = said.partition(":")
    kind = _LABELS.get(label.strip("* ").lower(), "") if colon else ""
    text = rest.strip("* ") if kind else said
    return Written(kind or "note", redact(text) if suspicious(text) else text, "file", "")


def page_path(tray: Tray, session_id: str, worktree: str, in_tree: bool) -> File:
    """Where the page is; in the tree only where nothing but plain folders and files lead there."""
    if in_tree and worktree:
        sessions = File(f"{worktree}/.claude/sessions/{CURRENT}", worktree)
        page = sessions.beside(f"{_folder_in_tree(sessions, session_id)}/notes.md")
        if all(file.is_usable() for file in (sessions, page, page.beside(CLAIM))):
            return page
    return File(f"{tray.folder}/notes.md")


def _folder_in_tree(current: File, session_id: str) -> str:
    """The session's own folder, or the one that the project itself named, if nobody has it yet.

    A project that keeps CURRENT_SESSION by its own rules names its sessions; the first session
    of ours that finds such a name takes it, another at the same time keeps to its own.
    """
    own = safe_name(session_id)
    named = current.text(NAME).strip()
    if not named or named == own or safe_name(named) != named:
        return own
    claim = current.beside(f"{named}/{CLAIM}")
    owner = claim.text(NAME).strip()
    if owner == session_id:
        return named
    return own if owner or not claim.is_usable() else named


def keep(
    tray: Tray, page: File, state: State, session_id: str, now: str, more: Sequence[Happening] = ()
) -> None:
    """Bring the page up to date; what others typed into it stays, word for word."""
    make_folder(tray.folder)
    with _page_held(tray):
        _keep(tray, page, state, session_id, now, more)


def _keep(
    tray: Tray, page: File, state: State, session_id: str, now: str, more: Sequence[Happening]
) -> None:
    log = _logged(tray, [*happenings(state), *more])
    block = [BEGIN, *current_state(state, session_id, now), "", *_log_lines(log), END]
    last = _last_block(tray)
    there = page.read(LARGEST + 1) or b""
    if len(there) > LARGEST:
        return  # what is beyond would be lost
    text = there.decode("utf-8", "replace")
    if text and "\n".join(block[3:]) in text and not _strangers(text, last):
        return  # nothing new but the time
    before, theirs = _parts(text, last)
    above = before or [f"# Session {session_id}", ""]
    made = "\n".join([*above, *block, *theirs]).rstrip("\n") + "\n"
    # First both blocks, then the page, then the new block alone: whoever dies in between
    # leaves no line of ours that would be taken for somebody's.
    tray.write("notes.block", "\n".join([*last, *block]).encode("utf-8", "replace"))
    page.replace(made.encode("utf-8", "replace"))
    tray.write("notes.block", "\n".join(block).encode("utf-8", "replace"))


@contextmanager
def _page_held(tray: Tray) -> Iterator[None]:
    """One at a time between the page and the block it was made from.

    The lock goes with the process that holds it. A system without such locks, or one where it
    is not to be had in time, goes on without: a note too many is better than a hook that waits.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    try:
        handle = open_lock(f"{tray.folder}/notes.lock")
    except OSError:
        yield
        return
    try:
        for _ in range(TRIES):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                time.sleep(WAIT)
        yield
    finally:
        os.close(handle)


def claim_in_tree(page: File, session_id: str) -> None:
    """Say in the tree which session is the current one; a project's own word stands."""
    sessions, _, name = page.path.rpartition("/")[0].rpartition("/")
    page.beside(CLAIM).replace(session_id.encode())
    current = File(f"{sessions}/{CURRENT}", page.within)
    named = current.text(NAME).strip()
    plain = bool(named) and safe_name(named) == named
    ours = plain and current.beside(f"{named}/{CLAIM}").text(NAME).strip() == named
    if not named or (ours and named != name):
        current.replace(f"{name}\n".encode())


def log_compaction(page: File, now: str, trigger: str, transcript: str) -> None:
    """A line for each compaction beside the page, where it is in the tree."""
    line = f"{now} | COMPACTION ({trigger or 'unknown'}) | transcript: {transcript}\n"
    page.beside("compaction-log.txt").append(line.encode("utf-8", "replace"))


def _logged(tray: Tray, fresh: Sequence[Happening]) -> list[Happening]:
    """The log with what is new; kept, because a state only knows the last verdict of a test."""
    known: dict[Happening, None] = {}
    for line in (read(f"{tray.folder}/notes.log") or b"").splitlines():
        try:
            when, text = json.loads(line)
            known[Happening(str(when), str(text))] = None
        except (ValueError, TypeError):
            continue
    new = [one for one in fresh if one not in known]
    if not new:
        return list(known)
    log = sorted([*known, *new])[-LOG:]
    data = "".join(json.dumps(list(one), ensure_ascii=False) + "\n" for one in log)
    tray.write("notes.log", data.encode("utf-8", "replace"))
    return log


def _log_lines(log: Sequence[Happening]) -> list[str]:
    lines = ["## Progress Log"]
    day = ""
    for one in log:
        if one.time[:10] != day:
            day = one.time[:10]
            lines += ["", f"### {day}", ""]
        lines.append(f"- [{one.time[11:16]}] {one.text}")
    return lines if log else [*lines, "", "- nothing yet"]


def _last_block(tray: Tray) -> list[str]:
    return (read(f"{tray.folder}/notes.block") or b"").decode("utf-8", "replace").split("\n")


def _strangers(text: str, last: Sequence[str]) -> list[str]:
    """Lines inside our marks that we did not write."""
    inside = text.partition(BEGIN)[2].partition(END)[0].split("\n")
    known = {line.strip() for line in last}
    return [line for line in inside if line.strip() and line.strip() not in known]


def _parts(text: str, last: Sequence[str]) -> tuple[list[str], list[str]]:
    """(what stands above our block, what stands below it), with what was typed inside below."""
    if not text:
        return [], []
    above, begin, rest = text.partition(BEGIN)
    if not begin:
        # Somebody took our marks away, or the file was there before us: theirs is all that we
        # did not write, under its first heading.
        known = {line.strip() for line in last if line.strip()}
        lines = [line for line in text.split("\n") if line.strip() not in known]
        titled = bool(lines) and lines[0].startswith("# ")
        return ([lines[0], ""], ["", *lines[1:]]) if titled else ([], ["", *lines])
    _, end, below = rest.partition(END)
    theirs = below.lstrip("\n").split("\n") if end else []
    strangers = _strangers(text, last) if end else rest.split("\n")
    if strangers:
        heading = [] if BY_HAND in theirs else [BY_HAND, ""]
        theirs = [*theirs, *heading, *strangers]
    while theirs and not theirs[-1].strip():
        theirs.pop()
    return above.split("\n")[:-1], ["", *theirs] if theirs else []
