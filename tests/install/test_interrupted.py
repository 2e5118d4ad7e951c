"""Whatever fails or dies in the middle, the settings file is the old one or the new one."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.install import settings_file
from holdfast.install.hook_entries import parse_entries as hooks_in
from holdfast.install.installation import NotWritable, SettingsBusy, SettingsChanged
from holdfast.settings import atomic_file
from install.settings_home import EVENTS, PYTHON, SCRIPT, Place

ORIGINAL = b'{\n\t"model": "opus"\n}\r\n'
# Which calls an install of an existing file stands on: launcher, backup, receipt, settings, in
# this order.
STEPS = [
    *[(os, "mkdir", turn) for turn in (1, 2, 3)],
    (os, "makedirs", 1),
    # The lock, the settings, four temporary files, and the settings once more before the end.
    *[(os, "open", turn) for turn in (1, 2, 4, 6, 8, 10, 11)],
    *[(os, "listdir", turn) for turn in (1, 2, 3, 4)],
    *[(os, "write", turn) for turn in (1, 2, 3, 4)],
    *[(os, "chmod", turn) for turn in (1, 2)],
    *[(os, "fsync", turn) for turn in (1, 3, 5, 7)],
    *[(os, "replace", turn) for turn in (1, 2, 3, 4)],
]


def fail_at(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, turn: int, error: BaseException
) -> None:
    """Makes the ``turn``-th call of a function fail."""
    real, calls = getattr(module, name), 0

    def failing(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == turn:
            raise error
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, failing)


@pytest.mark.parametrize(
    ("module", "name", "turn"), STEPS, ids=[f"{name} {turn}" for _, name, turn in STEPS]
)
def test_a_step_that_fails_leaves_the_original_and_no_litter(
    place: Place, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, turn: int
) -> None:
    place.write(ORIGINAL)
    with monkeypatch.context() as patch:
        fail_at(patch, module, name, turn, OSError(28, "No space left on device"))
        with pytest.raises(NotWritable, match="No space left"):
            place.install()
    assert place.files() == {".claude/settings.json": ORIGINAL}
    assert not list(place.data.rglob("*.json"))
    assert not place.launcher.exists()
    place.install()
    assert place.uninstall().identical is True
    assert place.files() == {".claude/settings.json": ORIGINAL}


@pytest.mark.parametrize("turn", [2, 4, 6, 8])
def test_a_folder_that_cannot_be_synced_does_not_spoil_a_finished_rename(
    place: Place, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    place.write(ORIGINAL)
    fail_at(monkeypatch, os, "fsync", turn, OSError(22, "Invalid argument"))
    assert place.install().action == "installed"
    assert place.uninstall().identical is True


def test_the_last_rename_is_the_one_that_counts(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(ORIGINAL)
    real, renamed = os.replace, []

    def noting(source: str, target: str, **folders: None) -> None:
        renamed.append(Path(target).name)
        real(source, target, **folders)

    monkeypatch.setattr(os, "replace", noting)
    place.install()
    assert renamed == [
        "holdfast-hook",
        "settings.before.json",
        "receipt.json",
        "settings.json",
    ]


@pytest.mark.parametrize("turn", [1, 2, 3, 4])
def test_an_interrupt_by_the_user_leaves_the_original(
    place: Place, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    place.write(ORIGINAL)
    fail_at(monkeypatch, os, "replace", turn, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        place.install()
    assert place.files() == {".claude/settings.json": ORIGINAL}


def test_a_failed_first_install_takes_its_folder_away_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_at(monkeypatch, os, "replace", 3, OSError(5, "Input/output error"))
    with pytest.raises(NotWritable, match="Input/output error"):
        place.install()
    assert list((place.root / "home").iterdir()) == []


def test_a_failed_repair_keeps_the_receipt_of_the_first_install(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(ORIGINAL)
    place.install(interpreter="/old/python")
    launcher = place.launcher.read_bytes()
    with monkeypatch.context() as patch:
        fail_at(patch, os, "replace", 4, OSError(5, "Input/output error"))
        with pytest.raises(NotWritable):
            place.install(interpreter="/new/python", statusline=True)
    assert place.launcher.read_bytes() == launcher
    assert place.uninstall().identical is True
    assert place.read() == ORIGINAL


@pytest.mark.parametrize("step", ["os.replace", "os.unlink"])
def test_a_failed_uninstall_leaves_the_hooks_and_can_be_repeated(
    place: Place, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    if step == "os.replace":
        place.write(ORIGINAL)
    place.install()
    installed = place.read()
    with monkeypatch.context() as patch:
        fail_at(patch, os, step.removeprefix("os."), 1, OSError(30, "Read-only file system"))
        with pytest.raises(NotWritable, match="Read-only"):
            place.uninstall()
    assert place.read() == installed
    assert place.uninstall().identical is True


def _to(last: int) -> range:
    return range(1, last + 1)


KILLED_AT_STEP = """
import os, signal, sys
from holdfast.install.claude_code import INSTALLER as installer
path, data, step, turn = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
def die(real, calls=[0]):
    def run(*a, **k):
        calls[0] += 1
        if calls[0] == turn:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*a, **k)
    return run
