"""Prepares a release: `python -m tools.release [--dry-run]`, which `make release` runs.

The version is that of `src/holdfast/__init__.py`: the plugin runs from the sources, without a build
or git, so the tag `v<version>` is made from it and not the other way round. The tag publishes it
(.github/workflows/release.yml checks that they agree). Builds and checks the distributions, dates
the changelog's section, commits and tags it, and says what is left for a person to do. Pushes and
uploads nothing. With `--dry-run` it changes nothing either.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import holdfast
from tools import build_dist

ROOT = Path(__file__).resolve().parent.parent
CHANGELOG = ROOT / "CHANGELOG.md"


class NotReady(Exception):
    """What keeps this tree from being released."""


def find_section(changelog: str, version: str) -> tuple[str, str]:
    """The heading of this version that has no date yet, and what stands below it."""
    found = re.search(
        rf"^## {re.escape(version)} \(unreleased\)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S
    )
    if not found or not found[1].strip():
        raise NotReady(f"CHANGELOG.md has no section '## {version} (unreleased)' with changes")
    return found[0].partition("\n")[0], found[1].strip()


def date_section(changelog: str, version: str, day: str) -> str:
    heading, _ = find_section(changelog, version)
    return changelog.replace(heading, f"## {version} ({day})", 1)


def check_tag(tag: str, version: str) -> None:
    """For the workflow that publishes: the tag is the version, or nothing is published."""
    if tag != f"v{version}":
        raise NotReady(f"The tag {tag} is not v{version}, the version of the package")


def release(*, dry_run: bool) -> None:
    version = holdfast.__version__
    tag = f"v{version}"
    if _git("tag", "--list", tag):
        raise NotReady(f"{tag} exists: raise the version in src/holdfast/__init__.py")
    if not dry_run and _git("status", "--porcelain"):
        raise NotReady("There are changes that are not committed")
    changelog = CHANGELOG.read_text(encoding="utf-8")
    _, changes = find_section(changelog, version)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) if dry_run else ROOT / "dist"
        built = build_dist.build(folder)
        if not build_dist.check(built):
            raise NotReady("The distributions are not as they should be")
        for path in built:
            _say(f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.name}")
    _say(f"{tag}: {len(changes.splitlines())} lines of changes")
    if not dry_run:
        day = time.strftime("%Y-%m-%d", time.gmtime())
        CHANGELOG.write_text(date_section(changelog, version, day), encoding="utf-8")
        _git("commit", "--quiet", "--message", f"Release {version}", "CHANGELOG.md")
        sign = ["--sign"] if _git("config", "--default", "", "user.signingkey") else ["--annotate"]
        _git("tag", *sign, tag, "--message", f"Holdfast {version}\n\n{changes}")
    _say(_list_next_steps(tag, dry_run=dry_run))


def _list_next_steps(tag: str, *, dry_run: bool) -> str:
    begin = "Nothing was changed. Then:" if dry_run else "Committed and tagged. Then:"
    steps = [
        *(["make release"] if dry_run else []),
        f"git push origin HEAD {tag}",
        "approve the environment `pypi` in the workflow `release`: it runs the tests on Linux,"
        " macOS and Windows, and publishes by trusted publishing",
        "the first time: on PyPI, add this repository, release.yml and `pypi` as trusted publisher",
    ]
    return "\n".join([begin, *(f"  {number}. {step}" for number, step in enumerate(steps, 1))])


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode and words[0] != "config":
        raise NotReady(done.stderr.strip())
    return done.stdout.strip()


def main(words: list[str]) -> int:
    try:
        if words[:1] == ["--check-tag"]:
            check_tag(words[1], holdfast.__version__)
        else:
            release(dry_run="--dry-run" in words)
    except NotReady as error:
        sys.stderr.write(f"Not ready: {error}." + "\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
