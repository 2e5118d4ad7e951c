"""Git work: what is uncommitted, committed, pushed, told by the real git's own output."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.events import CommandRan, Event, FileTouched, Hunk, Origin, SessionSeen
from holdfast.state import (
    EMPTY_STATE,
    State,
    decode_state,
    encode_state,
    fold,
    fold_all,
    list_facts,
)
from holdfast.state.git_work import (
    MAX_CHANGES,
    MAX_COMMITS,
    Change,
    current_branch,
    current_operation,
    current_pull_request,
    current_repository,
    list_commits,
    list_stashes,
    list_uncommitted,
)

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_EDITOR": "true",
    "LC_ALL": "C",
}


class Session:
    """A session in a repository of its own: commands run for real, and are told to the fold."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "work"
        self.root.mkdir(parents=True)
        self.cwd = self.root
        self.events: list[Event] = []
        self.state: State = EMPTY_STATE
        self.silent("git init -q -b main .")

    def _at(self) -> Origin:
        number = len(self.events) + 1
        return Origin(f"r{number}", number * 10, number * 10 + 10, f"2026-01-01T{number:09}Z")

    def tell(self, event: Event) -> None:
        self.events.append(event)
        self.state = fold(self.state, event)

    def here(self, folder: Path, name: str = "") -> None:
        self.cwd = folder
        self.tell(SessionSeen(self._at(), "s", str(folder), name, "test"))

    def silent(self, command: str) -> str:
        """Run by somebody else: the session does not see it."""
        done = subprocess.run(
            command,
            shell=True,
            cwd=self.cwd,
            env={**ENVIRONMENT, "HOME": str(self.root.parent)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def run(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.cwd,
            env={**ENVIRONMENT, "HOME": str(self.root.parent)},
            capture_output=True,
            text=True,
            check=False,
        )
        # As the client shows it: what went to stdout, then what went to stderr.
        output = "\n".join(part.rstrip("\n") for part in (done.stdout, done.stderr) if part)
        self.tell(CommandRan(self._at(), command, output, done.returncode == 0, done.returncode))
        return output

    def write(self, name: str, text: str) -> None:
        """As the client's Write tool: a new file, or the whole of one replaced."""
        path = self.root / name
        known = path.exists()
        before = path.read_text() if known else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        hunks: tuple[Hunk, ...] = ()
        if known:
            lines = [f"-{line}" for line in before.splitlines()]
            lines += [f"+{line}" for line in text.splitlines()]
            hunks = (Hunk(1, tuple(lines)),)
        how = "changed" if known else "created"
        self.tell(FileTouched(self._at(), str(path), how, True, text, before, hunks))

    def names(self) -> set[str]:
        return {str(Path(c.path).relative_to(self.root)) for c in list_uncommitted(self.state)}

    def change(self, name: str) -> Change:
        return self.state.git_work.changes[str(self.root / name)]

    def really(self) -> set[str]:
        """What git says, asked behind the session's back."""
        listed = self.silent("git -c core.quotePath=false status --porcelain -uall").splitlines()
        return {line[3:].rpartition(" -> ")[2].strip('"') for line in listed}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    made = Session(tmp_path)
    made.here(made.root, "main")
    return made


def start(session: Session, *names: str) -> None:
    """A first commit with these files, from before the session."""
    for name in names:
        path = session.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one\ntwo\nthree\n")
    session.silent("git add -A && git commit -qm start --allow-empty")


def with_remote(session: Session) -> None:
    remote = session.root.parent / "remote.git"
    session.silent(f"git init -q --bare -b main {remote} && git remote add origin {remote}")


def test_an_edit_is_uncommitted_until_it_is_committed(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.write("a.py", "one\n2\nthree\n")
    session.write("new.py", "x\ny\n")
    assert session.names() == {"a.py", "new.py"} == session.really()
    assert (session.change("a.py").how, session.change("a.py").tracked) == ("modified", True)
    assert session.change("new.py")[1:8] == ("new", False, False, True, 2, 0, True)
    session.run("git add a.py && git commit -m 'Mend a'")
    assert session.names() == {"new.py"} == session.really()
    made = list_commits(session.state)[-1]
    assert made.subject == "Mend a"
    assert session.silent("git rev-parse HEAD").startswith(made.id)
    assert len(made.id) >= 7
    assert made.files == (str(session.root / "a.py"),)
    assert (made.branch, made.pushed) == ("main", False)


@pytest.mark.parametrize(
    "command",
    [
        "git commit -am 'All of it'",
        "git commit -a -m 'All of it'",
        "git commit -qam 'All of it'",
        "git commit --all --message='All of it' --quiet",
        "git add -u && git commit -m 'All of it' | tail -1",
        'git add -A . ; git commit -m "All of it"',
        "git add a.py b.py && git commit -m \"$(cat <<'EOF'\n"
        'All of it\n\nIt\'s "long" && more.\nEOF\n)"',
        "git commit a.py b.py -m 'All of it'",
        "git add a.py \\\n  b.py && git commit -m 'All of it'",
    ],
)
def test_ways_to_commit(session: Session, command: str) -> None:
    start(session, "a.py", "b.py")
    session.write("a.py", "1\n")
    session.write("b.py", "1\n")
    session.run(command)
    assert session.names() == set() == session.really()
    assert [made.subject for made in list_commits(session.state)] == ["All of it"]


def test_commit_all_leaves_untracked_files(session: Session) -> None:
    start(session, "a.py")
    session.write("a.py", "1\n")
    session.write("new.py", "1\n")
    session.run("git commit -am 'Only what is tracked'")
    assert session.names() == {"new.py"} == session.really()


def test_what_was_edited_after_it_was_added_stays_uncommitted(session: Session) -> None:
    start(session, "a.py")
    session.write("a.py", "1\n")
    session.run("git add a.py")
    session.write("a.py", "2\n")
    session.run("git commit -m first")
    assert session.names() == {"a.py"} == session.really()


def test_a_commit_that_failed_is_none(session: Session) -> None:
    start(session, "a.py")
    hook = session.root / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho 'lint: 3 errors' >&2\nexit 1\n")
    hook.chmod(0o755)
    session.write("a.py", "1\n")
    session.run("git add a.py && git commit -m 'Nope'")
    assert list_commits(session.state) == []
    assert session.names() == {"a.py"} == session.really()
    assert session.change("a.py").staged
    hook.unlink()
    session.run("git commit -m 'Yes'")
    assert session.names() == set()
    session.run("git commit -m 'Nothing left'")
    assert [made.subject for made in list_commits(session.state)] == ["Yes"]


@pytest.mark.parametrize(
    "asked",
    ["git status", "git status --short", "git status -sb", "git status --porcelain",
     "git status --porcelain=v2 --branch", "git add -N new/in.py; git status"],
)  # fmt: skip
def test_a_status_has_the_last_word(session: Session, asked: str) -> None:
    (session.root / "d.py").write_text("only here\n")
    (session.root / "e.py").write_text("and this there\n")
    start(session, "a.py", "b.py", "sub/c.py", "odd näme.py")
    session.write("a.py", "1\n")
    session.write("ignored.bin", "1\n")
    (session.root / ".git/info/exclude").write_text("*.bin\n")
    session.silent("git checkout -- a.py")  # by the user, in another terminal
    for name in ("b.py", "sub/c.py", "odd näme.py"):
        (session.root / name).write_text("changed\n")
    session.silent(
        "git add b.py && git rm -q d.py && git mv e.py f.py && mkdir new && echo > new/in.py"
    )
    assert session.names() == {"a.py", "ignored.bin"}
    session.run(asked)
    assert session.names() - {"new", "new/in.py"} == session.really() - {"new/in.py"}
    assert {c.how for c in list_uncommitted(session.state) if c.path.endswith("f.py")} == {
        "renamed"
    }
    assert session.change("d.py").how == "deleted"
    assert session.change("b.py").staged
    assert not session.change("sub/c.py").staged


@pytest.mark.parametrize("asked", ["-uall", "-u", "-unormal", "--untracked-files=all"])
def test_a_status_that_lists_untracked_files_ends_those_it_leaves_out(
    session: Session, asked: str
) -> None:
    start(session, "a.py", "b.py")
    session.run("git rm -q --cached b.py")
    session.run("git reset -q")
    session.run(f"git status --porcelain {asked}")
    assert session.names() == set() == session.really()


@pytest.mark.parametrize("asked", ["-uno", "-suno", "--untracked-files=no"])
def test_a_status_without_untracked_files_forgets_none(session: Session, asked: str) -> None:
    start(session, "a.py")
    session.write("new.py", "1\n")
    session.run(f"git status --short {asked}")
    assert session.names() == {"new.py"} == session.really()


def test_a_status_seen_from_a_subfolder_and_through_git_c(session: Session) -> None:
    start(session, "a.py", "sub/deep/c.py", "sub/d.py")
    for name in ("a.py", "sub/deep/c.py", "sub/d.py"):
        (session.root / name).write_text("changed\n")
    session.here(session.root / "sub", "main")
    session.run("git status")
    assert session.names() == session.really()
    session.here(session.root.parent)
    session.run("cd work/sub && git add -A :/ && git commit -qm 'From below'")
    assert session.names() == set()
    session.write("a.py", "again\n")
    session.run(f"git -C {session.root} commit -am 'From outside'")
    assert session.names() == set()
    assert [made.subject for made in list_commits(session.state)] == ["From below", "From outside"]


def test_the_folder_of_a_line_is_the_one_before_its_own_cd(session: Session) -> None:
    """The client writes the new working folder on the row of the result itself."""
    start(session, "sub/d.py")
    session.here(session.root / "sub", "main")
    session.write("sub/d.py", "1\n")
    at = session._at()
    session.tell(SessionSeen(at, "s", str(session.root), "main", "test"))
    session.tell(CommandRan(at, "cd .. && git add sub/d.py && git commit -qm up", "", True, 0))
    assert session.names() == set()


def test_a_status_cut_short_forgets_nothing(session: Session) -> None:
    start(session, *(f"f{n}.py" for n in range(9)))
    for n in range(9):
        session.write(f"f{n}.py", "1\n")
    session.run("git status --short | head -3")
    session.run("git status -- f1.py")
    session.run("git status f1.py --porcelain")
    assert session.names() == {f"f{n}.py" for n in range(9)}


def test_putting_files_back(session: Session) -> None:
    names = ("a.py", "b.py", "sub/c.py", "d.py", "e.py", "f.py")
    start(session, *names)
    for name in names:
        session.write(name, "1\n")
    session.write("new.py", "1\n")
    session.run("git checkout -- a.py")
    session.run("git restore b.py && git checkout sub")
    assert session.names() == {"d.py", "e.py", "f.py", "new.py"} == session.really()
    session.run("git add d.py && git restore --staged d.py")
    assert not session.change("d.py").staged
    session.run("git checkout HEAD -- d.py")
    assert session.names() == {"e.py", "f.py", "new.py"} == session.really()
    session.run("git reset --hard")
    assert session.names() == {"new.py"} == session.really()
    session.run("git clean -n && git clean -fd")
    assert session.names() == set() == session.really()


def test_stash_and_back(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.write("a.py", "1\n")
    session.write("new.py", "1\n")
    session.run("git stash")
    assert session.names() == {"new.py"} == session.really()
    assert [c.path for c in list_stashes(session.state)[0].changes] == [str(session.root / "a.py")]
    session.write("b.py", "1\n")
    session.run("git stash push -u -m later")
    assert session.names() == set() == session.really()
    session.run("git stash drop")
    session.run("git stash pop")
    assert session.names() == {"a.py"} == session.really()
    assert list_stashes(session.state) == []


def test_branches(session: Session) -> None:
    start(session, "a.py")
    session.run("git checkout -b feature/one")
    assert current_branch(session.state) == "feature/one"
    session.run("git switch -c two")
    assert current_branch(session.state) == "two"
    session.run("git checkout -q main")
    assert current_branch(session.state) == "main"
    session.run("git checkout --detach 2>&1 | head -40")
    assert current_branch(session.state) == ""
    session.run("git switch two 2>/dev/null")
    assert current_branch(session.state) == "two"
    session.silent("git checkout -q main")
    session.run("git branch --show-current")
    assert current_branch(session.state) == "main"
    session.run("git checkout nowhere")
    session.run("git branch -m main trunk")
    assert current_branch(session.state) == "trunk"
    session.silent("git checkout -q two")
    session.run("git branch")
    assert current_branch(session.state) == "two"
    session.run("git rev-parse --abbrev-ref HEAD")
    assert current_branch(session.state) == "two"


@pytest.mark.parametrize("target", ["{id}", "HEAD~1", "v1.0"])
def test_a_quiet_checkout_of_no_branch_leaves_none(session: Session, target: str) -> None:
    start(session, "a.py")
    session.write("a.py", "1\n")
    session.run("git commit -qam one && git tag v1.0")
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=session.root, capture_output=True, text=True,
        check=True,
    ).stdout.strip()  # fmt: skip
    session.run(f"git checkout --quiet {target.format(id=head)} && git log --oneline -1")
    known = current_repository(session.state)
    assert known is not None
    assert (known.branch, known.detached) == ("", True)


def test_pushing(session: Session) -> None:
    start(session, "a.py")
    with_remote(session)
    session.write("a.py", "1\n")
    session.run("git commit -qam one && git push --dry-run -u origin main")
    assert [made.pushed for made in list_commits(session.state)] == [False]
    session.run("git push -u origin main")
    assert [made.pushed for made in list_commits(session.state)] == [True]
    known = current_repository(session.state)
    assert known is not None
    assert known.upstream == "origin/main"
    session.write("a.py", "2\n")
    session.run("git commit -am two")
    assert [made.subject for made in list_commits(session.state, pushed=False)] == ["two"]
    session.run("git status")
    known = current_repository(session.state)
    assert known is not None
    assert known.ahead == 1
    session.run("git push")
    assert list_commits(session.state, pushed=False) == []
    session.write("a.py", "3\n")
    session.run("git commit -am three && git push -q")
    session.write("a.py", "4\n")
    session.run("git commit -am four && git push origin HEAD 2>&1 | tail -1")
    assert list_commits(session.state, pushed=False) == []


def test_a_push_whose_outcome_was_cut_away_is_neither_done_nor_undone(session: Session) -> None:
    start(session, "a.py")
    with_remote(session)
    session.silent("git push -qu origin main")
    session.write("a.py", "1\n")
    session.run("git commit -qam one\ngit push -q 2>&1 | tail -1\necho ok")
    assert [made.pushed for made in list_commits(session.state)] == [None]
    (fact,) = [fact for fact in list_facts(session.state) if fact.kind == "commit"]
    assert "a push ran after it" in fact.detail
    session.run("git status")
    assert [made.pushed for made in list_commits(session.state)] == [True]


def test_a_commit_that_only_the_log_behind_it_shows(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.write("a.py", "1\n")
    session.run(
        "git add a.py && git commit -m 'feat: the first' 2>&1 | tail -1\n"
        "git log --oneline | head -3"
    )
    session.write("b.py", "1\n")
    session.run("git add b.py && git commit -m 'fix: the second' | tail -1; git log --oneline -1")
    made = list_commits(session.state)
    assert [one.subject for one in made] == ["feat: the first", "fix: the second"]
    assert all(one.id and one.branch == "main" for one in made)
    assert list_uncommitted(session.state) == []


def test_a_push_of_the_branch_by_a_substitution(session: Session) -> None:
    start(session, "a.py")
    with_remote(session)
    session.write("a.py", "1\n")
    session.run("git commit -qam one")
    session.silent("git push -q origin main")
    session.run('git push origin "$(git branch --show-current)" 2>&1')
    assert [made.pushed for made in list_commits(session.state)] == [True]


def test_the_upstream_that_was_asked_for_is_not_the_branch(session: Session) -> None:
    start(session, "a.py")
    with_remote(session)
    session.silent("git push -qu origin main")
    session.run("git rev-parse --abbrev-ref --symbolic-full-name '@{u}'")
    assert current_branch(session.state) == "main"


def test_a_push_that_was_refused_is_none(session: Session) -> None:
    start(session, "a.py", "b.py")
    with_remote(session)
    session.silent("git push -qu origin main")
    other = session.root.parent / "other"
    session.silent(
        f"git clone -q {session.root.parent}/remote.git {other} && cd {other}"
        " && echo 1 > b.py && git commit -qam theirs && git push -q"
    )
    session.write("a.py", "1\n")
    session.run("git commit -am ours && git push")
    assert [made.pushed for made in list_commits(session.state)] == [False]
    before = list_commits(session.state)[0].id
    session.run("git pull --rebase && git push")
    made = list_commits(session.state)[0]
    assert made.pushed
    assert made.id != before
    assert session.silent("git rev-parse HEAD").startswith(made.id)


def test_what_a_log_and_a_status_tell_about_pushes(session: Session) -> None:
    start(session, "a.py")
    with_remote(session)
    session.silent("git push -qu origin main")
    for number in range(3):
        session.write("a.py", f"{number}\n")
        session.run(f"git commit -qam 'number {number}'")
    assert [made.id for made in list_commits(session.state)] == ["", "", ""]
    session.run("git log --oneline -3")
    assert all(len(made.id) == 7 for made in list_commits(session.state))
    session.run("git log -3")
    whole = session.silent("git log -3 --reverse --format=%H").split()
    assert [made.id for made in list_commits(session.state)] == whole
    session.silent("git push -q origin HEAD~1:main")
    session.run("git status")
    assert [made.pushed for made in list_commits(session.state)] == [True, True, False]
    session.silent("git push -q")
    session.run("git log --oneline --decorate -2")
    assert list_commits(session.state, pushed=False) == []


def test_amend_and_reset(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.write("a.py", "1\n")
    session.run("git commit -am 'first try'")
    before = list_commits(session.state)[0].id
    session.write("b.py", "1\n")
    session.run("git add b.py && git commit --amend -m 'second try'")
    made = list_commits(session.state)
    assert [(one.subject, len(one.files)) for one in made] == [("second try", 2)]
    assert made[0].id != before
    session.write("a.py", "2\n")
    session.run("git commit -qam 'another'")
    session.run("git reset --soft HEAD~1")
    assert session.names() == {"a.py"} == session.really()
    assert session.change("a.py").staged
    session.run("git reset")
    assert not session.change("a.py").staged
    session.run("git reset HEAD^")
    assert list_commits(session.state) == []
    assert session.names() == {"a.py", "b.py"} == session.really()
    session.run("git commit -qam 'again'")
    session.write("a.py", "3\n")
    session.run("git reset --hard HEAD~1")
    assert list_commits(session.state) == []
    assert session.names() == set() == session.really()


def test_a_merge_with_a_conflict(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.silent("git checkout -qb side && echo side > a.py && git commit -qam side")
    session.silent("git checkout -q main && echo main > a.py && git commit -qam main")
    session.run("git merge side")
    assert current_operation(session.state) == "merge"
    assert session.change("a.py").how == "conflict"
    session.run("git status")
    assert current_operation(session.state) == "merge"
    assert session.change("a.py").how == "conflict"
    session.write("a.py", "both\n")
    session.run("git add a.py && git commit --no-edit")
    assert current_operation(session.state) == ""
    assert session.names() == set() == session.really()
    assert list_commits(session.state)[-1].subject.startswith("Merge branch 'side'")
    session.run("git reset -q --hard HEAD~1 && git merge side; git merge --abort")
    assert current_operation(session.state) == ""
    assert session.names() == set() == session.really()


def test_merges_without_a_conflict(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.silent("git checkout -qb side && echo side > a.py && git commit -qam side")
    session.silent("git checkout -q main")
    session.run("git merge side")  # fast-forward: nothing of its own
    assert list_commits(session.state) == []
    session.silent("git checkout -q side && echo 2 > a.py && git commit -qam side2")
    session.silent("git checkout -q main")
    session.write("b.py", "1\n")
    session.run("git commit -qam ours && git merge side -m 'Merge the side'")
    assert [made.subject for made in list_commits(session.state)] == ["ours", "Merge the side"]
    assert session.names() == set() == session.really()


def test_rebase(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.run("git checkout -q -b side")
    session.write("b.py", "1\n")
    session.run("git commit -am clean")
    session.write("a.py", "side\n")
    session.run("git commit -am clashing")
    before = [made.id for made in list_commits(session.state)]
    session.silent("git checkout -q main && echo main > a.py && git commit -qam main")
    session.silent("git checkout -q side")
    session.run("git rebase main")
    assert current_operation(session.state) == "rebase"
    session.run("git status")
    assert current_operation(session.state) == "rebase"
    session.write("a.py", "both\n")
    session.run("git add a.py && git rebase --continue")
    assert current_operation(session.state) == ""
    assert current_branch(session.state) == "side"
    assert session.names() == set() == session.really()
    session.run("git log --oneline -3")
    after = [made.id for made in list_commits(session.state)]
    assert session.silent("git log -2 --reverse --format=%h").split() == after
    assert not set(before) & set(after)


def test_cherry_pick_and_revert(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.silent("git checkout -qb side && echo side > a.py && git commit -qam picked")
    session.silent("git checkout -q main")
    session.run("git cherry-pick side")
    session.run("git revert --no-edit HEAD")
    assert [made.subject for made in list_commits(session.state)] == ["picked", 'Revert "picked"']


def test_files_changed_on_the_shell(session: Session) -> None:
    (session.root / "c.py").write_text("only here\n")
    start(session, "a.py", "b.py", "d.py")
    session.run("sed -i 's/one/1/' a.py")
    session.run("cat > made.py <<'EOF'\nx = 1\nEOF")
    session.run("cat <<'EOF' > also.py\nx = 1\nEOF\necho hi > run.log 2>&1")
    assert session.names() >= {"a.py", "made.py", "also.py"}
    assert "run.log" not in session.names()
    session.run("rm made.py && git rm -q c.py && git mv d.py e.py")
    assert session.names() - {"made.py"} == session.really() - {"run.log"}
    session.run("git add -A && git commit -qm 'All of it'")
    assert session.names() == set() == session.really()


def test_lines_are_those_that_git_counts(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.write("a.py", "one\ntwo\nthree\nfour\n")
    session.write("a.py", "one\ntwo\nthree\nfour\nfive\n")
    assert not session.change("a.py").exact
    for asked in ("git diff --stat", "git diff --numstat", "git diff", "git diff HEAD --stat"):
        session.write("a.py", "one\ntwo\nthree\nfour\nfive\n")
        session.run(asked)
        assert session.change("a.py")[5:8] == (2, 0, True), asked
    session.run("git add a.py && git diff --cached --stat")
    assert session.change("a.py")[5:8] == (2, 0, True)
    (session.root / "b.py").write_text("one\n2\nthree\n")
    session.run("git diff --stat")
    assert session.change("b.py")[5:8] == (1, 1, True)


def test_a_diff_between_commits_is_no_work(session: Session) -> None:
    start(session, "a.py")
    session.silent("git checkout -qb side && echo 1 > a.py && git commit -qam side")
    for asked in (
        "git diff main..side --stat",
        "git diff main...side",
        "git diff HEAD~1 --stat",
        "git diff main side --stat",
        "git diff main --stat",
        "git show --stat",
    ):
        session.run(asked)
    assert session.names() == set()


def test_a_new_file_counts_the_lines_it_has(session: Session) -> None:
    start(session)
    session.write("new.py", "1\n2\n3\n")
    session.write("new.py", "1\n2\n3\n4\n")
    assert session.change("new.py")[5:8] == (4, 0, True)


def test_other_repositories_and_work_trees_are_kept_apart(session: Session) -> None:
    start(session, "a.py")
    session.silent("git worktree add -q .worktrees/side -b side && mkdir ../second")
    session.silent("git -C ../second init -q -b trunk")
    (session.root / ".git/info/exclude").write_text(".worktrees\n")
    session.write("a.py", "1\n")
    session.write(".worktrees/side/a.py", "2\n")
    session.run(f"cd {shlex.quote(str(session.root / '.worktrees/side'))} && git commit -qam side")
    assert session.names() == {"a.py"}
    assert current_branch(session.state) == "main"
    session.run("cd ../second && echo > x.py && git add . && git commit -qm theirs; git status")
    assert session.names() == {"a.py"}
    assert current_branch(session.state) == "main"
    session.run("git status")
    assert session.names() == {"a.py"}


def test_outside_of_a_repository_nothing_is_uncommitted(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.here(tmp_path, "HEAD")  # what the client writes where there is no git
    session.tell(FileTouched(session._at(), f"{tmp_path}/notes.md", "created", True, "x\n"))
    session.tell(FileTouched(session._at(), "/tmp/elsewhere.py", "created", True, "x\n"))
    session.run("git status")
    assert list_uncommitted(session.state) == []
    assert current_branch(session.state) == ""
    assert current_repository(session.state) is None


def test_what_a_subagent_does_in_the_tree_counts(session: Session) -> None:
    start(session, "a.py", "b.py")
    at = session._at()._replace(agent="sub")
    session.tell(FileTouched(at, str(session.root / "a.py"), "changed", True, "x"))
    assert session.names() == {"a.py"}
    session.tell(
        CommandRan(at, "git commit -am 'By a helper'", "[main 1234567] By a helper", True, 0)
    )
    assert session.names() == set()
    assert [made.id for made in list_commits(session.state)] == ["1234567"]


PULL = "https://github.com/acme/shop/pull/42"


def test_a_pull_request_from_its_making_to_its_merge(session: Session) -> None:
    session.run("git checkout -q -b feature")
    say = session.tell
    said = f"Creating pull request for feature into main in acme/shop\n\n{PULL}"
    command = 'gh pr create --title "Add a cart" --body "$(cat <<\'EOF\'\nsee /pull/7\nEOF\n)"'
    say(CommandRan(session._at(), command, said, True, 0))
    request = current_pull_request(session.state)
    assert request is not None
    assert request[:6] == (PULL, 42, "Add a cart", "feature", str(session.root), "open")
    other = "https://github.com/acme/shop/pull/9"
    say(CommandRan(session._at(), "gh pr view 9", f"url:\t{other}", True, 0))
    say(CommandRan(session._at(), "gh pr comment 42 --body x", f"{PULL}#issuecomment-1", True, 0))
    assert current_pull_request(session.state) == request
    said = (
        "✓ Squashed and merged pull request acme/shop#42 (Add a cart)\n"
        "✓ Deleted local branch feature and switched to branch main"
    )
    say(CommandRan(session._at(), "gh pr merge 42 --squash -d", said, True, 0))
    assert current_branch(session.state) == "main"
    assert session.state.git_work.pull_requests[PULL].status == "merged"
    assert current_pull_request(session.state) is None


def test_merge_requests_of_gitlab(session: Session) -> None:
    link = "https://gitlab.example.com/acme/shop/-/merge_requests/7"
    session.tell(CommandRan(session._at(), "glab mr create -f", f"!7 Cart\n {link}", True, 0))
    request = current_pull_request(session.state)
    assert request is not None
    assert (request.url, request.number) == (link, 7)


def test_commits_are_facts_that_can_be_searched_and_shown(session: Session) -> None:
    start(session, "a.py")
    session.write("a.py", "1\n")
    session.run("git commit -am 'Add the parser'")
    (fact,) = [fact for fact in list_facts(session.state) if fact.kind == "commit"]
    assert fact.id == "g1"
    assert fact.text == f"{list_commits(session.state)[0].id} Add the parser"
    assert (fact.status, "not pushed" in fact.detail) == ("open", True)


@pytest.mark.parametrize(
    "message",
    [
        "-m 'Add a' -m 'It reads both forms.\n\n- the old one\n- the new one'",
        "-F - <<'EOF'\nAdd a\n\nIt reads both forms.\n\n- the old one\n- the new one\n\n"
        "Signed-off-by: Ann <ann@example.com>\nEOF",
        "-m \"$(cat <<'EOF'\nAdd a\n\nIt reads both forms.\n\n- the old one\n- the new one\n\n"
        'Generated with a tool\n\nCo-Authored-By: A <a@example.com>\nEOF\n)"',
    ],
)
def test_what_a_commit_says_beyond_its_first_line_is_known(session: Session, message: str) -> None:
    start(session, "a.py")
    session.write("a.py", "1\n")
    session.run(
        "cat > notes.txt <<'END'\nnot the message\nEND\ngit add a.py && git commit " + message
    )
    (made,) = list_commits(session.state)
    assert made.subject == "Add a"
    assert made.body == "It reads both forms.\n\n- the old one\n- the new one"


def test_of_two_commits_on_a_line_each_has_its_own_message(session: Session) -> None:
    start(session, "a.py", "b.py")
    session.write("a.py", "1\n")
    session.write("b.py", "1\n")
    session.run("git commit a.py -m 'One' -m 'First.' && git commit b.py -m 'Two' -m 'Second.'")
    assert [(one.subject, one.body) for one in list_commits(session.state)] == [
        ("One", "First."),
        ("Two", "Second."),
    ]


def test_a_message_is_known_as_the_shell_handed_it_over(session: Session) -> None:
    start(session, "a.py")
    session.write("a.py", "1\n")
    session.run('git commit -am "Set \\$HOME" -m "Of \\`a\\`, not \\$b."')
    (made,) = list_commits(session.state)
    assert (made.subject, made.body) == ("Set $HOME", "Of `a`, not $b.")


def test_an_amended_commit_keeps_its_message(session: Session) -> None:
    start(session, "a.py")
    session.write("a.py", "1\n")
    session.run("git commit -am 'One' -m 'Why it is so.'")
    session.write("a.py", "2\n")
    session.run("git commit -a --amend --no-edit")
    assert [one.body for one in list_commits(session.state)] == ["Why it is so."]


def test_an_old_git_and_a_merge_on_a_detached_head() -> None:
    at = Origin("r", 0, 1, "")
    state = fold(EMPTY_STATE, SessionSeen(at, "s", "/r", "main", "test"))
    said = "[detached HEAD 0a1b2c3] A fix\n 1 file changed, 2 insertions(+)"
    state = fold(state, CommandRan(at, "git commit -m 'A fix'", said, True, 0))
    assert [(made.id, made.branch, made.added) for made in list_commits(state)] == [
        ("0a1b2c3", "", 2)
    ]


STEPS = st.sampled_from(
    ["write a.py", "write b.py", "write new.py", "write sub/c.py", "write sub/new.py",
     "git add a.py", "git add -A", "git add sub", "git add -u", "git commit -m x",
     "git commit -am y", "git add . && git commit -qm z", "git status", "git status --short",
     "git checkout -- .", "git restore a.py", "git reset -q", "git reset --hard -q",
     "git stash", "git stash -u", "git stash pop", "git rm -q --cached b.py", "rm new.py",
     "git commit --amend --no-edit", "git reset --soft HEAD~1", "git clean -fdq",
     "git checkout -q -B side", "git checkout -q main", "git restore --staged .",
     "git diff --stat", "git log --oneline -3", "cd sub && git add c.py && git status"]
)  # fmt: skip


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(taken=st.lists(STEPS, min_size=3, max_size=14))
def test_any_work_is_told_as_git_tells_it_once_a_status_was_seen(
    tmp_path_factory: pytest.TempPathFactory, taken: list[str]
) -> None:
    session = Session(tmp_path_factory.mktemp("git"))
    session.here(session.root, "main")
    start(session, "a.py", "b.py", "sub/c.py")
    for number, step in enumerate(taken):
        if step.startswith("write "):
            session.write(step[6:], f"{number}\n" * (number + 1))
        else:
            session.run(step)
    session.run("git status --porcelain -uall")
    assert session.names() == session.really()
    # And the same, folded in pieces that went through a document.
    state: State = EMPTY_STATE
    for at in range(0, len(session.events), 3):
        piece = session.events[at : at + 3]
        state = decode_state(json.loads(json.dumps(encode_state(fold_all(piece, state)))))
    assert state.git_work == session.state.git_work == fold_all(session.events).git_work


def test_it_is_bounded() -> None:
    state = fold(EMPTY_STATE, SessionSeen(Origin("r", 0, 1, ""), "s", "/r", "main", "test"))
    for number in range(MAX_CHANGES * 2):
        at = Origin(f"r{number}", number, number + 1, "")
        state = fold(state, FileTouched(at, f"/r/f{number}.py", "changed", True, "x"))
        said = f"[main {number:07x}] Number {number}"
        state = fold(state, CommandRan(at, "git commit -m x", said, True, 0))
    listed = "\n".join(f"?? deep/{number}.py" for number in range(5000))
    at = Origin("last", 9999, 10000, "")
    state = fold(state, CommandRan(at, "git status --short", listed, True, 0))
    work = state.git_work
    assert len(work.changes) <= MAX_CHANGES
    assert len(work.commits) <= MAX_COMMITS
    for number in range(40):
        place = f"/other{number}"
        state = fold(state, CommandRan(at, f"cd {place} && git status", "On branch x", True, 0))
        link = f"https://example.com/o/r/pull/{number}"
        state = fold(state, CommandRan(at, "gh pr create --fill", link, True, 0))
        said = "Saved working directory and index state WIP on main"
        state = fold(state, CommandRan(at, "git stash", said, True, 0))
    work = state.git_work
    assert len(work.repositories) <= 8
    assert len(work.pull_requests) <= 8
    assert len(work.stashes) <= 5
    assert work.home == "/r"


ODD = [
    " x" + " " * 200_000,
    " a |" * 60_000,
    "http://" * 30_000,
    "Your branch is up to date with '" * 6_000,
    "Switched to branch '" * 10_000,
    "branch 'x' set up to track '" * 7_000,
    "\n" * 200_000,
    "?? " * 60_000,
    "[" * 100_000,
    "[main 1234567] x\n" * 20_000,
    "commit " + "a" * 100_000,
    "diff --git a/x b/x\n" * 20_000,
    "On branch x\nChanges to be committed:\n" + "\tmodified:   " * 20_000,
    "To x\n" + " * [new branch]" + " " * 100_000,
]


@pytest.mark.parametrize("output", ODD, ids=range(len(ODD)))
def test_odd_outputs_take_no_longer_than_others(output: str) -> None:
    """Each of them is over in a moment; a pattern that backtracks would need hours."""
    state = fold(EMPTY_STATE, SessionSeen(Origin("r", 0, 1, ""), "s", "/r", "main", "test"))
    at = Origin("r", 10, 20, "")
    for command in (
        "git status", "git status --short", "git commit -m x", "git push", "git pull", "git log",
        "git checkout x", "git diff --stat", "git diff", "git stash pop", "git rebase x",
        "git reset HEAD~1", "gh pr create", "git branch", "git rev-parse HEAD",
    ):  # fmt: skip
        for ok in (True, False):
            state = fold(state, CommandRan(at, command, output, ok, 0 if ok else 1))
    assert len(state.git_work.commits) <= MAX_COMMITS


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m <<" + "a" * 100_000,
        "git add " + "a/" * 50_000,
        "git add " + " ".join(f"f{number}.py" for number in range(20_000)),
        "git commit -m '" + '"' * 50_000,
        "cd " + "../" * 30_000 + " && git status",
        "git " * 30_000,
        "echo >" * 20_000,
        "git status;" * 10_000,
    ],
    ids=range(8),
)
def test_odd_commands_take_no_longer_than_others(command: str) -> None:
    state = fold(EMPTY_STATE, SessionSeen(Origin("r", 0, 1, ""), "s", "/r", "main", "test"))
    for number in range(MAX_CHANGES):
        at = Origin("r", number, number + 1, "")
        state = fold(state, FileTouched(at, f"/r/f{number}.py", "changed", True, "x"))
    state = fold(state, CommandRan(Origin("r", 10, 20, ""), command, "", True, 0))
    assert len(state.git_work.changes) <= MAX_CHANGES


def test_a_repository_that_was_only_looked_at_has_nothing_of_the_sessions(
    session: Session, tmp_path: Path
) -> None:
    session.write("mine.py", "X = 1\n")
    other = tmp_path / "other"
    other.mkdir()
    session.silent(f"git init -q -b main {other} && touch {other}/stray.log {other}/seen.py")
    session.run(f"cd {other} && git status")
    assert {c.path for c in list_uncommitted(session.state)} == {str(session.root / "mine.py")}
    # Once something is edited there, what is uncommitted there is told too.
    session.tell(FileTouched(session._at(), str(other / "seen.py"), "changed", True, "Y", "", ()))
    session.run(f"cd {other} && git status")
    assert {Path(c.path).name for c in list_uncommitted(session.state)} == {
        "mine.py",
        "seen.py",
        "stray.log",
    }
