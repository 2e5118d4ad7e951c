"""Changing the records of `git_work`: one repository, change or commit replaced, never in place.

Owns the bounds, and how a path that git printed is found again among those that are known.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

from holdfast.events import Origin
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import git_output as printed
from holdfast.state.git_commands import GitStep, resolve_path
from holdfast.state.git_work import (
    MAX_CHANGES,
    MAX_COMMITS,
    MAX_REPOSITORIES,
    Change,
    Commit,
    GitWork,
    Repository,
    find_root,
    work_tree,
)

MAX_SUBJECT_CHARS = 200
MAX_PATH_CHARS = 400
_TROUBLE = ("error:", "fatal:", "rejected", "failed to push", "Aborting")


class CommandResult(NamedTuple):
    """What a command line printed, for each of its steps."""

    output: str
    ok: bool
    made: list[printed.PrintedCommit]  # taken from the front, one by one
    commits_left: list[str]  # the committing commands that are still to come
    at: Origin


def succeeded_silently(step: GitStep, line: CommandResult) -> bool:
    """Whether a command that prints nothing has worked, as far as its line tells."""
    return line.ok and step.sure and not any(word in line.output for word in _TROUBLE)


def names_change(work: GitWork, step: GitStep, word: str) -> bool:
    path = resolve_path(step.directory, word)
    return any(known == path or known.startswith(f"{path}/") for known in work.changes)


def mark_pushed(work: GitWork, root: str, branch: str, tip: str) -> GitWork:
    own = [c for c in work.commits.values() if c.root == root and c.branch == branch]
    # A branch may be pushed only as far as a commit before its last.
    at = [n for n, c in enumerate(own) if tip and c.id and same_id(c.id, tip)]
    if at:
        own = own[: at[-1] + 1]
    elif tip and own and not own[-1].id:
        own[-1] = own[-1]._replace(id=tip)
    for commit in own:
        work = with_commit(work, commit._replace(pushed=True))
    known = work.repositories[root]
    return with_repository(work, known._replace(ahead=0)) if branch == known.branch else work


def mark_push_unseen(work: GitWork, root: str, branch: str) -> GitWork:
    """A push of the branch ran, and nothing shows whether it worked."""
    for commit in list(work.commits.values()):
        if commit.root == root and commit.branch == branch and not commit.pushed:
            work = with_commit(work, commit._replace(pushed=None))
    return work


def mark_unpushed(work: GitWork, root: str, branch: str, ahead: int) -> GitWork:
    """The upstream lacks the last so many commits of a branch, and has those before."""
    own = [c for c in work.commits.values() if c.root == root and c.branch == branch]
    for number, commit in enumerate(own):
        pushed = number < len(own) - ahead
        if pushed != commit.pushed:
            work = with_commit(work, commit._replace(pushed=pushed))
    return work


def with_root(work: GitWork, directory: str, certain: bool = False) -> tuple[GitWork, str]:
    """The work with the repository that a directory is in, and its root.

    Where the root is unknown, the outermost folder in which git was run stands for it,
    until `rev-parse --show-toplevel` or a path with `../` in a status says better.
    """
    root = directory if certain else find_root(work.repositories, directory)
    if root in work.repositories:
        return work, root
    root = root or directory
    if work_tree(directory) and not certain:
        root = directory
    inner = {
        key
        for key in work.repositories
        if key.startswith(f"{root.rstrip('/')}/") and not work_tree(key[len(root) - 1 :])
    }
    branch = next((work.repositories[key].branch for key in inner), "")
    others = {key: one for key, one in work.repositories.items() if key not in inner}
    others[root] = Repository(root, branch)
    while len(others) > MAX_REPOSITORIES:
        del others[next(key for key in others if key not in (work.home, root))]
    home = root if work.home in inner or not work.home else work.home
    made = {
        key: commit._replace(root=root) if commit.root in inner else commit
        for key, commit in work.commits.items()
    }
    return work._replace(repositories=others, home=home, commits=made), root


def with_repository(work: GitWork, repository: Repository) -> GitWork:
    if work.repositories.get(repository.root) == repository:
        return work
    return work._replace(repositories={**work.repositories, repository.root: repository})


def with_branch(work: GitWork, root: str, branch: str, detached: bool = False) -> GitWork:
    known = work.repositories[root]
    branch = truncate_safely(branch, MAX_SUBJECT_CHARS)
    if known.branch == branch and known.detached == detached:
        return work
    moved = known._replace(branch=branch, detached=detached, upstream="", ahead=None)
    return with_repository(work, moved)


def with_change(work: GitWork, change: Change) -> GitWork:
    changes = dict(work.changes)
    changes.pop(change.path, None)
    changes[change.path] = change
    if len(changes) > MAX_CHANGES:
        gone = next((p for p, c in changes.items() if not c.tracked), next(iter(changes)))
        del changes[gone]
    return work._replace(changes=changes)


def without_changes(work: GitWork, paths: Iterable[str]) -> GitWork:
    gone = set(paths)
    if not gone:
        return work
    kept = {path: change for path, change in work.changes.items() if path not in gone}
    return work._replace(changes=kept)


def changes_in(work: GitWork, root: str) -> list[tuple[str, Change]]:
    return [
        (path, change)
        for path, change in work.changes.items()
        if find_root(work.repositories, path) == root
    ]


def with_commit(work: GitWork, commit: Commit) -> GitWork:
    commits = {**work.commits, str(commit.number): commit}
    if len(commits) > MAX_COMMITS:
        gone = next((key for key, one in commits.items() if one.pushed), next(iter(commits)))
        del commits[gone]
    return work._replace(commits=commits)


def last_commit(work: GitWork, root: str, branch: str) -> Commit | None:
    own = [c for c in work.commits.values() if c.root == root and c.branch == branch]
    return own[-1] if own else None


def same_id(one: str, other: str) -> bool:
    return len(other) >= 4 and (one.startswith(other) or other.startswith(one))


def is_selected(path: str, words: Iterable[str], directory: str) -> bool:
    """Whether a path is one of those that pathspecs name, as seen from a directory."""
    for word in words:
        if word in (":/", "-A"):
            return True
        full = resolve_path(directory, word)
        if path == full or path.startswith(f"{full.rstrip('/')}/"):
            return True
        if "*" in word and (fnmatchcase(path, full) or fnmatchcase(path, f"*/{word}")):
            return True
    return False


def full_path(work: GitWork, root: str, base: str, printed_path: str) -> str:
    """The full path of one that git printed: by its place, else by the end of a known one."""
    folder = "/" if printed_path.endswith("/") else ""
    full = truncate_safely(resolve_path(base, printed_path), MAX_PATH_CHARS) + folder
    if full in work.changes or printed_path.startswith("../"):
        return full
    ending = f"/{printed_path}"
    for path in reversed(work.changes):
        if path.endswith(ending) and find_root(work.repositories, path) == root:
            return path
    return full
