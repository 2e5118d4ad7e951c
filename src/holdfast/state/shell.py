"""Reading shell commands: what was really run, whether it only looked, and what it checks.

Pure text work, no shell grammar: quotes are honoured, substitutions are not followed. What
it cannot read it keeps as it is, because a command worth remembering is worth its letters.
"""

from functools import lru_cache
from typing import NamedTuple

from holdfast.lazy_regex import lazy_compile

# Quoted stretches and escapes are passed over, so that "a | b" inside quotes does not split.
# Possessive repeats stand around single characters only: around a group, `re` of Python before
# 3.11.5 gives wrong matches (the last character of a command was lost).
_SPLIT = lazy_compile(
    r"""((?:[^\\"'|&;\n]++|\\.|"[^"\\]*+(?:\\.[^"\\]*+)*"|'[^']*+'|&(?!&)(?=>|\d)|(?<=>)&)+)"""
    r"""|(\|\||&&|[|;&\n])"""
)
_SPACES = lazy_compile(r"[ \t]+")
_NOISE = lazy_compile(r"\s*(?:\d?>\s*&\s*\d|\d?>>?\s*/dev/null|&>\s*/dev/null|<\s*/dev/null)")
_PREFIX = lazy_compile(
    r"^(?:(?:[A-Za-z_][A-Za-z0-9_]*=(?:\"[^\"]*\"|'[^']*'|(?!\"?\$\()\S*)\s+)+"
    r"|sudo\s+(?:-\S+\s+)*|time\s+|nohup\s+|command\s+|exec\s+|env\s+(?=\S+=)"
    r"|timeout\s+(?:-\S+\s+)*\d+[smh]?\s+|(?:do|then|else|if|while|until|!|\{|\()\s+)"
)
_ASSIGNMENT = lazy_compile(r"[A-Za-z_][A-Za-z0-9_]*=(?:\"[^\"]*\"|'[^']*'|\S*)")
_HELD = lazy_compile(r"[A-Za-z_][A-Za-z0-9_]*=\"?\$\(\s*(?!\()")
_HEREDOC = lazy_compile(r"<<-?\s*['\"]?(\w+)['\"]?[^\n]*(?:\n(?!\1\b)[^\n]*)*(?:\n\1)?")

# Heads that only look. A command made of these alone is a look-up, not a deed.
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


@lru_cache(maxsize=1024)  # several kinds of facts read the same command line
def split_commands(command: str) -> tuple[SimpleCommand, ...]:
    """The simple commands of a line in order; here-documents are left out."""
    if "\\\n" in command:
        command = command.replace("\\\n", " ")  # a line that goes on in the next
    if "<<" in command:
        command = _HEREDOC.sub("<<\\1", command)
    found: list[SimpleCommand] = []
    separator = ""
    in_comment = False
    for text, mark in _SPLIT.findall(command):
        if mark:
            separator = mark
            in_comment = in_comment and mark != "\n"
        elif in_comment or text.lstrip().startswith("#"):
            in_comment = True
        elif text := text.strip():
            plain = _bare(text)
            found.append(SimpleCommand(separator, plain, separator == "|" or _looks(plain)))
    return tuple(found)


def _bare(segment: str) -> str:
    if segment.endswith(" 2>&1") and segment.count(">") == 1:  # most of all noise is this
        segment = segment[:-5].rstrip()
    if ">" in segment or "<" in segment:
        segment = _NOISE.sub("", segment).strip()
    while prefix := _PREFIX.match(segment):
        segment = segment[prefix.end() :]
    if "=" in segment and (held := _HELD.match(segment)):  # NAME=$(command): the command ran
        inner = segment[held.end() :]
        if inner.count(")") <= inner.count("("):  # goes on behind a pipe
            segment = _bare(inner)
        elif inner.endswith((")", ')"')):
            segment = _bare(inner.removesuffix('"')[:-1])
    return _SPACES.sub(" ", segment) if "  " in segment or "\t" in segment else segment


def _looks(segment: str) -> bool:
    """True when a bare simple command changes nothing."""
    words = segment.split(None, 3)
    if not words or ("=" in words[0] and _ASSIGNMENT.fullmatch(segment)) or "=$((" in words[0]:
        return True
    head = words[0].rsplit("/", 1)[-1]
    if head in _LOOKS:
        if head == "find" and ("-delete" in segment or "-exec rm" in segment):
            return False
        return not (head == "xargs" and " rm" in segment) and not _writes(segment)
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
        return not setting and (rest[0] != "branch" or _lists(words, rest))
    return rest[0] in ("tag", "remote") and _lists(words, rest)


def _lists(words: list[str], rest: list[str]) -> bool:
    if any(word in _GIT_LISTS.get(rest[0], ()) for word in words):
        return False
    asking = any(
        word in ("-l", "--list", "--contains", "--merged", "--no-merged") for word in words
    )
    return len(rest) == 1 or asking


def _writes(segment: str) -> bool:
    return ">" in segment and ">" in _NOISE.sub("", segment).replace("->", "").replace("=>", "")


@lru_cache(maxsize=1024)
def effective_commands(command: str) -> tuple[str, ...]:
    """Each simple command that does something, in order: no cd, look-ups or filters."""
    return tuple(dict.fromkeys(part.plain for part in split_commands(command) if not part.looks))


def normalise_command(command: str) -> str:
    """The deeds of a command line as one text; empty when the whole line only looks."""
    return " && ".join(effective_commands(command))
