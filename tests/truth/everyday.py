"""Everyday work that the first scenarios left out: more of git, of shells and of what users say."""

from __future__ import annotations

from truth.scenarios import GREEN, RED, scenario
from truth.session import BRIEF, FAILED, GAP, HANDOFF, STEERING, WORKED, Session

ORIGIN = "git init -q --bare ../o.git; git remote add o ../o.git; git push -qu o main"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). STOP what you are doing and wait"
    " for the user to tell you how to proceed."
)


def begin_behind(s: Session, script: str) -> None:
    """A session that starts when this was done."""
    s.outside(script)
    s.first_head = s.outside("git rev-parse HEAD")
    s.begin()


# Git.


@scenario()
def a_commit_inside_a_submodule(s: Session) -> None:
    s.outside(
        "git init -q ../lib && cd ../lib && echo l > lib.py && git add -A && git commit -qm l"
    )
    begin_behind(
        s,
        "git -c protocol.file.allow=always submodule add -q ../lib lib && git commit -qm 'add lib'",
    )
    s.user("Change the library in lib.")
    s.sh("cd lib && echo x >> lib.py && git commit -qam 'change lib'")
    s.never("New commits", where=HANDOFF)


@scenario()
def a_rebase_that_stopped(s: Session) -> None:
    begin_behind(
        s,
        "git switch -qc topic; echo t > base.py; git commit -qam topic; git switch -q main;"
        " echo m > base.py; git commit -qam mainline; git switch -q topic",
    )
    s.user("Rebase it onto main.")
    s.sh("git rebase main")
    for where in (BRIEF, STEERING):
        s.so("a rebase is in progress", "1 in conflict", where=where)


@scenario()
def a_commit_that_was_amended_and_one_that_was_dropped(s: Session) -> None:
    s.user("Commit, then fix the message.")
    s.sh("echo 1 > a.py; git add -A; git commit -qm 'first try'")
    s.sh("git commit -q --amend -m 'second try'")
    s.sh("echo 2 > b.py; git add -A; git commit -qm 'dropped'; git reset -q --hard HEAD~1")
    s.sh("git switch -qc try; git commit -q --allow-empty -m 'a try'; git switch -q main")
    s.so("second try", where=BRIEF)
    s.never('"first try"', '"dropped"', '"a try"', where=HANDOFF)


@scenario()
def a_commit_that_a_hook_refused(s: Session) -> None:
    s.outside(
        "printf '#!/bin/sh\\necho lint: 3 problems\\nexit 1\\n' > .git/hooks/pre-commit;"
        " chmod +x .git/hooks/pre-commit"
    )
    s.user("Commit it.")
    s.sh("echo 1 > a.py; git add -A && git commit -m never", {"git commit -m never": FAILED})
    s.sh("git commit -qm never 2>&1 | tail -1; true", {"git commit -qm never": FAILED})


@scenario()
def a_push_that_was_rejected(s: Session) -> None:
    s.outside(f"{ORIGIN}; git clone -q ../o.git ../other")
    s.outside("cd ../other; git commit -q --allow-empty -m theirs; git push -q origin main")
    s.user("Push it.")
    s.sh("echo 1 > a.py; git add -A; git commit -qm mine; git push o main 2>&1 | tail -4",
         {"git push o main": FAILED})  # fmt: skip
    s.sh("git push --set-upstream nowhere main || echo no", {"git push --set-upstream": FAILED})
    s.so("1 ahead of o/main", where=BRIEF)
    s.never("pushed", where=BRIEF)


@scenario()
def files_renamed_deleted_and_of_other_alphabets(s: Session) -> None:
    begin_behind(
        s, "for i in 1 2 3 4; do seq 1 9 > f$i.txt; done; git add -A; git commit -qm files"
    )
    s.user("Tidy up.")
    s.sh(
        "git mv f1.txt g1.txt; rm f2.txt; git rm -q f3.txt; chmod +x f4.txt; ln -s f4.txt link.txt;"
        " echo x > notes.log; echo '*.log' > .gitignore"
    )
    s.write("größe öl.md", "# Öl\n")
    s.write("данные.py", "x = 1\n")
    s.so("f2.txt (deleted", "g1.txt (renamed from f1.txt", where=BRIEF)


@scenario()
def a_folder_of_a_monorepo(s: Session) -> None:
    begin_behind(
        s, "mkdir -p ui api; echo 1 > ui/b.js; echo 1 > api/m.py; git add -A; git commit -qm l"
    )
    s.cwd = s.cwd / "ui"
    s.begin()
    s.user("Edit both.")
    s.sh("echo 2 >> b.js; echo 2 >> ../api/m.py; echo n > new.js; git -C .. status --short")
    s.so("api/m.py", "b.js", "new.js (new", where=BRIEF)


