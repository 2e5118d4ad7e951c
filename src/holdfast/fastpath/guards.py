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
    run      beginnings of commands that are not run, `+` for a space within one; `*` for any
    does     texts that no command contains, but for one that only reads
    inside   texts that no command contains
"""

from __future__ import annotations

from holdfast.fastpath.delivery import ClaimedText, DeliveredItem
from holdfast.fastpath.session_dir import GUARDS_FILE, NEW_PROMPT_FILE, SessionDir
from holdfast.files import exists, read
from holdfast.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
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


class Guard(NamedTuple):
    kind: str
    what: str
    id: str
    sentence: str

    def encode(self) -> str:
        sentence = " ".join(self.sentence.split())
        return f"{self.kind}\t{self.what}\t{self.id}\t{sentence}"

    def forbids(self, path: str, command: str, cwd: str) -> bool:
        if path:
            return self._forbids_edit(path, cwd)
        if self.kind in ("run", "does", "inside"):
            return self._forbids_command(command)
        return any(self._forbids_edit(one, cwd) for one in list_written(command))

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
    for joint in SHELL_JOINTS:
        command = command.replace(joint, "\n")
    found = []
    for line in command.split("\n"):
        words = [word.strip("'\"") for word in line.split()]
        while words and (words[0] in WRAPPERS or _is_assignment(words[0])):
            words = words[1:]
        if words:
            words[0] = words[0].rpartition("/")[2]
            found.append(_without_options(words))
    return found


def list_written(command: str) -> list[str]:
    """Files that a command writes, moves or deletes, as far as its words show it."""
    found = []
    for words in split_commands(command):
        if words[0] == "git":
            words = words[1:] or words
        program, given = words[0], [word for word in words[1:] if not word.startswith("-")]
        edits_in_place = program in ("sed", "perl") and any(w.startswith("-i") for w in words)
        if program in ("rm", "mv", "tee", "truncate", "rmdir") or edits_in_place:
            found += given
        elif program == "cp":
            found += given[-1:]
        for place, word in enumerate(words):
            if word.lstrip("12&") in (">", ">>"):
                found += words[place + 1 : place + 2]
            elif word.startswith(">"):
                found.append(word.lstrip(">"))
    return [path for path in found if path and not path.startswith(("/dev/", "/tmp/", "&", "$"))]


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
    or `x:main`, `~/name` a path with that name in it; `~!` no word that is no option.
    """
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
            if guard.forbids(path, "", payload.cwd):
                found[guard.id] = guard, f"edits {path}"
                break
        else:
            if payload.tool_command and guard.forbids("", payload.tool_command, payload.cwd):
                found[guard.id] = guard, f"runs {' '.join(payload.tool_command.split())}"
    return list(found.values())


def is_rule_list_old(session_dir: SessionDir) -> bool:
    """Whether a prompt came since the rules were read: it may have lifted one."""
    return exists(f"{session_dir.path}/{NEW_PROMPT_FILE}")


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
