"""The copy that runs: how it came here, and how its user calls it."""

from pathlib import Path

import pytest

import holdfast
from holdfast import own_copy

PLACES = [
    # where the package lies, is it temporary, how it is called, how it is installed
    ("/home/a/.cache/uv/archive-v0/x1/lib/python3.12/site-packages", True, "uvx", "uv tool"),
    ("/Users/a/Library/Caches/uv/archive-v0/x1/lib", True, "uvx", "uv tool"),
    ("C:\\Users\\a\\AppData\\Local\\uv\\cache\\archive-v0\\x1\\Lib", True, "uvx", "uv tool"),
    ("/srv/cache/environments-v2/x1/lib", True, "uvx", "uv tool"),
    ("/home/a/.cache/pipx/0f1e/lib", True, "pipx run", "pipx"),
    ("/home/a/.local/pipx/.cache/0f1e/lib", True, "pipx run", "pipx"),
    ("/Users/a/Library/Caches/pipx/0f1e/lib", True, "pipx run", "pipx"),
    ("C:\\Users\\a\\AppData\\Local\\pipx\\pipx\\Cache\\0f1e\\Lib", True, "pipx run", "pipx"),
    ("/home/a/.local/share/uv/tools/holdfast/lib", False, "", "uv tool"),
    ("C:\\Users\\a\\AppData\\Roaming\\uv\\data\\tools\\holdfast\\Lib", False, "", "uv tool"),
    ("/home/a/.local/share/pipx/venvs/holdfast/lib", False, "", "pipx install --force"),
]


@pytest.fixture(autouse=True)
def from_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_copy, "find_source", lambda: "holdfast")


@pytest.mark.parametrize(("place", "temporary", "runner", "installer"), PLACES)
def test_places(
    place: str, temporary: bool, runner: str, installer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(own_copy, "package_dir", lambda: f"{place}/holdfast")
    assert own_copy.is_temporary() is temporary
    assert own_copy.format_call() == f"{runner} holdfast".strip()
    said = own_copy.format_install()
    assert said.startswith(f"{installer}")
    assert said.endswith(" holdfast")
    call = f"{runner} holdfast".strip()
    assert own_copy.spell_calls("Run `holdfast install`.") == f"Run `{call} install`."


def test_what_uv_runs_for_pipx_is_called_by_pipx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(own_copy, "package_dir", lambda: "/home/a/.cache/uv/archive-v0/x/holdfast")
    assert own_copy.format_call() == "pipx run holdfast"
    assert own_copy.format_install() == "pipx install holdfast"


def test_a_checkout_and_a_plain_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own_copy.format_install() == "pip install -e ."
    package = tmp_path / "lib/python3.12/site-packages/holdfast"
    (package / "plugin/bin").mkdir(parents=True)
    (package / "plugin/bin/holdfast-run").write_text("")
    monkeypatch.setattr(holdfast, "__file__", str(package / "__init__.py"))
    monkeypatch.setattr("holdfast.paths.__file__", str(package / "paths.py"))
    assert own_copy.format_install() == "pip install holdfast"
    assert own_copy.format_call() == "holdfast"


def test_a_tool_of_uv_is_known_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    (tmp_path / "uv-receipt.toml").write_text("[tool]\n")
    assert own_copy.format_install() == "uv tool install holdfast"


@pytest.mark.parametrize(
    ("direct_url", "source"),
    [
        (
            '{"url": "file:///tmp/a b/holdfast-1-py3-none-any.whl"}',
            "'/tmp/a b/holdfast-1-py3-none-any.whl'",
        ),
        ('{"url": "https://x.example/r", "vcs_info": {"vcs": "git"}}', "git+https://x.example/r"),
        (None, "holdfast"),
    ],
)
def test_a_copy_that_no_index_had_is_advised_by_where_it_came_from(
    direct_url: str | None, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(
        "importlib.metadata.Distribution.read_text", lambda *_: direct_url, raising=False
    )
    monkeypatch.setattr("importlib.metadata.PathDistribution.read_text", lambda *_: direct_url)
    assert own_copy.find_source() == source
    monkeypatch.setattr(own_copy, "package_dir", lambda: "/c/uv/archive-v0/x/holdfast")
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    call = "uvx holdfast" if direct_url is None else f"uvx --from {source} holdfast"
    assert own_copy.format_call() == call
    assert own_copy.format_install() == f"uv tool install {source}"
