"""Which project and worktree a folder is in, as git itself lays them out."""

import subprocess
from pathlib import Path

import pytest

from holdfast.fastpath.project import locate_project


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    return folder


def test_a_folder_outside_any_repository_is_its_own_project(tmp_path: Path) -> None:
    assert locate_project(str(tmp_path)) == (str(tmp_path), str(tmp_path))
    assert locate_project("/") == ("/", "/")
    assert locate_project("") == ("", "")


def test_a_folder_inside_belongs_to_the_repository(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    inside = shop / "src" / "deep"
    inside.mkdir(parents=True)
    assert locate_project(str(inside)) == (str(shop), str(shop))
    assert locate_project(str(inside / "gone")) == (str(shop), str(shop))


def test_a_worktree_is_of_the_same_project_and_a_place_of_its_own(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    side = tmp_path / "side"
    git(shop, "worktree", "add", "-q", str(side))
    (side / "src").mkdir()
    assert locate_project(str(side / "src")) == (str(shop), str(side))


def test_a_worktree_of_a_bare_repository_belongs_to_it(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git(tmp_path, "clone", "-q", "--bare", str(shop), "shop.git")
    side = tmp_path / "side"
    git(tmp_path / "shop.git", "worktree", "add", "-q", str(side))
    assert locate_project(str(side)) == (str(tmp_path / "shop.git"), str(side))


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner")
    outer = repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "part")
    assert locate_project(str(outer / "part")) == (str(outer / "part"), str(outer / "part"))


def test_a_broken_pointer_is_a_checkout_by_itself(tmp_path: Path) -> None:
    (tmp_path / ".git").write_bytes(b"\xff\x00 nothing useful")
    assert locate_project(str(tmp_path)) == (str(tmp_path), str(tmp_path))


def test_a_deleted_worktree_inside_its_repository_is_known_by_its_path(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    for place in (".worktrees/1", ".claude/worktrees/fix/deep", ".worktrees/me/branch"):
        gone = str(shop / place)
        assert locate_project(gone) == (str(shop), gone)
        elsewhere = f"/nowhere/shop/{place}"
        assert locate_project(elsewhere) == ("/nowhere/shop", elsewhere)


def test_a_worktree_that_is_there_is_asked_and_not_guessed(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git(shop, "worktree", "add", "-q", ".worktrees/1")
    side = shop / ".worktrees" / "1"
    assert locate_project(str(side / "gone")) == (str(shop), str(side))
    plain = shop / ".worktrees" / "notes"
    plain.mkdir()
    assert locate_project(str(plain)) == (str(shop), str(shop)), "a folder of the repository"
    outer = tmp_path / "out" / ".worktrees" / "x"
    outer.mkdir(parents=True)
    assert locate_project(str(outer)) == (str(outer), str(outer))


def test_a_folder_on_a_windows_drive_is_one_project_in_every_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another system `C:` is a folder like any other, so that its files can be laid out."""
    (tmp_path / "C:").mkdir()
    shop = repository(tmp_path / "C:" / "shop")
    (shop / "src").mkdir()
    monkeypatch.chdir(tmp_path)
    for spelled in ("C:\\shop\\src", "c:\\shop\\src", "c:/shop/src", "C:/shop"):
        assert locate_project(spelled) == ("C:/shop", "C:/shop")
    assert locate_project("D:\\else\\where") == ("D:/else/where", "D:/else/where")
