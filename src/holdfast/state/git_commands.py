"""Reading command lines for what they do with git: each git command, where it ran, its words.

Text in, plain values out; no shell grammar beyond `shell.parts`. Also names the few commands
that change files in plain sight (`sed -i`, `cat > file`, `rm`, `mv`).
"""

import re
from functools import lru_cache
from posixpath import join, normpath
from typing import NamedTuple

from holdfast.lazy_regex import lazy_compile
from holdfast.path_spelling import is_absolute, spell_path
from holdfast.state.shell import split_commands

MAX_LINE_CHARS = (
    16_000  # of a command line: a commit's message may be long, and comes before `git push`
)
MAX_WORDS = 400

_WORD = lazy_compile(r"""(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""")
_QUOTES = lazy_compile(r"""\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'""")
_CUES = ("git", "gh ", "glab ", "sed ", "perl ", "rm ", "mv ", ">", "tee ", "touch ")
_REDIRECT = lazy_compile(r"(?<![0-9&<>=-])>>?\s*([^\s;&|<>()]+)")
_ESCAPED = lazy_compile(r"\\([\"`$\\])")  # where the shell expands text
_HERE_NAME = lazy_compile(r"<<-?\s*+(['\"\\]?+)(\w++)[^\n]*+\n")
# Options of git itself whose value is the next word.
_VALUED = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"))
_WRITERS = frozenset(("cat", "echo", "printf", "tee"))


class GitStep(NamedTuple):
    """One simple command that matters here."""

    tool: str  # "git" | "gh" | "glab" | "edit" | "rm" | "mv"
    name: str  # the subcommand: "commit", "stash pop", "pr create"; "" for edits
    options: frozenset[str]  # "-a", "--amend"; grouped letters one by one, values left out
    words: tuple[str, ...]  # the other words: paths, branches, references
    directory: str  # where it ran, "" where that is unknown
    shown: bool  # its output reached the agent whole: no pipe, no redirection
    sure: bool  # it ran if the line as a whole succeeded
    after_dashes: tuple[str, ...] = ()  # the words behind "--"
    message: str = ""  # first line of a commit's message
    body: str = ""  # the rest of it


def list_git_steps(command: str, cwd: str) -> tuple[GitStep, ...]:
    """The commands of a line that concern git or change files in plain sight, in order."""
    command = command[:MAX_LINE_CHARS]
    if not any(cue in command for cue in _CUES):
        return ()
    return _steps(command, cwd)


@lru_cache(maxsize=64)
def _steps(command: str, cwd: str) -> tuple[GitStep, ...]:
    found: list[GitStep] = []
    here = cwd
    listed = split_commands(command.replace("\\\n", " "))
    for number, part in enumerate(listed[:60]):
        plain = part.plain.lstrip("( ")
        if plain.endswith(")") and plain.count("(") < plain.count(")"):
            plain = plain.rstrip(") ")
        head = plain.partition(" ")[0].rpartition("/")[2]
        if head in ("cd", "pushd"):
            here = _moved(here, split_words(plain)[1:])
            continue
        piped = number + 1 < len(listed) and listed[number + 1].separator == "|"
        sure = part.separator in ("", "&&", ";", "\n")
        step = None
        if head == "git":
            step = _git(plain, here, piped, sure, command)
        elif head in ("gh", "glab"):
            step = _hub(head, plain, here, piped, sure)
        elif part.separator != "|" or head == "tee":
            step = _file_step(head, plain, here, sure or head == "tee", command)
        if step:
            found.append(step)
    return tuple(found)


def split_words(text: str) -> list[str]:
    """The words of a simple command without their quotes."""
    return [_QUOTES.sub(_without_quotes, word) for word in _WORD.findall(text)[:MAX_WORDS]]


def _without_quotes(found: re.Match[str]) -> str:
    return found[1] or (_ESCAPED.sub(r"\1", found[2]) if found[2] else found[3]) or ""


def _moved(here: str, words: list[str]) -> str:
    target = next((word for word in words if not word.startswith("-")), "")
    if not target or "$" in target or target[0] == "~":
        return ""  # unknown where that is
    return resolve_path(here, target)


@lru_cache(maxsize=4096)  # pathspecs are held against every change
def resolve_path(directory: str, path: str) -> str:
    """A path as seen from a directory; relative where the directory is not known."""
    path = spell_path(path, directory)
    if is_absolute(path) or not directory:
        return normpath(path)
    return normpath(join(directory, path))


def _git(plain: str, here: str, piped: bool, sure: bool, line: str) -> GitStep | None:
    words, redirected = _without_redirections(split_words(plain)[1:])
    while words and words[0].startswith("-"):
        if words[0] in ("-C", "--work-tree") and len(words) > 1:
            here = resolve_path(here, words[1]) if "$" not in words[1] else ""
        words = words[2:] if words[0] in _VALUED else words[1:]
    if not words:
        return None
    name, rest = words[0], words[1:]
    if name in ("stash", "worktree", "submodule") and rest and not rest[0].startswith("-"):
        name, rest = f"{name} {rest[0]}", rest[1:]
    message = body = ""
    if name in ("commit", "merge", "revert", "cherry-pick"):
        rest, message = _without_message(rest)
        if message.startswith("$(") or not message:
            message = _here_text(line, name)
        message, _, body = message.strip().partition("\n")
    options, others, dashed = _sorted_words(rest)
    shown = not (piped or redirected)
    return GitStep(
        "git", name, options, others, here, shown, sure, dashed, message.strip(), body.strip()
    )


