"""A folder of wheels that installers take packages from, made without a network.

The distributions that run the tests are packed up again as the wheels they came from. Owns that
and the environment in which an installer sees nothing else: an empty home, no index, no cache.
"""

import os
import re
import sys
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

# Written by an installer into what it installed; not of the wheel.
INSTALLERS_OWN = ("INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "RECORD")


def make_index(folder: Path, *requirements: str) -> Path:
    """Wheels of these distributions and of all that they need."""
    folder.mkdir(parents=True, exist_ok=True)
    packed: set[str] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        wanted = waiting.pop()
        key = f"{wanted.name.lower()}[{','.join(sorted(wanted.extras))}]"
        if key in packed:
            continue
        packed.add(key)
        found = metadata.distribution(wanted.name)
        pack_installed(found, folder)
        waiting += _needs(found, wanted.extras)
    return folder


def read_requirements(wheel: Path, *extras: str) -> list[str]:
    """What a wheel needs with these extras, as its metadata says."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        text = packed.read(name).decode()
    lines = re.findall(r"^Requires-Dist: (.+)$", text, re.M)
    return [str(one) for one in _apply(map(Requirement, lines), set(extras))]


def pack_installed(found: metadata.Distribution, folder: Path) -> None:
    head = found.read_text("WHEEL") or ""
    tags = [line.removeprefix("Tag: ") for line in head.splitlines() if line.startswith("Tag: ")]
    parts = zip(*(tag.split("-") for tag in tags), strict=True)
    name_end = "-".join(".".join(dict.fromkeys(part)) for part in parts)
    stem = f"{re.sub(r'[-.]+', '_', found.metadata['Name'])}-{found.version}"
    kept = [
        file
        for file in found.files or ()
        if not str(file).startswith("..")
        and "__pycache__" not in file.parts
        and not (file.parts[0].endswith(".dist-info") and file.name in INSTALLERS_OWN)
    ]
    (record,) = (file for file in found.files or () if str(file).endswith(".dist-info/RECORD"))
    with zipfile.ZipFile(folder / f"{stem}-{name_end}.whl", "w") as packed:
        for file in kept:
            packed.write(Path(str(file.locate())), str(file))
        sums = [f"{file},{file.hash.mode}={file.hash.value}," for file in kept if file.hash]
        packed.writestr(str(record), "\n".join([*sums, f"{record},,"]) + "\n")


def installer_environment(home: Path, index: Path) -> dict[str, str]:
    """For uv, pip and pipx: an empty home, this Python, and no packages but those of `index`."""
    home.mkdir(parents=True, exist_ok=True)
    return {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(index),
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(index),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }


def _needs(found: metadata.Distribution, extras: set[str]) -> list[Requirement]:
    return _apply((Requirement(text) for text in found.requires or ()), extras)


def _apply(needs: Iterable[Requirement], extras: set[str]) -> list[Requirement]:
    chosen = []
    for need in needs:
        marker, need.marker = need.marker, None
        if marker is None or any(marker.evaluate({"extra": e}) for e in (extras or {""})):
            chosen.append(need)
    return chosen
