"""A folder is another project's worktree only where that project says so too."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from holdfast.fastpath.project import locate_project

from .world import PRIVATE, World


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    env = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    subprocess.run(
        ["git", "-C", str(folder), *who, *words], check=True, env=env, capture_output=True
    )


@pytest.fixture
def victim(world: World) -> Path:
    """Another project of the user's with a worktree beside it, and things to remember."""
    folder = world.home / "src/victim"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    git(folder, "worktree", "add", "-q", str(world.home / "src/side"))
    return folder


def pointers(world: World, victim: Path) -> dict[str, str]:
    admin = victim / ".git/worktrees/side"
    fake = world.repo / "fake/.git/worktrees/x"
    fake.mkdir(parents=True)
    (fake / "gitdir").write_text(f"{world.repo}/.git\n")
    up = "/".join([".."] * len(admin.parent.parts[1:]))
    return {
        "straight": f"gitdir: {admin}",
        "relative": f"gitdir: {os.path.relpath(admin, world.repo)}",
        "up again": f"gitdir: {victim}/.git/worktrees/{up}{fake}",
        "new name": f"gitdir: {victim}/.git/worktrees/new",
        "bare": f"gitdir: {victim}/worktrees/side",
        "two": f"gitdir: {fake}\ngitdir: {admin}",
        "after words": f"x gitdir: {admin}",
        "null": f"gitdir: {admin}\0",
    }


@pytest.mark.parametrize(
    "name", ["straight", "relative", "up again", "new name", "bare", "two", "after words", "null"]
)
def test_a_pointer_that_nobody_answers_is_not_followed(
    world: World, victim: Path, name: str
) -> None:
    text = pointers(world, victim)[name]
    (world.repo / ".git").rmdir()
    (world.repo / ".git").write_text(text)
    project, worktree = locate_project(str(world.repo))
    assert worktree == str(world.repo)
    assert project.startswith(str(world.repo))


@pytest.mark.parametrize("how", ["link", "hard link"])
def test_the_pointer_of_another_worktree_is_not_ours(world: World, victim: Path, how: str) -> None:
    (world.repo / ".git").rmdir()
    theirs = world.home / "src/side/.git"
    place = world.repo / ".git"
    place.symlink_to(theirs) if how == "link" else place.hardlink_to(theirs)
    assert locate_project(str(world.repo)) == (str(world.repo), str(world.repo))


def test_real_worktrees_are_known_also_with_relative_pointers(world: World, victim: Path) -> None:
    side = world.home / "src/side"
    assert locate_project(str(side)) == (str(victim), str(side))
    admin = victim / ".git/worktrees/side"
    (side / ".git").write_text(f"gitdir: {os.path.relpath(admin, side)}\n")
    (admin / "gitdir").write_text(f"{os.path.relpath(side / '.git', admin)}\n")
    assert locate_project(str(side)) == (str(victim), str(side))


def test_recall_answers_nothing_of_another_project(world: World, victim: Path) -> None:
    """Through the wired hooks and `holdfast`: what the other project noted stays there."""
    (victim / ".holdfast").mkdir()
    (victim / ".holdfast/compact.md").write_text(PRIVATE)
    (world.repo / ".git").rmdir()
    (world.repo / ".git").write_text(f"gitdir: {victim}/.git/worktrees/side\n")
    said = world.live()
    assert PRIVATE not in said
    told = json.loads(world.holdfast("status", "--all", "--json").stdout)
    assert str(world.repo) in json.dumps(told)
    assert str(victim) not in json.dumps(told)
