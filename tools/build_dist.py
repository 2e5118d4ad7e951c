"""Builds the sdist and the wheel into `dist/`: `python -m tools.build_dist [FOLDER]`.

Owns what must be in them and what must not. The wheel is built from the unpacked sdist, so that an
sdist which lacks something is found here and not by who builds from it. Needs no network: the
build backend is one of the development dependencies.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Folders of the checkout of which nothing is shipped.
NOT_SHIPPED = ("tests", "benchmarks", "tools", "docs", ".ci", ".venv")
LISTED_SUFFIXES = (".py",)  # counted, not named, in the list


class Built(NamedTuple):
    sdist: Path
    wheel: Path


def build(folder: Path) -> Built:
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("holdfast-*.whl"), *folder.glob("holdfast-*.tar.gz")):
        old.unlink()
    _hatchling("sdist", ROOT, folder)
    (sdist,) = folder.glob("holdfast-*.tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(sdist) as packed:
            # Python 3.11 has the filter since 3.11.4.
            packed.extraction_filter = getattr(tarfile, "data_filter", None)
            packed.extractall(scratch)
        (unpacked,) = Path(scratch).iterdir()
        _hatchling("wheel", unpacked, folder)
    (wheel,) = folder.glob("holdfast-*.whl")
    return Built(sdist, wheel)


def list_wheel(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as packed:
        return sorted(packed.namelist())


def list_sdist(sdist: Path) -> list[str]:
    """The paths inside the folder that an sdist unpacks to."""
    with tarfile.open(sdist) as packed:
        names = [entry.name.partition("/")[2] for entry in packed if entry.isfile()]
    return sorted(names)


def find_faults(built: Built) -> list[str]:
    """What is missing in the two, and what should not be there."""
    package = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src/holdfast").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    plugin = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "plugin").rglob("*")
        if path.is_file() and "lib" not in path.relative_to(ROOT / "plugin").parts
    }
    in_wheel, in_sdist = set(list_wheel(built.wheel)), set(list_sdist(built.sdist))
    expected = package | {f"holdfast/{name}" for name in plugin}
    faults = [f"{built.wheel.name} lacks {name}" for name in sorted(expected - in_wheel)]
    strange = {name for name in in_wheel - expected if ".dist-info/" not in name}
    faults += [f"{built.wheel.name} has {name}" for name in sorted(strange)]
    expected = {f"src/{name}" for name in package} | plugin
    faults += [f"{built.sdist.name} lacks {name}" for name in sorted(expected - in_sdist)]
    shipped = {name for name in in_sdist if name.partition("/")[0] in NOT_SHIPPED}
    faults += [f"{built.sdist.name} has {name}" for name in sorted(shipped)]
    return faults


def check(built: Built) -> bool:
    """Whether an index would take them and all is in them; says what is wrong."""
    faults = find_faults(built)
    sys.stderr.write("".join(f"{fault}\n" for fault in faults))
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, built)], check=False
    )
    return not faults and not checked.returncode


def describe(built: Built) -> str:
    lines = []
    for path, names in (
        (built.sdist, list_sdist(built.sdist)),
        (built.wheel, list_wheel(built.wheel)),
    ):
        named = [name for name in names if not name.endswith(LISTED_SUFFIXES)]
        lines += [f"{path.name}: {len(names)} files, {path.stat().st_size // 1000} kB"]
        lines += [f"  {len(names) - len(named)} Python modules", *(f"  {name}" for name in named)]
    return "\n".join(lines) + "\n"


def _hatchling(target: str, source: Path, folder: Path) -> None:
    wanted = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder.resolve())]
    subprocess.run(wanted, cwd=source, check=True, stdout=subprocess.DEVNULL)


def main(arguments: list[str]) -> int:
    built = build(Path(arguments[0]) if arguments else ROOT / "dist")
    sys.stdout.write(describe(built))
    return 0 if check(built) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
