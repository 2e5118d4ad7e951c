"""Remembers what a settings file was before the install, in Holdfast's own folder.

Owns the receipt and the backup: one folder per settings file, readable by its owner alone, since
settings may hold keys. A receipt that cannot be read counts as none.
Must not touch the settings file.
"""

import contextlib
import hashlib
import json
import os

import holdfast
from holdfast.files import list_names, make_private_dir
from holdfast.records import NamedTuple
from holdfast.settings import atomic_file

_RECEIPT = "receipt.json"
_BACKUP = "settings.before.json"


class Receipt(NamedTuple):
    written: str  # sha256 of the file as the install left it
    base: bytes | None  # the file before; None where there was none or the backup is gone
    was_absent: bool
    # False where our entries were already there when we first saw the file.
    exact: bool
    created_dirs: tuple[str, ...]

    @property
    def base_known(self) -> bool:
        return self.was_absent or self.base is not None


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def receipts_dir(data_dir: str) -> str:
    return os.path.join(data_dir, "install")


def lock_path(data_dir: str) -> str:
    return os.path.join(receipts_dir(data_dir), "lock")


def receipt_dir(data_dir: str, settings_path: str) -> str:
    name = digest(os.fsencode(settings_path))[:16]
    return os.path.join(receipts_dir(data_dir), name)


def backup_path(folder: str) -> str:
    return os.path.join(folder, _BACKUP)


def load_receipt(folder: str) -> Receipt | None:
    try:
        raw = atomic_file.read(os.path.join(folder, _RECEIPT))
        fields = json.loads(raw) if raw else None
        if not isinstance(fields, dict):
            return None
        base_digest = fields["base_sha256"]
        base = atomic_file.read(backup_path(folder)) if base_digest else None
        if base is not None and digest(base) != base_digest:
            base = None
        return Receipt(
            written=str(fields["written_sha256"]),
            base=base,
            was_absent=base_digest is None,
            exact=fields["exact"] is True,
            created_dirs=tuple(str(made) for made in fields["made_folders"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def list_settings(data_dir: str) -> list[str]:
    """The settings files that receipts speak of; for a receipt that is damaged, its folder."""
    found = []
    for name in list_names(receipts_dir(data_dir)):
        folder = os.path.join(receipts_dir(data_dir), name)
        try:
            raw = atomic_file.read(os.path.join(folder, _RECEIPT))
            if raw is not None:
                found.append(str(json.loads(raw)["settings"]))
        except NotADirectoryError:
            continue  # the lock
        except (OSError, ValueError, KeyError, TypeError):
            found.append(folder)
    return found


def read_install_version(data_dir: str, settings_path: str) -> str:
    """The version of Holdfast that installed into this file; "" where that is not known."""
    folder = receipt_dir(data_dir, os.path.realpath(settings_path))
    try:
        return str(json.loads(atomic_file.read(os.path.join(folder, _RECEIPT)) or b"")["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def save_receipt(folder: str, settings_path: str, receipt: Receipt) -> None:
    """Backup first, receipt last: a receipt that exists has its backup."""
    make_private_dir(folder)
    if receipt.base is not None:
        _put(backup_path(folder), receipt.base)
    fields = {
        "settings": settings_path,
        "written_sha256": receipt.written,
        "base_sha256": None if receipt.base is None else digest(receipt.base),
        "exact": receipt.exact,
        "version": holdfast.__version__,
        "made_folders": list(receipt.created_dirs),
    }
    _put(os.path.join(folder, _RECEIPT), json.dumps(fields, indent=2).encode() + b"\n")


def _put(path: str, data: bytes) -> None:
    atomic_file.replace(path, data, atomic_file.read(path))


def delete_receipt(folder: str) -> None:
    for name in (_RECEIPT, _BACKUP):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, name))
    atomic_file.remove_empty_dirs([folder])
