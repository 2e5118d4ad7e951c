"""Lines that git printed in a session: commits, pushes, pull requests, a branch, a status.

Quotations with their time, for transcripts read back. What the working tree holds cannot be known
from them; where a hook runs, git itself is asked (`git_seen`).
"""

from collections.abc import Iterator
from itertools import islice
from posixpath import normpath

from holdfast.events import CommandRan, LinkSeen, Origin, SessionSeen
from holdfast.lazy_regex import lazy_compile
from holdfast.path_spelling import is_inside, join_path
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.facts import DONE, Fact, FactKind, Position
from holdfast.state.shell import split_commands
from holdfast.text import truncate

COMMIT, PUSH, PULL, BRANCH, STATUS = "commit", "push", "pull", "branch", "status"

MAX_LINES = 60
MAX_OUTPUT_CHARS = 60_000
MAX_COMMAND_CHARS = 16_000
MAX_TEXT_CHARS = 200
MAX_STATUS_LINES = 12
MAX_BODY_CHARS = 4_000

_COMMITTING = frozenset(("commit", "cherry-pick", "revert", "am", "rebase", "merge"))
_MOVING = frozenset(("status", "checkout", "switch", "commit", "pr checkout"))
_ASKING = frozenset(("branch --show-current", "rev-parse --abbrev-ref"))
# Commands that print the address of the branch's own pull request.
_REQUESTING = frozenset(("pr create", "mr create", "pr view", "mr view", "push"))

_COMMITTED = lazy_compile(
    r"(?m)^(?:\[(?:detached HEAD|(?P<branch>[^\s\]]+))(?: \(root-commit\))?"
    r" (?P<id>[0-9a-f]{7,64})\] (?P<subject>.*)|(?P<logged_id>[0-9a-f]{7,64})(?: \([^)\n]*\))?"
    r" (?P<logged>\S.*))$"
)
_PUSHED = lazy_compile(
    r" [*+ =] (?:\[[^\]]+\]|[0-9a-f]{7,64}\.{2,3}(?P<tip>[0-9a-f]{7,64}))\s+(?P<local>\S+) -> \S+"
)
_ON_BRANCH = lazy_compile(
    r"(?m)^(?:On branch (\S+)|## (\S+?)\.\.\.\S+(?: \[.*\])?|\A## (?:No commits yet on )?(\S+)"
    r"|(?:Switched to (?:a new |and reset )?branch|Already on) '([^'\n]{1,200})'"
    r"|HEAD detached (?:at|from) \S+|HEAD is now at [0-9a-f]{7,64}.*)$"
)
_PULL = lazy_compile(r"https?://[^\s\"'<>()]{1,300}/(?:pull|merge_requests)/(\d+)\b")
_STATUS_LINE = lazy_compile(
    r"(?:On branch|HEAD detached|Your branch|and have \d|nothing to commit|You have unmerged"
    r"|You are currently|All conflicts|.*rebase in progress|Changes |Untracked files"
    r"|Unmerged paths|## |\t|[ MADRCUT?]{2} \S|[MADRCUT] \S)"
)
_REFUSED = lazy_compile(r"(?m)^fatal: ")
_VALUED = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"))
_HERE = lazy_compile(r"(?s)<<-?\s*['\"\\]?(\w+)['\"]?[^\n]*\n(.*?)\n\s*\1\b")
_TYPED = lazy_compile(r"""(?:\s-[a-zA-Z]*m|--message)[ =]?("(?:[^"\\]|\\.)*"|'[^']*')""")
_ESCAPED = lazy_compile(r"\\([\"`$\\])")


class GitLine(NamedTuple):
    number: int  # of a commit; 0 for others
    kind: str  # COMMIT | PUSH | PULL | BRANCH | STATUS
    text: str  # as printed: a commit's subject, a push's line, an address, lines of a status
    branch: str  # as printed; "" where HEAD was detached or none was named
    id: str  # a commit's or the pushed tip's, as short as it was printed; a pull request's number
    folder: str  # where the command went first (`cd`, `-C`), as typed
    step: int
    at: Origin
    body: str = ""  # a commit's message below its subject, where the command had it

    @property
    def fact_id(self) -> str:
        return KIND.fact_id(self.number)


