"""What happens in the work tree: status, add, restore, stash, diff, and edits on the shell.

Each function takes the work, one step of a command line, what the line printed and the root of
the repository, and gives the work as it is afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from posixpath import normpath

from holdfast.events import Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import git_output as printed
from holdfast.state.git_commands import GitStep, resolve_path
from holdfast.state.git_updates import (
    MAX_PATH_CHARS,
    CommandResult,
    changes_in,
    full_path,
    is_selected,
    mark_unpushed,
    names_change,
    succeeded_silently,
    with_branch,
    with_change,
    with_repository,
    with_root,
    without_changes,
)
from holdfast.state.git_work import (
    MAX_CHANGES,
    MAX_FILES_PER_COMMIT,
    MAX_STASHES,
    Change,
    GitWork,
    Stash,
    find_root,
)

_EVERYTHING = (".", ":/", "*", "-A")


def _edited(work: GitWork, step: GitStep, line: CommandResult) -> GitWork:
    for word in step.words[:20]:
        path = truncate_safely(resolve_path(step.directory, word), MAX_PATH_CHARS)
        known = work.changes.get(path)
        if known is None:
            known = Change(path, "modified", True, False, True, None, None, False, line.at)
        changed = known._replace(unstaged=True, added=None, removed=None, exact=False, at=line.at)
        work = with_change(work, changed)
    return work


def _deleted(work: GitWork, step: GitStep, line: CommandResult) -> GitWork:
    for path, change in list(work.changes.items()):
        if not is_selected(path, step.words, step.directory):
            continue
        if change.tracked and change.how != "new":
            gone = change._replace(
                how="deleted", unstaged=True, added=None, removed=None, exact=False, at=line.at
            )
            work = with_change(work, gone)
        else:
            work = without_changes(work, (path,))
    return work


def _moved(work: GitWork, step: GitStep, line: CommandResult) -> GitWork:
    if len(step.words) < 2:
        return work
    target = resolve_path(step.directory, step.words[-1])
    for word in step.words[:-1]:
        source = resolve_path(step.directory, word)
        change = work.changes.get(source)
        if change is None:
            continue
        into = target
        if step.words[-1].endswith("/") or len(step.words) > 2 or "." not in target:
            into = f"{target.rstrip('/')}/{source.rpartition('/')[2]}"
        work = without_changes(work, (source,))
        if change.tracked and change.how != "new":
            gone = change._replace(how="deleted", added=None, removed=None, exact=False)
            work = with_change(work, gone._replace(unstaged=True, at=line.at))
        arrived = change._replace(path=into, how="new", tracked=False, staged=False, unstaged=True)
        work = with_change(work, arrived._replace(at=line.at))
    return work


FILE_STEPS: dict[str, Callable[[GitWork, GitStep, CommandResult], GitWork]] = {
    "edit": _edited,
    "rm": _deleted,
    "mv": _moved,
}


def on_status(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if not line.ok and "\n" not in line.output.strip():
        return work
    short = step.options & {"-s", "--short", "--porcelain", "-z"}
    status = (
        printed.parse_short_status(line.output) if short else printed.parse_long_status(line.output)
    )
    if status is None:
        return work
    limited = bool(step.words or step.after_dashes)
    complete = step.shown and step.sure and line.ok and not limited
    complete = complete and len(line.output) < printed.MAX_OUTPUT_CHARS
    complete = complete and len(status.entries) < printed.MAX_ENTRIES
    by_root = "--porcelain" in step.options
    untracked = "-uno" not in step.options
    return apply_status(work, root, step.directory, status, complete, untracked, by_root, line.at)


def apply_status(
    work: GitWork,
    root: str,
    directory: str,
    status: printed.GitStatus,
    complete: bool,
    untracked: bool,
    by_root: bool,
    at: Origin,
) -> GitWork:
    """The work with what a status says about it."""
    ups = max((entry.path.count("../") for entry in status.entries), default=0)
    if ups and not by_root:
        work, root = with_root(work, normpath(f"{directory}/{'../' * ups}"))
    listed: dict[str, Change] = {}
    for entry in status.entries:
        path = full_path(work, root, root if by_root else directory, entry.path)
        listed[path] = _listed(work.changes.get(path), path, entry, at)
    folders = tuple(path for path in listed if path.endswith("/"))
    changes = {}
    for path, change in work.changes.items():
        if path in listed:
            continue
        ours = find_root(work.repositories, path) == root
        below = path.startswith(folders)
        if below:
            change = change._replace(how="new", tracked=False, staged=False)
        elif complete and ours and (change.tracked or untracked):
            continue  # the status has the last word
        changes[path] = change
    for folder in folders:
        if any(path.startswith(folder) for path in changes):
            del listed[folder]  # its files are known one by one
    work = work._replace(changes={**changes, **listed})
    for path in list(work.changes)[: max(0, len(work.changes) - MAX_CHANGES)]:
        work = without_changes(work, (path,))
    if status.branch or status.detached:
        work = with_branch(work, root, status.branch, status.detached)
    known = work.repositories[root]
    operation = status.operation
    if not operation and any(entry.staged == "U" for entry in status.entries):
        operation = known.operation or "merge"
    if complete or operation:
        known = known._replace(operation=operation)
    if status.upstream:
        known = known._replace(upstream=status.upstream, ahead=status.ahead)
    work = with_repository(work, known)
    if status.upstream and status.ahead is not None:
        work = mark_unpushed(work, root, known.branch, status.ahead)
    return work


def _listed(known: Change | None, path: str, entry: printed.StatusEntry, at: Origin) -> Change:
    staged, unstaged = entry.staged, entry.unstaged
    if staged == "?":
        how, tracked = "new", False
    elif "U" in (staged, unstaged) or (staged, unstaged) in (("A", "A"), ("D", "D")):
        how, tracked = "conflict", True
    else:
        tracked = True
        letter = staged if staged in "ARC" else "D" if "D" in (staged, unstaged) else "M"
        how = {"A": "new", "R": "renamed", "C": "new", "D": "deleted"}.get(letter, "modified")
    added, removed, exact = (
        (known.added, known.removed, known.exact) if known else (None, None, False)
    )
    return Change(
        path,
        how,
        tracked,
        staged not in " ?U",
        unstaged not in " ",
        added,
        removed,
        exact,
        at,
        truncate_safely(entry.before, MAX_PATH_CHARS),
    )


def on_add(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if "-n" in step.options or "--dry-run" in step.options or not _staging_done(step, line):
        return work
    words = (*step.words, *step.after_dashes)
    every = bool(step.options & {"-A", "--all", "-u", "--update"}) and not words
    only_tracked = bool(step.options & {"-u", "--update"})
    matched: set[str] = set()
    changes = dict(work.changes)
    for path, change in work.changes.items():
        if find_root(work.repositories, path) != root or (only_tracked and not change.tracked):
            continue
        if every or is_selected(path, words, step.directory):
            matched.add(path)
            how = "modified" if change.how == "conflict" else change.how
            changes[path] = change._replace(how=how, staged=True, unstaged=False, tracked=True)
    work = work._replace(changes=changes)
    if every:
        return work
    for word in words[:60]:
        path = resolve_path(step.directory, word)
        plain = not any(mark in word for mark in "*?[$:") and "." in word.rpartition("/")[2][1:]
        if plain and path not in matched and word not in _EVERYTHING:
            # Changed by something that was not seen: a formatter, a script, the user.
            change = Change(path, "modified", True, True, False, None, None, False, line.at)
            work = with_change(work, change)
    return work


def _staging_done(step: GitStep, line: CommandResult) -> bool:
    """`git add` prints nothing; when what follows it in a line fails, it has worked."""
    if line.ok:
        return step.sure
    early = step.sure and bool(line.made or line.commits_left)
    return early and "did not match any files" not in line.output and "fatal:" not in line.output


def on_rm(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if not succeeded_silently(step, line):
        return work
    for word in (*step.words, *step.after_dashes)[:60]:
        path = resolve_path(step.directory, word)
        known = work.changes.get(path)
        if known and not (known.tracked and known.how != "new"):
            work = without_changes(work, (path,))
        elif "--cached" in step.options:
            base = known or Change(path, "new", False, False, True, None, None, False, line.at)
            work = with_change(work, base._replace(how="new", tracked=False, staged=False))
        elif "*" not in word:
            gone = Change(path, "deleted", True, True, False, None, None, False, line.at)
            work = with_change(work, gone)
    return work


def on_mv(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if len(step.words) != 2 or not succeeded_silently(step, line):
        return work
    before, after = (resolve_path(step.directory, word) for word in step.words)
    if step.words[1].endswith("/"):
        after = f"{after}/{before.rpartition('/')[2]}"
    known = work.changes.get(before)
    work = without_changes(work, (before,))
    base = known or Change(after, "renamed", True, True, False, 0, 0, True, line.at, before)
    how = "new" if known and known.how == "new" else "renamed"
    return with_change(work, base._replace(path=after, how=how, staged=True, before=before))


def with_conflicts(
    work: GitWork, step: GitStep, line: CommandResult, root: str, name: str
) -> GitWork:
    found = printed.parse_conflicts(line.output)
    if not found:
        return work
    for path in found:
        full = full_path(work, root, root, path)
        change = Change(full, "conflict", True, False, True, None, None, False, line.at)
        work = with_change(work, change)
    return with_repository(work, work.repositories[root]._replace(operation=name))


def unstage_named(work: GitWork, step: GitStep, root: str, words: Iterable[str]) -> GitWork:
    words = tuple(words)
    for path, change in changes_in(work, root):
        if change.staged and is_selected(path, words, step.directory):
            work = unstage(work, change)
    return work


def unstage(work: GitWork, change: Change) -> GitWork:
    new = change.how == "new"
    again = change._replace(staged=False, unstaged=True, tracked=not new)
    return work._replace(changes={**work.changes, change.path: again})


# A commit's id, a place counted from another, a version's tag: HEAD is then on no branch.
_NO_BRANCH = lazy_compile(r"(?=.*\d)[0-9a-f]{7,40}\Z|.*[~^@]|v?\d+(?:\.\d+)+\Z")


def on_checkout(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    branch, detached = printed.parse_switch(line.output)
    if step.name == "checkout" and step.after_dashes:
        return on_restore(work, step, line, root)
    if step.options & {"-d", "--detach"} and succeeded_silently(step, line):
        detached = True
    if branch or detached:
        return with_branch(work, root, branch, detached)
    if step.options & {"--theirs", "--ours", "-p", "--patch"}:
        return work
    from_index = "from the index" in line.output
    if step.name == "checkout" and (
        from_index
        or any(word in _EVERYTHING or names_change(work, step, word) for word in step.words)
    ):
        return on_restore(work, step._replace(after_dashes=step.words, words=()), line, root)
    if not succeeded_silently(step, line) or not step.words:
        return work
    if step.options & {"-b", "-B", "-c", "-C", "--create", "--orphan"} or (
        step.name == "switch" and not step.options & {"-d", "--detach"}
    ):
        return with_branch(work, root, step.words[0])
    if step.options & {"-q", "--quiet"} and _NO_BRANCH.match(step.words[0]):
        return with_branch(work, root, "", detached=True)
    if step.options & {"-q", "--quiet"} and "/" not in step.words[0]:
        return with_branch(work, root, step.words[0])
    return work


def on_restore(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    """Files put back as they were: `git restore`, `git checkout -- FILE`."""
    if not succeeded_silently(step, line):
        return work
    words = step.after_dashes or step.words
    staged, worktree = "--staged" in step.options or "-S" in step.options, True
    if step.name == "restore" and staged:
        worktree = bool(step.options & {"--worktree", "-W"})
    other = step.name == "checkout" and step.words and step.words[0] not in ("HEAD", "@")
    other = other or any(option.startswith("--source") for option in step.options)
    if not worktree:
        return unstage_named(work, step, root, words)
    for path, change in changes_in(work, root):
        if not is_selected(path, words, step.directory) or not change.tracked:
            continue
        if other:
            unknown = change._replace(added=None, removed=None, exact=False, at=line.at)
            work = with_change(work, unknown)
        elif change.staged and not staged and not step.words:
            kept = change._replace(unstaged=False, added=None, removed=None, exact=False)
            work = with_change(work, kept)  # put back to what is staged
        else:
            work = without_changes(work, (path,))
    return work


def on_stash(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    quiet = step.options & {"-q", "--quiet"} and succeeded_silently(step, line)
    if "Saved working directory" not in line.output and not quiet:
        return work
    untracked = bool(step.options & {"-u", "--include-untracked", "-a", "--all"})
    words = step.after_dashes
    put_aside = [
        change
        for path, change in changes_in(work, root)
        if (change.tracked or untracked) and (not words or is_selected(path, words, step.directory))
    ]
    work = without_changes(work, [change.path for change in put_aside])
    stash = Stash(root, tuple(put_aside[-MAX_FILES_PER_COMMIT:]), line.at)
    return work._replace(stashes=(*work.stashes, stash)[-MAX_STASHES:])


def on_unstash(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if not line.ok or "error:" in line.output:
        return with_conflicts(work, step, line, root, "")
    stash = _stash(work, step, root)
    if stash is not None:
        for change in stash.changes:
            work = with_change(work, change._replace(staged=False, unstaged=True, at=line.at))
        if step.name == "stash pop":
            work = on_drop(work, step, line, root)
    if status := printed.parse_long_status(line.output):
        complete = step.shown and bool(status.entries)
        work = apply_status(work, root, step.directory, status, complete, True, False, line.at)
    return work


def _stash(work: GitWork, step: GitStep, root: str) -> Stash | None:
    own = [stash for stash in work.stashes if stash.root == root]
    number = step.words[0].removeprefix("stash@{").rstrip("}") if step.words else "0"
    back = int(number[:3]) if number.isdecimal() else 0
    return own[-1 - back] if back < len(own) else None


def on_drop(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if not line.ok:
        return work
    if step.name == "stash clear":
        return work._replace(stashes=tuple(s for s in work.stashes if s.root != root))
    gone = _stash(work, step, root)
    return work._replace(stashes=tuple(s for s in work.stashes if s is not gone))


def on_clean(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    if step.options & {"-n", "--dry-run"} or "-f" not in step.options or not line.ok:
        return work
    words = (*step.words, *step.after_dashes)
    gone = [
        path
        for path, change in changes_in(work, root)
        if not change.tracked and (not words or is_selected(path, words, step.directory))
    ]
    return without_changes(work, gone)


def on_diff(work: GitWork, step: GitStep, line: CommandResult, root: str) -> GitWork:
    """Lines by file, where the diff is that of the work tree."""
    named = [word for word in step.words if not names_change(work, step, word)]
    against = [word for word in named if word not in ("HEAD", "@")]
    if not line.ok or any(".." in word or "/" not in word for word in against if "." not in word):
        return work  # between commits or branches
    if any(".." in word for word in step.words):
        return work
    staged = bool(step.options & {"--staged", "--cached"})
    whole = bool(set(named) & {"HEAD", "@"})
    for one in printed.parse_diff_counts(line.output):
        if "..." in one.path[:4] and one.path.startswith("..."):
            one = one._replace(path=one.path[3:].lstrip("/"))
            if not any(path.endswith(f"/{one.path}") for path in work.changes):
                continue  # git cut the path short, and nothing known ends like it
        if "{" in one.path or " => " in one.path:
            continue
        path = full_path(work, root, root, one.path)
        known = work.changes.get(path)
        if known is None:
            known = Change(path, "modified", True, staged, not staged, None, None, False, line.at)
        elif not whole and known.staged and known.unstaged:
            continue  # one half of it
        if one.added is None and known.added is not None:
            continue
        counted = known._replace(added=one.added, removed=one.removed, exact=one.added is not None)
        work = with_change(work, counted._replace(at=line.at))
    return work
