"""The notes of a session: one file that a person can read at any time and write into.

    notes.jsonl   what was noted by command, one JSON line each, only ever appended to
    notes.md      the block that Holdfast keeps true, and around it whatever somebody typed
    notes.log     the entries of the progress log so far
    notes.block   the block as it was written last: a line in the file's block that is not in
                  here was typed by somebody, and moves below the block instead of getting lost

    notes.before  the lines that stood in a page of the tree when the session first saw it

All in the session's directory; a user who wants them in the tree gets notes.md under
.claude/sessions/<session>/ with CURRENT_SESSION beside it. A repository can bring its own
notes.md along: what stood there before the session stays on the page and is nobody's note, and
what is typed there later is a plain note, never a rule or a decision. Owns these files and their
formats.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from holdfast.brief.pages import (
    TimelineEntry,
    drop_known_commits,
    format_current_state,
    list_timeline,
)
from holdfast.fastpath.session_dir import SessionDir, safe_name
from holdfast.files import File, append, make_private_dir, open_lock, read
from holdfast.redact import redact, suspicious
from holdfast.state.model import State
from holdfast.state.notes import NOTE_KINDS, NoteLine
from holdfast.system import try_lock

BEGIN_MARKER = (
    "<!-- holdfast: updated automatically up to the end marker; write above or below it -->"
)
END_MARKER = "<!-- holdfast: end -->"
TYPED_HEADING = "## Written by hand"
MAX_LOG_ENTRIES = 400  # entries
LOCK_ATTEMPTS, LOCK_WAIT_SECONDS = 100, 0.01  # for the lock of a page
MAX_PAGE_BYTES = 512 * 1024  # bytes of a notes file that are read
MAX_TYPED_LINES = 40  # typed lines that are taken for notes, the latest
CURRENT_SESSION_FILE = "CURRENT_SESSION"
OWNER_FILE = ".holdfast"
BASELINE_FILE = "notes.before"
MAX_NAME_BYTES = 4096  # bytes of a file that names a session

_LABELS = {
    "decision": "decision",
    "rule": "rule",
    "dead end": "dead_end",
    "next": "next_step",
    "next step": "next_step",
}


def append_note(session_dir: SessionDir, note: NoteLine) -> None:
    """In one write, so that two at once never mix. The text has passed the redactor."""
    make_private_dir(session_dir.path)
    line = json.dumps(note._asdict(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    append(f"{session_dir.path}/notes.jsonl", line)


def read_notes(session_dir: SessionDir, page: File) -> list[NoteLine]:
    """What was noted by command, then what was typed into the page."""
    return [*_read_recorded_notes(session_dir), *_read_typed_notes(session_dir, page)]


def _read_recorded_notes(session_dir: SessionDir) -> list[NoteLine]:
    found = []
    for line in (read(f"{session_dir.path}/notes.jsonl") or b"").splitlines():
        try:
            fields = json.loads(line)
            one = NoteLine(*(str(fields[name]) for name in NoteLine._fields))
        except (ValueError, KeyError, TypeError):
            continue  # a line cut short by a full disk
        if one.kind in NOTE_KINDS:
            found.append(one)
    return found


def _read_typed_notes(session_dir: SessionDir, page: File) -> list[NoteLine]:
    if page.stat() is None and not page.within:
        return []
    with _page_lock(session_dir):
        text, last = page.text(MAX_PAGE_BYTES), _last_block(session_dir)
        before = _baseline_lines(session_dir, text) if page.within else frozenset()
    if not text:
        return []
    theirs = _split_page(text, last)[1]
    lines = [line.strip() for line in theirs if not _is_markup(line)]
    lines = [line for line in lines if line not in before]
    return [_parse_typed_line(line, in_tree=bool(page.within)) for line in lines[-MAX_TYPED_LINES:]]


def _baseline_lines(session_dir: SessionDir, text: str) -> frozenset[str]:
    """The lines of a page in the tree that this session found there when it first looked."""
    known = read(f"{session_dir.path}/{BASELINE_FILE}", most=MAX_PAGE_BYTES)
    if known is None:
        known = text.encode("utf-8", "replace")
        with suppress(OSError):
            session_dir.write(BASELINE_FILE, known)
    return frozenset(line.strip() for line in known.decode("utf-8", "replace").split("\n"))


def _is_markup(line: str) -> bool:
    line = line.strip()
    return not line or line.startswith(("#", "<!--", "---", "```"))


def _parse_typed_line(line: str, *, in_tree: bool = False) -> NoteLine:
    said = line.lstrip("-*+ ").strip()
    if in_tree:
        # It is shown between quotation marks, and must not close them.
        said = said.replace('"', "'")
        return NoteLine("note", redact(said) if suspicious(said) else said, "file", "")
    label, colon, rest = said.partition(":")
    kind = _LABELS.get(label.strip("* ").lower(), "") if colon else ""
    text = rest.strip("* ") if kind else said
    return NoteLine(kind or "note", redact(text) if suspicious(text) else text, "file", "")


def locate_page(session_dir: SessionDir, session_id: str, worktree: str, in_tree: bool) -> File:
    """Where the page is; in the tree only where nothing but plain folders and files lead there."""
    if in_tree and worktree:
        sessions = File(f"{worktree}/.claude/sessions/{CURRENT_SESSION_FILE}", worktree)
        page = sessions.sibling(f"{_folder_in_tree(sessions, session_id)}/notes.md")
        if all(file.is_usable() for file in (sessions, page, page.sibling(OWNER_FILE))):
            return page
    return File(f"{session_dir.path}/notes.md")


def _folder_in_tree(current: File, session_id: str) -> str:
    """The session's own folder, or the one that the project itself named, if it is not taken yet.

    A project that keeps CURRENT_SESSION by its own rules names its sessions; the first session
    of ours that finds such a name takes it, another at the same time keeps to its own.
    """
    own = safe_name(session_id)
    named = current.text(MAX_NAME_BYTES).strip()
    if not named or named == own or safe_name(named) != named:
        return own
    claim = current.sibling(f"{named}/{OWNER_FILE}")
    owner = claim.text(MAX_NAME_BYTES).strip()
    if owner == session_id:
        return named
    return own if owner or not claim.is_usable() else named


def read_session_name(worktree: str, session_id: str, page: File, own_words: Iterable[str]) -> str:
    """What the project calls this session in its CURRENT_SESSION; "" for none.

    The file serves all sessions of a tree: it counts where the session has its page in the folder
    of that name, or where its own work touched the file.
    """
    if not worktree:
        return ""
    if page.within:
        name = page.path.split("/")[-2]
    elif any(CURRENT_SESSION_FILE in words for words in own_words):
        current = File(f"{worktree}/.claude/sessions/{CURRENT_SESSION_FILE}", worktree)
        name = current.text(MAX_NAME_BYTES).strip()
    else:
        return ""
    return name if safe_name(name) == name and name != safe_name(session_id) else ""


def update_page(
    session_dir: SessionDir,
    page: File,
    state: State,
    session_id: str,
    now: str,
    more: Sequence[TimelineEntry] = (),
) -> None:
    """Bring the page up to date; what others typed into it stays, word for word."""
    make_private_dir(session_dir.path)
    with _page_lock(session_dir):
        log = _update_log(session_dir, [*list_timeline(state), *more])
        block = [
            BEGIN_MARKER,
            *format_current_state(state, session_id, now),
            "",
            *_log_lines(log),
            END_MARKER,
        ]
        last = _last_block(session_dir)
        there = page.read(MAX_PAGE_BYTES + 1) or b""
        if len(there) > MAX_PAGE_BYTES:
            return  # what is beyond would be lost
        text = there.decode("utf-8", "replace")
        if text and "\n".join(block[3:]) in text and not _foreign_lines(text, last):
            return  # nothing new but the time
        before, theirs = _split_page(text, last)
        above = before or [f"# {state.session.title or f'Session {session_id}'}", ""]
        made = "\n".join([*above, *block, *theirs]).rstrip("\n") + "\n"
        # First both blocks, then the page, then the new block alone: a process that dies in
        # between leaves no line of ours that would be taken for somebody's.
        session_dir.write("notes.block", "\n".join([*last, *block]).encode("utf-8", "replace"))
        page.write_atomic(made.encode("utf-8", "replace"))
        session_dir.write("notes.block", "\n".join(block).encode("utf-8", "replace"))


@contextmanager
def _page_lock(session_dir: SessionDir) -> Iterator[None]:
    """One at a time between the page and the block it was made from.

    The lock goes with the process that holds it. Where it is not to be had in time, it goes on
    without: a note too many is better than a hook that waits.
    """
    try:
        handle = open_lock(f"{session_dir.path}/notes.lock")
    except OSError:
        yield
        return
    try:
        for _ in range(LOCK_ATTEMPTS):
            if try_lock(handle):
                break
            time.sleep(LOCK_WAIT_SECONDS)
        yield
    finally:
        os.close(handle)


def claim_in_tree(page: File, session_id: str) -> None:
    """Say in the tree which session is the current one; a project's own word stands."""
    sessions, _, name = page.path.rpartition("/")[0].rpartition("/")
    page.sibling(OWNER_FILE).write_atomic(session_id.encode())
    current = File(f"{sessions}/{CURRENT_SESSION_FILE}", page.within)
    named = current.text(MAX_NAME_BYTES).strip()
    plain = bool(named) and safe_name(named) == named
    ours = plain and current.sibling(f"{named}/{OWNER_FILE}").text(MAX_NAME_BYTES).strip() == named
    if not named or (ours and named != name):
        current.write_atomic(f"{name}\n".encode())