# Endings.


@scenario()
def checks_in_lists_loops_and_conditions(s: Session) -> None:
    s.write("tests/test_a.py", RED)
    s.write("tests/test_b.py", GREEN)
    s.user("Check.")
    red, green = "pytest -q tests/test_a.py", "pytest -q tests/test_b.py"
    s.sh(f"{red}; {green}", {red: FAILED, green: WORKED})
    s.sh("if pytest -q; then echo green; else echo red; fi", {"pytest -q": FAILED})
    s.sh("! pytest -q", {"pytest -q": FAILED})
    s.sh("pytest -q > out.txt 2>&1; tail -1 out.txt", {"pytest -q": FAILED})
    s.sh(f"({red}) && echo yes || echo no", {red: FAILED})
    s.sh(f'CI=1 {red}; echo "rc=$?"', {red: FAILED})
    s.sh(f"set -o pipefail; {red} | tail -1", {red: FAILED})
    s.sh("pytest --collect-only -q; pytest -q --lf --co; pytest --version", {})
    s.never("passed: `pytest -q`", "passed: `pytest -q --lf --co`")


@scenario()
def programs_that_were_stopped(s: Session) -> None:
    s.user("Run it.")
    s.sh("timeout 1 sleep 5; echo ended", {"timeout 1 sleep 5": FAILED})
    s.sh("bash -c 'kill -9 $$'")
    s.sh(
        "python3 -c 'raise SystemExit(3)' || echo no", {"python3 -c 'raise SystemExit(3)'": FAILED}
    )
    s.sh("echo 1 > p; git apply p; echo tried", {"git apply p": FAILED})
    s.never("worked: `timeout", "`git apply p` ok")


@scenario()
def a_pull_request_that_cannot_be_merged(s: Session) -> None:
    s.outside(ORIGIN)
    (s.bin / "gh").write_text(
        "#!/bin/sh\ncase $2 in create) echo https://github.com/acme/shop/pull/41;;"
        " merge) echo 'X Pull request acme/shop#41 is not mergeable'; exit 1;; esac\n"
    )
    (s.bin / "gh").chmod(0o755)
    s.user("Open a pull request and merge it.")
    s.sh("git switch -qc feat; echo 1 > a.py; git add -A; git commit -qm mine; git push -qu o feat")
    s.sh("gh pr create --title 'Add a' --body text")
    s.sh("gh pr merge 41 --squash | cat", {"gh pr merge 41 --squash": FAILED})
    s.so("pull/41", where=BRIEF)
    s.never("merged", where=BRIEF)


# Words.


@scenario()
def a_call_that_the_user_stopped(s: Session) -> None:
    s.user("Delete the cache and rebuild.")
    s.call("Bash", {"command": "make rebuild"}, REFUSED, "User rejected tool use", failed=True)
    s.user("Don't rebuild, only list what is there.")
    s.so("Don't rebuild, only list what is there.", where=BRIEF)
    s.never("worked: `make rebuild", "failed: `make rebuild")


@scenario()
def holds_and_rules_over_two_compactions(s: Session) -> None:
    s.write("tests/test_a.py", RED)
    s.user("Make it green. Don't push until I say so.")
    s.sh("pytest -q")
    s.compact()
    s.told.clear()
    s.write("tests/test_a.py", RED.replace("2", "1"))
    s.sh("pytest -q")
    s.user("Antworte ab jetzt bitte immer auf Deutsch.")
    s.so("passed: `pytest -q`", where=BRIEF)
    s.never("- failed: `pytest -q`", where=BRIEF)
    for where in (BRIEF, STEERING, HANDOFF):
        s.so("Don't push until I say so.", "immer auf Deutsch", where=where)


@scenario()
def a_hold_that_is_released_and_given_again(s: Session) -> None:
    s.user("Add a discount. Don't commit until I've looked at it.")
    s.user("Looks good, commit it.")
    s.sh("echo 1 > order.py; git add -A && git commit -qm 'Add discount'")
    s.user("Next the invoice. Same thing: nothing goes in before I've seen the diff.")
    s.so("nothing goes in before I've seen the diff", where=STEERING)
    s.so('On hold: "Same thing: nothing goes in', where=HANDOFF)
    s.never('On hold: "Add a discount', where=HANDOFF)
    s.never("Don't commit until", where=GAP)
