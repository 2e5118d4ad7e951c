"""Rules of the user that a tool call can be checked against, before the call runs.

`state.guards` reads them out of the user's sentences where nobody waits; here a fast hook matches
a call with plain string methods. Each rule reminds once between two compactions, and once in each
subagent; where the user chose `ask`, the client's own dialog comes every time. It never refuses a
call. Behind a line that says
how they remind and of which rules they were made, one line each:

    kind TAB what TAB id TAB the user's sentence

Kinds and what they hold, words with spaces between:
    only     folders and files outside of which nothing is edited
    leave    folders and files that are not edited
    endings  endings of files that are not written
    edits    nothing is edited at all
    creates  no file is written that is not there
    adds     no list of dependencies gets longer
    writes   texts that no edit brings in, behind `in:` the endings of the files that this is about
    run      beginnings of commands that are not run, `+` for a space within one; `*` for any
    does     texts that no command contains, but for one that only reads
    inside   texts that no command contains
    names    words that no command has, alone or as part of a word
"""

from __future__ import annotations

from holdfast.fastpath.delivery import ClaimedText, DeliveredItem
from holdfast.fastpath.session_dir import GUARDS_FILE, SessionDir
from holdfast.files import exists, read
from holdfast.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.fastpath.hook_json import HookPayload

GUARD_OPENING = "Holdfast: the user said"
SHELL_JOINTS = ("&&", "||", ";", "|", "$(", "`", "(", "{", " then ", " do ")
WRAPPERS = frozenset(("sudo", "env", "time", "nohup", "exec", "command", "npx", "xargs", "builtin"))
READERS = frozenset(
    "cat ls grep rg head tail less find echo git wc sed awk which man diff tree jq stat".split()
)
MAX_SENTENCE_CHARS = 400
MAX_CALL_CHARS = 120
MAX_REMINDERS = 3  # with one call
OPTIONS_WITH_VALUE = {"git": frozenset(("-C", "-c", "--git-dir", "--work-tree"))}
SHELLS = frozenset(("bash", "sh", "zsh"))
MANIFESTS = ("package.json", "requirements", "pyproject.toml", "cargo.toml", "go.mod", "gemfile")
BUILDS = ("build", "test", "lint")  # of what has such a word, a name says only the kind
OLD_TEXT, NEW_TEXT = (
    ("old_string", "oldString"),
    ("new_string", "newString", "content", "new_source"),
)
PATCH_FIELDS = ("patchText", "input", "command")
COMMENT_SIGNS = ("#", "//", "/*", "--", "<!--")


_NOTHING: dict[str, Any] = {}


class Guard(NamedTuple):
    kind: str
    what: str
    id: str
    sentence: str

    def encode(self) -> str:
        sentence = " ".join(self.sentence.split())
        return f"{self.kind}\t{self.what}\t{self.id}\t{sentence}"

    def forbids(self, path: str, command: str, cwd: str, given: dict[str, Any] = _NOTHING) -> bool:
        """`given` is what the tool was given: an edit's texts."""
        if path and self.kind == "writes":
            return self._forbids_text(path, given)
        if path and self.kind == "adds":
            grown = (
                _count_versions(new) - _count_versions(old) for old, new in list_changes(given)
            )
            return (
                path.rpartition("/")[2].lower().startswith(MANIFESTS) and max(grown, default=0) > 0
            )
        if path and self.kind == "creates":
            place = path if path[0] == "/" or ":" in path[:3] else f"{cwd}/{path}"
            return "content" in given and not exists(place)
        if path:
            return self._forbids_edit(path, cwd)
        if self.kind in ("run", "does", "inside", "names"):
            return self._forbids_command(command)
        return any(self._forbids_edit(one, cwd) for one in list_written(command))

    def _forbids_text(self, path: str, given: dict[str, Any]) -> bool:
        words = self.what.split()
        endings = tuple(words.pop(0)[3:].split(",")) if words[0].startswith("in:") else ""
        return path.lower().endswith(endings) and any(
            count_text(new, text) > count_text(old, text)
            for old, new in list_changes(given)
            for text in (word.replace("+", " ") for word in words)
        )

    def _forbids_edit(self, path: str, cwd: str) -> bool:
        if self.kind == "edits":
            return True
        if self.kind == "endings":
            return path.lower().endswith(tuple(self.what.split()))
        if self.kind not in ("only", "leave"):
            return False
        inside = any(is_below(path, place, cwd) for place in self.what.split())
        return inside if self.kind == "leave" else not inside

    def _forbids_command(self, command: str) -> bool:
        if self.kind == "names":
            return any(_names(words, self.what.split()) for words in split_commands(command))
        if self.kind != "run":
            alike = [command] if self.kind == "inside" else map(" ".join, split_commands(command))
            texts = [text.replace("+", " ") for text in self.what.split()]
            return any(
                text in one.lower()
                for one in alike
                if self.kind == "inside" or one.partition(" ")[0] not in READERS
                for text in texts
            )
        starts = [start.split("+") for start in self.what.split()]
        return any(
            _begins_with(words, start) for words in split_commands(command) for start in starts
        )