def log_compaction(page: File, now: str, trigger: str, transcript: str) -> None:
    """A line for each compaction beside the page, where it is in the tree."""
    line = f"{now} | COMPACTION ({trigger or 'unknown'}) | transcript: {transcript}\n"
    page.sibling("compaction-log.txt").append(line.encode("utf-8", "replace"))


def _update_log(session_dir: SessionDir, fresh: Sequence[TimelineEntry]) -> list[TimelineEntry]:
    """The log with what is new; kept, because a state only knows the last verdict of a test."""
    known: dict[TimelineEntry, None] = {}
    for line in (read(f"{session_dir.path}/notes.log") or b"").splitlines():
        try:
            when, text = json.loads(line)
            known[TimelineEntry(str(when), str(text))] = None
        except (ValueError, TypeError):
            continue
    new = drop_known_commits([one for one in fresh if one not in known], known)
    if not new:
        return list(known)
    log = sorted([*known, *new])[-MAX_LOG_ENTRIES:]
    data = "".join(json.dumps(list(one), ensure_ascii=False) + "\n" for one in log)
    session_dir.write("notes.log", data.encode("utf-8", "replace"))
    return log


def _log_lines(log: Sequence[TimelineEntry]) -> list[str]:
    lines = ["## Progress Log"]
    day = ""
    for one in log:
        if one.time[:10] != day:
            day = one.time[:10]
            lines += ["", f"### {day}", ""]
        lines.append(f"- [{one.time[11:16]}] {one.text}")
    return lines if log else [*lines, "", "- nothing yet"]


