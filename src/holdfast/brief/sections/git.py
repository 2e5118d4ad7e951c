"""What is committed, pushed and not: the state that summaries lose most often."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.lines import Line, Sizes
from holdfast.brief.paths import in_folders
from holdfast.brief.pieces import cut, flat
from holdfast.state import git_work
from holdfast.state.model import State
from holdfast.state.patterns import lazily

_PULL = lazily(r"^https://\S+/(?:pull|merge_requests)/\d+$")
# Branches that nobody opens a pull request from.
_TRUNKS = frozenset(("main", "master", "trunk", "develop"))


def git(state: State, size: Sizes) -> Iterator[Line]:
    branch = git_work.branch(state) or state.place.branch
    branch = "" if branch == "HEAD" else branch
    made = git_work.commits(state)
    changed = git_work.uncommitted(state)
    request = git_work.pull_request(state)
    if branch or made or changed:
        yield Line(f"Git: {'; '.join(_standing(state, branch, request, bool(made or changed)))}.")
    if changed:
        yield Line(_uncommitted(state, changed, bool(made), size))
    elif made:
        yield Line("No uncommitted changes are known.")
    if made:
        shown = "; ".join(_commit(one, size) for one in reversed(made[-size.commits :]))
        more = f"; and {len(made) - size.commits} before" if len(made) > size.commits else ""
        yield Line(f"Committed in this session: {shown}{more}")


def _standing(
    state: State, branch: str, request: git_work.PullRequest | None, worked: bool
) -> Iterator[str]:
    yield f"branch {branch}" if branch else "no branch known"
    operation = git_work.operation(state)
    if operation:
        yield f"a {operation} was begun and is not finished"
    if request is not None:
        yield f"pull request #{request.number} {request.url} ({request.standing})"
    elif seen := _seen(state):
        yield f"pull request seen: {seen}"
    elif worked and branch not in _TRUNKS:
        yield "no open PR known"


def _seen(state: State) -> str:
    """The address of a pull request that came up most, where none is known as this branch's."""
    found = [
        (item.typed + item.seen, item.step, item.value)
        for item in state.identifiers.values()
        if item.sort == "url" and _PULL.search(item.value)
    ]
    often, _, value = max(found, default=(0, 0, ""))
    return value if often > 1 else ""


def _uncommitted(state: State, changed: list[git_work.Change], committed: bool, size: Sizes) -> str:
    head = "Uncommitted" if committed else "Nothing was committed in this session; uncommitted"
    paths = [(one.path, _counts(one)) for one in reversed(changed)]
    more = f" and {len(paths) - size.files} more" if len(paths) > size.files else ""
    listed = in_folders(paths[: size.files], state.place.folders)
    unseen = " (what subagents edited may be missing)" if _subagents_worked(state) else ""
    return f"{head} changes in the working tree: {listed}{more}{unseen}"


def _subagents_worked(state: State) -> bool:
    """Their edits are in files of their own, which this session's transcript does not show."""
    return any(one.role != "job" for one in state.subagents.values())


def _counts(one: git_work.Change) -> str:
    how = "" if one.how == "modified" else one.how
    lines = f"+{one.added or 0} -{one.removed or 0}" if one.exact and one.added else ""
    told = ", ".join(part for part in (how, lines) if part)
    return f" ({told})" if told else ""


def _commit(one: git_work.Commit, size: Sizes) -> str:
    name = f"{one.id} " if one.id else ""
    return f'{name}"{cut(flat(one.subject), size.line - 10)}" ({git_work.PUSHED[one.pushed]})'
