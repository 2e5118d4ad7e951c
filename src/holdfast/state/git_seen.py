"""What git itself answered about the working tree, with the time it was asked.

Owns the record and its JSON form. Laid over a state for display (`State.git_seen`), never folded:
a transcript cannot say what a work tree holds. Asking is `session.git_query`.
"""

from holdfast.records import Any, NamedTuple


class SeenCommit(NamedTuple):
    id: str  # short
    subject: str


class SeenFile(NamedTuple):
    path: str  # from the top of the work tree
    how: str  # "changed" | "staged" | "deleted" ... | "renamed from ..." | "new" | "conflict"
    added: int = -1  # lines against HEAD; -1: not known
    removed: int = -1


class GitSeen(NamedTuple):
    time: str
    root: str = ""
    head: str = ""  # full id; "" before the first commit
    branch: str = ""  # "" when HEAD is detached
    upstream: str = ""
    ahead: int = -1  # -1: no upstream, or unknown
    behind: int = -1
    tree_known: bool = True  # False: a filter of the repository keeps us from comparing files
    staged: int = 0
    changed: int = 0  # tracked files that differ from the index
    untracked: int = 0
    conflicts: int = 0
    stashes: int = 0
    operation: str = ""  # "merge" | "rebase" | "cherry-pick" | "revert" | "bisect"
    added: int = -1  # lines against HEAD, of tracked files
    removed: int = -1
    files: tuple[SeenFile, ...] = ()  # the first of them
    commits: tuple[SeenCommit, ...] = ()  # since `since`, newest first
    more_commits: bool = False
    since: str = ""  # when HEAD was first noted
    since_start: bool = False  # that was when the session began

    @property
    def is_clean(self) -> bool:
        return self.tree_known and not (
            self.staged or self.changed or self.untracked or self.conflicts
        )


def decode_git_seen(values: Any) -> "GitSeen | None":
    """Back from JSON; None for what is no such record."""
    try:
        seen = GitSeen(**values)
        return seen._replace(
            files=tuple(SeenFile(*one) for one in seen.files),
            commits=tuple(SeenCommit(*one) for one in seen.commits),
        )
    except TypeError:
        return None
