"""What is committed, pushed and not: the state that summaries lose most often.

Where git was asked, its answer is all that is told, with its time. For a transcript read back, the
lines that git printed in it, with their time.
"""

from collections.abc import Iterator
from re import Pattern

from holdfast.brief.lines import BEFORE_COMMAND, Line, SizeLimits, group_by_folder, shorten_path
from holdfast.clock import format_minute_utc
from holdfast.lazy_regex import lazy_compile
from holdfast.path_spelling import is_inside
from holdfast.state import git_printed
from holdfast.state.commands import MAX_COMMANDS, Command
from holdfast.state.facts import CANCELLED
from holdfast.state.git_seen import GitSeen, SeenFile
from holdfast.state.model import State
from holdfast.state.prose import has_any
from holdfast.state.replies import Reply
from holdfast.state.requests import Request
from holdfast.state.shell import effective_commands
from holdfast.state.touched_files import TouchedFile
from holdfast.text import collapse_whitespace, truncate_line, truncate_words

UP_TO_DATE = "Everything up-to-date"  # git, of a push that had nothing left to send
MAX_LISTED_FILES = 40  # as many as are kept
_PULL = lazy_compile(r"^https://\S+/(?:pull|merge_requests)/(\d+)$")
_NUMBER = lazy_compile(r"\d+")
_DRAFTS = lazy_compile(r"\b(?:gh|glab) (?:pr|mr) (?:create|ready|update)\b")
# Commands that may make a commit or send one, by whatever tool, and how somebody says it was done.
_SENDS = r"push|merge|submit|ship|land|release|publish|sync"
_RUNS = (
    "^" + BEFORE_COMMAND.replace("{", "{{").replace("}", "}}") + r"(?:(?:gt|jj|hg|sl|svn) "
    r"|(?:[^\s\"']+ ){{1,6}}?(?:[a-z]+-)*(?:{0})(?= |$)|\S*(?:{0})(?:\.\w+)?(?= |$))"
)
_COMMITS = lazy_compile(_RUNS.format(f"{_SENDS}|commit|am|pull|rebase|revert|cherry-pick"))
_PUSHES = lazy_compile(_RUNS.format(f"{_SENDS}|[pm]r create"))
# "Committed as 1a2b3c4", "I just pushed it", "it is merged"; not "committed files", "committed.go".
_SAYS = (
    r"(?im)(?:(?:^|[.!?:;,]\s|\b(?:and|i|we|you|they)\s)\W*(?:(?:'?ve|have|has|just|already)\s)*"
    r"|\b(?:is|are|was|were|been|got|already|now|just)\s)(?:{})\b(?![\w./-])"
)
_SAYS_COMMITTED = lazy_compile(_SAYS.format("committed|pushed|merged"))
_SAYS_PUSHED = lazy_compile(_SAYS.format("pushed|merged"))
_WORDS_OF_BOTH = ("pushed", "merged", "committed")


def git(state: State, size: SizeLimits) -> Iterator[Line]:
    if state.git_seen is not None:
        yield from _tell_answer(state.git_seen, state, size)
    else:
        yield from _from_transcript(state, size)


def _tell_answer(seen: GitSeen, state: State, size: SizeLimits) -> Iterator[Line]:
    place = f"branch {_on_one_line(seen.branch)}" if seen.branch else "HEAD is detached"
    if not seen.branch and seen.head:
        place += f" at {seen.head[:9]}"
    parts = [place, *_beside_upstream(seen)]
    if seen.operation:
        parts.append(f"a {seen.operation} is in progress")
    if seen.stashes:
        parts.append(f"{seen.stashes} stashed")
    if seen.is_clean:
        parts.append("working tree clean")
    parts += _describe_work(state)
    yield Line(f"Git (asked {format_minute_utc(seen.time)}): {'; '.join(parts)}.")
    if seen.tree_known and not seen.is_clean:
        yield Line(_work_tree(seen, state, size))
    if seen.commits:
        yield Line(_new_commits(seen, size))


def _beside_upstream(seen: GitSeen) -> Iterator[str]:
    if not seen.upstream or seen.ahead < 0:
        return
    upstream = _on_one_line(seen.upstream)
    counts = ((seen.ahead, "ahead"), (seen.behind, "behind"))
    apart = [f"{number} {where}" for number, where in counts if number]
    yield f"{' and '.join(apart)} of {upstream}" if apart else f"even with {upstream}"


def _work_tree(seen: GitSeen, state: State, size: SizeLimits) -> str:
    kinds = (
        (seen.conflicts, "in conflict"),
        (seen.staged, "staged"),
        (seen.changed, "changed, not staged"),
        (seen.untracked, "untracked"),
    )
    counts = ", ".join(f"{number} {what}" for number, what in kinds if number)
    lines = f" (+{seen.added} -{seen.removed} lines)" if seen.added > 0 or seen.removed > 0 else ""
    shown = [
        (f"{seen.root}/{_on_one_line(one.path)}", _lines_of(one))
        for one in seen.files[: size.files]
    ]
    listed = group_by_folder(shown, (seen.root, *state.session.folders))
    total = len(seen.files)
    more = " and more" if total > size.files or total >= MAX_LISTED_FILES else ""
    return f"Uncommitted: {counts}{lines}: {listed}{more}"


