"""Find a Chromium for the tests, or install Debian's: `python -m tools.chromium` prints its path.

Tried in this order: what is on PATH; Debian's package, as root or with a sudo that asks nothing;
the same package unpacked beside the virtual environment, without any rights. Where none of that
works, says what to install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
UNPACK_DIR = Path(sys.prefix) / "chromium"
PACKAGE = "chromium"
FONTS = "fonts-liberation"
TIMEOUT_MINUTES = 10


def find_chromium() -> str:
    """The path of a browser that is there, "" where there is none."""
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    unpacked = UNPACK_DIR / "chromium"
    return str(unpacked) if unpacked.is_file() else ""


def ensure_chromium() -> str:
    """The path of a browser, which is fetched first where there is none."""
    there = find_chromium()
    if there or not shutil.which("apt-get"):
        return there
    for rights in ([], ["sudo", "-n"]):
        if not rights and os.geteuid() != 0:
            continue
        if rights and not shutil.which(rights[0]):
            continue
        _run([*rights, "apt-get", "update", "-q"])
        if _run([*rights, "apt-get", "install", "-qy", "--no-install-recommends", PACKAGE, FONTS]):
            return find_chromium()
    _unpack()
    return find_chromium()


def _unpack() -> None:
    """The package with what it needs and this machine has not, into a folder of our own."""
    wanted = [PACKAGE, *_missing(PACKAGE)]
    packages = UNPACK_DIR / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    _run(["apt-get", "download", *wanted], packages)
    root = UNPACK_DIR / "root"
    for archive in sorted(packages.glob("*.deb")):
        _run(["dpkg-deb", "-x", str(archive), str(root)])
    program = root / "usr" / "lib" / "chromium" / "chromium"
    if not program.is_file():
        return
    libraries = ":".join(str(folder) for folder in sorted((root / "usr" / "lib").glob("*-linux-*")))
    start = UNPACK_DIR / "chromium"
    start.write_text(
        f'#!/bin/sh\nLD_LIBRARY_PATH="{libraries}:$LD_LIBRARY_PATH" exec "{program}" "$@"\n'
    )
    start.chmod(0o755)


def _missing(package: str) -> list[str]:
    """What an installation would add, as apt sees it; asking needs no rights."""
    asked = subprocess.run(
        ["apt-get", "install", "-s", "--no-install-recommends", package],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_MINUTES * 60,
        check=False,
    )
    lines = [line.split() for line in asked.stdout.splitlines()]
    return [words[1] for words in lines if words[:1] == ["Inst"] and words[1] != package]


def _run(call: list[str], folder: Path | None = None) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        call,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        timeout=TIMEOUT_MINUTES * 60,
        check=False,
    )
    return done.returncode == 0


def main() -> int:
    path = ensure_chromium()
    if not path:
        print(  # noqa: T201
            "The dashboard's tests need a Chromium. Install one: `apt-get install chromium` on"
            " Debian, or any Chromium or Chrome on PATH.",
            file=sys.stderr,
        )
        return 1
    print(path)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
