"""What is committed, pushed and not: the state that summaries lose most often."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.lines import Line, SizeLimits, group_by_folder
from holdfast.lazy_regex import lazy_compile
from holdfast.state import git_work
from holdfast.state.model import State
from holdfast.text import collapse_whitespace, truncate_words

_PULL = lazy_compile(r"^https://\S+/(?:pull|merge_requests)/(\d+)$")
_NUMBER = lazy_compile(r"\d+")
# Branches that nobody opens a pull request from.
_TRUNKS = frozenset(("main", "master", "trunk", "develop"))


def git(state: State, size: SizeLimits) -> Iterator[Line]:
    known = git_work.current_repository(state)
    detached = known is not None and known.detached
    # The client writes down where the session began.
    branch = git_work.current_branch(state) or ("" if detached else state.session.branch)
    branch = "" if branch == "HEAD" else branch
    made = git_work.list_commits(state)
    changed = git_work.list_uncommitted(state)
    request = git_work.current_pull_request(state)
    if branch or detached or made or changed:
        place = f"branch {branch}" if branch else "HEAD is detached" if detached else ""
        parts = _format_branch(state, place, branch in _TRUNKS, request, bool(made or changed))
        yield Line(f"Git: {'; '.join(parts)}.")
    if changed:
        yield Line(_uncommitted(state, changed, bool(made), size))
    elif made:
        yield Line("No uncommitted changes are known.")
    if made:
        shown = "; ".join(_commit(one, size) for one in reversed(made[-size.commits :]))
        more = f"; and {len(made) - size.commits} before" if len(made) > size.commits else ""
        yield Line(f"Committed in this session: {shown}{more}")


def _format_branch(
    state: State,
    place: str,
    on_trunk: bool,
    request: git_work.PullRequest | None,
    worked: bool,
) -> Iterator[str]:
    yield place or "no branch known"
    operation = git_work.current_operation(state)
    if operation:
        yield f"a {operation} is in progress"
    if request is not None:
        yield f"pull request #{request.number} {request.url} ({request.status})"
    elif seen := _seen(state):
        yield f"pull request seen: {seen}"
    elif worked and not on_trunk:
        yield "no open PR known"


def _seen(state: State) -> str:
    """The address of a pull request that came up most, where none is known as this branch's.

    One that only scrolled past once may be anybody's, unless the user asked for it by its number.
    """
    named: set[str] = set()
    for request in state.requests.values():
        named.update(_NUMBER.findall(request.text))
    found = [
        (pull[1] in named, item.typed + item.seen, item.step, item.value)
        for item in state.identifiers.values()
        if item.category == "url" and (pull := _PULL.search(item.value))
    ]
    asked, often, _, value = max(found, default=(False, 0, 0, ""))
    return value if asked or often > 1 else ""


def _uncommitted(
    state: State, changed: list[git_work.Change], committed: bool, size: SizeLimits
) -> str:
    head = "Uncommitted" if committed else "Nothing was committed in this session; uncommitted"
    paths = [(one.path, _counts(one)) for one in reversed(changed)]
    more = f" and {len(paths) - size.files} more" if len(paths) > size.files else ""
    listed = group_by_folder(paths[: size.files], state.session.folders)
    unseen = " (what subagents edited may be missing)" if _subagents_worked(state) else ""
    return f"{head} changes in the working tree: {listed}{more}{unseen}"


def _subagents_worked(state: State) -> bool:
    """Their edits are in files of their own, which this session's transcript does not show."""
    return any(one.role != "job" for one in state.subagents.values())


def _counts(one: git_work.Change) -> str:
    how = "" if one.how == "modified" else one.how
    lines = f"+{one.added or 0} -{one.removed or 0}" if one.exact and one.added else ""
    counted = ", ".join(part for part in (how, lines) if part)
    return f" ({counted})" if counted else ""


def _commit(one: git_work.Commit, size: SizeLimits) -> str:
    name = f"{one.id} " if one.id else ""
    subject = truncate_words(collapse_whitespace(one.subject), size.line - 10)
    return f'{name}"{subject}" ({git_work.PUSHED[one.pushed]})'
