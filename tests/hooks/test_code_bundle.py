"""Hooks take the full path's byte code from one file, and never an older one than the sources."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

INTERPRETER = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
LOADERS = """\
import sys
sys.path.insert(0, sys.argv[1])
from holdfast.hooks import code_bundle
code_bundle.use()
from holdfast.hooks import full
from holdfast.session import follow
print(type(full.__spec__.loader).__name__, full.__file__, getattr(follow, "ADDED", ""))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    made = tmp_path / "code" / "holdfast"
    made.parent.mkdir()
    shutil.copytree(
        Path(holdfast.__file__).parent, made, ignore=shutil.ignore_patterns("__pycache__")
    )
    return made


def run_hook(package: Path) -> None:
    home = package.parents[1]
    (home / "session.jsonl").touch()
    given = {"session_id": "s", "transcript_path": str(home / "session.jsonl"), "cwd": str(home)}
    done = subprocess.run(
        [INTERPRETER, "-I", "-S", package / "hooks" / "main.py", "PreCompact"],
        input=json.dumps(given | {"trigger": "auto"}).encode(),
        env={"PATH": os.defpath, "HOLDFAST_HOME": str(home / "data")},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == b""
    assert not (home / "data" / "holdfast.log").exists()


def look(package: Path) -> list[str]:
    """The loader of the full path, where it lies, and what was added to a module of it."""
    done = subprocess.run(
        [INTERPRETER, "-I", "-S", "-c", LOADERS, package.parent],
        capture_output=True,
        timeout=60,
        check=True,
    )
    return done.stdout.decode().split()


def bundle_of(package: Path) -> Path:
    (found,) = (package / "hooks" / "__pycache__").glob("full-path.*")
    return found


def test_a_hook_leaves_the_code_for_the_next(package: Path) -> None:
    assert look(package)[0] == "SourceFileLoader"
    run_hook(package)
    assert look(package) == ["_Loader", str(package / "hooks" / "full.py")]
    run_hook(package)


def test_where_one_source_changed_all_are_read_again(package: Path) -> None:
    run_hook(package)
    with (package / "session" / "follow.py").open("a") as source:
        source.write("ADDED = 'new'\n")
    assert look(package)[::2] == ["SourceFileLoader", "new"]
    run_hook(package)
    assert look(package)[::2] == ["_Loader", "new"]


def test_a_package_that_moved_runs_its_own_code(package: Path) -> None:
    run_hook(package)
    moved = package.parents[1] / "elsewhere" / "holdfast"
    shutil.copytree(package, moved)
    assert look(moved)[1] == str(moved / "hooks" / "full.py")
    with (moved / "session" / "follow.py").open("a") as source:
        source.write("ADDED = 'new'\n")
    assert look(moved)[2:] == ["new"]
    assert look(package)[2:] == []


@pytest.mark.parametrize("held", [b"", b"\xff" * 40, b"\0" * 8, b"\5\0\0\0\0\0\0\0[\1\0\0\0"])
def test_a_damaged_file_is_written_again(package: Path, held: bytes) -> None:
    run_hook(package)
    whole = bundle_of(package).read_bytes()
    for damaged in (held, whole[: len(whole) // 2]):
        bundle_of(package).write_bytes(damaged)
        assert look(package)[0] == "SourceFileLoader"
        run_hook(package)
        assert look(package)[0] == "_Loader"


def test_where_it_cannot_be_written_modules_are_imported_as_ever(package: Path) -> None:
    folder = package / "hooks" / "__pycache__"
    folder.write_text("not a folder")
    run_hook(package)
    assert folder.read_text() == "not a folder"
    assert look(package)[0] == "SourceFileLoader"
