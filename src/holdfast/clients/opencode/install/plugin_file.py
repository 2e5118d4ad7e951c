"""Our plugin as a file of OpenCode's: what is written, how it is known again, and how it goes.

The file is ours alone, so there is nothing to merge and nothing to keep: an install writes it, an
uninstall deletes it, and a file of that name that is not ours is left as it is. Locks, receipts
and the launcher are those of the other clients. Must not read the environment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib import resources

from holdfast.clients.hook_launcher import Launcher
from holdfast.clients.hook_settings import install_receipt
from holdfast.clients.hook_settings.install_receipt import Receipt
from holdfast.clients.hook_settings.settings_file import (
    find_unused_launcher,
    launcher_written,
    plan_launcher,
    remove_unused_launcher,
    settings_errors,
    with_lock,
)
from holdfast.clients.installation import InstallOutcome, SettingsError
from holdfast.files import make_parents
from holdfast.settings import atomic_file

NAME = "holdfast.js"
_MARK = "// Holdfast in OpenCode."
_COMMAND = "const COMMAND = "
_RECALL = "const RECALL = "


def format_plugin(launcher: Launcher, recall: Sequence[str] = ()) -> str:
    """The plugin that starts this launcher, and this server for recall."""
    text = resources.files("holdfast.clients.opencode").joinpath("plugin.js").read_text("utf-8")
    text = text.replace(f"{_COMMAND}[]", _COMMAND + json.dumps(_build_command(launcher)), 1)
    return _with_recall(text, recall)


def _build_command(launcher: Launcher) -> list[str]:
    """The event is put behind it."""
    return launcher.build_argv("")[:-1]


def _with_recall(text: str, recall: Sequence[str]) -> str:
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if line.startswith(_RECALL):
            lines[place] = _RECALL + json.dumps(list(recall))
    return "\n".join(lines)


def is_ours(text: str) -> bool:
    return text.startswith(_MARK)


def read_command(text: str) -> list[str]:
    return _read_list(text, _COMMAND)


def read_recall(text: str) -> list[str]:
    return _read_list(text, _RECALL)


def _read_list(text: str, opening: str) -> list[str]:
    if not is_ours(text):
        return []
    for line in text.split("\n"):
        if line.startswith(opening):
            try:
                found = json.loads(line[len(opening) :])
            except ValueError:
                return []
            return [word for word in found if isinstance(word, str)]
    return []


def install(
    path: str, launcher: Launcher, *, data_dir: str, events: tuple[str, ...], dry_run: bool
) -> InstallOutcome:
    with settings_errors(path):
        target = os.path.realpath(path)

        def attempt() -> InstallOutcome:
            outcome = _plan(target, launcher, events)
            if not dry_run and outcome.action != "unchanged":
                with launcher_written(outcome):
                    _write(outcome, data_dir)
            return outcome

        return attempt() if dry_run else with_lock(data_dir, target, attempt)


def _plan(target: str, launcher: Launcher, events: tuple[str, ...]) -> InstallOutcome:
    before = atomic_file.read(target)
    text = _decode(before)
    if before is not None and not is_ours(text):
        raise SettingsError(f"{target} is not Holdfast's plugin; move it away to install")
    after = format_plugin(launcher, read_recall(text)).encode()
    stale = None if launcher.is_current() else plan_launcher(launcher)
    if after == before and stale is None:
        return InstallOutcome("unchanged", target, before, before)
    outcome = InstallOutcome("installed", target, before, after, added=events, launcher=stale)
    if before is None:
        return outcome
    return outcome._replace(action="repaired", added=(), repaired=events)


def _write(outcome: InstallOutcome, data_dir: str) -> None:
    """The receipt ahead of the file: one without a file means nothing."""
    folder = install_receipt.receipt_dir(data_dir, outcome.path)
    known, data = install_receipt.load_receipt(folder), outcome.after or b""
    made = (known.created_dirs if known else ()) + tuple(
        atomic_file.list_missing_dirs(os.path.dirname(outcome.path))
    )
    receipt = Receipt(install_receipt.digest(data), None, True, True, tuple(dict.fromkeys(made)))
    install_receipt.save_receipt(folder, outcome.path, receipt)
    make_parents(outcome.path)
    atomic_file.replace(outcome.path, data, outcome.before)


def set_recall(path: str, recall: Sequence[str], data_dir: str) -> bool:
    """Whether the plugin that is there now starts another server."""
    with settings_errors(path):
        target = os.path.realpath(path)
        before = atomic_file.read(target)
        text = _decode(before)
        if before is None or not is_ours(text) or read_recall(text) == list(recall):
            return False
        after = _with_recall(text, recall).encode()
        _write(InstallOutcome("repaired", target, before, after), data_dir)
        return True


def uninstall(
    path: str, *, data_dir: str, events: tuple[str, ...], dry_run: bool
) -> InstallOutcome:
    with settings_errors(path):
        target = os.path.realpath(path)

        def attempt() -> InstallOutcome:
            before = atomic_file.read(target)
            if before is None or not is_ours(_decode(before)):
                return InstallOutcome("not installed", target, before, before)
            outcome = InstallOutcome(
                "removed", target, before, None, removed=events, identical=True
            )
            if dry_run:
                return outcome._replace(launcher=find_unused_launcher(data_dir, but=target))
            atomic_file.delete(target, before)
            folder = install_receipt.receipt_dir(data_dir, target)
            receipt = install_receipt.load_receipt(folder)
            if receipt is not None:
                atomic_file.remove_empty_dirs(list(receipt.created_dirs))
            install_receipt.delete_receipt(folder)
            remove_unused_launcher(data_dir, target)
            return outcome

        return attempt() if dry_run else with_lock(data_dir, target, attempt)


def _decode(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")
