"""What `make dist` builds, built once, and a folder of wheels to install it from."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import uv
from tools import build_dist

from support.local_index import installer_environment, make_index, read_requirements


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> build_dist.Built:
    return build_dist.build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def index(built: build_dist.Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holdfast's wheel beside those of all that it and its extras need."""
    needs = read_requirements(built.wheel, "", "mcp")
    folder = make_index(tmp_path_factory.mktemp("index"), "pip", *needs)
    shutil.copy(built.wheel, folder)
    return folder


class Machine:
    """An empty home with the installers, and no package but those of the index."""

    def __init__(self, root: Path, index: Path) -> None:
        self.root, self.index = root, index
        self.home = root / "home"
        self.env = installer_environment(self.home, index)

    def run(
        self, *words: str, env: Mapping[str, str] | None = None, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            env={**self.env, **(env or {})},
            cwd=self.home,
            input=given,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def uv(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run(uv.find_uv_bin(), *words)

    @property
    def uv_folder(self) -> Path:
        """A folder for PATH with uv's commands and no other."""
        folder = self.root / "uv"
        folder.mkdir(exist_ok=True)
        for name in ("uv", "uvx"):
            if not (folder / name).exists():
                (folder / name).symlink_to(Path(uv.find_uv_bin()).with_name(name))
        return folder

    def list_files(self) -> dict[str, bytes]:
        """All files of the home but the installers' own caches."""
        own = (".cache", ".local/share/uv", ".local/share/pipx", ".local/state/pipx")
        return {
            name: path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and not (name := str(path.relative_to(self.home))).startswith(own)
        }


@pytest.fixture
def machine(tmp_path: Path, index: Path) -> Machine:
    return Machine(tmp_path, index)