def decode_guards(text: str) -> list[Guard]:
    """Lines that are not ours are left out: the file may be of another version, or damaged."""
    parts = [line.split("\t") for line in text.split("\n")]
    return [Guard(*fields) for fields in parts if len(fields) == 4 and fields[1]]


def is_below(path: str, place: str, cwd: str) -> bool:
    """Whether a file is the place or in it: by its whole path, or by a part that has its name."""
    if place == "." and path[0] == "/":
        return path.startswith((f"{cwd.rstrip('/')}/", "/tmp/"))
    if place[0] == "/" and len(place) > 1 and path[0] == "/":
        return f"{path}/".startswith(f"{place.rstrip('/*')}/")
    place = place.strip("/").removeprefix("./").removesuffix("/*")
    if place in ("", "."):
        return True
    base = cwd.rstrip("/") + "/"
    inner = path.removeprefix(base) if path.startswith(base) else path
    inner = "/" + inner.strip("/").removeprefix("./") + "/"
    return f"/{place}/" in inner if "*" not in place else _fits(inner, f"/{place}/")


def _fits(inner: str, pattern: str) -> bool:
    """Whether the parts of a pattern between its stars stand in this order; a star is in a name."""
    first, *rest = pattern.split("*")
    start = inner.find(first)
    while start >= 0:
        at: int = start + len(first)
        for part in rest:
            found = inner.find(part, at)
            at = -1 if found < 0 or "/" in inner[at:found] else found + len(part)
            if at < 0:
                break
        if at >= 0:
            return True
        start = inner.find(first, start + 1)
    return False


def split_commands(command: str) -> list[list[str]]:
    """The single commands of a line, each as words, without what only wraps them."""
    if "<<" in command:
        command = _without_documents(command)
    for joint in SHELL_JOINTS:
        command = command.replace(joint, "\n")
    found = []
    for line in command.split("\n"):
        words = [word for word in (one.strip("'\"") for one in line.split()) if word]
        if words := strip_wrappers(words):
            found.append(_without_options(words))
    return found


def strip_wrappers(words: list[str]) -> list[str]:
    """`sudo python3 -m pip` is a pip."""
    while words and (words[0] in WRAPPERS or _is_assignment(words[0])):
        words = words[1:]
    name, option = words[0].rpartition("/")[2] if words else "", "".join(words[1:2])
    shell = name in SHELLS and option[:1] == "-" and option[-1] == "c"
    if shell or (option == "-m" and name.startswith("python")):
        words = words[2:]
    return [words[0].rpartition("/")[2], *words[1:]] if words else []


