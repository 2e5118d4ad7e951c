"""The copy of Holdfast that runs: how it came here, how it is called, and whether it stays.

Tools that run a package without installing it (`uvx`, `pipx run`) keep it in a cache that they
later empty, and hooks that point there would fall silent without a word. An install from there
therefore makes a copy of the package in the data folder, named by its version and contents, and
points the hooks at it: they need the standard library alone. Must not know any client's settings.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator

import holdfast
from holdfast.files import make_private_dir, move, read_or_raise, remove_tree, write_output
from holdfast.paths import plugin_dir

NAME = "holdfast"
COPIES_DIR = "package"
HOOK_SCRIPT = os.path.join("hooks", "main.py")

# uv keeps what it runs in archive-v0 or environments-v2 of its cache, wherever that is.
_UV_CACHE = re.compile(r"/(?:archive|environments)-v\d+/|/\.cache/uv/")
_PIPX_CACHE = re.compile(r"/\.cache/pipx/|/pipx/\.cache/|/pipx/(?:pipx/)?cache/|/caches/pipx/")
_UV_TOOL = re.compile(r"/uv/(?:data/)?tools/")
_PIPX_VENV = re.compile(r"/pipx/venvs/")


def package_dir() -> str:
    return os.path.dirname(os.path.abspath(holdfast.__file__))


def is_temporary() -> bool:
    """Whether this copy lies in a cache that its tool empties."""
    return _lies_in(_UV_CACHE, _PIPX_CACHE)


def format_call() -> str:
    """How a user calls this copy again."""
    source = find_source()
    if _is_run_by_pipx():
        return f"pipx run --spec {source} {NAME}" if source != NAME else f"pipx run {NAME}"
    if not is_temporary():
        return NAME
    return f"uvx --from {source} {NAME}" if source != NAME else f"uvx {NAME}"


def find_source() -> str:
    """What an installer is to be given for this copy: the path or address that it came from, and
    its name alone where it came from an index. A name that an index does not have, or has from
    somebody else, must not be advised."""
    from importlib import metadata

    try:
        found = metadata.distribution(NAME).read_text("direct_url.json")  # PEP 610
        told = json.loads(found or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return NAME
    url = str(told.get("url", ""))
    if kind := told.get("vcs_info", {}).get("vcs"):
        return f"{kind}+{url}"
    return shlex.quote(url.removeprefix("file://")) if url else NAME


def spell_calls(text: str) -> str:
    """A text for the user, with the commands in it as this copy is called."""
    return text.replace("`holdfast ", f"`{format_call()} ") if is_temporary() else text


def format_install() -> str:
    """The command that installs Holdfast for good, the way this copy came and from where."""
    source = find_source()
    if _is_run_by_pipx():
        return f"pipx install {source}"
    if _lies_in(_PIPX_VENV):
        return f"pipx install --force {source}"
    # Where `uv tool install` made the environment, wherever $UV_TOOL_DIR has it.
    receipt = os.path.join(sys.prefix, "uv-receipt.toml")
    if _lies_in(_UV_CACHE, _UV_TOOL) or os.path.exists(receipt):
        return f"uv tool install {source}"
    if not plugin_dir().startswith(package_dir()):  # a checkout has the plugin beside it
        return "pip install -e ."
    return f"pip install {source}"


def _is_run_by_pipx() -> bool:
    # `pipx run` may have uv do it, in uv's cache; who called uv itself has its commands on PATH.
    return _lies_in(_PIPX_CACHE) or (_lies_in(_UV_CACHE) and shutil.which("uvx") is None)


def _lies_in(*places: re.Pattern[str]) -> bool:
    path = package_dir().replace("\\", "/").lower() + "/"
    return any(place.search(path) for place in places)


def find_hook_script(data_dir: str, *, of_plugin: bool = False) -> str:
    """The script that hooks are to run: this copy's, or that of the one `ensure_lasting` makes."""
    folder = _lasting_dir(data_dir) if of_plugin or is_temporary() else package_dir()
    return os.path.join(folder, HOOK_SCRIPT)


def ensure_lasting(data_dir: str, *, of_plugin: bool = False) -> str:
    """Make the copy that the hooks are to run; its folder, "" where this one is there to stay. A
    plugin's is not: the client moves it."""
    if not of_plugin and not is_temporary():
        return ""
    target = _lasting_dir(data_dir)
    if os.path.isdir(target):
        return target
    above = os.path.dirname(target)
    make_private_dir(os.path.dirname(above))
    # Beside its place and renamed as a whole: a hook never sees half of it.
    fresh = f"{above}.{os.getpid()}.new"
    for name in _list_files():
        path = os.path.join(fresh, "holdfast", name)
        make_private_dir(os.path.dirname(path))
        write_output(path, read_or_raise(os.path.join(package_dir(), name)))
    try:
        move(fresh, above)
    except OSError:
        remove_tree(fresh)
        if not os.path.isdir(target):  # unless another process was faster
            raise
    return target


def remove_unused(data_dir: str, settings_texts: Iterable[str]) -> list[str]:
    """Delete the copies that none of these texts names; their names."""
    folder = os.path.join(data_dir, COPIES_DIR)
    texts = list(settings_texts)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    unused = [name for name in names if not any(name in text for text in texts)]
    for name in unused:
        remove_tree(os.path.join(folder, name))
    if len(unused) == len(names):
        remove_tree(folder)
    return unused


def _lasting_dir(data_dir: str) -> str:
    digest = hashlib.sha256()
    for name in _list_files():
        digest.update(name.encode() + b"\0")
        digest.update(read_or_raise(os.path.join(package_dir(), name)))
    copy = f"{holdfast.__version__}-{digest.hexdigest()[:12]}"
    return os.path.join(data_dir, COPIES_DIR, copy, "holdfast")


def _list_files() -> Iterator[str]:
    for folder, folders, names in os.walk(package_dir()):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), package_dir())
