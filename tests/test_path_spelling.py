"""One spelling of a path, whatever system wrote it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.path_spelling import is_absolute, is_inside, join_path, spell_path

WINDOWS = "C:\\repo"


@pytest.mark.parametrize(
    ("path", "folder", "spelled"),
    [
        ("C:\\repo\\a.py", "", "C:/repo/a.py"),
        ("c:/repo/a.py", "", "C:/repo/a.py"),
        ("\\\\?\\c:\\repo\\a.py", "", "C:/repo/a.py"),
        ("\\\\server\\share\\a.py", "", "//server/share/a.py"),
        ("src\\a.py", WINDOWS, "src/a.py"),
        ("/c/repo/a.py", WINDOWS, "C:/repo/a.py"),
        ("/tmp/a.py", WINDOWS, "/tmp/a.py"),
        ("src\\a.py", "/repo", "src\\a.py"),
        ("/c/repo/a.py", "/repo", "/c/repo/a.py"),
        ("a:b.py", "/repo", "a:b.py"),
        ("", WINDOWS, ""),
    ],
)
def test_spellings(path: str, folder: str, spelled: str) -> None:
    assert spell_path(path, folder) == spelled


@pytest.mark.parametrize(
    ("folder", "path", "joined"),
    [
        ("/repo", "src/a.py", "/repo/src/a.py"),
        ("/repo/", "./src/a.py", "/repo/src/a.py"),
        ("c:\\repo", ".\\src\\a.py", "C:/repo/src/a.py"),
        ("c:\\repo", "D:\\a.py", "D:/a.py"),
        ("", "src/a.py", "src/a.py"),
        ("/repo", "", ""),
    ],
)
def test_relative_paths_are_seen_from_their_folder(folder: str, path: str, joined: str) -> None:
    assert join_path(folder, path) == joined


@given(st.text(), st.sampled_from(["", "/repo", WINDOWS]))
def test_a_spelling_is_spelled_as_itself(path: str, folder: str) -> None:
    once = spell_path(path, folder)
    assert spell_path(once, folder) == once


@given(st.text())
def test_without_a_drive_nothing_is_changed(path: str) -> None:
    if not is_absolute(path) or path.startswith("/"):
        assert spell_path(path, "/repo") == path


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        ("/repo/a.py", "/repo", True),
        ("/repo/a.py", "/", True),
        ("/repository/a.py", "/repo", False),
        ("/repo", "/repo", False),
        ("c:\\repo\\a.py", "C:/repo", True),
        ("C:\\repo\\a.py", "D:\\repo", False),
    ],
)
def test_inside(path: str, folder: str, inside: bool) -> None:
    assert is_inside(path, folder) is inside