Table = dict[str, GitLine]


class _Ran(NamedTuple):
    names: frozenset[str]  # "commit", "pr create"
    folder: str
    amends: bool


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    command = event.command[:MAX_COMMAND_CHARS]
    if "git" not in command and "gh " not in command and "glab " not in command:
        return table
    ran = _read_command(command)
    if not ran.names or not event.output:
        return table
    output = event.output[:MAX_OUTPUT_CHARS]
    printed = GitLine(0, "", "", "", "", ran.folder, position.step, event.at)
    for line in _read_lines(ran, command, output, printed):
        if line.kind == COMMIT and ran.amends:
            table = _without_last_commit(table, line)
        table = _put_line(table, line)
    return table


def on_session_seen(table: Table, event: SessionSeen, position: Position) -> Table:
    """Clients note the branch in their rows; one that says HEAD does not know it."""
    if event.at.agent or not event.branch or event.branch == "HEAD":
        return table
    seen = GitLine(0, BRANCH, "", _truncate_text(event.branch), "", "", position.step, event.at)
    return _put_line(table, seen)


def on_link_seen(table: Table, event: LinkSeen, position: Position) -> Table:
    found = _PULL.search(event.url)
    if found is None:
        return table
    seen = GitLine(0, PULL, found[0], "", found[1], "", position.step, event.at)
    return _put_line(table, seen)


def list_commits(table: Table) -> list[GitLine]:
    """In the order in which git printed them."""
    return [line for line in table.values() if line.kind == COMMIT]


def last_line(table: Table, kind: str, folders: tuple[str, ...] = ()) -> GitLine | None:
    """The last of a kind; with folders, of those that commands printed in or below them."""
    of_kind = (line for line in reversed(table.values()) if line.kind == kind)
    return next((line for line in of_kind if is_within(line, folders)), None)


def is_within(line: GitLine, folders: tuple[str, ...]) -> bool:
    """Whether it was printed in or below one of these; a folder as typed may start from any."""
    if not line.folder or not folders:
        return True
    paths = [normpath(join_path(folder, line.folder)) for folder in folders]
    return any(is_inside(f"{path}/", folder) for path in paths for folder in folders)


def find_push(table: Table, commit: GitLine) -> GitLine | None:
    """The push of its branch that git printed after a commit."""
    for line in table.values():
        if line.kind != PUSH or (line.step, line.at.start) < (commit.step, commit.at.start):
            continue
        named = line.branch in (commit.branch, "HEAD") and line.folder == commit.folder
        if (commit.branch and named) or (line.id and line.id[:7] == commit.id[:7]):
            return line
    return None


def list_facts(table: Table) -> Iterator[Fact]:
    for commit in list_commits(table):
        detail = f"on {commit.branch}" if commit.branch else ""
        if (push := find_push(table, commit)) is not None:
            detail = f"{detail}; git printed of a push after it: {push.text}".removeprefix("; ")
        text = f"{commit.id} {commit.text}"
        yield Fact(commit.fact_id, KIND.name, text, DONE, commit.at, truncate(detail, 600))


KIND = FactKind("commit", "g", GitLine, list_facts, field="git_printed")


def _put_line(table: Table, line: GitLine) -> Table:
    if line.kind == COMMIT:
        line = line._replace(number=facts.next_number(table))
        key = line.fact_id
    elif line.kind == PULL:
        key = line.text
    else:
        key = f"{line.kind} {line.branch if line.kind == PUSH else line.folder}"
    return facts.put_record(table, key, line, MAX_LINES)


def _without_last_commit(table: Table, amended: GitLine) -> Table:
    of_branch = [c for c in list_commits(table) if c.branch == amended.branch]
    gone = of_branch[-1].fact_id if of_branch else ""
    return {key: line for key, line in table.items() if key != gone} if gone else table


