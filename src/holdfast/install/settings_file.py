"""The only code that writes a settings file: puts our hooks in, takes them out, leaves no trace.

Owns what happens to the file: its encoding, the order of the steps, and how an uninstall finds
its way back. Each step may be the last one before a crash, so the receipt is written ahead, the
file is always either the old one or the new one, and a receipt without hooks means nothing.
Must not decide what to write (``hook_edit`` does), nor read the environment.
"""

from __future__ import annotations

import codecs
import contextlib
import os
from collections.abc import Callable, Iterable, Iterator

from holdfast.fastpath.session_dir import list_running_clients
from holdfast.files import make_parents, make_private_dir, read
from holdfast.install import hook_edit, receipts
from holdfast.install import launcher as hook_launcher
from holdfast.install.hook_edit import is_statusline_installed
from holdfast.install.hook_entries import is_blank, is_empty, parse_entries
from holdfast.install.installation import (
    FileChange,
    InstallOutcome,
    InvalidSettings,
    NotWritable,
    SettingsBusy,
    SettingsChanged,
)
from holdfast.install.launcher import Launcher
from holdfast.install.receipts import Receipt
from holdfast.settings import atomic_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.install.installer import Installer

# Another program that writes the file twice in a row while we look is not worth fighting.
MAX_ATTEMPTS = 3

# The client reads these two besides plain UTF-8, so we keep them as they are.
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"))


_Plan = tuple[InstallOutcome, Receipt | None]


def read_installed(data_dir: str) -> list[str]:
    """The texts of the settings files that were installed into and not uninstalled since."""
    return read_texts(receipts.list_settings(data_dir))


def read_texts(paths: Iterable[str]) -> list[str]:
    """Of those that are there."""
    return [raw.decode("utf-8", "replace") for raw in map(read, paths) if raw is not None]


def install(
    path: str,
    form: Installer,
    launcher: Launcher,
    *,
    data_dir: str,
    dry_run: bool = False,
    statusline: bool = False,
    hooks: bool = True,
) -> InstallOutcome:
    """Puts our hooks into the file, or brings them up to date; raises SettingsError.

    With `statusline` our status line too, around the one that is there. One of ours that is in
    the file already is brought up to date in any case. Without `hooks` it comes alone.
    """
    with settings_errors(path):
        target = os.path.realpath(path)
        folder = receipts.receipt_dir(data_dir, target)

        def attempt() -> InstallOutcome:
            outcome, receipt = _plan_install(target, folder, launcher, statusline, form, hooks)
            if not dry_run:
                with _launcher_written(outcome):
                    if receipt:
                        _carry_out_install(outcome, receipt, folder)
                    elif outcome.launcher and (known := receipts.load_receipt(folder)):
                        receipts.save_receipt(folder, target, known)  # written by this version
            return outcome

        return attempt() if dry_run else _with_lock(data_dir, target, attempt)


def uninstall(
    path: str,
    form: Installer,
    *,
    data_dir: str,
    dry_run: bool = False,
    statusline_only: bool = False,
) -> InstallOutcome:
    """Takes our hooks and status line out, restoring the file as it was where that is known.

    With `statusline_only` the hooks stay.
    """
    with settings_errors(path):
        target = os.path.realpath(path)
        folder = receipts.receipt_dir(data_dir, target)

        def attempt() -> InstallOutcome:
            outcome, receipt = _plan_uninstall(target, folder, form, statusline_only)
            if dry_run and not statusline_only and outcome.action == "removed":
                unused = _find_unused_launcher(data_dir, but=target)
                return outcome._replace(launcher=unused)
            if not dry_run:
                # The receipt goes with the last of our entries.
                _carry_out_uninstall(outcome, None if statusline_only else receipt, folder)
                _remove_unused_launcher(data_dir, target)
            return outcome

        return attempt() if dry_run else _with_lock(data_dir, target, attempt)


