"""Git is asked: what the work tree holds reaches the model's request, whoever changed it."""

import subprocess
from pathlib import Path

import pytest

from support.claude import ScriptedApi, bash

from .stage import BRIEF, Stage, injected, write_file

pytestmark = pytest.mark.client

WHO = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *WHO, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_the_request_after_a_compaction_holds_what_git_answered(
    stage: Stage, api: ScriptedApi
) -> None:
    project = stage.client.project
    (project / "cart.py").write_text("TOTAL = 1\n")
    (project / ".gitignore").write_text(".claude/\n")
    quiet = f"git {' '.join(WHO)} commit -qam 'Count the tax'"
    (project / "save.sh").write_text(f"git checkout -qb cart; git add -A; {quiet}\n")
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "start")
    api.say(
        write_file(stage, "price.py", "PRICE = 1\n"),
        bash("sh save.sh >/dev/null"),  # git prints nothing that a transcript could show
        "Saved.",
    )
    with stage.client.session() as live:
        live.ask("Count the tax.")
        (project / "cart.py").write_text("TOTAL = 2\nTAX = 3\n")  # the user, in an editor
        live.compact()
        api.say("Going on.")
        live.ask("Go on.")
        told = "\n".join(injected(api.last, BRIEF))
    head = git(project, "rev-parse", "--short", "HEAD")
    assert " UTC): branch cart; working folder " in told
    assert "Uncommitted: 1 changed, not staged (+2 -1 lines): cart.py" in told
    assert f'New commits since the session began: {head} "Count the tax"' in told
    assert "price.py (new)" not in told
