"""What the texts state, compared with what is so: git by git itself, commands by how they ended.

A statement is one comparison; `Comparison.wrong` holds those that are false, in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from truth.session import FAILED, GAP, HANDOFF, OFFER, WORKED, Session

# Nobody can know these from a transcript, so no text says them.
UNKNOWABLE = ("Nothing was committed", "was seen to run", "no open PR known", "none known",
              "all that is left of the conversation")  # fmt: skip
_QUOTED = re.compile(r"`([^`]+)`")
_SAYS_FAILED = re.compile(r"^(?:- )?failed: |` failed|^- Did not work|^- Open error|^Failing at")
_SAYS_WORKED = re.compile(r"^(?:- )?passed: |; worked: `|^Last run[^`]*`[^`]*` ok")
_KINDS = re.compile(r"(\d+) (in conflict|staged|changed, not staged|untracked)")


class Comparison:
    """The statements of one session's texts and which of them are not so."""

    def __init__(self) -> None:
        self.count = 0
        self.wrong: list[str] = []

    def check(self, so: bool, statement: str) -> None:
        self.count += 1
        if not so:
            self.wrong.append(statement)

    def compare(self, session: Session) -> None:
        really = session.really
        for where, text in session.told:
            if where not in (OFFER, GAP) and (session.cwd / ".git").exists():
                self._git(session, where, text)
            for line, command, said in _told_outcomes(where, text):
                known = max((one for one in really if one in command), key=len, default="")
                if known:
                    ended = " and ".join(sorted(really[known]))
                    self.check(said in really[known], f"{where}: {line!r}, but `{known}` {ended}")
            for phrase in UNKNOWABLE:
                self.check(phrase not in text, f"{where}: says {phrase!r}")
        for phrase, so in session.expected:
            texts = session.texts(so.where)
            found = bool(texts) and all(phrase in text for text in texts)
            found = any(phrase in text for text in texts) if not so.present else found
            verb = "lacks" if so.present else "says"
            self.check(found is so.present, f"{so.where or 'a text'} {verb} {phrase!r}")

    def _git(self, session: Session, where: str, text: str) -> None:
        asked = next((line for line in text.split("\n") if "Git (asked " in line), "")
        self.check(bool(asked), f"{where}: git is not told")
        branch = session.outside("git branch --show-current")
        place = f"branch {branch}" if branch else "HEAD is detached"
        self.check(f"): {place}" in asked, f"{where}: {asked!r}, but {place}")
        entries = _list_entries(session.outside("git status --porcelain -z"))
        clean = "working tree clean" in asked
        self.check(clean is not bool(entries), f"{where}: clean {clean}, but {entries}")
        listed = next((line for line in text.split("\n") if "Uncommitted: " in line), "")
        self.check(bool(listed) is bool(entries), f"{where}: {listed!r}, but {entries}")
        said = {kind: int(number) for number, kind in _KINDS.findall(listed)}
        so = _count_kinds(entries)
        self.check(said == so, f"{where}: {said}, but {so}")
        for entry in entries:
            path = entry[3:].rstrip("/").rpartition("/")[2]
            self.check(path in listed, f"{where}: {listed!r} lacks {path}")
        new = session.outside(f"git log --format=%h {session.first_head}..HEAD").split()
        told = next((line for line in text.split("\n") if "New commits since" in line), "")
        self.check(bool(told) is bool(new), f"{where}: {told!r}, but {new}")
        for commit in new:
            self.check(commit in told, f"{where}: {told!r} lacks {commit}")
        for number, what in re.findall(r"(\d+) (ahead|behind)", asked):
            reach = "@{u}..HEAD" if what == "ahead" else "HEAD..@{u}"
            count = session.outside(f"git rev-list --count {reach}")
            self.check(number == count, f"{where}: {number} {what}, but {count}")


def _list_entries(printed: str) -> list[str]:
    """A renamed file has its former name behind it."""
    found, parts = [], iter(printed.split("\0"))
    for entry in parts:
        if len(entry) > 3:
            found.append(entry)
            if "R" in entry[:2]:
                next(parts)
    return found


def _count_kinds(entries: list[str]) -> dict[str, int]:
    """As `git status` sorts them, in the words of the texts."""
    conflicts = ("DD", "AU", "UD", "UA", "DU", "AA", "UU")
    marks = [entry[:2] for entry in entries]
    plain = [mark for mark in marks if mark not in conflicts and mark != "??"]
    counts = {
        "in conflict": sum(mark in conflicts for mark in marks),
        "staged": sum(mark[0] != " " for mark in plain),
        "changed, not staged": sum(mark[1] != " " for mark in plain),
        "untracked": marks.count("??"),
    }
    return {kind: number for kind, number in counts.items() if number}


def _told_outcomes(where: str, text: str) -> Iterator[tuple[str, str, str]]:
    """(line, command, outcome) of each command that a text says worked or failed."""
    heading = ""
    for line in text.split("\n"):
        if line.endswith(":") or line.startswith("## "):
            heading = line
        commands = _QUOTED.findall(line.partition("; not run since")[0])
        if where == HANDOFF and heading == "## Dead ends" and line.startswith("- "):
            yield line, line, FAILED
        elif "` failed" in line and "; worked: `" in line:
            yield line, commands[0], FAILED
            yield line, commands[-1], WORKED
        elif _SAYS_FAILED.search(line):
            yield from ((line, command, FAILED) for command in commands[:1])
        elif _SAYS_WORKED.search(line) or heading.startswith("Commands that were run and worked"):
            yield from ((line, command, WORKED) for command in commands[:4])
