"""Asking git what the working tree holds, as a repository that nobody trusts.

Owns the processes, their time limit, the reading of what they print, and the session's file of what
was last seen. Nothing that the repository's configuration names is run: no hook, file system
monitor, pager, filter, external diff or transport (docs/security.md). A question that is not
answered in time is no answer; the last one stands with its time.
"""

import json
import os
import time
from contextlib import suppress

from holdfast.clock import parse_timestamp
from holdfast.fastpath.project import locate_project
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import read
from holdfast.records import TYPE_CHECKING, NamedTuple
from holdfast.redact import redact
from holdfast.state.git_seen import GitSeen, SeenCommit, SeenFile, decode_git_seen

if TYPE_CHECKING:
    import subprocess

# On the agent's clock, and where nobody waits.
FOREGROUND_SECONDS = 0.3
BACKGROUND_SECONDS = 3.0

FILE = "git.json"
MAX_FILES = 40
MAX_COMMITS = 20
MAX_OUTPUT_BYTES = 8 * 1024 * 1024
MAX_NAME_CHARS = 200
MAX_ROOT_CHARS = 1_000

_SAFE = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.gitProxy=false",
    "core.quotePath=false",
    "credential.helper=",
    "diff.external=",
    "diff.renameLimit=200",
    "gpg.program=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
)
_STATUS = (
    *("status", "--porcelain=v2", "--branch", "--show-stash", "-z"),
    *("--untracked-files=normal", "--ignore-submodules=dirty", "--ahead-behind"),
)
# Branch, upstream and stash alone: no file is compared, so no filter is asked.
_NO_FILE = ":(top).git"
_DIFF = (
    *("diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"),
    *("--ignore-submodules=dirty", "HEAD", "--"),
)
_LOG = (
    *("log", "-z", f"-n{MAX_COMMITS + 30}", "--no-show-signature"),
    *("--format=%h%x1f%ct%x1f%s", "HEAD"),
)
_OPERATIONS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


class _First(NamedTuple):
    """Where HEAD was when the session came to a work tree, and when that was."""

    head: str  # "" where there was none, or it could not be read
    root: str  # "" until git first answered
    time: str
    at_start: bool


def note_start(session_dir: SessionDir, head: str, now: str) -> None:
    """Where the session begins, read before git could answer: its first commit may be faster."""
    if _load_file(session_dir)[0] is None:
        _save_file(session_dir, _First(head, "", now, True), None)


def look(session_dir: SessionDir, cwd: str, now: str, seconds: float) -> GitSeen | None:
    """Ask and keep the answer; else what was last seen. None: never seen, or no repository."""
    first, last = _load_file(session_dir)
    answered, seen = ask(cwd, now, seconds, first)
    if not answered:
        return last
    if seen is None:
        if last is not None:
            _save_file(session_dir, first, None)
        return None
    if first is not None and not first.root:
        first = first._replace(root=seen.root)
    elif first is None or first.root != seen.root:
        first = _First(seen.head, seen.root, now, False)
        seen = seen._replace(commits=(), more_commits=False, since=now, since_start=False)
    _save_file(session_dir, first, seen)
    return seen


def last_seen(session_dir: SessionDir) -> GitSeen | None:
    return _load_file(session_dir)[1]


def ask(
    cwd: str, now: str, seconds: float, first: _First | None = None
) -> tuple[bool, GitSeen | None]:
    """Whether git answered in time, and what: None where there is no repository to speak of."""
    program = _find_git()
    if not program or not cwd or not os.path.isdir(cwd):
        return False, None
    if not os.path.lexists(f"{locate_project(cwd)[1]}/.git"):
        return True, None
    run = _Runner(program, cwd, time.monotonic() + seconds)
    place = run.start("rev-parse", "--absolute-git-dir", "--show-toplevel")
    filters = run.start("config", "--show-scope", "-z", "--get-regexp", r"^filter\.")
    where, configured = run.finish(place), run.finish(filters)
    if where is None or configured is None:
        return False, None
    folder, _, root = where.text().strip("\n").partition("\n")
    if where.code or not root or configured.code not in (0, 1):
        return True, None  # no repository, a bare one, or one that git refuses to open
    seen = GitSeen(
        now,
        redact(root[:MAX_ROOT_CHARS]),
        tree_known=not _own_filters(configured.output),
        operation=_find_operation(folder),
    )
    told = _ask_about_tree(run, seen, first)
    return told is not None, told and _without_secrets(told)


