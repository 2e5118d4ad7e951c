"""Lines that git printed, out of what real git prints into a transcript."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.events import CommandRan, Event, LinkSeen, Origin, SessionSeen
from holdfast.state import State, decode_state, encode_state, fold_all, list_facts
from holdfast.state.git_printed import (
    BRANCH,
    MAX_LINES,
    PULL,
    PUSH,
    STATUS,
    GitLine,
    find_push,
    last_line,
    list_commits,
)

PULL_REQUEST = "https://github.com/acme/shop/pull/12"


class Session:
    """Commands as a session ran them, in a folder of their own."""

    def __init__(self, folder: Path = Path("/w"), branch: str = "main") -> None:
        self.folder = folder
        self.events: list[Event] = [
            SessionSeen(self.at(0), "s", str(folder), branch, "claude-code 2.1.326")
        ]

    def at(self, number: int) -> Origin:
        time = f"2026-11-15T10:{number:02}:00Z"
        return Origin(f"r{number}", number * 100, number * 100 + 99, time)

    def printed(self, command: str, output: str, ok: bool = True) -> Session:
        code = 0 if ok else 1
        self.events.append(CommandRan(self.at(len(self.events) % 60), command, output, ok, code))
        return self

    def run(self, command: str) -> Session:
        names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
        environment = {**os.environ, **{f"GIT_{name}": "t@example.org" for name in names}}
        environment |= {"HOME": str(self.folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["sh", "-c", f"{{ {command}\n}} 2>&1"],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        return self.printed(command, done.stdout.rstrip("\n"), done.returncode == 0)

    @property
    def state(self) -> State:
        return fold_all(self.events)

    def commits(self) -> list[GitLine]:
        return list_commits(self.state.git_printed)

    def last(self, kind: str) -> GitLine | None:
        state = self.state
        return last_line(state.git_printed, kind, state.session.folders)

    def branch(self) -> str:
        found = self.last(BRANCH)
        assert found is not None
        return found.branch


@pytest.fixture
def real(tmp_path: Path) -> Session:
    if not shutil.which("git"):
        pytest.skip("needs git")
    folder = tmp_path / "repo"
    folder.mkdir()
    session = Session(folder)
    session.run("git init -q -b main && git init -q --bare ../there.git")
    return session.run("git remote add origin ../there.git && echo 1 > a.py && git add -A")


def test_commits_and_pushes_of_real_git_are_quoted(real: Session) -> None:
    real.run("git commit -m 'First word' && git push -u origin main")
    real.run("git checkout -b topic")
    real.run("echo 2 > a.py; git commit -am 'Second word' 2>&1 | tail -5")
    first, second = real.commits()
    assert [first.text, second.text] == ["First word", "Second word"]
    assert (first.branch, second.branch) == ("main", "topic")
    log = subprocess.run(
        ["git", "log", "--format=%h"], cwd=real.folder, capture_output=True, text=True, check=True
    )
    assert log.stdout.split() == [second.id, first.id]
    pushed = find_push(real.state.git_printed, first)
    assert pushed is not None
    assert pushed.text == "* [new branch] main -> main"
    assert find_push(real.state.git_printed, second) is None
    assert real.branch() == "topic"


def test_a_status_is_quoted_without_advice(real: Session) -> None:
    real.run("git commit -m start")
    real.run("echo 3 > a.py; echo 1 > b.py; git status")
    status = real.last(STATUS)
    assert status is not None
    assert status.text.split("\n") == [
        "On branch main",
        "Changes not staged for commit:",
        "\tmodified:   a.py",
        "Untracked files:",
        "\tb.py",
    ]
    real.run("git status -sb")
    status = real.last(STATUS)
    assert status is not None
    assert status.text == "## main\n M a.py\n?? b.py"
    assert real.branch() == "main"


def test_an_amended_commit_takes_the_place_of_the_one_before(real: Session) -> None:
    real.run("git commit -m one")
    real.run("echo 2 > a.py; git commit -a --amend -m 'one, better'")
    assert [one.text for one in real.commits()] == ["one, better"]


def test_a_refused_push_is_no_push(real: Session) -> None:
    real.run("git commit -m one && git push origin main")
    real.run("git commit --amend -m two && git push origin main")
    assert "[rejected]" in str(real.events[-1])
    (commit,) = real.commits()
    assert find_push(real.state.git_printed, commit) is None


@pytest.mark.parametrize(
    "command",
    [
        "git commit -am 'Read both' -m 'The header decides.'",
        'git commit -am "Read both\n\nThe header decides."',
        "git add -A && git commit -m \"$(cat <<'EOF'\nRead both\n\nThe header decides.\nEOF\n)\"",
        "git commit -F - <<'EOF'\nRead both\n\nThe header decides.\nEOF",
        "git commit -am a -m b; git commit -am 'Read both' -m 'The header decides.'",
    ],
)
def test_the_message_below_a_subject_is_taken_from_the_command(command: str) -> None:
    session = Session().printed(command, "[main 1234abc] Read both\n 1 file changed")
    (commit,) = session.commits()
    assert commit.body == "The header decides."


@pytest.mark.parametrize(
    "command",
    ["cat session.log", "git log -3", "git diff", "grep -rn git .", "echo 'git commit -m x'"],
)
def test_lines_that_another_command_showed_are_not_taken(command: str) -> None:
    output = "[main 1234abc] Add a\nOn branch other\n   0000000..1234abc  main -> main"
    session = Session().printed(command, output)
    assert session.commits() == []
    assert session.last(PUSH) is None
    assert session.branch() == "main"


def test_what_was_fetched_is_not_taken_for_pushed() -> None:
    fetched = "From github.com:x/y\n   aaaaaaa..bbbbbbb  main -> origin/main"
    session = Session().printed("git pull && git push", f"{fetched}\nEverything up-to-date")
    assert session.last(PUSH) is None
    session.printed("git pull && git push", f"{fetched}\nTo x:y\n   aaaaaaa..ccccccc  main -> main")
    pushed = session.last(PUSH)
    assert pushed is not None
    assert pushed.id == "ccccccc"


@pytest.mark.parametrize(
    ("command", "taken"),
    [
        ("gh pr create --fill", True),
        ("glab mr create --fill", True),
        ("gh pr view", True),
        ("gh pr view 12", False),
        ("gh pr list", False),
        ("curl https://example.org", False),
    ],
)
def test_the_address_of_the_branchs_own_pull_request_is_quoted(command: str, taken: bool) -> None:
    found = Session().printed(command, f"Created\n{PULL_REQUEST}\n").last(PULL)
    assert (found is not None and found.text == PULL_REQUEST) == taken


def test_a_pull_request_that_the_client_noted_is_known() -> None:
    session = Session()
    session.events.append(LinkSeen(session.at(1), "pull request", PULL_REQUEST))
    found = session.last(PULL)
    assert found is not None
    assert found.id == "12"


def test_another_repositorys_branch_is_not_this_ones() -> None:
    session = Session().printed("cd ../other && git status", "On branch far\nnothing to commit")
    session.printed("git -C /elsewhere checkout -b away", "Switched to a new branch 'away'")
    assert session.branch() == "main"
    session.printed("git rev-parse --abbrev-ref @{u}", "origin/far")  # the upstream's name
    assert session.branch() == "main"
    session.printed("cd /w/sub && git switch near", "Switched to branch 'near'")
    assert session.branch() == "near"


def test_a_detached_head_is_on_no_branch(real: Session) -> None:
    real.run("git commit -qm one; git checkout HEAD~0")
    assert real.branch() == ""


def test_a_commit_is_a_fact_with_the_push_that_git_printed() -> None:
    session = Session().printed("git commit -am x", "[main 1234abc] Add a\n 1 file changed")
    session.printed("git push", "To x:y\n   0000000..1234abc  main -> main")
    (commit,) = session.commits()
    (fact,) = [one for one in list_facts(session.state) if one.kind == "commit"]
    assert fact.id == f"g{commit.number}"
    assert fact.text == "1234abc Add a"
    assert fact.detail == "on main; git printed of a push after it: 0000000..1234abc main -> main"


def test_it_is_kept_within_bounds_and_comes_back_as_it_was() -> None:
    session = Session()
    for number in range(MAX_LINES + 20):
        session.printed("git commit -am x", f"[main {number:07x}] {'long ' * 100}")
    state = session.state
    assert len(state.git_printed) <= MAX_LINES
    assert max(len(line.text) for line in state.git_printed.values()) <= 200
    assert decode_state(json.loads(json.dumps(encode_state(state)))) == state
