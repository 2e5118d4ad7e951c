"""Clients that npm installs: fetched once into the user's cache, for all tests of a run and later.

Owns the cache, which version a test means by "newest", and that a test whose client cannot be
fetched is skipped with one sentence. `make test-newest` names other versions in the environment.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

# Versions by package, as JSON: what `make test-newest` runs instead of those we have tested.
VERSIONS_VARIABLE = "HOLDFAST_TEST_VERSIONS"
INSTALL_SECONDS = 300


def newest(package: str, tested: str) -> str:
    """The version that tests run as the newest: the tested one, unless another was asked for."""
    asked = json.loads(os.environ.get(VERSIONS_VARIABLE) or "{}")
    return str(asked.get(package, tested))


def npm_program(package: str, version: str, program: str) -> Path:
    """A package's program; a test whose package cannot be fetched is skipped."""
    folder = npm_folder(f"{program}-{version}", f"{package}@{version}")
    return folder / "node_modules" / ".bin" / program


def npm_folder(name: str, *packages: str, scripts: bool = True, optional: bool = True) -> Path:
    """A folder with these packages below `node_modules`."""
    flags = () if scripts else ("--ignore-scripts",)
    problem = fetch(name, packages, flags if optional else (*flags, "--omit=optional"))
    if problem and os.environ.get(VERSIONS_VARIABLE):
        pytest.fail(problem)  # what was asked is whether the newest works
    if problem:
        pytest.skip(problem)
    return cache_folder() / name


def cache_folder() -> Path:
    shared = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(shared) / "holdfast-tests"


@cache
def fetch(name: str, packages: tuple[str, ...], flags: tuple[str, ...]) -> str:
    """Why it is not there; "" where it is. Asked once per process, as a network fails slowly."""
    folder = cache_folder() / name
    if (folder / "node_modules").is_dir():
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return f"npm is not installed, so {packages[0]} cannot be fetched"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_name(f"{name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the other workers wait for the one that fetches
        if (folder / "node_modules").is_dir():
            return ""
        made = folder.with_name(f"{name}.{os.getpid()}")
        # A package.json: without one, npm would take that of a folder above.
        made.mkdir(exist_ok=True)
        (made / "package.json").write_text("{}")
        # A client that wants a newer Node than this machine's is started by one that npm has, too.
        quiet = ("--silent", "--no-audit", "--no-fund", "--engine-strict=false")
        command = [npm, "install", *quiet, *flags]
        try:
            subprocess.run(
                [*command, "--prefix", str(made), *packages],
                check=True,
                timeout=INSTALL_SECONDS,
                capture_output=True,
            )
        except (subprocess.SubprocessError, OSError):
            shutil.rmtree(made, ignore_errors=True)
            return f"npm could not fetch {packages[0]}"
        os.rename(made, folder)
    return ""