def _last_block(session_dir: SessionDir) -> list[str]:
    return (read(f"{session_dir.path}/notes.block") or b"").decode("utf-8", "replace").split("\n")


def _foreign_lines(text: str, last: Sequence[str]) -> list[str]:
    """Lines inside our marks that we did not write."""
    inside = text.partition(BEGIN_MARKER)[2].partition(END_MARKER)[0].split("\n")
    known = {line.strip() for line in last}
    return [line for line in inside if line.strip() and line.strip() not in known]


def _split_page(text: str, last: Sequence[str]) -> tuple[list[str], list[str]]:
    """(what stands above our block, what stands below it), with what was typed inside below."""
    if not text:
        return [], []
    above, begin, rest = text.partition(BEGIN_MARKER)
    if not begin:
        # Somebody took our marks away, or the file was there before us: theirs is all that we
        # did not write, under its first heading.
        known = {line.strip() for line in last if line.strip()}
        lines = [line for line in text.split("\n") if line.strip() not in known]
        titled = bool(lines) and lines[0].startswith("# ")
        return ([lines[0], ""], ["", *lines[1:]]) if titled else ([], ["", *lines])
    _, end, below = rest.partition(END_MARKER)
    theirs = below.lstrip("\n").split("\n") if end else []
    strangers = _foreign_lines(text, last) if end else rest.split("\n")
    if strangers:
        heading = [] if TYPED_HEADING in theirs else [TYPED_HEADING, ""]
        theirs = [*theirs, *heading, *strangers]
    while theirs and not theirs[-1].strip():
        theirs.pop()
    return above.split("\n")[:-1], ["", *theirs] if theirs else []