setattr(os, step, die(getattr(os, step)))
installer.install(path, data_dir=data, interpreter="/p", script="/x/holdfast/hooks/main.py")
"""


# Launcher, backup, receipt, settings: each is synced, renamed, and its folder synced. Without a
# file there is no backup.
MOMENTS = [
    *[(True, step, turn) for step, turns in (("replace", 4), ("fsync", 8)) for turn in _to(turns)],
    *[(False, step, turn) for step, turns in (("replace", 3), ("fsync", 6)) for turn in _to(turns)],
    (False, "mkdir", 4),  # the settings folder, with the receipt already written
]


@pytest.mark.parametrize(("existed", "step", "turn"), MOMENTS)
def test_a_killed_install_is_finished_by_the_next_and_undone_without_trace(
    place: Place, existed: bool, step: str, turn: int
) -> None:
    if existed:
        place.write(ORIGINAL)
    arguments = [str(place.settings), str(place.data), step, str(turn)]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_AT_STEP, *arguments], env=_environment(), check=False
    )
    assert killed.returncode == -signal.SIGKILL
    if existed:
        assert place.read() == ORIGINAL or hooks_in(place.read().decode())
    place.install()
    assert len(hooks_in(place.read().decode())) == len(EVENTS)
    assert place.uninstall().identical is True
    assert place.files() == ({".claude/settings.json": ORIGINAL} if existed else {})
    assert place.settings.parent.exists() == existed


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def change_before_replacing(
    monkeypatch: pytest.MonkeyPatch, place: Place, contents: list[bytes]
) -> None:
    """Another program writes the file after we read it and before we put ours there."""
    real = os.open

    def meanwhile(path: Any, *args: Any, **kwargs: Any) -> Any:
        begins = Path(path).parent == place.settings.parent and str(path).endswith(".new")
        if begins and contents:
            place.settings.write_bytes(contents.pop(0))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", meanwhile)


def test_a_change_by_another_program_is_seen_and_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(ORIGINAL)
    change_before_replacing(monkeypatch, place, [b'{"theirs": 1}', b'{"theirs": 2}'])
    assert place.install().before == b'{"theirs": 2}'
    assert place.parsed()["theirs"] == 2
    assert place.uninstall().identical is True
    assert place.read() == b'{"theirs": 2}'


def test_a_program_that_never_stops_writing_is_given_way(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(ORIGINAL)
    contents = [f'{{"theirs": {n}}}'.encode() for n in range(settings_file.MAX_ATTEMPTS)]
    last = contents[-1]
    change_before_replacing(monkeypatch, place, contents)
    with pytest.raises(SettingsChanged, match="another program"):
        place.install()
    assert place.files() == {".claude/settings.json": last}
    assert not list(place.data.rglob("receipt.json"))


def test_a_file_that_appears_meanwhile_is_not_overwritten(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_before_replacing(monkeypatch, place, [b'{"theirs": 1}'])
    place.install()
    assert place.parsed()["theirs"] == 1


def test_a_held_lock_is_waited_for_and_then_named(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.install()
    place.uninstall()
    (lock,) = place.data.rglob("lock")
    monkeypatch.setattr(atomic_file, "LOCK_WAIT_SECONDS", 0.05)
    with (
        atomic_file.locked(str(lock)),
        pytest.raises(SettingsBusy, match="another holdfast install"),
    ):
        place.install()


@pytest.mark.parametrize("existed", [True, False], ids=["with a file", "without"])
def test_processes_installing_at_once_leave_one_set_of_hooks(place: Place, existed: bool) -> None:
    if existed:
        place.write(ORIGINAL)
    program = (
        "import sys; from holdfast.install.claude_code import INSTALLER as f;"
        "p, d, i, s = sys.argv[1:]; sys.stdin.readline();"
        "sys.stdout.write(f.install(p, data_dir=d, interpreter=i, script=s).action)"
    )
    arguments = [str(place.settings), str(place.data), PYTHON, SCRIPT]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
        )
        for _ in range(4)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    said = sorted(process.communicate()[0].decode() for process in running)
    assert said == ["installed", "unchanged", "unchanged", "unchanged"]
    assert [hook.event for hook in hooks_in(place.read().decode())] == list(EVENTS)
    assert place.uninstall().identical is True
    assert place.files() == ({".claude/settings.json": ORIGINAL} if existed else {})
