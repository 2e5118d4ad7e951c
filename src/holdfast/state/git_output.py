"""Reading what git and gh print: status, commits, pushes, branches, diff statistics.

Text in, plain values out. It knows formats and nothing of a session: what a line means for the
work at hand is decided in `git_work`. Only the first part of an output is read (`WINDOW`).
"""

import re
from itertools import islice
from typing import NamedTuple

from holdfast.lazy_regex import lazy_compile

MAX_OUTPUT_CHARS = 60_000
MAX_ENTRIES = 200  # of one listing
MAX_STAT_LINE_CHARS = 400  # characters

_SECTION = lazy_compile(
    r"^(Changes to be committed|Changes not staged for commit|Changed but not updated"
    r"|Untracked files|Unmerged paths|Ignored files):",
)
_LONG_ENTRY = lazy_compile(
    r"^(?:\t| {8})(?:(new file|modified|deleted|renamed|copied|typechange|both modified|both added"
    r"|both deleted|added by us|added by them|deleted by us|deleted by them):\s+)?(\S.*)$"
)
_SUBMODULE = lazy_compile(r" \((?:new commits|modified content|untracked content|, )+\)$")
_SHORT_ENTRY = lazy_compile(r"^([ MADRCUT?!]{2}|[MADRCUT](?= \S)) (\S.*)$")
_SHORT_BRANCH = lazy_compile(
    r"^## (?:No commits yet on |Initial commit on )?(?P<branch>HEAD \(no branch\)|[^\s]+?)"
    r"(?:\.\.\.(?P<upstream>\S+))?(?: \[(?P<distance>[^\]]*)\])?$"
)
_AHEAD = lazy_compile(r"\bahead (?:of '[^'\n]{1,250}' by )?(\d+)")
_ON_BRANCH = lazy_compile(r"^On branch (\S+)$", re.M)
_DETACHED = lazy_compile(
    r"^(?:HEAD detached (?:at|from) |Note: (?:switching to|checking out) ')", re.M
)
_UP_TO_DATE = lazy_compile(r"^Your branch is up[ -]to[ -]date with '([^'\n]{1,250})'", re.M)
_AHEAD_OF = lazy_compile(r"^Your branch is ahead of '([^'\n]{1,250})' by (\d+) commit", re.M)
_BEHIND = lazy_compile(r"^Your branch is behind '([^'\n]{1,250})'", re.M)
_DIVERGED = lazy_compile(
    r"^Your branch and '([^'\n]{1,250})' have diverged,\s+and have (\d+) and \d+", re.M
)
_OPERATION = lazy_compile(
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

_COMMITTED = lazy_compile(
    r"^\[(?P<branch>[^\s\]]+(?: HEAD)?)(?: \(root-commit\))? (?P<id>[0-9a-f]{7,64})\] "
    r"(?P<subject>.*)$",
    re.M,
)
_TOTALS = lazy_compile(
    r"^ (\d+) files? changed(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?$", re.M
)
_PUSH_LINE = lazy_compile(
    r"^ ([*+ !=-]) (?:\[([^\]]+)\]|([0-9a-f]{7,64})\.\.\.?([0-9a-f]{7,64}))\s+(\S+) -> (\S+)", re.M
)
_TRACKS = lazy_compile(r"^branch '([^'\n]{1,250})' set up to track '([^'\n]{1,250})'", re.M | re.I)
_SWITCHED = lazy_compile(
    r"^(?:Switched to (?:a new )?branch|Already on|Switched to and reset branch|Reset branch)"
    r" '([^'\n]{1,250})'|switched to branch (\S+?)\.?$",
    re.M,
)
_NUMSTAT = lazy_compile(r"^(\d+|-)\t(\d+|-)\t(\S.*)$", re.M)
_STAT = lazy_compile(r"^ (\S.*\S|\S) +\| +(?:(\d+) ?([+-]*)|Bin .*)$")
_CONFLICT = lazy_compile(
    r"^CONFLICT \([^)]*\): (?:Merge conflict in (\S.*)|(\S+) (?:deleted|renamed) )", re.M
)
_AFTER_RESET = lazy_compile(r"^([MDATU])\t(\S.*)$", re.M)
_LOG_LINE = lazy_compile(
    r"^[*|\\/ ]*(?:commit )?([0-9a-f]{7,64})(?: \(([^)]*)\))?(?:[ \t]+(\S.*))?$", re.M
)
_LOG_SUBJECT = lazy_compile(r"\n\n {4}(\S[^\n]*)")
_PULL = lazy_compile(r"https?://[^\s\"'<>()]{1,300}/(?:pull|merge_requests)/(\d+)\b")
_ESCAPE = lazy_compile(r"\\([0-7]{3}|.)")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class StatusEntry(NamedTuple):
    """One path of a status."""

    path: str  # as git printed it, without quotes
    staged: str  # letter of the short format, " " for unchanged
    unstaged: str
    before: str = ""  # renamed: the old path


class GitStatus(NamedTuple):
    entries: tuple[StatusEntry, ...]
    branch: str = ""  # "" where it is not said
    detached: bool = False
    upstream: str = ""
    ahead: int | None = None  # commits that the upstream does not have; None: not said
    operation: str = ""  # "merge" | "rebase" | "cherry-pick" | "revert" in progress
    clean: bool = False  # it says that nothing is left


class PrintedCommit(NamedTuple):
    branch: str  # "" when HEAD was detached
    id: str
    subject: str
    files: int = 0
    added: int = 0
    removed: int = 0


class PushedRef(NamedTuple):
    local: str
    remote: str
    tip: str  # "" where git did not print it
    ok: bool


class LoggedCommit(NamedTuple):
    id: str
    refs: str  # "HEAD -> main, origin/main"
    subject: str


class DiffCount(NamedTuple):
    """Lines of one file in a diff; None where git did not count (a binary, a scaled bar)."""

    path: str
    added: int | None
    removed: int | None


def parse_long_status(output: str) -> GitStatus | None:
    """`git status`, also as `git commit` and `git stash pop` print it; None when there is none."""
    text = output[:MAX_OUTPUT_CHARS]
    on = _ON_BRANCH.search(text)
    detached = _DETACHED.search(text) is not None
    clean = "\nnothing to commit, working tree clean" in f"\n{text}"
    if on is None and not detached and not clean:
        return None
    entries: list[StatusEntry] = []
    section = ""
    for line in text.split("\n"):
        header = _SECTION.match(line)
        if header:
            section = header.group(1)
        elif section and line and not line[0].isspace():
            section = ""
        elif section and section[0] != "I" and len(entries) < MAX_ENTRIES:
            found = _LONG_ENTRY.match(line)
            if found:
                entries.append(_long_entry(section, found.group(1) or "", found.group(2)))
    said = [line for line in (_OPERATION.search(text),) if line]
    operation = ""
    if said:
        operation = _OPERATIONS.get(next(filter(None, said[0].groups()), "merging"), "merge")
    upstream, ahead = _upstream(text)
    return GitStatus(
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


def _long_entry(section: str, word: str, path: str) -> StatusEntry:
    if section.startswith("Untracked"):
        return StatusEntry(unquote_path(path), "?", "?")
    if section.startswith("Unmerged"):
        return StatusEntry(unquote_path(path), "U", "U")
    letter = _LONG_LETTERS.get(word, "M")
    before, arrow, after = path.partition(" -> ")
    if letter in "RC" and arrow:
        return StatusEntry(unquote_path(after), letter, " ", unquote_path(before))
    path = unquote_path(_SUBMODULE.sub("", path))
    return StatusEntry(path, letter, " ") if "to be" in section else StatusEntry(path, " ", letter)


def parse_short_status(output: str) -> GitStatus:
    """`git status --short` and `--porcelain`, with or without `--branch`; also version 2."""
    entries: list[StatusEntry] = []
    branch = upstream = ""
    detached = False
    ahead: int | None = None
    for line in output[:MAX_OUTPUT_CHARS].split("\n"):
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
        elif len(entries) < MAX_ENTRIES:
            entry = _version_2(line) or _version_1(line)
            if entry:
                entries.append(entry)
    return GitStatus(tuple(entries), branch, detached, upstream, ahead)


def _version_1(line: str) -> StatusEntry | None:
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
        return StatusEntry(unquote_path(after), code[0], code[1], unquote_path(before))
    return StatusEntry(unquote_path(path), code[0], code[1])


def _version_2(line: str) -> StatusEntry | None:
    kind, _, rest = line.partition(" ")
    if kind == "?" and rest:
        return StatusEntry(unquote_path(rest), "?", "?")
    if kind not in ("1", "2", "u"):
        return None
    fields = rest.split(" ", {"1": 7, "2": 8, "u": 9}[kind])
    if len(fields) != {"1": 8, "2": 9, "u": 10}[kind] or len(fields[0]) != 2:
        return None
    path, _, before = fields[-1].partition("\t")
    code = "UU" if kind == "u" else fields[0].replace(".", " ")
    return StatusEntry(unquote_path(path), code[0], code[1], unquote_path(before))


def unquote_path(path: str) -> str:
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


def parse_commits(output: str) -> list[PrintedCommit]:
    """Every `[branch id] subject` line, with the totals that follow it."""
    text = output[:MAX_OUTPUT_CHARS]
    lines = list(islice(_COMMITTED.finditer(text), 50))
    made = []
    for number, line in enumerate(lines):
        end = lines[number + 1].start() if number + 1 < len(lines) else len(text)
        totals = _TOTALS.search(text, line.end(), min(end, line.end() + 8000))
        counts = [int(count or 0) for count in totals.groups()] if totals else [0, 0, 0]
        branch = line["branch"]
        made.append(
            PrintedCommit(
                "" if branch.endswith(" HEAD") else branch, line["id"], line["subject"], *counts
            )
        )
    return made


def parse_totals(output: str) -> tuple[int, int, int] | None:
    """Files, insertions and deletions of the first "N files changed" line."""
    found = _TOTALS.search(output[:MAX_OUTPUT_CHARS])
    if found is None:
        return None
    files, added, removed = (int(count or 0) for count in found.groups())
    return files, added, removed


def parse_push(output: str, also_fetched: bool = False) -> list[PushedRef]:
    """The references that a push says it moved, or was refused to.

    `git fetch` prints the same lines below "From ...", those of a push stand below "To ...".
    """
    found: list[PushedRef] = []
    ours = not also_fetched
    for line in output[:MAX_OUTPUT_CHARS].split("\n"):
        if line.startswith("To "):
            ours = True
        elif line.startswith("From "):
            ours = False
        elif ours and " -> " in line and (match := _PUSH_LINE.match(line)):
            flag, note, _, tip, local, remote = match.groups()
            if flag == "-" or (note or "").startswith("new tag"):
                continue
            found.append(PushedRef(local, remote, tip or "", flag != "!"))
    return found[:20]


def parse_tracking(output: str) -> list[tuple[str, str]]:
    """Branches that were set up to track an upstream: (branch, upstream)."""
    return [
        (found[1], found[2]) for found in islice(_TRACKS.finditer(output[:MAX_OUTPUT_CHARS]), 5)
    ]


def parse_switch(output: str) -> tuple[str, bool]:
    """The branch that git says HEAD is on now, and whether it says that HEAD is detached."""
    text = output[:MAX_OUTPUT_CHARS]
    branch = ""
    for found in islice(_SWITCHED.finditer(text), 10):
        branch = found.group(1) or found.group(2)
    return branch, not branch and _DETACHED.search(text) is not None


def parse_diff_counts(output: str) -> list[DiffCount]:
    """Lines added and removed by file, from `--numstat`, `--stat` or a diff itself."""
    text = output[:MAX_OUTPUT_CHARS]
    found: list[DiffCount] = [
        DiffCount(
            unquote_path(match[3]),
            int(match[1]) if match[1].isdecimal() else None,
            int(match[2]) if match[2].isdecimal() else None,
        )
        for match in islice(_NUMSTAT.finditer(text), MAX_ENTRIES)
    ]
    if found:
        return found
    if "\ndiff --git " in f"\n{text}":
        return _diff_counts(text, complete=len(output) <= MAX_OUTPUT_CHARS)
    for line in text.split("\n"):
        # Git keeps to the terminal's width, 80 columns where there is none.
        match = _STAT.match(line) if " | " in line and len(line) <= MAX_STAT_LINE_CHARS else None
        if match is None or len(found) == MAX_ENTRIES:
            continue
        path, total, bar = match.groups()
        plus, minus = (bar or "").count("+"), (bar or "").count("-")
        exact = total is not None and plus + minus == int(total)
        found.append(
            DiffCount(unquote_path(path), plus if exact else None, minus if exact else None)
        )
    return found


def _diff_counts(text: str, complete: bool) -> list[DiffCount]:
    found: list[DiffCount] = []
    pieces = f"\n{text}".split("\ndiff --git ")[1 : MAX_ENTRIES + 1]
    for number, piece in enumerate(pieces):
        head, _, body = piece.partition("\n")
        path = head.rpartition(" b/")[2].rstrip('"')
        if not path:
            continue
        if number == len(pieces) - 1 and not complete:
            found.append(DiffCount(path, None, None))
            continue
        inside = body.partition("\n@@")[2]
        lines = inside.split("\n")[1:]
        found.append(
            DiffCount(
                path,
                sum(line.startswith("+") for line in lines),
                sum(line.startswith("-") for line in lines),
            )
        )
    return found


def parse_conflicts(output: str) -> list[str]:
    found = (
        match[1] or match[2] for match in islice(_CONFLICT.finditer(output[:MAX_OUTPUT_CHARS]), 60)
    )
    return list(dict.fromkeys(path.strip() for path in found))


def parse_reset_paths(output: str) -> list[str]:
    """The paths below "Unstaged changes after reset:"."""
    below = output[:MAX_OUTPUT_CHARS].partition("Unstaged changes after reset:")[2]
    return [unquote_path(found[2]) for found in islice(_AFTER_RESET.finditer(below), MAX_ENTRIES)]


def parse_log(output: str) -> list[LoggedCommit]:
    """Commits of a log, a reflog or a single id, in the order of the output."""
    text = output[:MAX_OUTPUT_CHARS]
    found = []
    for line in islice(_LOG_LINE.finditer(text), 60):
        subject = line[3] or ""
        if not subject and len(line[1]) >= 40:
            below = _LOG_SUBJECT.search(text, line.end(), line.end() + 1500)
            subject = below[1] if below else ""
        found.append(LoggedCommit(line[1], line[2] or "", subject))
    return found


def parse_pull_requests(output: str) -> list[tuple[str, int]]:
    """Links to pull requests (and GitLab's merge requests) with their number."""
    found = islice(_PULL.finditer(output[:MAX_OUTPUT_CHARS]), 20)
    return [(match[0], int(match[1][:9])) for match in found]
