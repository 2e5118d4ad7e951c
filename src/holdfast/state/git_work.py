"""Git work: what is uncommitted, which commits were made and pushed, branch and pull request.

Worked out from the session's own events: edits, git commands and what they printed. No
repository is ever opened. A claim needs evidence: a line that git printed, or the success of a
command that prints nothing. A complete `git status` corrects everything before it. What the
user does in another terminal is seen with the next status, diff or log.

Owns the records, their bounds and the questions at the end; the reading of commands is in
`git_commands`, that of their output in `git_output`, the changes of records in `git_handlers`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from holdfast.events import Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.state.facts import DONE, OPEN, Fact
from holdfast.text import truncate

MAX_CHANGES = 150
MAX_COMMITS = 60
MAX_REPOSITORIES = 8
MAX_PULL_REQUESTS = 8
MAX_STASHES = 5
MAX_FILES_PER_COMMIT = 30

# Where work trees beside the main one are usually put.
_WORK_TREE = lazy_compile(r"^(.*/(?:\.claude/worktrees|\.worktrees|worktrees)/[^/]+)(?:/|$)")


class Change(NamedTuple):
    """A path that differs from the last commit."""

    path: str  # absolute where that is known; a folder that git does not track ends with "/"
    how: str  # "modified" | "new" | "deleted" | "renamed" | "conflict"
    tracked: bool  # git knows it: committed before, or added
    staged: bool
    unstaged: bool
    added: int | None  # lines; None: not known
    removed: int | None
    exact: bool  # the lines are as git counts them, not the sum of several edits
    at: Origin  # the last event about it
    before: str = ""  # renamed: the old path


class Commit(NamedTuple):
    number: int
    id: str  # as long as git printed it; "" after a rebase until it is seen again
    subject: str
    branch: str  # "" when HEAD was detached
    pushed: bool | None  # None: a push ran after it, and what came of that was not shown
    files: tuple[str, ...]
    added: int
    removed: int
    root: str
    at: Origin
    body: str = ""  # its message without the first line, where the session wrote it


PUSHED: dict[bool | None, str] = {
    True: "pushed",
    False: "not pushed",
    None: "a push ran after it; its outcome was not shown",
}


class Repository(NamedTuple):
    root: str
    branch: str = ""  # "" when HEAD is detached or unknown
    detached: bool = False
    upstream: str = ""  # "origin/main"
    operation: str = ""  # "merge" | "rebase" | "cherry-pick" | "revert": begun, not finished
    ahead: int | None = None  # unpushed commits by git's own last word


class PullRequest(NamedTuple):
    url: str
    number: int
    title: str
    branch: str
    root: str
    status: str  # "open" | "merged" | "closed"
    at: Origin


class Stash(NamedTuple):
    root: str
    changes: tuple[Change, ...]
    at: Origin


class GitWork(NamedTuple):
    """All of it; tables are never written into."""

    cwd: str
    cwd_before: str
    moved_at: int  # where the row begins that told the working folder
    home: str  # root of the repository that the session works in
    repositories: dict[str, Repository]
    changes: dict[str, Change]
    commits: dict[str, Commit]
    pull_requests: dict[str, PullRequest]
    stashes: tuple[Stash, ...]


NO_GIT_WORK = GitWork("", "", -1, "", {}, {}, {}, {}, ())


def find_root(repositories: dict[str, Repository], path: str) -> str:
    """The repository that a path is in, "" when none is known there."""
    best = ""
    for root in repositories:
        if len(root) > len(best) and (path == root or path.startswith(f"{root.rstrip('/')}/")):
            best = root
    tree = work_tree(path)
    return tree if best and tree and not work_tree(best) else best


def work_tree(path: str) -> str:
    """The folder of the work tree that a path is in, if it is where those usually are."""
    found = _WORK_TREE.match(path)
    return found[1] if found else ""


class HasGitWork(Protocol):
    """A state (`model.State`, which imports this module)."""

    @property
    def git_work(self) -> GitWork: ...

    @property
    def files(self) -> Mapping[str, "Edited"]: ...


class Edited(Protocol):
    """A file (`files.File`)."""

    @property
    def path(self) -> str: ...

    @property
    def changed(self) -> int: ...

    @property
    def created(self) -> bool: ...


def list_uncommitted(state: HasGitWork) -> list[Change]:
    """What would be lost with the work tree, latest last; files outside of git are left out.

    So are those of a repository that the session only looked at: what lies about there is
    somebody else's.
    """
    work = state.git_work
    rooted = [(find_root(work.repositories, one.path), one) for one in work.changes.values()]
    edited = {file.path for file in state.files.values() if file.changed or file.created}
    mine = {work.home, *(commit.root for commit in work.commits.values())}
    mine |= {root for root, one in rooted if one.path in edited}
    return [one for root, one in rooted if root and root in mine]


def list_commits(state: HasGitWork, pushed: bool | None = None) -> list[Commit]:
    """The commits that this session made and that still stand, in order."""
    made = state.git_work.commits.values()
    return [commit for commit in made if pushed is None or bool(commit.pushed) == pushed]


def current_repository(state: HasGitWork) -> Repository | None:
    """The repository that the session works in."""
    work = state.git_work
    return work.repositories.get(work.home)


def current_branch(state: HasGitWork) -> str:
    """The branch that is checked out there; "" when HEAD is detached or unknown."""
    known = current_repository(state)
    return known.branch if known else ""


def current_operation(state: HasGitWork) -> str:
    """A merge, rebase, cherry-pick or revert that was begun and is not finished."""
    known = current_repository(state)
    return known.operation if known else ""


def current_pull_request(state: HasGitWork) -> PullRequest | None:
    """The one of the branch that is checked out, else the last that is still open."""
    work = state.git_work
    now = current_branch(state)
    latest = None
    for request in work.pull_requests.values():
        if request.status == "open":
            latest = request
    for request in work.pull_requests.values():
        if now and request.branch == now and request.root == work.home:
            latest = request
    return latest


def list_stashes(state: HasGitWork) -> list[Stash]:
    """What was put aside with `git stash` and not taken back, latest last."""
    return list(state.git_work.stashes)


def list_facts(work: GitWork) -> Iterator[Fact]:
    for commit in work.commits.values():
        name = commit.id or "commit"
        where = f"on {commit.branch}" if commit.branch else "on no branch"
        detail = f"{where}, {PUSHED[commit.pushed]}"
        if commit.files:
            detail += f"; {', '.join(path.rpartition('/')[2] for path in commit.files)}"
        status = DONE if commit.pushed else OPEN
        text = f"{name} {commit.subject}"
        yield Fact(f"g{commit.number}", "commit", text, status, commit.at, truncate(detail, 600))


def decode_git_work(values: list[Any]) -> GitWork:
    """Back from the arrays that a JSON document holds."""
    cwd, cwd_before, moved_at, home, repositories, changes, made, requests, put_aside = values
    return GitWork(
        cwd,
        cwd_before,
        moved_at,
        home,
        {key: Repository(*row) for key, row in repositories.items()},
        {key: _change(row) for key, row in changes.items()},
        {key: _commit(row) for key, row in made.items()},
        {key: _pull_request(row) for key, row in requests.items()},
        tuple(Stash(row[0], tuple(map(_change, row[1])), Origin(*row[2])) for row in put_aside),
    )


def _change(row: Any) -> Change:
    change = Change(*row)
    return change._replace(at=Origin(*change.at))


def _pull_request(row: Any) -> PullRequest:
    request = PullRequest(*row)
    return request._replace(at=Origin(*request.at))


def _commit(row: Any) -> Commit:
    commit = Commit(*row)
    return commit._replace(files=tuple(commit.files), at=Origin(*commit.at))