def _without_documents(command: str) -> str:
    """What stands between `<<EOF` and `EOF` is given to a command, and runs nothing."""
    kept, end = [], ""
    for line in command.split("\n"):
        if end:
            end = "" if line.strip() == end else end
            continue
        kept.append(line)
        mark = line.partition("<<")[2].lstrip("-").split()
        end = mark[0].strip("'\"") if mark and mark[0][0] != "<" else ""
    return "\n".join(kept)


def list_written(command: str) -> list[str]:
    """Files that a command writes, moves or deletes, as far as its words show it."""
    found, folder = [], ""
    for words in split_commands(command):
        if words[0] == "cd" and len(words) == 2:
            folder = f"{folder}{words[1].rstrip('/')}/" if words[1][0] != "/" else words[1] + "/"
        paths = [path for path in _list_written_by(words) if path]
        paths = [path for path in paths if not path.startswith(("/dev/", "/tmp/", "&", "$"))]
        found += [path if path[0] in "/~" else folder + path for path in paths]
    return found


def _list_written_by(words: list[str]) -> list[str]:
    if words[0] == "git":
        words = words[1:] or words
    program, given = words[0], [word for word in words[1:] if not word.startswith("-")]
    found = []
    if program in ("rm", "mv", "tee", "truncate", "rmdir", "touch", "restore"):
        found = given
    elif program == "checkout" and "--" in words:
        found = words[words.index("--") + 1 :]
    elif program in ("sed", "perl", "yq") and any(word.startswith("-i") for word in words):
        found = given[1:]  # behind what is to be done
    elif program == "cp":
        found = given[-1:]
    for place, word in enumerate(words):
        if word.lstrip("12&") in (">", ">>"):
            found = [*found, *words[place + 1 : place + 2]]
        elif word.startswith(">"):
            found = [*found, word.lstrip(">")]
    return found


def list_changes(given: dict[str, Any]) -> list[tuple[str, str]]:
    """What each edit of a call takes away, and what it brings."""
    edits = given.get("edits")
    parts = [one for one in edits if type(one) is dict] if type(edits) is list else [given]
    return [(_join_texts(one, OLD_TEXT, "-"), _join_texts(one, NEW_TEXT, "+")) for one in parts]


def _join_texts(given: dict[str, Any], fields: tuple[str, ...], sign: str) -> str:
    """The texts of these fields, and of a patch the lines with this sign."""
    texts = [given[name] for name in fields if type(given.get(name)) is str]
    for name in PATCH_FIELDS:
        if type(given.get(name)) is str:
            texts += [line[1:] for line in given[name].split("\n") if line.startswith(sign)]
    return "\n".join(texts)


def count_text(text: str, wanted: str) -> int:
    """How often a text stands there as a word of its own; of `#`, how many comments."""
    if wanted == "#":
        lines = [line.lstrip() for line in text.split("\n")]
        return sum(line.startswith(COMMENT_SIGNS) and line[:2] != "#!" for line in lines)
    if wanted == "emoji":
        return sum(letter >= "\U0001f300" or "\u2600" <= letter <= "\u27bf" for letter in text)
    count, at = 0, text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        joined = _is_name(wanted[0]) and _is_name(text[at - 1 : at])
        count += not joined and not (_is_name(wanted[-1]) and _is_name(text[end : end + 1]))
        at = text.find(wanted, end)
    return count


def _count_versions(text: str) -> int:
    """Lines that look like a dependency with its version; its own version is none."""
    lines = [line.strip(" \t\"'-") for line in text.split("\n")]
    numbered = [line for line in lines if any(letter.isdecimal() for letter in line)]
    return sum(not line.lower().startswith(("version", "#", "//")) for line in numbered)


