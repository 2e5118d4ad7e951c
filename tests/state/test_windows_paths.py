r"""A session on Windows: one file, however its path was written. Rows by hand: no such recording.

What the client writes there is `C:\repo\src\a.py`; editors start it with `c:`, its shell is Git
Bash (`/c/repo`), git prints slashes, PowerShell and compilers backslashes.
"""

from typing import Any

import pytest

from clients.claude_code.transcript.handwritten_rows import Transcript
from holdfast.brief.compose import compose
from holdfast.state import State, fold_all
from holdfast.state.git_printed import BRANCH, last_line

REPO = "C:\\repo"
FILE = "C:/repo/src/a.py"


class WindowsSession(Transcript):
    def __init__(self, folder: str = REPO) -> None:
        super().__init__()
        self.prompt("Fix the rounding in the cart.", cwd=folder, gitBranch="main")

    def edited(self, path: str) -> None:
        patch = [{"oldStart": 1, "newStart": 1, "lines": ["-half_up = 1", "+half_even = 1"]}]
        data = {"filePath": path, "structuredPatch": patch}
        asked: dict[str, Any] = {"old_string": "half_up = 1", "new_string": "half_even = 1"}
        self.tool("Edit", "updated", data, file_path=path, **asked)

    def read(self, path: str) -> None:
        data = {"file": {"filePath": path, "content": "half_even = 1"}}
        self.tool("Read", "1 half_even = 1", data, file_path=path)

    def ran(self, command: str, output: str = "", tool: str = "Bash") -> None:
        self.tool(tool, output, {"stdout": output}, command=command)

    def state(self) -> State:
        return fold_all(self.events())


SPELLINGS = ["C:\\repo\\src\\a.py", "c:\\repo\\src\\a.py", "c:/repo/src/a.py", FILE]


def test_every_spelling_is_one_file() -> None:
    told = WindowsSession()
    for path in (*SPELLINGS, "src\\a.py", "src/a.py", ".\\src\\a.py", "\\\\?\\C:\\repo\\src\\a.py"):
        told.read(path)
        told.edited(path)
    state = told.state()
    assert list(state.files) == [FILE]
    assert (state.files[FILE].read, state.files[FILE].changed) == (8, 8)
    assert [one.subject for one in state.lookups.values()] == [FILE]
    assert state.session.cwd == "C:/repo"


@pytest.mark.parametrize("folder", ["C:\\repo", "c:\\repo", "c:/repo", "C:/repo/"])
def test_the_folder_too_has_one_spelling(folder: str) -> None:
    told = WindowsSession(folder)
    told.prompt("Go on.", cwd="C:\\repo")
    told.edited("src\\a.py")
    assert list(told.state().files) == [FILE]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("python -m pytest src/a.py", ""),
        ("python -m pytest C:/repo/src/a.py", ""),
        ("cat /c/repo/src/a.py", ""),
        ("Get-Content .\\src\\a.py", ""),
        ('type "C:\\repo\\src\\a.py"', ""),
        ("pytest", "src\\a.py:12: AssertionError"),
        ("pytest", "C:\\repo\\src\\a.py:12: error: bad type"),
        ("pytest", 'File "c:\\repo\\src\\a.py", line 3'),
    ],
)
def test_a_command_that_names_it_names_no_other(command: str, output: str) -> None:
    told = WindowsSession()
    told.edited("C:\\repo\\src\\a.py")
    told.ran(command, output)
    assert list(told.state().files) == [FILE]


@pytest.mark.parametrize(
    "line",
    [
        "src\\a.py:1:half_even = 1",
        "C:\\repo\\src\\a.py:1:half_even = 1",
        "c:/repo/src/a.py:1:half_even = 1",
        "src\\a.py-1-half_even = 1",
        "C:\\repo\\src\\a.py",
        "src\\a.py",
    ],
)
def test_a_search_that_finds_it_finds_no_other(line: str) -> None:
    told = WindowsSession()
    told.edited("C:\\repo\\src\\a.py")
    told.tool("Grep", line, pattern="half_even", path="C:\\repo\\src")
    assert list(told.state().files) == [FILE]


def test_a_search_in_one_file() -> None:
    told = WindowsSession()
    told.edited("C:\\repo\\src\\a.py")
    told.tool("Grep", "3:half_even = 1", pattern="half_even", path="c:\\repo\\src\\a.py")
    assert list(told.state().files) == [FILE]


@pytest.mark.parametrize("name", ["src/a.py", "/c/repo/src/a.py", "C:/repo/src/a.py"])
def test_a_deleted_file_is_deleted(name: str) -> None:
    told = WindowsSession()
    told.edited("C:\\repo\\src\\a.py")
    told.ran(f"rm {name}")
    assert [file.status for file in told.state().files.values()] == ["cancelled"]


@pytest.mark.parametrize(("folder", "ours"), [("/c/repo/src", True), ("/c/other", False)])
def test_what_git_printed_in_another_folder_is_not_of_this_one(folder: str, ours: bool) -> None:
    told = WindowsSession()
    told.ran(f"cd {folder} && git status", "On branch topic\nnothing to commit")
    state = told.state()
    branch = last_line(state.git_printed, BRANCH, state.session.folders)
    assert branch is not None
    assert branch.branch == ("topic" if ours else "main")


def test_the_brief_names_it_once_and_relative_to_the_work() -> None:
    told = WindowsSession("C:\\Users\\ann\\repo")
    for path in ("C:\\Users\\ann\\repo\\src\\a.py", "c:/Users/ann/repo/src/a.py", "src\\a.py"):
        told.edited(path)
    text = compose(told.state(), 4000).text
    assert "src/a.py" in text
    assert "ann" not in text.replace("working folder C:/Users/ann/repo", "")
    assert "\\" not in text


def test_elsewhere_a_backslash_is_a_letter() -> None:
    told = WindowsSession("/home/ann/repo")
    told.edited("/home/ann/repo/odd\\name.py")
    told.edited("/c/repo/a.py")
    assert list(told.state().files) == ["/home/ann/repo/odd\\name.py", "/c/repo/a.py"]


def test_a_relative_path_elsewhere_is_the_same_file_too() -> None:
    told = WindowsSession("/home/ann/repo")
    told.edited("/home/ann/repo/src/a.py")
    told.edited("src/a.py")
    told.edited("./src/a.py")
    assert list(told.state().files) == ["/home/ann/repo/src/a.py"]