def _lines_of(one: SeenFile) -> str:
    how = "" if one.how == "changed" else _on_one_line(one.how)
    lines = f"+{one.added} -{one.removed}" if one.added >= 0 else ""
    told = ", ".join(part for part in (how, lines) if part)
    return f" ({told})" if told else ""


def _new_commits(seen: GitSeen, size: SizeLimits) -> str:
    since = "the session began" if seen.since_start else format_minute_utc(seen.since)
    shown = "; ".join(
        f'{one.id} "{truncate_words(collapse_whitespace(one.subject), size.line - 10)}"'
        for one in seen.commits[: size.commits]
    )
    more = "; and more before" if seen.more_commits or len(seen.commits) > size.commits else ""
    return f"New commits since {since}: {shown}{more}"


def _on_one_line(text: str) -> str:
    """A branch or a file is named by its maker: one line of data."""
    return collapse_whitespace("".join(c if c.isprintable() else " " for c in text))


def _from_transcript(state: State, size: SizeLimits) -> Iterator[Line]:
    """Branch and pushes, commits, what was edited since, and a status: each as it was printed."""
    table = state.git_printed
    commits = git_printed.list_commits(table)
    latest = commits[-1].step if commits else -1
    if place := "; ".join(_describe_place(state)):
        yield Line(f"Git, as last printed: {place}.")
    if commits:
        yield Line(_list_commits(commits, state, size))
    status = git_printed.last_line(table, git_printed.STATUS, state.session.folders)
    if status is not None and status.step <= latest:
        status = None
    edited = _edited_since(state, latest)
    # A status that git printed after the last of them lists them itself.
    if edited and (status is None or status.step <= edited[0].changed_step):
        since = "since that commit" if commits else "in this session"
        yield from _tell_edited(edited, since, state, size)
    if status is not None:
        push = git_printed.last_line(table, git_printed.PUSH)
        sent = push is not None and push.step > status.step  # it says how far ahead no longer
        told = [row for row in status.text.split("\n") if not (sent and "ahead" in row)]
        rows = " · ".join(map(_on_one_line, told))
        if rows:
            yield Line(f"`git status` printed ({_as_of(status)}): {truncate_words(rows, 300)}")


def edited(state: State, size: SizeLimits) -> Iterator[Line]:
    """Files that edits of the session changed, latest first, without those that are told as
    uncommitted."""
    if size.tight:
        return
    seen, commits = state.git_seen, git_printed.list_commits(state.git_printed)
    files = _edited_since(state, -1)
    if seen is not None:
        told = {f"{seen.root}/{one.path}" for one in seen.files}
        files = [one for one in files if one.path not in told]
    else:
        files = [one for one in files if commits and one.changed_step <= commits[-1].step]
    below: dict[str, list[TouchedFile]] = {}
    for one in files[: size.files]:
        below.setdefault(one.path.rpartition("/")[0], []).append(one)
    for folder, inside in below.items():
        names = ", ".join(one.path.rpartition("/")[2] for one in inside)
        top = shorten_path(f"{folder}/", state.session.folders)
        yield Line(f"- in {top}: {names}" if top else f"- {names}", inside[0].fact_id)


def _describe_place(state: State) -> Iterator[str]:
    table = state.git_printed
    place = git_printed.last_line(table, git_printed.BRANCH, state.session.folders)
    if place is not None:
        branch = f"branch {_on_one_line(place.branch)}"
        where = branch if place.branch else f'"{_on_one_line(place.text)}"'
        yield f"{where} ({_as_of(place)})"
    push = git_printed.last_line(table, git_printed.PUSH)
    commits = git_printed.list_commits(table)
    if push is not None and (not commits or git_printed.find_push(table, commits[-1]) is None):
        yield f'push "{_on_one_line(push.text)}" ({_as_of(push)})'
    if place is not None or push is not None:
        yield from _describe_work(state)


def _describe_work(state: State) -> Iterator[str]:
    """The pull request, and where the work is."""
    yield from _pull_request(state)
    began = state.session.folders[:1]
    if cwd := _on_one_line(state.session.cwd or "".join(began)):
        moved = f" (began in {began[0]})" if began and state.session.cwd not in ("", *began) else ""
        yield f"working folder {cwd}{moved}"


