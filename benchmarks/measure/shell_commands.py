"""Shell commands: split, normalised, and told apart from mere looking.

Owns what "a command (normalised, not read-only)" means. It runs nothing.
"""

from __future__ import annotations

import re

MAX_COMMAND_CHARS = 200


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


_SPACES = re.compile(r"\s+")
_REDIRECT = re.compile(r"\s*(?:\d?>>?|&>)\s*(?:&\d|/dev/null|\S+)|\s*<\s*/dev/null")
_PREFIX = re.compile(r"^(?:time|sudo|nohup|command|exec|timeout(?:\s+-\S+)*\s+\S+)\s+")
_ELSEWHERE = re.compile(r"\bgit -C \S+ ")  # the folder does not make it another command
_ASSIGN = re.compile(r"^[A-Za-z_]\w*=\S*$")

_READ_ONLY = word_set(
    """
    cd ls ll cat bat head tail grep egrep fgrep rg ag find fd awk wc echo printf pwd which whereis
    type file stat tree diff cmp less more jq yq sort uniq cut tr xargs test [ [[ true false sleep
    date ps top env printenv export set unset read wait for while do done if then else fi case esac
    basename dirname realpath readlink du df hexdump xxd od strings column nl tee id whoami uname
    hostname history alias man seq lsof pgrep source . return exit break continue
    """
)
_READ_ONLY_SUB: dict[str, frozenset[str]] = {
    "git": word_set(
        """
        status log diff show branch rev-parse ls-files ls-tree remote blame describe reflog cat-file
        for-each-ref grep shortlog rev-list merge-base config ls-remote show-ref name-rev
        check-ignore diff-tree symbolic-ref version help --version
        """
    ),
    "gh": frozenset({"auth", "search", "status", "browse"}),
    "go": frozenset({"doc", "list", "env", "version", "help"}),
    "npm": frozenset({"ls", "list", "view", "outdated", "--version", "-v"}),
    "pip": frozenset({"list", "show", "freeze", "--version"}),
    "cargo": frozenset({"tree", "metadata", "search", "--version"}),
    "docker": frozenset({"ps", "images", "logs", "inspect", "version", "info"}),
    "kubectl": frozenset({"get", "describe", "logs"}),
}
_READ_ONLY_THIRD = frozenset({"view", "list", "status", "checks", "diff"})

_TEST = re.compile(
    r"(?:^|[\s/:_-])(?:pytest|jest|vitest|mocha|rspec|phpunit|ctest|tox|nox|tests?|spec|check)"
    r"(?=$|[\s:/_-])"
)


def split_command(command: str) -> list[str]:
    """The simple commands of a shell line; of a pipeline only its first stage.

    A stretch that carries a document (here-document, quoted newline, substitution over lines) is
    content, not a command anyone recalls: it is left out.
    """
    parts: list[tuple[str, bool]] = []
    buffer: list[str] = []
    quote = ""
    piped = False
    i, size = 0, len(command)
    if "<<" in command:
        command = command[: command.index("<<")]
        size = len(command)
        cut = True
    else:
        cut = False
    while i < size:
        char = command[i]
        if char == "\\" and i + 1 < size:
            buffer.append(" " if command[i + 1] == "\n" else command[i : i + 2])
            i += 2
            continue
        if quote:
            buffer.append(char)
            if char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
            buffer.append(char)
        elif command.startswith(("&&", "||"), i):
            parts.append(("".join(buffer), piped))
            buffer, piped = [], False
            i += 2
            continue
        elif char in ";\n" or (
            char == "&" and command[i - 1 : i] not in (">", "<") and command[i + 1 : i + 2] != ">"
        ):
            parts.append(("".join(buffer), piped))
            buffer, piped = [], False
        elif char == "|":
            parts.append(("".join(buffer), piped))
            buffer, piped = [], True
        else:
            buffer.append(char)
        i += 1
    if not cut and not quote:
        parts.append(("".join(buffer), piped))
    return [text for text, in_pipe in parts if text.strip() and not in_pipe]


def normalise(simple: str, roots: list[str]) -> str:
    """One simple command without redirections, wrappers, spare spaces and its cwd prefix."""
    text = _REDIRECT.sub("", simple)
    for root in roots:
        text = text.replace(root + "/", "")
    text = _SPACES.sub(" ", text).strip().strip("()").strip()
    while match := _PREFIX.match(text):
        text = text[match.end() :]
    return text


def is_read_only(command: str) -> bool:
    """Whether a normalised command only looks and changes or proves nothing."""
    words = [w for w in command.split(" ") if not _ASSIGN.match(w)]
    if not words:
        return True
    program = words[0].rsplit("/", 1)[-1]
    if program in _READ_ONLY or program.startswith(("#", "-", "}", "{", "$")):
        return True
    if program == "sed":
        return not any(w.startswith("-i") or w == "--in-place" for w in words)
    rest = words[1:]
    if program == "git":
        while len(rest) > 1 and rest[0] in ("-C", "-c", "--no-pager"):
            rest = rest[1:] if rest[0] == "--no-pager" else rest[2:]
        if rest[:2] == ["stash", "list"]:
            return True
        if rest and rest[0] == "branch":
            return not any(w in ("-d", "-D", "-m", "-M", "-f") for w in rest)
    if rest and rest[0] in _READ_ONLY_SUB.get(program, frozenset()):
        return True
    return program == "gh" and len(rest) > 1 and rest[1] in _READ_ONLY_THIRD


def list_commands(command: str, roots: list[str]) -> list[str]:
    """The commands of a shell line that count: normalised, not read-only, of a sane length."""
    found = []
    for simple in split_command(command):
        if "\n" in simple.strip() or ("$(" in simple and len(simple) > MAX_COMMAND_CHARS):
            continue
        text = normalise(simple, roots)
        if 2 <= len(text) <= MAX_COMMAND_CHARS and not is_read_only(text):
            found.append(text)
    return list(dict.fromkeys(found))


def list_lookups(command: str, roots: list[str]) -> list[str]:
    """The read-only commands of a shell line: look-ups that may be repeated."""
    found = [normalise(s, roots) for s in split_command(command) if "\n" not in s.strip()]
    return [
        f for f in found if f and is_read_only(f) and not f.startswith(("cd ", "echo ", "sleep "))
    ]


def is_test(command: str) -> bool:
    """Whether a normalised command runs tests."""
    words = command.split(" ")
    if words[0].rsplit("/", 1)[-1] in {"git", "gh", "rm", "mv", "cp", "mkdir", "touch", "chmod"}:
        return False
    return bool(_TEST.search(" ".join(w for w in words[:6] if not w.startswith("-"))))


def command_family(command: str) -> str:
    """What a command is an instance of: its program and subcommand."""
    command = _ELSEWHERE.sub("git ", command)
    words = [w for w in command.split(" ") if not _ASSIGN.match(w) and not w.startswith("-")]
    return " ".join(words[:3] if words[1:2] == ["run"] else words[:2])