def _read_command(command: str) -> _Ran:
    names: set[str] = set()
    folder = ""
    amends = False
    for part in split_commands(command):
        head, _, rest = part.plain.partition(" ")
        head = head.rpartition("/")[2]
        words = rest.split()[:60]
        if head == "cd" and words:
            folder = words[0].strip("\"'")
        elif head == "git":
            while words and words[0].startswith("-"):
                if words[0] == "-C" and len(words) > 1:
                    folder = words[1].strip("\"'")
                words = words[2:] if words[0] in _VALUED else words[1:]
            names.update((" ".join(words[:2]), *words[:1]))
            amends = amends or (words[:1] == ["commit"] and "--amend" in words)
        # A pull request that is viewed by its number may be anybody's.
        elif head in ("gh", "glab") and (
            words[1:2] != ["view"] or all(word.startswith("-") for word in words[2:3])
        ):
            names.add(" ".join(words[:2]))
    return _Ran(frozenset(names), truncate_safely(folder, MAX_TEXT_CHARS), amends)


def _read_lines(ran: _Ran, command: str, output: str, line: GitLine) -> Iterator[GitLine]:
    names = ran.names
    if names & _MOVING and (on := list(islice(_ON_BRANCH.finditer(output), 20))):
        branch = _truncate_text(next(filter(None, on[-1].groups()), ""))
        yield line._replace(kind=BRANCH, text=_truncate_text(on[-1][0]), branch=branch)
    elif names & _ASKING and "\n" not in output.strip() and "@{" not in command:
        branch = _truncate_text(output.strip())
        yield line._replace(kind=BRANCH, text=branch, branch=branch)
    if "status" in names and not _REFUSED.search(output) and (listed := _read_status(output)):
        yield line._replace(kind=STATUS, text=listed)
    if names & _COMMITTING:
        for branch, number, subject, body in islice(_read_commits(command, output), 20):
            if branch:
                yield line._replace(kind=BRANCH, text=branch, branch=branch)
            yield line._replace(kind=COMMIT, text=subject, branch=branch, id=number, body=body)
    if "push" in names:
        fetched = not names.isdisjoint(("pull", "fetch"))
        for tip, local, printed in islice(_read_pushes(output, fetched), 10):
            yield line._replace(kind=PUSH, text=printed, branch=local, id=tip)
    if names & _REQUESTING and (found := _PULL.search(output)):
        yield line._replace(kind=PULL, text=found[0], id=found[1])


def _read_status(output: str) -> str:
    """Its head, without git's advice."""
    told = (row.rstrip() for row in output.split("\n") if _STATUS_LINE.match(row))
    return "\n".join(_truncate_text(row) for row in islice(told, MAX_STATUS_LINES))


def _read_pushes(output: str, fetched: bool) -> Iterator[tuple[str, str, str]]:
    """What git says it pushed: tip, branch and its line. `fetch` prints such lines below "From"."""
    ours = not fetched
    for row in output.split("\n"):
        if row.startswith(("To ", "From ")):
            ours = row.startswith("To ")
        elif ours and (found := _PUSHED.match(row)):
            printed = _truncate_text(" ".join(row.split()))
            yield found["tip"] or "", _truncate_text(found["local"]), printed


def _read_commits(command: str, output: str) -> Iterator[tuple[str, str, str, str]]:
    """Branch, id, subject and body of each commit that git says it made.

    After a quiet one, `git log` in the same command says it: by the subject that was typed.
    """
    typed = _typed_messages(command)
    for found in _COMMITTED.finditer(output):
        subject = found["subject"] or found["logged"]
        body = typed.get(subject.strip())
        if body is not None or found["id"]:
            name = found["id"] or found["logged_id"]
            yield _truncate_text(found["branch"] or ""), name, _truncate_text(subject), body or ""


def _typed_messages(command: str) -> dict[str, str]:
    """What the command's own text has below each subject."""
    messages = [found[2].strip() for found in _HERE.finditer(command)] if "<<" in command else []
    for run in command.split("commit")[1:]:
        typed = [word[1:-1] for word in _TYPED.findall(run) if not word.startswith('"$(')]
        messages.append("\n\n".join(typed))
    split = (_ESCAPED.sub(r"\1", message).partition("\n") for message in messages if message)
    return {
        subject.strip(): truncate_safely(body.strip(), MAX_BODY_CHARS) for subject, _, body in split
    }


def _truncate_text(text: str) -> str:
    return truncate_safely(text, MAX_TEXT_CHARS)
