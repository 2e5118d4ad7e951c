"""Which of our hooks Codex runs: it skips those that the user has not trusted.

Asked of the client itself (`hooks/list`), which alone knows how it compares, and written by it
(`config/batchWrite`). To trust a hook is the user's own step: `trust` is for those who asked for
it. Taking the trust away again is an edit of config.toml, because the client has none.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.clients.codex.install.app_server import AppServer, NoAnswer
from holdfast.clients.hook_launcher import LAUNCHER_NAME
from holdfast.clients.hook_settings import install_receipt
from holdfast.clients.hook_settings.hook_entries import is_holdfast_hook
from holdfast.clients.hook_settings.settings_file import decode_settings
from holdfast.clients.installation import (
    NotWritable,
    SettingsChanged,
    Unfinished,
    UnsafeEdit,
)
from holdfast.clients.json_fields import as_object, as_objects, as_text
from holdfast.files import make_private_dir, write_atomic
from holdfast.settings import atomic_file

# The user's config.toml as it was before we took the trust out, for their eyes.
BACKUP_FILE = "codex-config.toml.before"

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def list_untrusted(environ: Mapping[str, str], project: str) -> list[str] | None:
    """The events of ours that the client skips; None where it cannot be asked."""
    try:
        with AppServer(environ, project) as server:
            ours = _list_ours(server, project)
    except NoAnswer:
        return None
    return [
        as_text(hook.get("eventName")) or as_text(hook.get("key"))
        for hook in ours
        if not _may_run(hook)
    ]


def trust(environ: Mapping[str, str], project: str, path: str, commands: Sequence[str]) -> int:
    """Has the client trust those entries of this hooks.json that run these commands and nothing
    else; how many may run then.
    """

    def find(server: AppServer) -> list[dict[str, Any]]:
        listed = [hook for hook in _list_ours(server, project) if _is_in(hook, path)]
        return [hook for hook in listed if hook.get("command") in commands]

    try:
        with AppServer(environ, project) as server:
            listed = find(server)
            state = {
                as_text(hook.get("key")): {"trusted_hash": as_text(hook.get("currentHash"))}
                for hook in listed
                if hook.get("trustStatus") != "trusted"
            }
            if state:
                edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
                server.call("config/batchWrite", {"edits": [edit]})
                listed = find(server)
    except NoAnswer as error:
        raise Unfinished(
            f"Codex could not be asked to trust the hooks: {error}. They are in {path}; start "
            "codex and type /hooks to trust them"
        ) from error
    return sum(map(_may_run, listed))


def _list_ours(server: AppServer, project: str) -> list[dict[str, Any]]:
    places = as_objects(server.call("hooks/list", {"cwds": [project]}).get("data"))
    hooks = [hook for place in places for hook in as_objects(place.get("hooks"))]
    return [hook for hook in hooks if LAUNCHER_NAME in as_text(hook.get("command"))]


def _may_run(hook: dict[str, Any]) -> bool:
    return hook.get("trustStatus") == "trusted" and hook.get("enabled") is not False


def _is_in(hook: dict[str, Any], path: str) -> bool:
    return os.path.realpath(as_text(hook.get("sourcePath"))) == os.path.realpath(path)


def forget(path: str, config: str, data_dir: str, dry_run: bool) -> bool:
    """Takes the trust of our entries in this hooks.json out of a config.toml; whether there was
    any. The file as it was before is kept among the receipts.
    """
    config = os.path.realpath(config)
    try:
        hooks = json.loads(decode_settings(atomic_file.read(path)) or "{}")
        before = atomic_file.read(config) or b""
        after = remove_trust(before.decode("utf-8"), list_trust_keys(hooks, path)).encode()
        if after == before:
            return False
        if not dry_run:
            folder = install_receipt.receipts_dir(data_dir)
            for needed in (data_dir, folder):
                make_private_dir(needed)
            with atomic_file.locked(install_receipt.lock_path(data_dir)):
                write_atomic(os.path.join(folder, BACKUP_FILE), before)
                atomic_file.replace(config, after, before)
    except OSError as error:
        raise NotWritable(f"{error.filename or config}: {error.strerror or error}") from error
    except (atomic_file.FileChanged, atomic_file.LockTimeout) as error:
        raise SettingsChanged(f"{config} is being changed by another program") from error
    except ValueError as error:  # the uninstall itself says what is wrong with which file
        raise UnsafeEdit(str(error)) from error
    return True


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
    import tomllib

    try:
        before = tomllib.loads(config)
    except (ValueError, RecursionError) as error:
        raise UnsafeEdit(f"config.toml cannot be read: {error}") from error
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
    import tomllib

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
