"""What happens to commits and branches: commit, merge, rebase, reset, push, and what logs tell.

Functions of the same shape as those in `git_worktree`.
"""

from __future__ import annotations

from holdfast.lazy_regex import lazy_compile
from holdfast.path_spelling import is_absolute, spell_path
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import git_output as printed
from holdfast.state.git_commands import GitStep
from holdfast.state.git_updates import (
    MAX_SUBJECT_CHARS,
    CommandResult,
    changes_in,
    full_path,
    is_selected,
    last_commit,
    mark_push_unseen,
    mark_pushed,
    names_change,
    same_id,
    succeeded_silently,
    with_branch,
    with_change,
    with_commit,
    with_repository,
    with_root,
    without_changes,
)
from holdfast.state.git_work import (
    MAX_COMMITS,
    MAX_FILES_PER_COMMIT,
    Change,
    Commit,
    GitWork,
    find_root,
)
from holdfast.state.git_worktree import apply_status, unstage, unstage_named, with_conflicts

MAX_BODY_CHARS = 1_500  # of a commit's message

_SIGNATURE = lazy_compile(r"(?im)^(?:[\w-]+-by: .*|.*\bgenerated with\b.*)$\n?")


def on_commit(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if "--dry-run" in step.options:
        return work
    if not line.made and (status := printed.parse_long_status(line.output)):
        return apply_status(work, root, step.directory, status, status.clean, True, False, line.at)
    if line.made:
        made = line.made.pop(0)
    elif listed := _listed(work, step, line, root):
        made = listed
    else:
        done = succeeded_silently(step, line) and (
            (step.shown and "-q" in step.options)
            or "--quiet" in step.options
            or printed.parse_totals(line.output) is not None
        )
        if not done:
            return work
        subject = truncate_safely(step.message, MAX_SUBJECT_CHARS)
        sums = printed.parse_totals(line.output) or (0, 0, 0)
        made = printed.PrintedCommit(work.repositories[root].branch, "", subject, *sums)
    amend = "--amend" in step.options
    return _record(work, step, line, root, made, amend)


def _listed(
    work: GitWork, step: GitStep, line: CommandResult, root: str
) -> printed.PrintedCommit | None:
    """The commit as a log behind it lists it, where its own line was cut away."""
    subject = step.message.partition("\n")[0].strip()
    known = {commit.id for commit in work.commits.values() if commit.id}
    if not subject or "--amend" in step.options:
        return None
    for row in printed.parse_log(line.output):
        if row.subject == subject and not any(same_id(row.id, one) for one in known):
            return printed.PrintedCommit(
                work.repositories[root].branch, row.id, truncate_safely(subject, MAX_SUBJECT_CHARS)
            )
    return None


def _record(
    work: GitWork,
    step: GitStep,
    line: CommandResult,
    root: str,
    made: printed.PrintedCommit,
    amend: bool,
) -> GitWork:
    """A commit was made: remember it, and what went into it is no longer uncommitted."""
    taken = _taken(work, step, root, made.files if not amend else 0)
    left: list[Change] = []
    for path in taken:
        change = work.changes[path]
        every = step.options & {"-a", "--all"} or step.words or step.after_dashes
        if change.unstaged and change.staged and not every:
            left.append(
                change._replace(how="modified", staged=False, added=None, removed=None, exact=False)
            )
    work = without_changes(work, taken)
    for change in left:
        work = with_change(work, change)
    branch = made.branch
    if branch:
        work = with_branch(work, root, branch)
    files = taken[:MAX_FILES_PER_COMMIT]
    number = 1 + max((commit.number for commit in work.commits.values()), default=0)
    last = last_commit(work, root, branch)
    if amend and last is not None:
        number = last.number
        files = tuple(dict.fromkeys((*last.files, *taken)))[:MAX_FILES_PER_COMMIT]
    subject = truncate_safely(made.subject, MAX_SUBJECT_CHARS) or (
        last.subject if amend and last else ""
    )
    body = _body(step, subject) or (last.body if amend and last else "")
    totals = made.added, made.removed
    commit = Commit(number, made.id, subject, branch, False, files, *totals, root, line.at, body)
    work = with_commit(work, commit)
    known = work.repositories[root]
    ahead = None if known.ahead is None else known.ahead + (not amend)
    ending = "" if known.operation in ("merge", "cherry-pick", "revert") else known.operation
    return with_repository(work, known._replace(operation=ending, ahead=ahead))


def _body(step: GitStep, subject: str) -> str:
    """What the message says beyond its first line; signatures and the like are left out."""
    if truncate_safely(step.message, MAX_SUBJECT_CHARS) != subject:
        return ""  # of several commits on a line, the message of another
    return truncate_safely(_SIGNATURE.sub("", step.body).strip(), MAX_BODY_CHARS)


def _taken(work: GitWork, step: GitStep, root: str, files: int) -> tuple[str, ...]:
    """The changes that went into a commit."""
    here = [
        change
        for path, change in work.changes.items()
        if find_root(work.repositories, path) == root
    ]
    words = (*step.words, *step.after_dashes) if step.name == "commit" else ()
    if words:
        return tuple(c.path for c in here if is_selected(c.path, words, step.directory))
    if step.options & {"-a", "--all"}:
        return tuple(change.path for change in here if change.tracked or change.staged)
    staged = tuple(change.path for change in here if change.staged)
    if staged or step.name != "commit":
        return staged
    # Added in a way that was not seen: all of it, if there is room for all in the commit.
    return tuple(change.path for change in here) if 0 < len(here) <= files else ()


def on_cherry_pick(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    """cherry-pick, revert, am: each commit has its line; and those that stop half-way."""
    if "--abort" in step.options or "--quit" in step.options:
        return _aborted(work, step, line, root)
    later = len(line.commits_left)
    while len(line.made) > later:
        work = _record(work, step, line, root, line.made.pop(0), amend=False)
    return with_conflicts(work, step, line, root, step.name)


def _aborted(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if not succeeded_silently(step, line):
        return work
    gone = [path for path, change in changes_in(work, root) if change.how == "conflict"]
    work = without_changes(work, gone)
    return with_repository(work, work.repositories[root]._replace(operation=""))


def on_merge(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if "--abort" in step.options:
        return _aborted(work, step, line, root)
    if "Merge made by " in line.output:
        what = step.words[0] if step.words else "upstream"
        branch = work.repositories[root].branch
        subject = step.message or f"Merge {what}"
        made = printed.PrintedCommit(branch, "", truncate_safely(subject, MAX_SUBJECT_CHARS))
        return _record(work, step._replace(name="merge"), line, root, made, amend=False)
    if len(line.made) > len(line.commits_left):  # merge --continue
        return _record(work, step, line, root, line.made.pop(0), amend=False)
    return with_conflicts(work, step, line, root, "merge")


def on_pull(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    rebases = "Successfully rebased" in line.output
    if rebases or "Rebasing (" in line.output:
        return on_rebase(work, step, line, root)
    return on_merge(work, step._replace(words=()), line, root)


def on_rebase(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if "--abort" in step.options or "--quit" in step.options:
        return _aborted(work, step, line, root)
    known = work.repositories[root]
    branch = known.branch
    renamed: set[str] = set()
    while len(line.made) > len(line.commits_left):
        made = line.made.pop(0)
        for key, commit in work.commits.items():
            if commit.root == root and commit.subject == truncate_safely(
                made.subject, MAX_SUBJECT_CHARS
            ):
                work = with_commit(work, commit._replace(id=made.id, pushed=False))
                renamed.add(key)
                break
        work = without_changes(work, _taken(work, step, root, 0))
    if "Successfully rebased and updated" in line.output:
        full = line.output.partition("updated refs/heads/")[2].split("\n", 1)[0].rstrip(". ")
        branch = branch or full
        only_unpushed = step.name == "pull"
        rewritten = {
            key: commit._replace(id=commit.id if key in renamed else "", pushed=False)
            for key, commit in work.commits.items()
            if commit.root == root
            and commit.branch == branch
            and not (only_unpushed and commit.pushed)
        }
        work = work._replace(commits={**work.commits, **rewritten})
        work = with_branch(work, root, branch)
        return with_repository(work, work.repositories[root]._replace(operation=""))
    return with_conflicts(work, step, line, root, "rebase")


def on_reset(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    unstaged = printed.parse_reset_paths(line.output)
    if not line.ok and not unstaged:
        return work
    paths = step.after_dashes
    target, *others = step.words or ("HEAD",)
    hard = "--hard" in step.options
    if not paths and (others or names_change(work, step, target)):
        paths = step.words if names_change(work, step, target) else tuple(others)
    if paths and not hard:
        return unstage_named(work, step, root, paths)
    if not paths:
        work = _went_back(work, step, line, root, target, hard)
    for path, change in changes_in(work, root):
        if hard and change.tracked:
            work = without_changes(work, (path,))
        elif not hard and "--soft" not in step.options and change.staged:
            work = unstage(work, change)
    for path in unstaged:
        full = full_path(work, root, root, path)
        if full not in work.changes:
            change = Change(full, "modified", True, False, True, None, None, False, line.at)
            work = with_change(work, change)
    if hard:
        work = with_repository(work, work.repositories[root]._replace(operation=""))
    return work


def _went_back(
    work: GitWork, step: GitStep, line: CommandResult, root: str, target: str, hard: bool
) -> GitWork:
    """Commits that a reset took back; without --hard, what was in them is uncommitted again."""
    branch = work.repositories[root].branch
    own = [
        (key, commit)
        for key, commit in work.commits.items()
        if commit.root == root and commit.branch == branch
    ]
    steps_back = _steps_back(target)
    if steps_back is None:
        if target in ("HEAD", "@"):
            return work
        if "/" in target or target == "@{u}":
            back = [one for one in own if not one[1].pushed]
        else:
            at = [n for n, (_, c) in enumerate(own) if c.id and same_id(c.id, target)]
            back = own[at[-1] + 1 :] if at else []
    else:
        back = own[-steps_back:] if steps_back else []
    for key, commit in back:
        commits = dict(work.commits)
        del commits[key]
        work = work._replace(commits=commits)
        for path in () if hard else commit.files:
            if path not in work.changes:
                staged = "--soft" in step.options
                again = Change(
                    path, "modified", True, staged, not staged, None, None, False, line.at
                )
                work = with_change(work, again)
    return work


def _steps_back(target: str) -> int | None:
    """HEAD~2, HEAD^, HEAD^^, @~1; None for anything else."""
    name = target.lstrip("@") if target.startswith("@") else target.removeprefix("HEAD")
    if name == target or not name:
        return None
    if name.strip("^") == "":
        return len(name)
    digits = name[1:]
    if name[0] == "~" and (digits.isdecimal() or not digits):
        return min(int(digits[:4] or 1), MAX_COMMITS)
    return None


def on_push(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if step.options & {"-n", "--dry-run", "--delete", "-d"}:
        return work
    known = work.repositories[root]
    for local, upstream in printed.parse_tracking(line.output):
        if local == known.branch:
            work = with_repository(work, known._replace(upstream=upstream))
    lines = printed.parse_push(line.output, "From " in line.output)
    for moved in lines:
        branch = known.branch if moved.local == "HEAD" else moved.local
        if moved.ok:
            work = mark_pushed(work, root, branch, moved.tip)
    if lines:
        return work
    if "--tags" in step.options and len(step.words) < 2:
        return work
    branch = step.words[1].partition(":")[0].lstrip("+") if len(step.words) > 1 else ""
    # "$(git branch --show-current)" is the current one too, as far as a name can be read.
    branch = known.branch if branch in ("", "HEAD", "@") or "$" in branch else branch
    silent = succeeded_silently(step, line)
    if "Everything up-to-date" in line.output or (silent and step.shown):
        return mark_pushed(work, root, branch, "")
    if line.ok and not step.shown:
        return mark_push_unseen(work, root, branch)
    return work


def on_log(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    """log, show, reflog: ids that were not known, or not whole."""
    if not work.commits:
        return work
    for row in printed.parse_log(line.output):
        for commit in work.commits.values():
            if commit.root != root:
                continue
            longer = commit.id and len(row.id) > len(commit.id) and row.id.startswith(commit.id)
            named = (
                not commit.id and row.subject and row.subject[:MAX_SUBJECT_CHARS] == commit.subject
            )
            if longer or named:
                work = with_commit(work, commit._replace(id=row.id))
                break
        if commit_refs := [ref.strip() for ref in row.refs.split(",") if "/" in ref]:
            work = _seen_upstream(work, root, row.id, commit_refs)
    return work


def _seen_upstream(work: GitWork, root: str, tip: str, refs: list[str]) -> GitWork:
    for commit in list(work.commits.values()):
        ours = commit.root == root and commit.branch and commit.id and same_id(commit.id, tip)
        upstream = [ref for ref in refs if "->" not in ref and ref.endswith(f"/{commit.branch}")]
        if not ours or not upstream:
            continue
        for one in list(work.commits.values()):
            older = one.root == root and one.number <= commit.number
            if older and one.branch == commit.branch:
                work = with_commit(work, one._replace(pushed=True))
    return work


def on_rev_parse(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    """rev-parse: the root, the branch or the id of HEAD, when it alone was asked for."""
    words = line.output.split()
    if not line.ok or len(words) != 1:
        return on_log(work, step, line, root) if line.ok else work
    said = words[0]
    if "--show-toplevel" in step.options and is_absolute(said):
        return with_root(work, spell_path(said), certain=True)[0]
    if "--abbrev-ref" in step.options and said != "HEAD" and step.words == ("HEAD",):
        return with_branch(work, root, said)
    if step.words == ("HEAD",) and len(said) >= 40:
        last = last_commit(work, root, work.repositories[root].branch)
        if last and not last.id:
            return with_commit(work, last._replace(id=said))
    return on_log(work, step, line, root)


def on_branch_command(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if not line.ok:
        return work
    if "--show-current" in step.options:
        words = line.output.split()
        return with_branch(work, root, words[0]) if len(words) == 1 else work
    if step.options & {"-m", "-M"} and step.words and succeeded_silently(step, line):
        now = work.repositories[root].branch
        before = step.words[0] if len(step.words) > 1 else now
        after = step.words[-1]
        for commit in list(work.commits.values()):
            if commit.root == root and commit.branch == before:
                work = with_commit(work, commit._replace(branch=after))
        return with_branch(work, root, after) if before == now else work
    for row in line.output[: printed.MAX_OUTPUT_CHARS].split("\n"):
        if row.startswith("* ") and not row.startswith("* ("):
            return with_branch(work, root, row[2:].split()[0]) if row[2:].split() else work
    return work