def _here_text(line: str, command: str) -> str:
    """What stands in the first here-document behind a command's name."""
    found = _HERE_NAME.search(line, max(0, line.find(command))) if "<<" in line else None
    if found is None:
        return ""
    text: list[str] = []
    for row in line[found.end() :].split("\n"):
        if row.strip() == found[2]:
            break
        text.append(row.strip())
    said = "\n".join(text)
    return said if found[1] else _ESCAPED.sub(r"\1", said)  # a quoted name keeps the text as it is


def _without_message(words: list[str]) -> tuple[list[str], str]:
    """The words without the value of -m, -F and the like; and the message."""
    left: list[str] = []
    message: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        grouped = word[:1] == "-" and word[:2] != "--" and word[-1:] in ("m", "F", "C", "c")
        if word == "--":
            left += words[at:]
            break
        if grouped or word in ("--message", "--file", "--author", "--date", "--trailer"):
            value = words[at + 1] if at + 1 < len(words) else ""
            if word[-1:] == "m" or word == "--message":
                message.append(value)
            left.append(word)
            at += 2
            continue
        if word.startswith("--message="):
            message.append(word[10:])
        left.append(word)
        at += 1
    return left, "\n\n".join(message)  # as git does with several


def _sorted_words(words: list[str]) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    options: set[str] = set()
    others: list[str] = []
    for at, word in enumerate(words):
        if word == "--":
            return frozenset(options), tuple(others), tuple(words[at + 1 :])
        if word.startswith("--"):
            options.add(word.partition("=")[0])
            if word.startswith("--source="):
                options.add(word)
            elif word == "--untracked-files=no":
                options.add("-uno")
        elif word.startswith("-") and len(word) > 1:
            options.update(f"-{letter}" for letter in word[1:])
            if word.endswith("uno"):  # one option with its value, as in `status -suno`
                options.add("-uno")
        else:
            others.append(word)
    return frozenset(options), tuple(others), ()


def _without_redirections(words: list[str]) -> tuple[list[str], bool]:
    kept: list[str] = []
    redirected = False
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.lstrip("0123456789&")[:1] in (">", "<"):
            redirected = redirected or ">" in word
            skip = word.strip("0123456789&<>") == ""
        else:
            kept.append(word)
    return kept, redirected


def _hub(tool: str, plain: str, here: str, piped: bool, sure: bool) -> GitStep | None:
    words, redirected = _without_redirections(split_words(plain)[1:])
    if len(words) < 2 or words[0] not in ("pr", "mr"):
        return None
    rest = words[2:]
    title = ""
    others: list[str] = []
    options: set[str] = set()
    at = 0
    while at < len(rest):
        word = rest[at]
        if word.startswith("-"):
            name, equals, value = word.partition("=")
            options.add(name)
            if name in ("--title", "-t"):
                title = value if equals else next(iter(rest[at + 1 : at + 2]), "")
            takes = not equals and name in (
                *("--title", "-t", "--body", "-b", "--body-file", "-F", "--base", "-B", "--head"),
                *("-H", "--label", "-l", "--reviewer", "-r", "--assignee", "-a", "--json", "-q"),
                *("--jq", "-R", "--repo", "--subject", "--milestone", "-m", "--description", "-d"),
            )
            takes = takes and not (name in ("-m", "-d", "-r") and words[1] == "merge")
            at += 2 if takes else 1
            continue
        others.append(word)
        at += 1
    name = f"pr {words[1]}"
    shown = not (piped or redirected)
    return GitStep(tool, name, frozenset(options), tuple(others), here, shown, sure, (), title)


def _file_step(head: str, plain: str, here: str, sure: bool, line: str) -> GitStep | None:
    if head in ("rm", "unlink", "mv", "touch"):
        words = tuple(word for word in split_words(plain)[1:] if not word.startswith("-"))
        return _edit("edit" if head == "touch" else head.replace("unlink", "rm"), words, here, sure)
    if head in ("sed", "perl"):
        words = tuple(split_words(plain)[1:])
        in_place = any(word.startswith(("-i", "--in-place", "-pi")) for word in words)
        if not in_place:
            return None
        files = tuple(word for word in words if _names_file(word))
        return _edit("edit", files, here, sure)
    if head == "tee":
        files = tuple(word for word in split_words(plain)[1:] if not word.startswith("-"))
        return _edit("edit", tuple(filter(_names_file, files)), here, sure)
    if head in _WRITERS and (">" in plain or "<<" in plain):
        # A here-document's own line is cut off with its text: `cat <<EOF > file`.
        text = plain
        if ">" not in plain:
            first = next((row for row in line.split("\n") if "<<" in row and head in row), "")
            text = first.partition("<<")[2]
        files = tuple(
            found.strip("\"'")
            for found in _REDIRECT.findall(text)
            if _names_file(found.strip("\"'"))
        )
        return _edit("edit", files, here, sure)
    return None


def _edit(tool: str, words: tuple[str, ...], here: str, sure: bool) -> GitStep | None:
    words = tuple(word for word in words if word and "$" not in word and word[0] != "~")
    return GitStep(tool, "", frozenset(), words, here, True, sure) if words else None


def _names_file(word: str) -> bool:
    """A path with an extension, not an expression; logs and scratch files are no work."""
    name = word.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    return (
        bool(stem and dot)
        and extension.isalnum()
        and extension not in ("log", "out", "tmp", "txt~")
        and not word.startswith(("-", "s/", "/tmp/", "/dev/"))
        and not any(mark in word for mark in "*(){}\\^")
    )
