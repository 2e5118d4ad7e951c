"""How events change what is known of git work (`git_work`): the listeners of the fold.

One command line is taken step by step. What git printed is shared by all steps of a line, so
each step looks for its own kind of line in it.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.events import CommandRan, FileTouched, LinkSeen, Origin, SessionSeen
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import git_output as printed
from holdfast.state.facts import Position
from holdfast.state.git_commands import GitStep, list_git_steps, resolve_path
from holdfast.state.git_history import (
    on_branch_command,
    on_cherry_pick,
    on_commit,
    on_log,
    on_merge,
    on_pull,
    on_push,
    on_rebase,
    on_reset,
    on_rev_parse,
)
from holdfast.state.git_updates import (
    MAX_PATH_CHARS,
    MAX_SUBJECT_CHARS,
    CommandResult,
    with_branch,
    with_change,
    with_root,
)
from holdfast.state.git_work import MAX_PULL_REQUESTS, Change, GitWork, PullRequest, find_root
from holdfast.state.git_worktree import (
    FILE_STEPS,
    on_add,
    on_checkout,
    on_clean,
    on_diff,
    on_drop,
    on_mv,
    on_restore,
    on_rm,
    on_stash,
    on_status,
    on_unstash,
)

# Commands that print `[branch id] subject` for each commit they make.
_COMMITTING = ("commit", "cherry-pick", "revert", "am", "rebase", "merge")


def on_session_seen(work: GitWork, event: SessionSeen, position: Position) -> GitWork:
    if event.at.agent:
        return work
    if event.cwd and event.cwd != work.cwd:
        before = work.cwd or event.cwd
        work = work._replace(cwd=event.cwd, cwd_before=before, moved_at=event.at.start)
    # The client writes "HEAD" for a detached head and for a folder without git alike.
    if not event.branch or event.branch == "HEAD" or not work.cwd:
        return work
    work, root = with_root(work, work.cwd)
    work = work._replace(home=root)
    return with_branch(work, root, event.branch)


def on_link_seen(work: GitWork, event: LinkSeen, position: Position) -> GitWork:
    for url, number in printed.parse_pull_requests(event.url)[:1]:
        return _pull_request(work, work.home, url, number, "", event.at)
    return work


def on_file_touched(work: GitWork, event: FileTouched, position: Position) -> GitWork:
    if event.action == "read" or not event.ok or not event.path:
        return work
    path = truncate_safely(resolve_path(work.cwd, event.path), MAX_PATH_CHARS)
    known = work.changes.get(path)
    added = removed = None
    if event.action == "created":
        added, removed = _lines(event.text), 0
    elif event.hunks:
        changed = [line[:1] for hunk in event.hunks for line in hunk.lines]
        added, removed = changed.count("+"), changed.count("-")
    new = event.action == "created"
    if known is None:
        how = "new" if new else "modified"
        fresh = Change(path, how, not new, False, True, added, removed, added is not None, event.at)
        return with_change(work, fresh)
    if added is None or removed is None or known.added is None or known.removed is None:
        added = removed = None
        exact = False
    elif known.how == "new":  # every line of it is new, whatever was changed on the way
        exact = known.exact
        added, removed = (added, 0) if new else (max(0, known.added + added - removed), 0)
    else:
        exact = False
        added, removed = known.added + added, known.removed + removed
    how = "modified" if known.how == "deleted" else known.how
    again = known._replace(
        how=how, unstaged=True, added=added, removed=removed, exact=exact, at=event.at
    )
    return with_change(work, again)


def _lines(text: str) -> int:
    return text.count("\n") + (bool(text) and not text.endswith("\n"))


def on_command_ran(work: GitWork, event: CommandRan, position: Position) -> GitWork:
    base = work.cwd_before if work.moved_at == event.at.start else work.cwd
    line_steps = list_git_steps(event.command, base)
    if not line_steps or event.interrupted:
        return work
    gits = [step for step in line_steps if step.tool == "git"]
    committing = [step.name for step in gits if step.name in _COMMITTING]
    made = printed.parse_commits(event.output) if committing else []
    line = CommandResult(event.output, event.ok, made, committing, event.at)
    for step in line_steps:
        if step.tool == "git":
            work = _git(work, step, line)
        elif step.tool in ("gh", "glab"):
            work = _hub(work, step, line)
        elif event.ok and step.sure:
            work = FILE_STEPS[step.tool](work, step, line)
    return work


def _git(work: GitWork, step: GitStep, line: CommandResult) -> GitWork:
    if step.name in _COMMITTING:
        line.commits_left.pop(0)
    if step.name == "init" and line.ok and step.directory:
        place = resolve_path(step.directory, step.words[0]) if step.words else step.directory
        return with_root(work, place, certain=True)[0]
    listener = None if "--no-index" in step.options else _GIT.get(step.name)
    if listener is None or not step.directory:
        return work
    if not line.ok and "not a git repository" in line.output:
        return work
    work, root = with_root(work, step.directory)
    return listener(work, step, line, root)


def _tree_added(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if not line.ok or not step.words:
        return work
    path = next((word for word in step.words if "/" in word or word.startswith(".")), "")
    path = resolve_path(step.directory, path or step.words[-1])
    return with_root(work, path, certain=True)[0]


_GIT: dict[str, Callable[[GitWork, GitStep, CommandResult, str], GitWork]] = {
    "status": on_status,
    "add": on_add,
    "stage": on_add,
    "rm": on_rm,
    "mv": on_mv,
    "commit": on_commit,
    "cherry-pick": on_cherry_pick,
    "revert": on_cherry_pick,
    "am": on_cherry_pick,
    "merge": on_merge,
    "pull": on_pull,
    "rebase": on_rebase,
    "reset": on_reset,
    "checkout": on_checkout,
    "switch": on_checkout,
    "restore": on_restore,
    "stash": on_stash,
    "stash push": on_stash,
    "stash save": on_stash,
    "stash pop": on_unstash,
    "stash apply": on_unstash,
    "stash drop": on_drop,
    "stash clear": on_drop,
    "clean": on_clean,
    "push": on_push,
    "log": on_log,
    "show": on_log,
    "reflog": on_log,
    "rev-parse": on_rev_parse,
    "branch": on_branch_command,
    "diff": on_diff,
    "worktree add": _tree_added,
}


def _hub(work: GitWork, step: GitStep, line: CommandResult) -> GitWork:
    root = find_root(work.repositories, step.directory) or work.home
    known = work.repositories.get(root)
    branch = known.branch if known else ""
    links = printed.parse_pull_requests(line.output)
    if step.name == "pr create" and links and (line.ok or "already exists" in line.output):
        url, number = links[-1]
        return _pull_request(work, root, url, number, step.message, line.at, branch)
    if step.name == "pr view" and line.ok and links and not step.words:
        url, number = links[0]
        return _pull_request(work, root, url, number, "", line.at, branch)
    if step.name in ("pr merge", "pr close") and line.ok and "--auto" not in step.options:
        wanted = step.words[0].rstrip("/").rpartition("/")[2].lstrip("#") if step.words else ""
        for url, request in work.pull_requests.items():
            meant = str(request.number) == wanted if wanted else request.branch == branch
            if request.root == root and meant:
                status = "merged" if step.name == "pr merge" else "closed"
                updated = request._replace(status=status, at=line.at)
                work = work._replace(pull_requests={**work.pull_requests, url: updated})
        now, _ = printed.parse_switch(line.output)
        return with_branch(work, root, now) if now and known else work
    if step.name == "pr checkout" and root:
        now, _ = printed.parse_switch(line.output)
        return with_branch(work, root, now) if now and known else work
    return work


def _pull_request(
    work: GitWork, root: str, url: str, number: int, title: str, at: Origin, branch: str = ""
) -> GitWork:
    known = work.pull_requests.get(url)
    home = work.repositories.get(root)
    branch = branch or (known.branch if known else home.branch if home else "")
    title = truncate_safely(title, MAX_SUBJECT_CHARS) or (known.title if known else "")
    status = known.status if known else "open"
    requests = {key: one for key, one in work.pull_requests.items() if key != url}
    requests[url] = PullRequest(url, number, title, branch, root, status, at)
    for key in list(requests)[:-MAX_PULL_REQUESTS]:
        del requests[key]
    return work._replace(pull_requests=requests)
