"""Reading shell commands: what was really run, whether it only looked, and what it checks.

Pure text work, no shell grammar: quotes are honoured, substitutions are not followed. What
it cannot read it keeps as it is, because a command worth remembering is worth its letters.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple

# Quoted stretches and escapes are passed over, so that "a | b" inside quotes does not split. A
# quotation that is not closed goes on to the end: a command may be cut off. Possessive repeats
# stand around single characters only: around a group, `re` of Python before 3.11.5 gives wrong
# matches (the last character of a command was lost).
_SPLIT = lazy_compile(
    r"""((?:[^\\"'|&;\n#]++|\\.|"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\Z)|'[^']*+(?:'|\Z)|&(?!&)(?=>|\d)"""
    r"""|(?<=>)&|(?<=[^\s;&|(])#)+)|(\|\||&&|\|&|[|;&\n])|#[^\n]*"""
)
_SPACES = lazy_compile(r"[ \t]+")
_NOISE = lazy_compile(r"\s*(?:\d?>\s*&\s*\d|\d?>>?\s*/dev/null|&>\s*/dev/null|<\s*/dev/null)")
# Words of the shell's own, which are not the command's.
_KEYWORD = lazy_compile(r"(?:(?:do|then|else|if|while|until|!|\{|\()\s+|\((?=\w)|\$\w+\s+=\s+)+")
_BRACED = lazy_compile(r"(?:if|while|foreach)\s*\(.*\)\s*\{")
_PREFIX = lazy_compile(
    r"(?:[A-Za-z_][A-Za-z0-9_]*=(?:\"[^\"]*\"|'[^']*'|(?!\"?\$\()\S*)\s+"
    r"|sudo\s+(?:-[ughpCT]\s+\S+\s+|-\S+\s+)*|time\s+(?:-p\s+)?|nohup\s+|command\s+|exec\s+"
    r"|env\s+(?=\S+=)|nice\s+(?:-n\s+\S+\s+|-\d+\s+)?|timeout\s+(?:-\S+\s+)*\d+[smh]?\s+)+"
)
_ASSIGNMENT = lazy_compile(r"[A-Za-z_][A-Za-z0-9_]*=(?:\"[^\"]*\"|'[^']*'|\S*)")
_HELD = lazy_compile(r"[A-Za-z_][A-Za-z0-9_]*=\"?\$\(\s*(?!\()")
# A variable with a plain value, and where one is used.
_LITERAL = lazy_compile(r"([A-Za-z_]\w*)=(?:\"[^\"$`]*\"|'[^']*'|[^\s\"'$`;&|()]+)")
_SET = lazy_compile(r"(?:for|read|export|local)\s+(\w+)|(\w+)\+?=")
_USED = lazy_compile(r"\$\{?([A-Za-z_]\w*)")
MAX_HELD_CHARS = 200  # characters of the variables that are told with a command
_HEREDOC = lazy_compile(
    r"<<-?\s*['\"]?([\w-]+)['\"]?([^\n]*)(?:\n(?!\s*\1\s*$)[^\n]*)*(?:\n\s*\1)?", re.M
)

# Heads that only look. A command made of these alone is a look-up and does nothing.
_LOOKS = frozenset(
    """
    ls ll cat head tail less more grep egrep fgrep rg ag ack find fd tree wc pwd echo printf which
    whereis type file stat du df date whoami id uname hostname env printenv ps top free uptime
    sort uniq cut awk jq yq tr column diff cmp comm md5sum sha1sum sha256sum basename dirname
    realpath readlink test [ true false sleep cd pushd popd history man help xxd od strings nl tac
    seq xargs nproc pgrep lsof ss netstat bat exa eza
    for do done while until if then else elif fi case
    esac in function return exit break continue read wait set export unset local { } ( )
    """.split()
)
_LOOKING_SUBCOMMANDS = {
    "git": frozenset(
        """status log diff show branch blame rev-parse ls-files ls-tree describe shortlog
        reflog cat-file config grep rev-list merge-base for-each-ref name-rev symbolic-ref
        check-ignore count-objects version help""".split()
    ),
    "gh": frozenset(("view", "list", "status", "diff", "checks")),
    "docker": frozenset(("ps", "images", "logs", "inspect", "info", "version")),
    "kubectl": frozenset(("get", "describe", "logs", "explain", "version")),
    "npm": frozenset(("ls", "list", "view", "outdated", "why", "config")),
    "pip": frozenset(("list", "show", "freeze", "index")),
    "go": frozenset(("doc", "env", "list", "version")),
    "cargo": frozenset(("tree", "metadata", "search", "version")),
}
# Subcommands that look when they are given nothing to set, name or remove.
_GIT_LISTS = {
    "branch": ("-d", "-D", "-m", "-M", "-c", "-C", "-f", "-u", "--delete", "--move", "--copy"),
    "tag": ("-d", "-a", "-s", "-f", "-m", "--delete"),
}
_LISTING = frozenset(("-l", "--list", "--contains", "--merged", "--no-merged"))
_GIT_LOOKS = frozenset(
    (
        *(("worktree", "list"), ("stash", "list"), ("stash", "show"), ("remote", "show")),
        *(("remote", "get-url"), ("submodule", "status"), ("bundle", "verify"), ("notes", "show")),
    )
)
_LOOKING_SED = lazy_compile(r"^sed\s+(?:-[nE]+\s+)+")


# Of a git command: what it does is said early, and a message may be long.
MAX_GIT_WORDS = 24


class SimpleCommand(NamedTuple):
    """A simple command of a command line."""

    separator: str  # what stands before it: "|", "&&" ..., "" for the first
    plain: str  # without redirections, assignments before it, sudo, time and the like
    looks: bool  # it changes nothing, or only filters what another one printed
    typed: str = ""  # with what stands before it, the folder it was run in, and its variables
    turned: bool = False  # behind `!`, `if`, `while`: its status is not the line's


@lru_cache(maxsize=1024)  # several kinds of facts read the same command line
def split_commands(command: str) -> tuple[SimpleCommand, ...]:
    """The simple commands of a line in order; here-documents and comments are left out."""
    if "\\\n" in command:
        command = command.replace("\\\n", " ")  # a line that goes on in the next
    if "<<" in command:
        command = _HEREDOC.sub(r"<<\1\2", command)
    found: list[SimpleCommand] = []
    separator = folder = ""
    held: dict[str, str] = {}  # variables by name, as they were set
    for text, mark in _SPLIT.findall(command):
        if mark:
            # A line that ends in "&&" or "|" goes on in the next.
            if mark != "\n" or separator not in ("&&", "||", "|"):
                separator = "|" if mark == "|&" else mark
        elif text := text.strip():
            part = _read_simple(separator, text, folder)
            if part.plain.startswith("cd ") and part.separator in ("", "&&", ";", "\n"):
                folder = part.plain
            if "=" in text or text.startswith(("for ", "read ")):
                _hold_variable(held, part.typed.removeprefix(f"{folder} && "))
            if held and "$" in part.typed:
                part = _with_variables(part, held)
            found.append(part)
            separator = ""
    if found and separator == "&":  # nothing behind it: the line does not wait for its end
        found.append(SimpleCommand("&", "", True))
    return tuple(found)


def _hold_variable(held: dict[str, str], typed: str) -> None:
    """Keep what a statement sets to a plain value, and forget what it sets to something else."""
    if literal := _LITERAL.fullmatch(typed):
        held[literal[1]] = typed
    elif changed := _SET.match(typed):
        held.pop(changed[1] or changed[2], None)


def _with_variables(part: SimpleCommand, held: dict[str, str]) -> SimpleCommand:
    """A command with the variables that it uses, so that it can be run again."""
    names = dict.fromkeys(_USED.findall(part.typed))
    used = " && ".join(held[name] for name in names if name in held)
    if not used or len(used) > MAX_HELD_CHARS:
        return part
    return part._replace(typed=f"{used} && {part.typed}")


def _read_simple(separator: str, text: str, folder: str) -> SimpleCommand:
    if _BRACED.match(text):  # PowerShell's: one statement with its block
        return SimpleCommand(separator, text, False, text, True)
    word = _KEYWORD.match(text)
    turned = word is not None and word[0].startswith(("!", "if", "while", "until"))
    text = _without_noise(text[word.end() :] if word else text)
    if text.endswith(")"):
        while text.endswith(")") and text.count("(") < text.count(")"):
            text = text[:-1].rstrip()
    plain = _strip_prefixes(text)
    looks = separator == "|" or _only_looks(plain)
    typed = text if plain in text else plain
    if folder and not looks:
        typed = f"{folder} && {typed}"
    return SimpleCommand(separator, plain, looks, typed, turned)


def _without_noise(segment: str) -> str:
    if segment.endswith(" 2>&1") and segment.count(">") == 1:  # most of all noise is this
        segment = segment[:-5].rstrip()
    if ">" in segment or "<" in segment:
        segment = _NOISE.sub("", segment).strip()
    return _SPACES.sub(" ", segment) if "  " in segment or "\t" in segment else segment


def _strip_prefixes(segment: str) -> str:
    if prefix := _PREFIX.match(segment):
        segment = segment[prefix.end() :]
    if "=" in segment and (held := _HELD.match(segment)):  # NAME=$(command): the command ran
        inner = segment[held.end() :]
        if inner.count(")") <= inner.count("("):  # goes on behind a pipe
            segment = _strip_prefixes(inner)
        elif inner.endswith((")", ')"')):
            segment = _strip_prefixes(inner.removesuffix('"')[:-1])
    return segment


def _only_looks(segment: str) -> bool:
    """True when a bare simple command changes nothing."""
    words = segment.split(None, 3)
    if not words or ("=" in words[0] and _ASSIGNMENT.fullmatch(segment)) or "=$((" in words[0]:
        return True
    head = words[0].rsplit("/", 1)[-1]
    if head in _LOOKS:
        if head == "find" and ("-delete" in segment or "-exec rm" in segment):
            return False
        writes = ">" in _NOISE.sub("", segment).replace("->", "").replace("=>", "")
        return not (writes or (head == "xargs" and " rm" in segment))
    if head == "sed":
        return _LOOKING_SED.match(segment) is not None or " -i" not in segment
    subcommands = _LOOKING_SUBCOMMANDS.get(head)
    if subcommands is None:
        return len(words) == 2 and words[1] in ("--version", "-V", "--help", "-h", "version")
    if head == "git":
        return _git_looks(segment.split(None, MAX_GIT_WORDS)[1:])
    rest = [word for word in segment.split()[1:] if not word.startswith("-")]
    if head == "gh":
        return len(rest) > 1 and rest[1] in subcommands
    return bool(rest) and rest[0] in subcommands


def _git_looks(words: list[str]) -> bool:
    """Whether `git` with these words changes nothing; options before the subcommand aside."""
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("-C", "-c", "--git-dir", "--work-tree") else words[1:]
    if not words:
        return True
    rest = [word for word in words if not word.startswith("-")]
    if tuple(rest[:2]) in _GIT_LOOKS or rest[0] in _LOOKING_SUBCOMMANDS["git"]:
        setting = rest[0] == "config" and len(rest) > 2 and "--get" not in words
        return not setting and (rest[0] != "branch" or _lists_only(words, rest))
    return rest[0] in ("tag", "remote") and _lists_only(words, rest)


def _lists_only(words: list[str], rest: list[str]) -> bool:
    if any(word in _GIT_LISTS.get(rest[0], ()) for word in words):
        return False
    return len(rest) == 1 or not _LISTING.isdisjoint(words)


@lru_cache(maxsize=1024)
def effective_commands(command: str) -> tuple[str, ...]:
    """Each simple command that does something, in order: no cd, look-ups or filters."""
    return tuple(dict.fromkeys(part.plain for part in split_commands(command) if not part.looks))


def normalise_command(command: str) -> str:
    """What a command line does as one text; empty when the whole line only looks."""
    return " && ".join(effective_commands(command))


# Programs that are given another command line: a shell its script, a container, another machine.
_OPTIONS = (
    r"(?:-(?:[evwupniltFoJW]|-(?:name|network|volume|env|env-file|user|workdir|publish|platform"
    r"|mount|label|entrypoint|file|profile|project-name|namespace)) [^\s-]\S* |-\S+ )*"
)
# The programs that the patterns below begin with, asked before any of them.
_WRAPPING = frozenset(
    """sh bash zsh dash ksh fish docker docker-compose podman podman-compose kubectl oc ssh su nix
    nix-shell direnv devbox xvfb-run conda cross-env dotenv doppler op""".split()
)
# A line may nest them; deeper than this nobody types.
MAX_WRAPPERS = 6
_WRAPPERS = tuple(
    lazy_compile(rf"^(?:\S*/)?{head}(.+)$", re.S)
    for head in (
        r"(?:ba|z|da|k|fi)?sh (?:-[a-zA-Z]+ (?:pipefail )?|--\w+ )*?-\w*c (?=[\"'])",
        r"(?:docker|podman)(?: |-)compose (?:-\S+ (?:[^\s-]\S*\.ya?ml )?)*(?:run|exec) "
        rf"{_OPTIONS}[\w.-]+ ",
        rf"(?:docker|podman) (?:run|exec) {_OPTIONS}[\w./:@$-]+ ",
        rf"(?:kubectl|oc) {_OPTIONS}exec .*? -- ",
        rf"ssh {_OPTIONS}[\w.@-]+ ",
        r"su (?:- )?(?:\w+ )?-c (?=[\"'])",
        r"nix(?:-shell|(?: \S+)* develop)(?: \S+)*? (?:-c|--command|--run) ",
        r"(?:direnv exec \S+|devbox run(?: --)?|xvfb-run(?: -\S+)*|conda run(?: -n \S+)?"
        r"|cross-env(?: \w+=\S*)+|(?:dotenv|doppler run|op run)(?: -\S+ \S+)* --) ",
    )
)


@lru_cache(maxsize=1024)
def inner_line(plain: str) -> str:
    """The command line that a simple command hands on: `pytest -q` of `bash -lc 'pytest -q'`."""
    words = [word.strip("'\"").rpartition("/")[2] for word in plain.split()]
    if not words or words[0] not in _WRAPPING:
        return ""
    if sum(word in _WRAPPING for word in words) > MAX_WRAPPERS:
        return ""
    for wrapper in _WRAPPERS:
        if found := wrapper.match(plain):
            line = found[1].strip()
            quote = line[:1]
            if quote and quote in "'\"":
                line = line[1:].rpartition(quote)[0] or line[1:]
            strict = "set -e; " if re.search(r" -\w*e\w* ", plain[: found.start(1)]) else ""
            pipefail = "set -o pipefail; " if " pipefail " in plain[: found.start(1)] else ""
            return f"{strict}{pipefail}{line}"
    return ""


class _Pipeline(NamedTuple):
    start: int
    end: int
    separator: str  # what stands before it
    chained: bool  # it runs only where the one before worked


def read_statuses(command: str, ok: bool, output: str = "") -> list[bool | None]:
    """Of each simple command whether it worked, as far as a status shows it: that of the whole
    line, or one that the line itself prints (`cmd; echo $?`, `cmd && echo OK || echo FAIL`)."""
    parts = split_commands(command)
    shown: list[bool | None] = []
    lines = output.rstrip().split("\n")[-MAX_PRINTED_LINES:]
    for end, reports in _find_reports(parts):
        printed = _read_report(parts, end, reports, lines)
        shown += _read_group(parts[len(shown) : end], printed)
        shown += [None] * reports
    shown += _read_group(parts[len(shown) :], ok)
    return [
        None if status and not _inner_worked(part) else status
        for part, status in zip(parts, shown, strict=True)
    ]


# Where a line prints statuses, they stand among the last lines.
MAX_PRINTED_LINES = 40
_STATUS_WORD = lazy_compile(r"\$\?|\$\{\?\}|\$\{PIPESTATUS\[0\]\}")


def _find_reports(parts: tuple[SimpleCommand, ...]) -> Iterator[tuple[int, int]]:
    """Where parts end of which the next ones print how they ended, and how many those are."""
    for at, part in enumerate(parts):
        if not at or not part.plain.startswith("echo "):
            continue
        following = parts[at + 1] if at + 1 < len(parts) else None
        if part.separator in (";", "\n") and _STATUS_WORD.search(part.plain):
            yield at, 1
        elif (
            part.separator == "&&"
            and following is not None
            and following.separator == "||"
            and following.plain.startswith("echo ")
        ):
            yield at, 2


def _read_report(
    parts: tuple[SimpleCommand, ...], at: int, reports: int, lines: list[str]
) -> bool | None:
    """The status that was printed, None where it does not stand in the output."""
    said = [part.plain[5:].strip("\"' ") for part in parts[at : at + reports]]
    if reports == 2:
        printed = [line in lines for line in said]
        return printed[0] if printed[0] != printed[1] else None
    pieces = [re.escape(piece) for piece in _STATUS_WORD.split(said[0])]
    pattern = re.compile(r"(\d+)".join(re.sub(r"\\\$\w+", ".*", piece) for piece in pieces))
    found = [match[1] for line in lines if (match := pattern.fullmatch(line.strip()))]
    return int(found[-1]) == 0 if len(set(found)) == 1 else None


def _inner_worked(part: SimpleCommand) -> bool:
    """Whether success of a part is that of all that it hands on to another shell."""
    inner = inner_line(part.plain)
    if not inner:
        return True
    statuses = zip(split_commands(inner), read_statuses(inner, True), strict=True)
    return all(status for one, status in statuses if not one.looks)


def _read_group(parts: tuple[SimpleCommand, ...], ok: bool | None) -> list[bool | None]:
    """How commands ended, of which the last pipeline's status is known.

    Success goes back over `&&` (and over any separator behind `set -e`); failure is shown only of
    the last pipeline, unless it stands behind `&&`, where any before it may have failed. Without
    pipefail a pipeline's status is its last stage's.
    """
    shown: list[bool | None] = [None] * len(parts)
    if ok is None:
        return shown
    options = "".join(part.plain for part in parts if part.plain.startswith("set -"))
    strict, whole = " -e" in options or "e" in options[5:8], "pipefail" in options
    for pipeline in _list_pipelines(parts, strict):
        start, end, _, chained = pipeline
        turned = parts[start].turned or (pipeline.separator == "||" and ok)
        if not turned and ok and whole:
            shown[start:end] = [True] * (end - start)
        elif not turned and (ok or (end - start == 1 and _began(parts[:start], chained))):
            shown[end - 1] = ok
        if not _tells_of_one_before(pipeline, parts[end - 1].plain, ok):
            break
    return shown


def _began(before: tuple[SimpleCommand, ...], chained: bool) -> bool:
    """Whether it is plain that a command ran at all: behind `&&` an earlier one may have failed."""
    if not chained:
        return True
    start = max((at for at, part in enumerate(before) if part.separator in (";", "\n")), default=0)
    return all(part.looks for part in before[start:])


def _tells_of_one_before(pipeline: _Pipeline, last: str, ok: bool) -> bool:
    """Whether the status is that of the pipeline before, too."""
    if pipeline.separator == "||":
        return not ok or last in ("exit 1", "false", "return 1")
    return pipeline.chained if ok else pipeline.end - pipeline.start == 1 and last[:6] == "exit $"


def _list_pipelines(parts: tuple[SimpleCommand, ...], strict: bool) -> Iterator[_Pipeline]:
    """The last one first."""
    end = len(parts)
    while end:
        start = end - 1
        while start and parts[start].separator == "|":
            start -= 1
        separator = parts[start].separator
        chained = separator == "&&" or (strict and separator in (";", "\n"))
        yield _Pipeline(start, end, separator, chained)
        end = start