def _ask_about_tree(run: "_Runner", seen: GitSeen, first: _First | None) -> GitSeen | None:
    """Files, counts and commits, asked at once; None where the status came too late."""
    tree = diff = None
    if seen.tree_known:
        tree, diff = run.start(*_STATUS), run.start(*_DIFF)
    else:
        tree = run.start(*_STATUS[:5], "--untracked-files=no", "--", _NO_FILE)
    log = run.start(*_LOG, *([f"^{first.head}"] if first and first.head else []), "--")
    printed, counted, logged = run.finish(tree), diff and run.finish(diff), run.finish(log)
    if printed is None or printed.code:
        return None
    seen = _read_status(printed.text(), seen)
    if counted and not counted.code:
        seen = _with_counts(seen, counted.text())
    if first is not None and first.root in ("", seen.root):
        seen = seen._replace(since=first.time, since_start=first.at_start)
        if logged is not None and not logged.code:
            seen = _with_commits(seen, logged.text())
    return seen


def _find_git() -> str:
    """By the search path, but for entries that depend on the folder we are in."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return ""


def _make_environment() -> dict[str, str]:
    foreign = ("GIT_", "SSH_ASKPASS")
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith(foreign)}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_ASKPASS": "false",
        "GIT_EDITOR": "false",
        "LC_ALL": "C",
    }


class _Answer(NamedTuple):
    code: int
    output: bytes

    def text(self) -> str:
        return self.output.decode("utf-8", "replace")


class _Runner:
    """Git processes in one folder with one deadline; late ones are killed with their children."""

    def __init__(self, program: str, cwd: str, deadline: float) -> None:
        self._command = [program, "--no-pager", *(part for one in _SAFE for part in ("-c", one))]
        self._cwd, self._deadline = cwd, deadline

    def start(self, *arguments: str) -> "subprocess.Popen[bytes] | None":
        import subprocess  # slow to import, and only where there is a repository

        try:
            return subprocess.Popen(
                [*self._command, *arguments],
                cwd=self._cwd,
                env=_make_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None

    def finish(self, process: "subprocess.Popen[bytes] | None") -> _Answer | None:
        import subprocess

        if process is None or process.stdout is None:
            return None
        try:
            left = max(0.0, self._deadline - time.monotonic())
            output = _read_all(process, left)
            if output is None:
                return None
            left = max(0.05, self._deadline - time.monotonic())
            return _Answer(process.wait(left), output)
        except (OSError, subprocess.TimeoutExpired):
            return None
        finally:
            _end_process(process)


def _read_all(process: "subprocess.Popen[bytes]", seconds: float) -> bytes | None:
    if os.name == "nt":
        return process.communicate(timeout=seconds)[0][:MAX_OUTPUT_BYTES]
    import select

    assert process.stdout is not None
    pieces: list[bytes] = []
    end, size = time.monotonic() + seconds, 0
    while size <= MAX_OUTPUT_BYTES:
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return None
        piece = os.read(process.stdout.fileno(), 1 << 16)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        size += len(piece)
    return None


def _end_process(process: "subprocess.Popen[bytes]") -> None:
    import signal
    import subprocess

    if process.poll() is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
    if process.stdout is not None:
        process.stdout.close()


def _own_filters(configured: bytes) -> bool:
    """Whether the repository itself names a filter: the user's own run in any `git status`."""
    parts = configured.split(b"\0")
    scopes = parts[0:-1:2]
    return any(scope not in (b"global", b"system") for scope in scopes)


def _find_operation(folder: str) -> str:
    for name, operation in _OPERATIONS:
        if os.path.lexists(os.path.join(folder, name)):
            return operation
    return ""