def _plan_install(
    target: str, folder: str, launcher: Launcher, statusline: bool, form: Installer, hooks: bool
) -> _Plan:
    before = atomic_file.read(target)
    text, encode = form.decode(before)
    edit = form.add_hooks(text, launcher) if hooks else hook_edit.SettingsEdit(text)
    there = form.list_events(text)
    edited, had_line = edit.text, form.has_own_statusline(text)
    if statusline or had_line:
        edited = hook_edit.add_statusline(edited, launcher)
    stale = None
    if not launcher.is_current():
        data = hook_launcher.format_launcher(launcher.target)
        stale = FileChange(launcher.path, atomic_file.read(launcher.path), data)
    if edited == text:
        same = InstallOutcome("unchanged", target, before, before, statusline=had_line)
        return same._replace(action="repaired", launcher=stale) if stale else same, None
    after = encode(edited)
    receipt = receipts.load_receipt(folder)
    base, exact = before, True
    if there or had_line:
        base, exact = _find_base(before, form, receipt)
    # A run that was killed may have made the folder and no more: its receipt still counts here.
    made = receipt.created_dirs if receipt else ()
    made += tuple(atomic_file.list_missing_dirs(os.path.dirname(target)))
    made = tuple(dict.fromkeys(made))
    outcome = InstallOutcome(
        "repaired" if there else "installed",
        target,
        before,
        after,
        edit.added,
        edit.repaired,
        edit.removed,
        backup=None if base is None else receipts.backup_path(folder),
        statusline=statusline or had_line,
        launcher=stale,
    )
    return outcome, Receipt(receipts.digest(after), base, base is None, exact, made)


def _find_base(
    before: bytes | None, form: Installer, receipt: Receipt | None
) -> tuple[bytes | None, bool]:
    """What an uninstall should lead back to when our entries are in the file already."""
    known = receipt if receipt and receipt.base_known else None
    if known and before and receipts.digest(before) == known.written:
        return known.base, known.exact
    base = _strip_file(before, form, known)
    return base, bool(known and known.exact and base == known.base)


def _strip_file(before: bytes | None, form: Installer, receipt: Receipt | None) -> bytes | None:
    """The file without our entries, where it is not just the one that we wrote."""
    text, encode = form.decode(before)
    base_text = _decode_base(receipt)
    left = form.remove_hooks(text, base_text)
    if left is None:
        return None
    if receipt and receipt.base_known and is_empty(left) and is_blank(base_text or ""):
        return receipt.base
    return encode(left)


def _decode_base(receipt: Receipt | None) -> str | None:
    return decode_file(receipt.base)[0] if receipt and receipt.base is not None else None


@contextlib.contextmanager
def _launcher_written(outcome: InstallOutcome) -> Iterator[None]:
    """The launcher first, so that no entry ever names one that is not there."""
    if outcome.launcher is None:
        yield
        return
    path, before, data = outcome.launcher.path, outcome.launcher.before, outcome.launcher.after
    data = data or b""
    atomic_file.replace(path, data, before, executable=True)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError, atomic_file.FileChanged):
            if before is None:
                atomic_file.delete(path, data)
            else:
                atomic_file.replace(path, before, data, executable=True)
        raise


def _remove_unused_launcher(data_dir: str, target: str) -> None:
    if _may_name_us(target):
        return
    with contextlib.suppress(OSError, atomic_file.FileChanged):  # left over, it does no harm
        unused = _find_unused_launcher(data_dir, but=target)
        if unused and unused.before is not None and unused.after is not None:
            atomic_file.replace(unused.path, unused.after, unused.before, executable=True)
        elif unused and unused.before is not None:
            atomic_file.delete(unused.path, unused.before)


def _find_unused_launcher(data_dir: str, but: str) -> FileChange | None:
    """Where no other settings file that we wrote has an entry of ours. Unsure, it stays.

    A client that runs calls it until it ends, and would say at each hook that it is gone.
    """
    path = hook_launcher.launcher_path(data_dir)
    data = atomic_file.read(path)
    others = [other for other in receipts.list_settings(data_dir) if other != but]
    if data is None or any(map(_may_name_us, others)):
        return None
    running = list_running_clients(data_dir)
    return FileChange(path, data, hook_launcher.format_quiet(running) if running else None)


def _may_name_us(settings: str) -> bool:
    try:
        text, _ = decode_file(atomic_file.read(settings))
        return bool(parse_entries(text)) or is_statusline_installed(text)
    except (OSError, InvalidSettings):
        return True


