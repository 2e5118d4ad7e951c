"""Git work as the real client's rows tell it: folders, branches, edits, commits and a push."""

import subprocess
from pathlib import Path

import pytest

from holdfast.session.follow import follow_transcript
from holdfast.state.git_work import current_branch, list_commits, list_uncommitted
from support.claude import ScriptedApi, bash, tool

from .stage import Stage, write_file

pytestmark = pytest.mark.client

WHO = "git -c user.name=Test -c user.email=test@example.org"


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


def test_what_is_uncommitted_committed_and_pushed_after_real_work(
    stage: Stage, api: ScriptedApi
) -> None:
    project = stage.client.project
    (project / "shop").mkdir()
    (project / "shop" / "cart.py").write_text("TOTAL = 1\n")
    (project / ".gitignore").write_text(".claude/\n")
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "start")
    remote = project.parent / "remote.git"
    git(project, "init", "-q", "--bare", str(remote))
    git(project, "remote", "add", "origin", str(remote))
    cart = str(project / "shop" / "cart.py")
    api.say(
        bash("git checkout -b cart"),
        tool("Read", file_path=cart),
        tool("Edit", file_path=cart, old_string="TOTAL = 1", new_string="TOTAL = 2\nTAX = 3"),
        write_file(stage, "shop/price.py", "PRICE = 1\n"),
        bash(f"cd shop && git add -A . && {WHO} commit -m 'Count the tax'"),
        bash("git push -u origin cart"),
        write_file(stage, "shop/stock.py", "STOCK = 1\nROOM = 2\n"),
        tool("Edit", file_path=cart, old_string="TAX = 3", new_string="TAX = 4"),
        bash(f"cd .. && {WHO} commit -am 'Mend the tax'"),
        tool("Edit", file_path=cart, old_string="TAX = 4", new_string="TAX = 5"),
        "Step 1 is done.",
    )
    with stage.client.session() as live:
        live.ask("Count the tax.")
        session = live.session_id
    state = follow_transcript(str(stage.client.transcript_path(session))).state
    left = {str(Path(c.path).relative_to(project)): c for c in list_uncommitted(state)}
    listed = git(project, "status", "--porcelain").splitlines()
    assert set(left) == {line[3:] for line in listed} == {"shop/cart.py", "shop/stock.py"}
    assert (left["shop/stock.py"].how, left["shop/stock.py"].added) == ("new", 2)
    assert (left["shop/cart.py"].added, left["shop/cart.py"].removed) == (1, 1)
    assert left["shop/cart.py"].exact
    assert current_branch(state) == "cart"
    real = git(project, "log", "-2", "--reverse", "--format=%h %s").splitlines()
    assert [f"{c.id} {c.subject}" for c in list_commits(state)] == real
    assert [c.pushed for c in list_commits(state)] == [True, False]
