"""Reading what git and gh print: status, commits, pushes, branches, diff statistics.

Text in, plain values out. It knows formats and nothing of a session: what a line means for the
work at hand is decided in `git_work`. Only the first part of an output is read (`WINDOW`).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from holdfast.state.patterns import lazily

WINDOW = 60_000
ENTRIES = 200  # of one listing
STAT_LINE = 400  # characters

_SECTION = lazily(
    r"^(Changes to be committed|Changes not staged for commit|Changed but not updated"
    r"|Untracked files|Unmerged paths|Ignored files):",
)
_LONG_ENTRY = lazily(
    r"^(?:\t| {8})(?:(new file|modified|deleted|renamed|copied|typechange|both modified|both added"
    r"|both deleted|added by us|added by them|deleted by us|deleted by them):\s+)?(\S.*)$"
)
_SUBMODULE = lazily(r" \((?:new commits|modified content|untracked content|, )+\)$")
_SHORT_ENTRY = lazily(r"^([ MADRCUT?!]{2}|[MADRCUT](?= \S)) (\S.*)$")
_SHORT_BRANCH = lazily(
    r"^## (?:No commits yet on |Initial commit on )?(?P<branch>HEAD \(no branch\)|[^\s]+?)"
    r"(?:\.\.\.(?P<upstream>\S+))?(?: \[(?P<distance>[^\]]*)\])?$"
)
_AHEAD = lazily(r"\bahead (?:of '[^'\n]{1,250}' by )?(\d+)")
_ON_BRANCH = lazily(r"^On branch (\S+)$", re.M)
_DETACHED = lazily(r"^(?:HEAD detached (?:at|from) |Note: (?:switching to|checking out) ')", re.M)
_UP_TO_DATE = lazily(r"^Your branch is up[ -]to[ -]date with '([^'\n]{1,250})'", re.M)
_AHEAD_OF = lazily(r"^Your branch is ahead of '([^'\n]{1,250})' by (\d+) commit", re.M)
_BEHIND = lazily(r"^Your branch is behind '([^'\n]{1,250})'", re.M)
_DIVERGED = lazily(
    r"^Your branch and '([^'\n]{1,250})' have diverged,\s+and have (\d+) and \d+", re.M
)
_OPERATION = lazily(
    r"^(?:\(?All conflicts fixed but you are still (merging)|You have unmerged paths"
    r"|(?:interactive )?(rebase) in progress"
    r"|You are currently (rebasing|cherry-picking|reverting))",
    re.M,
)
_OPERATIONS = {
    "merging": "merge",
    "rebase": "rebase",
    "rebasing": "rebase",
    "cherry-picking": "cherry-pick",
    "reverting": "revert",
}

_COMMITTED = lazily(
    r"^\[(?P<branch>[^\s\]]+(?: HEAD)?)(?: \(root-commit\))? (?P<id>[0-9a-f]{7,64})\] "
    r"(?P<subject>.*)$",
    re.M,
)
_TOTALS = lazily(
    r"^ (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$", re.M
)
_PUSH_LINE = lazily(
    r"^ ([*+ !=-]) (?:\[([^\]]+)\]|([0-9a-f]{7,64})\.\.\.?([0-9a-f]{7,64}))\s+(\S+) -> (\S+)", re.M
)
_TRACKS = lazily(r"^branch '([^'\n]{1,250})' set up to track '([^'\n]{1,250})'", re.M | re.I)
_SWITCHED = lazily(
    r"^(?:Switched to (?:a new )?branch|Already on|Switched to and reset branch|Reset branch)"
    r" '([^'\n]{1,250})'|switched to branch (\S+?)\.?$",
    re.M,
)
_NUMSTAT = lazily(r"^(\d+|-)\t(\d+|-)\t(\S.*)$", re.M)
_STAT = lazily(r"^ (\S.*\S|\S) +\| +(?:(\d+) ?([+-]*)|Bin .*)$")
_CONFLICT = lazily(
    r"^CONFLICT \([^)]*\): (?:Merge conflict in (\S.*)|(\S+) (?:deleted|renamed) )", re.M
)
_AFTER_RESET = lazily(r"^([MDATU])\t(\S.*)$", re.M)
_LOG_LINE = lazily(
    r"^[*|\\/ ]*(?:commit )?([0-9a-f]{7,64})(?: \(([^)]*)\))?(?:[ \t]+(\S.*))?$", re.M
)
_LOG_SUBJECT = lazily(r"\n\n {4}(\S[^\n]*)")
_PULL = lazily(r"https?://[^\s\"'<>()]{1,300}/(?:pull|merge_requests)/(\d+)\b")
_ESCAPE = lazily(r"\\([0-7]{3}|.)")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class Entry(NamedTuple):
    """One path of a status."""

    path: str  # as git printed it, without quotes
    staged: str  # letter of the short format, " " for unchanged
    unstaged: str
    before: str = ""  # renamed: the old path


class Status(NamedTuple):
    entries: tuple[Entry, ...]
    branch: str = ""  # "" where it is not said
    detached: bool = False
    upstream: str = ""
    ahead: int | None = None  # commits that the upstream does not have; None: not said
    operation: str = ""  # "merge" | "rebase" | "cherry-pick" | "revert" in progress
    clean: bool = False  # it says that nothing is left


class Committed(NamedTuple):
    branch: str  # "" when HEAD was detached
    id: str
    subject: str
    files: int = 0
    added: int = 0
    removed: int = 0


class Pushed(NamedTuple):
    local: str
    remote: str
    tip: str  # "" where git did not print it
    ok: bool


class Logged(NamedTuple):
    id: str
    refs: str  # "HEAD -> main, origin/main"
    subject: str


class Counted(NamedTuple):
    """Lines of one file in a diff; None where git did not count (a binary, a scaled bar)."""

    path: str
    added: int | None
    removed: int | None


def long_status(output: str) -> Status | None:
    """`git status`, also as `git commit` and `git stash pop` print it; None when there is none."""
    text = output[:WINDOW]
    on = _ON_BRANCH.search(text)
    detached = _DETACHED.search(text) is not None
    clean = "\nnothing to commit, working tree clean" in f"\n{text}"
    if on is None and not detached and not clean:
        return None
    entries: list[Entry] = []
    section = ""
    for line in text.split("\n"):
        header = _SECTION.match(line)
        if header:
            section = header.group(1)
        elif section and line and not line[0].isspace():
            section = ""
        elif section and section[0] != "I" and len(entries) < ENTRIES:
            found = _LONG_ENTRY.match(line)
            if found:
                entries.append(_long_entry(section, found.group(1) or "", found.group(2)))
    said = [line for line in (_OPERATION.search(text),) if line]
    operation = ""
    if said:
        operation = _OPERATIONS.get(next(filter(None, said[0].groups()), "merging"), "merge")
    upstream, ahead = _upstream(text)
    return Status(
        tuple(entries),
        on.group(1) if on else "",
        detached and on is None,
        upstream,
        ahead,
        operation,
        clean and not entries,
    )


def _upstream(text: str) -> tuple[str, int | None]:
    if found := _UP_TO_DATE.search(text) or _BEHIND.search(text):
        return found.group(1), 0
    if found := _AHEAD_OF.search(text) or _DIVERGED.search(text):
        return found.group(1), int(found.group(2))
    return "", None


_LONG_LETTERS = {
    "new file": "A",
    "modified": "M",
    "deleted": "D",
    "renamed": "R",
    "copied": "C",
    "typechange": "T",
}


def _long_entry(section: str, word: str, path: str) -> Entry:
    if section.startswith("Untracked"):
        return Entry(unquoted(path), "?", "?")
    if section.startswith("Unmerged"):
        return Entry(unquoted(path), "U", "U")
    letter = _LONG_LETTERS.get(word, "M")
    before, arrow, after = path.partition(" -> ")
    if letter in "RC" and arrow:
        return Entry(unquoted(after), letter, " ", unquoted(before))
    path = unquoted(_SUBMODULE.sub("", path))
    return Entry(path, letter, " ") if "to be" in section else Entry(path, " ", letter)


def short_status(output: str) -> Status:
    """`git status --short` and `--porcelain`, with or without `--branch`; also version 2."""
    entries: list[Entry] = []
    branch = upstream = ""
    detached = False
    ahead: int | None = None
    for line in output[:WINDOW].split("\n"):
        if line.startswith("diff --git "):
            break  # what follows is another command's
        if line.startswith("## "):
            found = _SHORT_BRANCH.match(line)
            if found:
                detached = found["branch"].startswith("HEAD ")
                branch = "" if detached else found["branch"]
                upstream = found["upstream"] or ""
                apart = _AHEAD.search(found["distance"] or "")
                ahead = int(apart.group(1)) if apart else (0 if upstream else None)
        elif line.startswith("# branch."):
            name, _, value = line[9:].partition(" ")
            if name == "head":
                detached = value == "(detached)"
                branch = "" if detached else value
            elif name == "upstream":
                upstream = value
            elif name == "ab" and value[:1] == "+" and value[1:].split()[0].isdecimal():
                ahead = int(value[1:].split()[0])
        elif len(entries) < ENTRIES:
            entry = _version_2(line) or _version_1(line)
            if entry:
                entries.append(entry)
    return Status(tuple(entries), branch, detached, upstream, ahead)


def _version_1(line: str) -> Entry | None:
    found = _SHORT_ENTRY.match(line)
    if found is None:
        return None
    code, path = found.groups()
    # The client trims an output, and with it the space before the very first letter.
    code = f" {code}" if len(code) == 1 else code
    if code in ("  ", "!!") or ("?" in code and code != "??"):
        return None
    before, arrow, after = path.partition(" -> ")
    if code[0] in "RC" and arrow:
        return Entry(unquoted(after), code[0], code[1], unquoted(before))
    return Entry(unquoted(path), code[0], code[1])


def _version_2(line: str) -> Entry | None:
    kind, _, rest = line.partition(" ")
    if kind == "?" and rest:
        return Entry(unquoted(rest), "?", "?")
    if kind not in ("1", "2", "u"):
        return None
    fields = rest.split(" ", {"1": 7, "2": 8, "u": 9}[kind])
    if len(fields) != {"1": 8, "2": 9, "u": 10}[kind] or len(fields[0]) != 2:
        return None
    path, _, before = fields[-1].partition("\t")
    code = "UU" if kind == "u" else fields[0].replace(".", " ")
    return Entry(unquoted(path), code[0], code[1], unquoted(before))


def unquoted(path: str) -> str:
    """A path as git quotes it when it holds odd characters: "caf\\303\\251.txt"."""
    if len(path) < 2 or path[0] != '"' or path[-1] != '"':
        return path
    data = bytearray()
    at = 0
    inner = path[1:-1]
    for found in _ESCAPE.finditer(inner):
        data += inner[at : found.start()].encode("utf-8", "replace")
        code = found.group(1)
        data += (
            bytes((int(code, 8) & 255,))
            if len(code) == 3
            else _LETTERS.get(code, code).encode("utf-8", "replace")
        )
        at = found.end()
    data += inner[at:].encode("utf-8", "replace")
    return data.decode("utf-8", "replace")


def committed(output: str) -> list[Committed]:
    """Every `[branch id] subject` line, with the totals that follow it."""
    text = output[:WINDOW]
    lines = list(islice(_COMMITTED.finditer(text), 50))
    made = []
    for number, line in enumerate(lines):
        end = lines[number + 1].start() if number + 1 < len(lines) else len(text)
        totals = _TOTALS.search(text, line.end(), min(end, line.end() + 8000))
        counts = [int(count or 0) for count in totals.groups()] if totals else [0, 0, 0]
        branch = line["branch"]
        made.append(
            Committed(
                "" if branch.endswith(" HEAD") else branch, line["id"], line["subject"], *counts
            )
        )
    return made


def totals(output: str) -> tuple[int, int, int] | None:
    """Files, insertions and deletions of the first "N files changed" line."""
    found = _TOTALS.search(output[:WINDOW])
    if found is None:
        return None
    files, added, removed = (int(count or 0) for count in found.groups())
    return files, added, removed


def pushed(output: str, also_fetched: bool = False) -> list[Pushed]:
    """The references that a push says it moved, or was refused to.

    `git fetch` prints the same lines below "From ...", those of a push stand below "To ...".
    """
    found: list[Pushed] = []
    ours = not also_fetched
    for line in output[:WINDOW].split("\n"):
        if line.startswith("To "):
            ours = True
        elif line.startswith("From "):
            ours = False
        elif ours and " -> " in line and (match := _PUSH_LINE.match(line)):
            flag, note, _, tip, local, remote = match.groups()
            if flag == "-" or (note or "").startswith("new tag"):
                continue
            found.append(Pushed(local, remote, tip or "", flag != "!"))
    return found[:20]


def tracked(output: str) -> list[tuple[str, str]]:
    """Branches that were set up to track an upstream: (branch, upstream)."""
    return [(found[1], found[2]) for found in islice(_TRACKS.finditer(output[:WINDOW]), 5)]


def switched(output: str) -> tuple[str, bool]:
    """The branch that git says HEAD is on now, and whether it says that HEAD is detached."""
    text = output[:WINDOW]
    branch = ""
    for found in islice(_SWITCHED.finditer(text), 10):
        branch = found.group(1) or found.group(2)
    return branch, not branch and _DETACHED.search(text) is not None


def counts(output: str) -> list[Counted]:
    """Lines added and removed by file, from `--numstat`, `--stat` or a diff itself."""
    text = output[:WINDOW]
    found: list[Counted] = [
        Counted(
            unquoted(match[3]),
            int(match[1]) if match[1].isdecimal() else None,
            int(match[2]) if match[2].isdecimal() else None,
        )
        for match in islice(_NUMSTAT.finditer(text), ENTRIES)
    ]
    if found:
        return found
    if "\ndiff --git " in f"\n{text}":
        return _diff_counts(text, complete=len(output) <= WINDOW)
    for line in text.split("\n"):
        # Git keeps to the terminal's width, 80 columns where there is none.
        match = _STAT.match(line) if " | " in line and len(line) <= STAT_LINE else None
        if match is None or len(found) == ENTRIES:
            continue
        path, total, bar = match.groups()
        plus, minus = (bar or "").count("+"), (bar or "").count("-")
        exact = total is not None and plus + minus == int(total)
        found.append(Counted(unquoted(path), plus if exact else None, minus if exact else None))
    return found


def _diff_counts(text: str, complete: bool) -> list[Counted]:
    found: list[Counted] = []
    pieces = f"\n{text}".split("\ndiff --git ")[1 : ENTRIES + 1]
    for number, piece in enumerate(pieces):
        head, _, body = piece.partition("\n")
        path = head.rpartition(" b/")[2].rstrip('"')
        if not path:
            continue
        if number == len(pieces) - 1 and not complete:
            found.append(Counted(path, None, None))
            continue
        inside = body.partition("\n@@")[2]
        lines = inside.split("\n")[1:]
        found.append(
            Counted(
                path,
                sum(line.startswith("+") for line in lines),
                sum(line.startswith("-") for line in lines),
            )
        )
    return found


def conflicts(output: str) -> list[str]:
    found = (match[1] or match[2] for match in islice(_CONFLICT.finditer(output[:WINDOW]), 60))
    return list(dict.fromkeys(path.strip() for path in found))


def after_reset(output: str) -> list[str]:
    """The paths below "Unstaged changes after reset:"."""
    below = output[:WINDOW].partition("Unstaged changes after reset:")[2]
    return [unquoted(found[2]) for found in islice(_AFTER_RESET.finditer(below), ENTRIES)]


def logged(output: str) -> list[Logged]:
    """Commits of a log, a reflog or a single id, in the order of the output."""
    text = output[:WINDOW]
    found = []
    for line in islice(_LOG_LINE.finditer(text), 60):
        subject = line[3] or ""
        if not subject and len(line[1]) >= 40:
            below = _LOG_SUBJECT.search(text, line.end(), line.end() + 1500)
            subject = below[1] if below else ""
        found.append(Logged(line[1], line[2] or "", subject))
    return found


def pull_requests(output: str) -> list[tuple[str, int]]:
    """Links to pull requests (and GitLab's merge requests) with their number."""
    found = islice(_PULL.finditer(output[:WINDOW]), 20)
    return [(match[0], int(match[1][:9])) for match in found]