def _list_commits(commits: list[git_printed.GitLine], state: State, size: SizeLimits) -> str:
    told = [_describe_commit(one, state, size) for one in reversed(commits[-size.commits :])]
    if was_pushed(state, commits[-1]) is False:
        told[0] += " (not pushed as far as seen)"
    more = f"; and {len(commits) - size.commits} before" if len(commits) > size.commits else ""
    return f"Commits git printed ({_as_of(commits[-1])}): {'; '.join(told)}{more}"


def was_pushed(state: State, commit: git_printed.GitLine) -> bool | None:
    """As git printed it; False where no command that may push ran since, None where one did."""
    if git_printed.find_push(state.git_printed, commit) is not None:
        return True
    sent = _last_run(state, _PUSHES)
    if sent is not None and sent.step > commit.step and sent.outcome == UP_TO_DATE:
        return True
    unknown = (sent is not None and sent.step >= commit.step) or not _is_complete(
        state, commit.step
    )
    return None if unknown or _is_said(state, _SAYS_PUSHED, commit.step) else False


def _tell_edited(
    edited: list[TouchedFile], since: str, state: State, size: SizeLimits
) -> Iterator[Line]:
    """Whether it was committed, as far as commands show and nobody says otherwise."""
    last = _last_run(state, _COMMITS)
    later = [one for one in edited if last is None or one.changed_step > last.step]
    earlier = edited[len(later) :]
    if later:
        since_edit = later[-1].changed_step
        known = _is_complete(state, since_edit) and not _is_said(state, _SAYS_COMMITTED, since_edit)
        how = ", uncommitted in the working tree as far as seen" if known else ""
        yield Line(f"Changed {since}{how}: {_list_files(later, state, size)}")
    if earlier and last is not None:
        ran = truncate_line(last.text, 60)
        listed = _list_files(earlier, state, size)
        yield Line(f"Changed {since}, before `{ran}`, whose outcome was not seen: {listed}")


def _is_complete(state: State, since: int) -> bool:
    """Whether every command since a step is still kept: one that is not may have done it. The
    oldest go first, except those that were run more than once."""
    once = (one.step for one in state.commands.values() if one.times == 1 and not one.check)
    return len(state.commands) < MAX_COMMANDS or min(once, default=since) < since


def _last_run(state: State, does: Pattern[str]) -> Command | None:
    """Without those that always failed; of a chain that failed a part may have worked."""
    ran = (
        one
        for one in state.commands.values()
        if does.search(one.text)
        and (one.failures < one.times or len(effective_commands(one.text)) > 1)
    )
    return max(ran, key=lambda one: one.step, default=None)


def _is_said(state: State, words: Pattern[str], since: int) -> bool:
    said: list[Request | Reply] = [*state.requests.values(), *state.replies.values()]
    # By their letters first: a pattern that begins with any word is asked at each.
    later = ((one.text, one.text.lower()) for one in said if one.step >= since)
    return any(has_any(low, _WORDS_OF_BOTH) and words.search(text) for text, low in later)


def _as_of(line: git_printed.GitLine) -> str:
    return format_minute_utc(line.at.time, "time unknown")


def _describe_commit(one: git_printed.GitLine, state: State, size: SizeLimits) -> str:
    subject = truncate_words(collapse_whitespace(one.text), size.line - 10)
    notes = []
    if not git_printed.is_within(one, state.session.folders):
        notes.append(f"in {_on_one_line(one.folder)}")
    if git_printed.find_push(state.git_printed, one) is not None:
        notes.append("then pushed")
    note = f" ({', '.join(notes)})" if notes else ""
    return f'{one.id} "{subject}"{note}'


def _edited_since(state: State, step: int) -> list[TouchedFile]:
    """Files that edits changed after a step and that were not deleted since, latest first."""
    edited = [one for one in state.files.values() if one.changed_step > step]
    edited.sort(key=lambda one: -one.changed_step)
    folders = state.session.folders
    return [
        one
        for one in edited
        if one.status != CANCELLED
        and (not folders or any(is_inside(one.path, folder) for folder in folders))
    ]


def _list_files(files: list[TouchedFile], state: State, size: SizeLimits) -> str:
    shown = [(one.path, " (new)" if one.created else "") for one in files[: size.files]]
    more = f" and {len(files) - size.files} more" if len(files) > size.files else ""
    return f"{group_by_folder(shown, state.session.folders)}{more}"


def _pull_request(state: State) -> Iterator[str]:
    if (request := git_printed.last_line(state.git_printed, git_printed.PULL)) is not None:
        yield f"pull request {request.text}{_describe_draft(state)}"
    elif seen := _find_seen_request(state):
        yield f"pull request seen: {seen}"


def _describe_draft(state: State) -> str:
    """Whether the session made its pull request as a draft and has not marked it ready since."""
    last = _last_run(state, _DRAFTS)
    is_draft = last is not None and ("draft" in last.text or "--undo" in last.text)
    return " (a draft, as far as seen)" if is_draft else ""


def _find_seen_request(state: State) -> str:
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
