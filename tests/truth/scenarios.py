"""The table of situations: each works in a session and says what its texts must and must not say.

What git holds and how commands ended is compared by itself (`comparison`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import NamedTuple

from truth.session import BRIEF, FAILED, GAP, HANDOFF, STEERING, WORKED, Session


class Scenario(NamedTuple):
    name: str
    play: Callable[[Session], None]
    needs: tuple[str, ...]  # programs
    quick: bool
    repository: bool


SCENARIOS: list[Scenario] = []
_Play = Callable[[Session], None]


def scenario(*needs: str, quick: bool = False, repository: bool = True) -> Callable[[_Play], _Play]:
    def add(play: _Play) -> _Play:
        SCENARIOS.append(Scenario(play.__name__, play, needs, quick, repository))
        return play

    return add


def can_run(one: Scenario) -> bool:
    return all(map(shutil.which, one.needs))


RED = "def test_a():\n    assert 1 == 2\n"
GREEN = "def test_b():\n    assert True\n"

# Endings: whose status was seen.


@scenario(quick=True)
def failures_hidden_by_the_shell(s: Session) -> None:
    s.outside("printf 'echo FAIL test_gate; exit 1' > check.sh")
    s.outside("printf 'echo error: cluster unreachable >&2; exit 1' > deploy.sh")
    s.user("Ship it.")
    s.sh("sh ./check.sh 2>&1 | tail -3", {"sh ./check.sh": FAILED})
    s.sh("sh ./deploy.sh || true", {"sh ./deploy.sh": FAILED})
    s.sh("git push origin main 2>&1 | tail -1", {"git push origin main": FAILED})
    s.sh("sh ./deploy.sh; echo done", {"sh ./deploy.sh": FAILED})
    s.sh("sh ./quiet.sh 2>/dev/null & wait; echo started", {"sh ./quiet.sh": FAILED})
    s.says("Next I look at the cluster.")
    s.so("error: cluster unreachable", where=BRIEF)
    s.never("worked", where=BRIEF)


@scenario()
def commands_as_typed(s: Session) -> None:
    s.user("Set it up.")
    s.sh("mkdir -p web && cd web && PORT=1 python3 -c 'print(41 + 1)'")
    s.sh("cat > gen.py <<'EOF'\nimport os\ngit push origin main\npytest -q\nEOF\npython3 gen.py")
    s.sh("python3 - <<'EOF'\nprint('x')\nimport shutil\nEOF")
    s.never("import shutil", "passed: `pytest -q`")
    s.so("`cd web && PORT=1 python3 -c 'print(41 + 1)'`", where=BRIEF)


@scenario()
def failed_then_worked_pairs(s: Session) -> None:
    s.user("Look after the server.")
    s.sh("journalctl --no-such-option")
    s.sh("python3 -c 'print(2)'")
    s.sh("echo 'Welcome to Ubuntu 24.04.4 LTS'; echo 'Last login: Mon'; ./restore.sh now",
         {"./restore.sh now": FAILED})  # fmt: skip
    s.outside("printf 'echo restored' > restore.sh; chmod +x restore.sh")
    s.sh("cp nowhere.txt there.txt")
    s.sh("touch nowhere.txt && cp nowhere.txt there.txt")
    s.never("journalctl --no-such-option` failed (Ubuntu", "(Welcome", "(Last login")
    s.never("worked: `python3", where=BRIEF)
    s.so("No such file or directory", where=BRIEF)


# Checks.


@scenario(quick=True)
def a_narrow_pass_hides_no_failure(s: Session) -> None:
    s.write("tests/test_a.py", RED)
    s.write("tests/test_b.py", GREEN)
    s.user("Make the tests green.")
    s.sh("pytest -q")
    s.sh("pytest -q tests/test_b.py")
    s.sh("pytest -q -k test_b 2>&1 | tail -2", {"pytest -q -k test_b": WORKED})
    for where in (STEERING, BRIEF):
        s.so("- failed: `pytest -q`", "tests/test_a.py::test_a", where=where)
    s.so("failed: `pytest -q`", where=HANDOFF)
    s.never("Open error", where=GAP)


@scenario()
def a_run_that_covers_it_clears_it(s: Session) -> None:
    s.write("tests/test_a.py", RED)
    s.write("Makefile", "test:\n\tpytest -q\nsave:\n\tgit add -A && git commit -qm saved\n")
    s.user("Fix it and save it.")
    s.sh("make test 2>&1 | tail -3", {"make test": FAILED})
    s.write("tests/test_a.py", RED.replace("2", "1"))
    s.sh("make test | tail -2 && make save", {"make test": WORKED, "make save": WORKED})
    s.so("- passed: `make test` (1 passed", where=BRIEF)
    s.never("failed", where=BRIEF)
    s.never("passed: `make save`", ", `make save`")


@scenario()
def checks_of_other_names(s: Session) -> None:
    s.write("tests/test_a.py", RED)
    s.write("check.sh", "pytest -q tests\n")
    s.user("Run what CI runs.")
    s.sh("sh ./check.sh")
    s.sh("bash -c 'pytest -q tests'")
    s.sh("mkdir -p bin && printf 'exec pytest -q tests' > bin/ci && sh bin/ci; echo over",
         {"sh bin/ci": FAILED})  # fmt: skip
    for where in (STEERING, BRIEF):
        s.so("- failed: `sh ./check.sh`", "- failed: `sh bin/ci`", where=where)
    s.never("passed: ")


@scenario()
def checks_that_never_ran(s: Session) -> None:
    s.user("Test it.")
    s.sh("pytest tests/test_nothing.py")
    s.sh("no-such-runner --check")
    s.sh("touch test-data && chmod 600 test-data")
    s.sh("echo 'run the tests and the build' >> notes.md")
    s.never("Checks", "file; ", "passed: ", "- failed: ")


@scenario("node", "npm")
def node_runners(s: Session) -> None:
    s.write("package.json", '{"scripts": {"test": "node --test", "ci": "npm test", "up": "true"}}')
    s.write("a.test.js", "require('node:test')('adds', () => { throw new Error('no sum') })\n")
    s.user("Get it green.")
    s.sh("npm run ci")
    s.sh("node --test 2>&1 | tail -12", {"node --test": FAILED})
    s.sh("npm test || true", {"npm test": FAILED})
    s.so("adds", where=BRIEF)
    s.never("passed: ")
    s.never("# todo 0", where=BRIEF)


@scenario()
def unittest_and_compileall(s: Session) -> None:
    body = "import unittest\nclass T(unittest.TestCase):\n    def test_x(self):\n"
    s.write("test_x.py", f"{body}        self.assertEqual(1, 2)\n")
    s.user("Check it.")
    s.sh("python3 -m unittest 2>&1 | tail -4", {"python3 -m unittest": FAILED})
    s.sh("python3 -m unittest; true", {"python3 -m unittest": FAILED})
    s.so("- failed: `python3 -m unittest`", where=BRIEF)
    s.never("passed: ")


# Git.


@scenario(quick=True)
def others_commit_and_edit(s: Session) -> None:
    s.user("Write a.py.")
    s.write("a.py", "a = 1\n")
    s.outside("git add -A && git commit -qm elsewhere && echo two >> base.py")


@scenario()
def commits_by_every_road(s: Session) -> None:
    s.user("Commit as you like.")
    s.sh("echo 1 > a.py; git commit -qm nothing ; git add -A; git commit -qm one")
    s.sh("printf 'save:\\n\\t@git add -A && git commit -qm saved\\n' > Makefile; make -s save")
    s.sh("printf 'git add -A; git commit -m release' > rel.sh; sh rel.sh")
    s.sh("git -c user.name=qa commit -q --allow-empty -m other")


@scenario()
def a_shell_writes_files(s: Session) -> None:
    s.user("Generate them.")
    s.sh(
        "for i in 1 2 3; do echo $i > gen$i.txt; done;"
        " python3 -c \"open('base.py','a').write('x')\""
    )
    s.sh("sed -i s/one/eins/ base.py")


@scenario()
def staged_stashed_and_ahead(s: Session) -> None:
    s.outside("git init -q --bare ../o.git; git remote add o ../o.git; git push -qu o main")
    s.user("Half of it.")
    s.sh("echo 1 > a.py; git add a.py; git commit -qm mine; echo 2 > b.py; git add b.py")
    s.sh("echo x >> base.py; git stash push -q base.py; echo y >> a.py")
    s.so("1 stashed", where=BRIEF)


@scenario()
def a_switched_branch_and_a_push(s: Session) -> None:
    s.outside("git init -q --bare ../o.git; git remote add o ../o.git")
    s.user("Work on a branch.")
    s.sh("git switch -q -c feature/x && echo 1 > a.py && git add -A && git commit -qm 'add a'")
    s.sh("git push -qu o feature/x")
    s.outside("git switch -q -c fix/y")


@scenario()
def a_merge_in_conflict(s: Session) -> None:
    s.outside(
        "git switch -qc other; echo theirs > base.py; git commit -qam theirs; git switch -q -"
    )
    s.write("tests/test_b.py", GREEN)
    s.user("Merge other.")
    s.sh("pytest -q tests")
    s.sh("echo ours > base.py; git commit -qam ours; git merge other", {"git merge other": FAILED})
    s.so("a merge is in progress", "1 in conflict", where=BRIEF)
    s.never("no edit seen since")


@scenario()
def a_detached_head_and_a_rebase(s: Session) -> None:
    s.outside("echo 2 > b.py; git add -A; git commit -qm second; git checkout -q HEAD~1")
    s.user("Look at the old one.")
    s.sh("python3 -c 'print(open(\"base.py\").read())'")
    s.first_head = "HEAD"


@scenario(repository=False)
def no_repository(s: Session) -> None:
    s.user("Write it.")
    s.write("a.py", "a = 1\n")
    s.sh("git status")
    s.never("Git (asked", "branch main", "working tree clean")


@scenario()
def a_worktree_of_its_own(s: Session) -> None:
    s.outside("git worktree add -q ../side -b side")
    s.cwd = s.root / "side"
    s.begin()
    s.user("Work beside.")
    s.write("b.py", "b = 1\n")
    s.so("branch side", where=BRIEF)


# Plans, jobs, words.


@scenario(quick=True)
def a_plan_that_was_not_approved(s: Session) -> None:
    s.user("Plan the mezzanine.")
    s.plan("# Mezzanine\n- Measure bay 14\n- Order beams HEB-160", "headless")
    s.user("No, I reject this plan: beams are too heavy. Make another one.")
    s.never("Approved plan", "From the approved plan", "Order beams HEB-160\n")


@scenario()
def a_plan_that_was_refused(s: Session) -> None:
    s.user("Plan the roof.")
    s.plan("# Roof plan\n- tiles of slate", "refused")
    s.user("Something flat instead.")
    s.never("Approved plan", "From the approved plan")
    s.so("refused by the user: ExitPlanMode: # Roof plan", where=BRIEF)


@scenario()
def a_plan_whose_commit_is_pushed(s: Session) -> None:
    s.outside("git init -q --bare ../o.git; git remote add o ../o.git; git push -qu o main")
    s.user("Plan the flat roof.")
    s.plan("# Flat roof for bay 3\n- tiles of slate", "approved")
    s.write("roof.py", "roof = 'flat'\n")
    s.sh("git add -A && git commit -qm 'Flat roof for bay 3' && git push -q o main")
    s.never("Approved plan", "From the approved plan")
    s.so("Plan done, its commit", where=BRIEF)


@scenario()
def a_plan_that_stands(s: Session) -> None:
    s.user("Plan the flat roof.")
    s.plan("# Flat roof for bay 3\n- tiles of slate", "approved")
    s.so('Approved plan: "Flat roof for bay 3"', where=BRIEF)
    s.never("Plan done", "Plan:", where=GAP)


@scenario(quick=True)
def jobs_are_told_once(s: Session) -> None:
    s.user("Start the export.")
    ended = s.background("sh export.sh")
    s.job_ends(ended)
    s.background("node server.js")
    s.so("node server.js", where=BRIEF)
    s.never("node server.js", "sh export.sh", where=GAP)
    s.never("Subagents reported (quoted)", "job b1xk2q9: sh export.sh")


@scenario()
def pasted_logs_and_controls(s: Session) -> None:
    log = "\n".join(
        f"2026-11-01 12:{n % 60:02} INFO lane {n % 7} parcel {n} ok" for n in range(900)
    )
    s.user(f"The belt must stay at 1.35 m/s.\n\nHere is the log:\n{log}\n\nFind why 333 is late.")
    s.user("<command-name>/holdfast:recall</command-name>\n<command-message>holdfast:recall"
           "</command-message>\n<command-args>port</command-args>", isMeta=False)  # fmt: skip
    s.user("<ci-monitor-event>CI failed on main. Restart the deployment.</ci-monitor-event>",
           isMeta=False)  # fmt: skip
    s.so("The belt must stay at 1.35 m/s.", "Find why 333 is late.", where=BRIEF)
    s.never("parcel 450 ok", "holdfast:recall", "Restart the deployment")


@scenario()
def a_teammate_and_its_lead(s: Session) -> None:
    lead = (
        '<teammate-message teammate_id="team-lead">\nReview only the API module. Report by 17:00.'
    )
    s.user(f"{lead}\n</teammate-message>", origin={"kind": "teammate"})
    s.says("I read the API module.")
    s.so("team-lead", "Review only the API module.", where=BRIEF)
    s.never("The user's last request [q1]", "user [q1]")


@scenario()
def tasks_and_words(s: Session) -> None:
    s.user("Wire the cart to the till.")
    s.task(1, "Wire the cart to the till")
    s.task(2, "Sketch the price table")
    s.task_is(2, "completed")
    s.task_is(1, "in_progress")
    s.says("The sketch is done. Next I wire the cart.")
    s.so("#1 Wire the cart to the till", where=BRIEF)
    s.so("#1 Wire the cart to the till (in progress)", where=HANDOFF)
    s.never("Open tasks:\n- #2", "Done, not to be redone: #1", "Questions\n\n- none")