def _is_name(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _names(words: list[str], names: list[str]) -> bool:
    if words[0] in READERS or any(word in part for part in words[:3] for word in BUILDS):
        return False
    for word in words:
        given = word.partition("=")[2] if word[0] == "-" else word
        plain = "".join(letter if letter.isalnum() else " " for letter in given.lower())
        if any(name in plain.split() for name in names):
            return True
    return False


def _without_options(words: list[str]) -> list[str]:
    """`git -C dir push` is a push."""
    valued = OPTIONS_WITH_VALUE.get(words[0])
    if valued is None:
        return words
    kept, place = words[:1], 1
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in valued else 1
    return kept + words[place:]


def _begins_with(words: list[str], start: list[str]) -> bool:
    """The first words, and of those behind them any that the guard names as well."""
    if start == ["*"]:
        return True
    heads = [word for word in start if not word.startswith("~")]
    anywhere = [word[1:] for word in start if word.startswith("~")]
    if words[: len(heads)] != heads:
        return False
    rest = words[len(heads) :]
    return all(_has_word(rest, word) for word in anywhere)


def _has_word(words: list[str], wanted: str) -> bool:
    """`~-f` an option, also among others (`-xf`); `~` any word that is no option, `~main` that word
    or `x:main`, `~/name` a path with that name in it; `~!` no word that is no option, `~^word` not
    that word.
    """
    if wanted[:1] == "^":
        return wanted[1:] not in words
    if wanted in ("", "!"):
        return any(not word.startswith("-") for word in words) == (not wanted)
    if wanted[0] == "-" and len(wanted) < 4 and wanted[1] != "-":
        short = {letter for word in words if word[0] == "-" and word[1:2] != "-" for letter in word}
        return short.issuperset(wanted)
    if wanted[0] == "/":
        return any(f"{wanted}/" in f"/{word}/" for word in words)
    return any(word == wanted or word.endswith(f":{wanted}") for word in words)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


class BrokenGuards:
    """The guards that speak against a call."""

    __slots__ = ("asks", "epoch", "found")

    def __init__(self, session_dir: SessionDir, payload: HookPayload) -> None:
        text = (read(f"{session_dir.path}/{GUARDS_FILE}") or b"").decode("utf-8", "replace")
        mode, _, rest = text.partition("\n")[0].partition(" ")
        self.asks = mode == "ask"
        number = rest.partition(" ")[0]
        self.epoch = int(number) if number.isdecimal() else 0
        self.found = _find_broken(decode_guards(text), payload) if number else []


def _find_broken(guards: list[Guard], payload: HookPayload) -> list[tuple[Guard, str]]:
    """Each with what the call does, one for each rule."""
    found: dict[str, tuple[Guard, str]] = {}
    for guard in guards:
        if guard.id in found:
            continue
        for path in payload.tool_paths:
            if guard.forbids(path, "", payload.cwd, payload.tool_input):
                found[guard.id] = guard, f"edits {path}"
                break
        else:
            if payload.tool_command and guard.forbids("", payload.tool_command, payload.cwd):
                found[guard.id] = guard, f"runs {' '.join(payload.tool_command.split())}"
    return list(found.values())


def claim_reminders(
    session_dir: SessionDir, payload: HookPayload, broken: BrokenGuards
) -> ClaimedText | None:
    """What this process alone says of a call; None for nothing."""
    whom = f" {payload.agent_id}" if payload.agent_id else ""
    keys = {f"guard {guard.id}{whom}": (guard, does) for guard, does in broken.found}
    fresh = session_dir.pending.claim_told(list(keys)[:MAX_REMINDERS])
    if not fresh and not broken.asks:
        return None
    claimed = ClaimedText(session_dir, payload.event)
    for key in fresh:
        guard, does = keys[key]
        text = _format_reminder(guard, does)
        claimed.add_told(
            DeliveredItem(f"guard:{guard.id}{whom}", text, broken.epoch, guard.id), [key]
        )
    if broken.asks:
        claimed.question = "\n".join(_format_reminder(*one) for one in broken.found)
    return claimed


def _format_reminder(guard: Guard, does: str) -> str:
    call = does if len(does) <= MAX_CALL_CHARS else does[: MAX_CALL_CHARS - 1] + "…"
    sentence = guard.sentence[:MAX_SENTENCE_CHARS]
    return f'{GUARD_OPENING} [{guard.id}]: "{sentence}" This call {call}.'
