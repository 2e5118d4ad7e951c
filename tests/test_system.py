"""Locks, processes, modes and shells; with stand-ins for what Windows answers."""

import ast
import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import holdfast
from holdfast import files, paths, system

PACKAGE = Path(holdfast.__file__).parent


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For the length of one call: the standard library too asks which system it is on."""
    monkeypatch.setattr(sys, "platform", "win32")
    yield
    monkeypatch.undo()


def test_a_lock_is_held_by_one_and_goes_with_its_process(tmp_path: Path) -> None:
    first, second = (files.open_lock(str(tmp_path / "lock")) for _ in range(2))
    assert system.try_lock(first)
    assert not system.try_lock(second)
    system.unlock(first)
    assert system.try_lock(second)
    os.close(second)
    assert system.try_lock(first)
    os.close(first)
    system.unlock(first)  # closed: nothing to say


class FakeLocking:
    """`msvcrt` as documented: an error for a region that somebody else has locked."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self) -> None:
        self.owner: int | None = None

    def locking(self, handle: int, mode: int, length: int) -> None:
        assert length == 1
        if mode == self.LK_UNLCK:
            if self.owner != handle:
                raise PermissionError(13, "Permission denied")
            self.owner = None
        elif self.owner not in (None, handle):
            raise PermissionError(13, "Permission denied")
        else:
            self.owner = handle


def test_windows_locks_a_byte(windows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "msvcrt", FakeLocking())
    assert system.try_lock(7)
    assert not system.try_lock(8)
    system.unlock(8)
    assert not system.try_lock(8)
    system.unlock(7)
    assert system.try_lock(8)


def test_a_process_is_running_until_it_ends() -> None:
    child = subprocess.Popen(["sleep", "60"])
    assert system.is_process_running(child.pid)
    child.kill()
    child.wait()
    assert not system.is_process_running(child.pid)
    assert not system.is_process_running(0)
    assert not system.is_process_running(-1)


class FakeKernel:
    """`kernel32` as documented, with one process that runs, one that ended, one of a service."""

    RUNNING, ENDED, SERVICE, HANDLE = 100, 200, 4, 0x40

    def __init__(self) -> None:
        self.asked, self.closed, self.error = 0, 0, 0

    def OpenProcess(self, access: int, inherit: bool, process: int) -> int:
        self.asked = process
        self.error = {self.SERVICE: 5}.get(process, 87)
        return self.HANDLE if process in (self.RUNNING, self.ENDED) else 0

    def GetLastError(self) -> int:
        return self.error

    def GetExitCodeProcess(self, handle: int, code: Any) -> int:
        code._obj.value = 259 if self.asked == self.RUNNING else 0
        return 1

    def CloseHandle(self, handle: int) -> None:
        self.closed += handle == self.HANDLE


def test_windows_is_asked_without_sending_a_signal(
    windows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = FakeKernel()
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("os.kill is a Ctrl-C on Windows"))
    answers = [system.is_process_running(number) for number in (100, 200, 4, 999)]
    assert answers == [True, False, True, False]
    assert kernel.closed == 2


def test_windows_waits_for_whoever_reads_a_file(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refused = os.replace, [1, 2, 3]
    waited: list[float] = []

    def replace(old: str, new: str, **_: object) -> None:
        if refused:
            refused.pop()
            raise PermissionError(13, "The process cannot access the file")
        real(old, new)

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr("time.sleep", waited.append)
    files.write_atomic(str(tmp_path / "brief"), b"new")
    assert (tmp_path / "brief").read_bytes() == b"new"
    assert waited == [files.REPLACE_WAIT_SECONDS] * 3


def test_windows_does_not_wait_for_ever(
    windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace(*_: object, **__: object) -> None:
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(PermissionError):
        files.write_atomic(str(tmp_path / "brief"), b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_mode_means_something_where_there_are_modes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text("")
    path.chmod(0o600)
    assert system.is_private(path.stat())
    path.chmod(0o644)
    there = path.stat()
    assert not system.is_private(there)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "getuid")
    assert system.is_private(there)
    assert system.own_user_id() is None


@pytest.mark.parametrize("bash", ["C:\\Program Files\\Git\\bin\\bash.exe", None])
def test_windows_has_no_bin_sh(
    windows: None, monkeypatch: pytest.MonkeyPatch, bash: str | None
) -> None:
    monkeypatch.setattr("shutil.which", {"bash": bash}.get)
    found = system.shell_command("my-line --short")
    assert found[-1] == "my-line --short"
    assert found[0] == (bash or "cmd.exe")


def test_elsewhere_a_line_is_for_the_shell() -> None:
    ran = subprocess.run(system.shell_command("echo $((1+1))"), capture_output=True, text=True)
    assert ran.stdout == "2\n"


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {"HOME": "/home/ann"}, "/home/ann/.local/share/holdfast"),
        ("darwin", {"HOME": "/Users/ann"}, "/Users/ann/.local/share/holdfast"),
        (
            "darwin",
            {"HOME": "/Users/ann", "XDG_DATA_HOME": "/Users/ann/d"},
            "/Users/ann/d/holdfast",
        ),
        (
            "win32",
            {"USERPROFILE": "C:\\Users\\ann", "LOCALAPPDATA": "C:\\Users\\ann\\AppData\\Local"},
            "C:/Users/ann/AppData/Local/holdfast",
        ),
        ("win32", {"USERPROFILE": "c:\\Users\\ann"}, "C:/Users/ann/.local/share/holdfast"),
        ("win32", {"HOLDFAST_HOME": "d:\\held", "LOCALAPPDATA": "C:\\x"}, "D:/held"),
        ("linux", {"LOCALAPPDATA": "C:\\x", "HOME": "/root"}, "/root/.local/share/holdfast"),
        ("win32", {}, ""),
    ],
)
def test_where_the_data_lies(
    platform: str, environ: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert paths.data_dir_from(environ) == folder


def test_no_module_needs_what_windows_lacks() -> None:
    """Whatever only POSIX has is imported where it is used, and not when a module is loaded."""
    lacking = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "syslog"}
    found = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        for name in _imported(node)
        if name in lacking
    ]
    assert found == []


def _imported(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "").partition(".")[0]]
    if isinstance(node, ast.Import):
        return [one.name.partition(".")[0] for one in node.names]
    return []