def _carry_out_install(outcome: InstallOutcome, receipt: Receipt, folder: str) -> None:
    previous = receipts.load_receipt(folder)
    made = atomic_file.list_missing_dirs(os.path.dirname(outcome.path))
    try:
        _require_writable(outcome)
        receipts.save_receipt(folder, outcome.path, receipt)
        make_parents(outcome.path)
        atomic_file.replace(outcome.path, outcome.after or b"", outcome.before)
    except BaseException:
        atomic_file.remove_empty_dirs(made)
        receipts.delete_receipt(folder)
        if previous:
            receipts.save_receipt(folder, outcome.path, previous)
        raise


def _require_writable(outcome: InstallOutcome) -> None:
    if outcome.before is not None and not os.access(outcome.path, os.W_OK):
        raise PermissionError(13, "the file is read-only", outcome.path)


def _plan_uninstall(target: str, folder: str, form: Installer, statusline_only: bool) -> _Plan:
    before = atomic_file.read(target)
    receipt = receipts.load_receipt(folder)
    text, encode = form.decode(before)
    ours = () if statusline_only else tuple(form.list_events(text))
    if before is None or not (ours or form.has_own_statusline(text)):
        return InstallOutcome("not installed", target, before, before), receipt
    if statusline_only:
        after: bytes | None = encode(hook_edit.remove_statusline(text, _decode_base(receipt)))
        return InstallOutcome("removed", target, before, after), receipt
    known = receipt if receipt and receipt.base_known else None
    if known and receipts.digest(before) == known.written:
        after = known.base
    else:
        after = _strip_file(before, form, receipt)
    identical = known.exact and after == known.base if known else None
    outcome = InstallOutcome("removed", target, before, after, removed=ours, identical=identical)
    return outcome, receipt


def _carry_out_uninstall(outcome: InstallOutcome, receipt: Receipt | None, folder: str) -> None:
    if outcome.before is not None and outcome.after is None:
        atomic_file.delete(outcome.path, outcome.before)
    elif outcome.before is not None and outcome.after != outcome.before:
        _require_writable(outcome)
        atomic_file.replace(outcome.path, outcome.after or b"", outcome.before)
    if receipt:
        atomic_file.remove_empty_dirs(list(receipt.created_dirs))
        receipts.delete_receipt(folder)


def _with_lock(data_dir: str, target: str, attempt: Callable[[], InstallOutcome]) -> InstallOutcome:
    for folder in (data_dir, receipts.receipts_dir(data_dir)):
        make_private_dir(folder)
    try:
        with atomic_file.locked(receipts.lock_path(data_dir)):
            for _ in range(MAX_ATTEMPTS):
                with contextlib.suppress(atomic_file.FileChanged):
                    return attempt()
    except atomic_file.LockTimeout as error:
        raise SettingsBusy(
            "another holdfast install or uninstall is running; try again when it has finished"
        ) from error
    raise SettingsChanged(
        f"{target} is being changed by another program; nothing was written. "
        "Close the program that writes it and try again"
    )


def decode_file(raw: bytes | None) -> tuple[str, Callable[[str], bytes]]:
    """The text, no file being no text, and how it is encoded again; raises InvalidSettings."""
    data, mark, encoding = raw or b"", b"", "utf-8"
    for known_mark, known_encoding in _MARKS:
        if data.startswith(known_mark):
            mark, encoding = known_mark, known_encoding
    body = data[len(mark) :]
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        good = body[: error.start].decode(encoding)
        line, column = good.count("\n") + 1, len(good) - (good.rfind("\n") + 1) + 1
        raise InvalidSettings(f"this is not {encoding.upper()} text", line, column) from error
    return text, lambda edited: mark + edited.encode(encoding)


@contextlib.contextmanager
def settings_errors(path: str) -> Iterator[None]:
    """Turns what the system and the parser say into our errors, with the file's name."""
    try:
        yield
    except InvalidSettings as error:
        error.path = path
        raise
    except UnicodeEncodeError as error:
        raise NotWritable(f"a path that is not valid UTF-8 cannot be written to {path}") from error
    except OSError as error:
        subject = error.filename or path
        raise NotWritable(f"{subject}: {error.strerror or error}") from error
