"""Our edits of Codex's config.toml: a line put in and taken out, all else byte for byte.

Recall is put there by the client's own command, and trust by its app server; what neither can do is
done here, taking the trust away among it: the client has no way for that. The file as it was is
kept among the receipts, for the user's eyes.
"""

import contextlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from holdfast.clients.codex.client import WINDOWS_FEATURE
from holdfast.clients.json_fields import as_object
from holdfast.files import make_private_dir, write_atomic
from holdfast.install import receipts
from holdfast.install.hook_entries import is_holdfast_hook
from holdfast.install.installation import NotWritable, SettingsChanged, UnsafeEdit
from holdfast.install.settings_file import decode_file
from holdfast.settings import atomic_file

BACKUP_FILE = "codex-config.toml.before"
_MARK = "# put here by `holdfast install --client codex --windows`"
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_FEATURES = re.compile(r"^[ \t]*\[[ \t]*features[ \t]*\][^\n]*\n", re.MULTILINE)
_OUR_LINE = re.compile(rf"^(\ufeff?)[^\n\ufeff]*{re.escape(_MARK)}\r?\n", re.MULTILINE)


def edit(
    config: str, data_dir: str, change: Callable[[str], str], dry_run: bool
) -> tuple[str, str] | None:
    """The text before and after; None where nothing changes. Raises UnsafeEdit as `change` does."""
    config = os.path.realpath(config)
    try:
        before = atomic_file.read(config) or b""
        after = change(before.decode("utf-8")).encode()
        if after == before:
            return None
        if not dry_run:
            folder = receipts.receipts_dir(data_dir)
            for needed in (data_dir, folder):
                make_private_dir(needed)
            with atomic_file.locked(receipts.lock_path(data_dir)):
                write_atomic(os.path.join(folder, BACKUP_FILE), before)
                atomic_file.replace(config, after, before)
    except OSError as error:
        raise NotWritable(f"{error.filename or config}: {error.strerror or error}") from error
    except (atomic_file.FileChanged, atomic_file.LockTimeout) as error:
        raise SettingsChanged(f"{config} is being changed by another program") from error
    except ValueError as error:  # the uninstall itself says what is wrong with which file
        raise UnsafeEdit(str(error)) from error
    return before.decode("utf-8"), after.decode("utf-8")


def read_document(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UnsafeEdit(f"config.toml cannot be read: {error}") from error


def add_windows(text: str) -> str:
    """With fresh windows switched on: one line more, below `[features]` or else at the top."""
    before = read_document(text)
    features = as_object(before.get("features"))
    if features.get(WINDOWS_FEATURE) is True:
        return text
    if WINDOWS_FEATURE in features:
        raise UnsafeEdit(f"config.toml says otherwise: {WINDOWS_FEATURE} under [features]")
    line_end = "\r\n" if "\r\n" in text else "\n"
    table = _FEATURES.search(text)
    at = table.end() if table else len(text) - len(text.removeprefix("\ufeff"))
    name = WINDOWS_FEATURE if table else f"features.{WINDOWS_FEATURE}"
    after = f"{text[:at]}{name} = true  {_MARK}{line_end}{text[at:]}"
    wanted = {**before, "features": {**features, WINDOWS_FEATURE: True}}
    if read_document(after) != wanted:
        raise UnsafeEdit("[features] is not written as a table with lines of its own")
    return after


def remove_windows(text: str) -> str:
    """Without our line; one that the user wrote stays."""
    return _OUR_LINE.sub(r"\1", text)


def forget(path: str, config: str, data_dir: str, dry_run: bool) -> bool:
    """Takes the trust of our entries in this hooks.json out of a config.toml; whether there was
    any. The file as it was before is kept among the receipts.
    """
    try:
        hooks = json.loads(decode_file(atomic_file.read(path))[0] or "{}")
    except OSError as error:
        raise NotWritable(f"{path}: {error.strerror or error}") from error
    except ValueError as error:  # the uninstall itself says what is wrong with which file
        raise UnsafeEdit(str(error)) from error
    keys = list_trust_keys(hooks, path)
    change = edit(config, data_dir, lambda text: remove_trust(text, keys), dry_run)
    return change is not None


def list_trust_keys(hooks: object, path: str) -> set[str]:
    """Under which keys config.toml would hold the trust of our entries in this hooks.json."""
    files = {path, os.path.realpath(path)}
    return {f"{file}:{place}" for place in _list_places(hooks) for file in files}


def _list_places(hooks: object) -> Iterator[str]:
    """`event:group:entry` of each entry of ours, as the client counts them."""
    for event, groups in as_object(as_object(hooks).get("hooks")).items():
        name = _CAPITAL.sub("_", event).lower()
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            entries = as_object(group).get("hooks")
            for place, entry in enumerate(entries if isinstance(entries, list) else ()):
                if isinstance(entry, dict) and is_holdfast_hook(entry):
                    yield f"{name}:{number}:{place}"


def remove_trust(config: str, keys: set[str]) -> str:
    """A config.toml without the trust of these hooks; all else stays, byte for byte.

    A table goes with the blank line in front of it, which the client wrote with it. Raises
    UnsafeEdit where the text would then mean something else.
    """
    before = read_document(config)
    state = as_object(as_object(before.get("hooks")).get("state"))
    unwanted = keys & state.keys()
    if not unwanted:
        return config
    names: set[tuple[str, ...]] = {("hooks", "state", key) for key in unwanted}
    if unwanted == state.keys():
        names.add(("hooks", "state"))
    after = _drop_tables(config, names)
    for key in unwanted:
        del state[key]
    with contextlib.suppress(ValueError):
        if _without_empty(tomllib.loads(after)) == _without_empty(before):
            return after
    raise UnsafeEdit("the trust of the hooks is not written as the client writes it")


def _drop_tables(text: str, names: set[tuple[str, ...]]) -> str:
    kept: list[str] = []
    dropping = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            dropping = _parse_header(line) in names
            if dropping and kept and not kept[-1].strip():
                kept.pop()
        # Blank lines and comments behind a table's values may belong to the next one.
        if not dropping or not line.strip() or line.lstrip().startswith("#"):
            kept.append(line)
    return "".join(kept)


def _parse_header(line: str) -> tuple[str, ...]:
    try:
        found: object = tomllib.loads(line.strip())
    except ValueError:
        return ()
    name = []
    while isinstance(found, dict) and len(found) == 1:
        ((key, found),) = found.items()
        name.append(key)
    return tuple(name)


def _without_empty(document: dict[str, Any]) -> dict[str, Any]:
    """Without a `hooks` and a `state` in it that hold nothing, and so say nothing."""
    hooks = document.get("hooks")
    if not isinstance(hooks, dict):
        return document
    hooks = {key: value for key, value in hooks.items() if key != "state" or value != {}}
    rest = {key: value for key, value in document.items() if key != "hooks"}
    return {**rest, "hooks": hooks} if hooks else rest