def _read_status(printed: str, seen: GitSeen) -> GitSeen:
    fields: dict[str, str] = {}
    files: list[SeenFile] = []
    staged = changed = untracked = conflicts = 0
    entries = iter(printed.split("\0"))
    for entry in entries:
        kind = entry[:2]
        if kind == "# ":
            name, _, value = entry[2:].partition(" ")
            fields[name] = value
        elif kind in ("1 ", "2 "):
            path = entry.split(" ", 8 if kind == "1 " else 9)[-1]
            before = next(entries, "") if kind == "2 " else ""
            staged += entry[2] != "."
            changed += entry[3] != "."
            how = "changed" if entry[3] != "." else "staged"
            if "D" in entry[2:4]:
                how = "deleted" if how == "changed" else "deleted, staged"
            elif before:
                how = f"renamed from {before}"
            files.append(SeenFile(path, how))
        elif kind == "u ":
            conflicts += 1
            files.insert(0, SeenFile(entry.split(" ", 10)[-1], "conflict"))
        elif kind == "? ":
            untracked += 1
            files.append(SeenFile(entry[2:], "new"))
    head, branch = fields.get("branch.oid", ""), fields.get("branch.head", "")
    ahead, _, behind = fields.get("branch.ab", "").partition(" ")
    return seen._replace(
        staged=staged,
        changed=changed,
        untracked=untracked,
        conflicts=conflicts,
        head="" if head == "(initial)" else head,
        branch="" if branch == "(detached)" else branch,
        upstream=fields.get("branch.upstream", ""),
        ahead=int(ahead[1:]) if ahead else -1,
        behind=int(behind[1:]) if behind else -1,
        stashes=int(fields.get("stash", "0")),
        files=tuple(files[:MAX_FILES]),
    )


def _with_counts(seen: GitSeen, printed: str) -> GitSeen:
    lines: dict[str, tuple[int, int]] = {}
    for entry in printed.split("\0"):
        added, _, rest = entry.partition("\t")
        removed, _, path = rest.partition("\t")
        if added.isdecimal() and removed.isdecimal():
            lines[path] = int(added), int(removed)
    files = tuple(
        one._replace(added=lines[one.path][0], removed=lines[one.path][1])
        if one.path in lines
        else one
        for one in seen.files
    )
    sums = [sum(pair[n] for pair in lines.values()) for n in (0, 1)]
    return seen._replace(files=files, added=sums[0], removed=sums[1])


def _with_commits(seen: GitSeen, printed: str) -> GitSeen:
    """Those made since: a branch that was only checked out brings older ones along."""
    since = parse_timestamp(seen.since)
    found = []
    for entry in printed.split("\0"):
        name, _, rest = entry.partition("\x1f")
        made, _, subject = rest.partition("\x1f")
        if made.isdecimal() and int(made) >= int(since) - 1:
            found.append(SeenCommit(name, subject))
    return seen._replace(commits=tuple(found[:MAX_COMMITS]), more_commits=len(found) > MAX_COMMITS)


def _without_secrets(seen: GitSeen) -> GitSeen:
    def safe(text: str) -> str:
        return redact(text)[:MAX_NAME_CHARS]

    return seen._replace(
        branch=safe(seen.branch),
        upstream=safe(seen.upstream),
        files=tuple(one._replace(path=safe(one.path)) for one in seen.files),
        commits=tuple(SeenCommit(one.id, safe(one.subject)) for one in seen.commits),
    )


def _load_file(session_dir: SessionDir) -> tuple[_First | None, GitSeen | None]:
    try:
        document = json.loads(read(f"{session_dir.path}/{FILE}") or b"{}")
        first, seen = document.get("first"), document.get("seen")
        return (
            _First(*first) if first else None,
            decode_git_seen(seen) if seen else None,
        )
    except (ValueError, TypeError, AttributeError):
        return None, None  # damaged: the next answer writes a whole one


def _save_file(session_dir: SessionDir, first: _First | None, seen: GitSeen | None) -> None:
    document = {"first": first, "seen": seen and seen._asdict()}
    with suppress(OSError):  # no space: told now, and asked again
        session_dir.write(FILE, json.dumps(document).encode())
