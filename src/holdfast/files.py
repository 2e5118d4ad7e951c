"""Files: the one module that opens for writing, makes folders or renames, and how to read safely.

A path is in one of two kinds of places:

    the user's own    the data and configuration folders, a file named on the command line. The
                      folders on the way may be links, as the user made them.
    a tree            a repository that somebody else may have filled; `within` names its root.
                      Below the root no part of the path may be a link, the file itself must be a
                      plain one with no second name, and folders are walked by handle, so that
                      nothing can be exchanged under us.

What is refused is an `Unsafe`, an OSError like any other failure; reading answers None instead.
Reading is bounded, and waits for no pipe or device. Temporary files have random names and are
made exclusively. Imported by the lightest hooks: `os`, `records` and `system` alone. Must not know
what the bytes are.
"""

from __future__ import annotations

import os

from holdfast.records import NamedTuple
from holdfast.system import is_held_open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Far beyond any file of ours; a caller that expects less says so.
MAX_READ_BYTES = 64 * 1024 * 1024
TEMPORARY_SUFFIX = ".new"
# Windows refuses to replace a file while anyone has it open; a reader of ours is done in moments.
REPLACE_ATTEMPTS = 25
REPLACE_WAIT_SECONDS = 0.02

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_DIRECTORY", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_PLAIN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | _NO_WAIT | _PLAIN
_HEX = frozenset("0123456789abcdef")
_KIND, _IS_FILE, _IS_FOLDER, _IS_LINK = 0o170000, 0o100000, 0o040000, 0o120000
# Windows has no way to open relative to a folder's handle.
_BY_HANDLE = os.open in os.supports_dir_fd


class UnsafePath(OSError):
    """A path that leads out of its tree, or to something that is not a plain file of its own."""


class File(NamedTuple):
    """A path, and the tree that it must stay in: "" for a file of the user's own."""

    path: str
    within: str = ""

    def sibling(self, name: str) -> File:
        return File(f"{os.path.dirname(self.path)}/{name}", self.within)

    def read(self, most: int) -> bytes | None:
        return read(self.path, within=self.within, most=most)

    def text(self, most: int) -> str:
        """Empty where there is none."""
        return (self.read(most) or b"").decode("utf-8", "replace")

    def write_atomic(self, data: bytes) -> None:
        """With the folders on the way."""
        if not self.within:
            make_private_dir(os.path.dirname(self.path))
        write_atomic(self.path, data, within=self.within)

    def append(self, data: bytes) -> None:
        append(self.path, data, within=self.within)

    def stat(self) -> os.stat_result | None:
        return stat(self.path, within=self.within)

    def is_usable(self) -> bool:
        return not self.within or is_usable(self.path, self.within)


class _SuppressOSError:
    """`contextlib.suppress(OSError)` for the fast hooks, without the 3 ms of that import."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, OSError)


where_possible = _SuppressOSError()


def make_private_dir(path: str) -> None:
    """With all above it, for the user alone."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    except FileNotFoundError:
        above = os.path.dirname(path)
        if above in ("", path):
            raise
        make_private_dir(above)
        try:  # noqa: SIM105  contextlib costs 3 ms
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass  # another process was faster


def make_parents(path: str) -> None:
    """The folders above a file that the user named, with the usual permissions."""
    os.makedirs(os.path.dirname(path), exist_ok=True)


def write_atomic(
    path: str,
    data: bytes,
    *,
    within: str = "",
    durable: bool = False,
    settle: Callable[[str], None] | None = None,
    require: Callable[[], None] | None = None,
) -> None:
    """Whole or not at all: a reader never sees half a file, nor does a killed writer leave one.

    `settle` may give the new file another's mode and owner; `require` may still call
    it off, right before the rename, by raising. `durable` waits for the disk.
    """
    if not within:
        _replace(path, data, None, durable, settle, require)
        return
    folder, name = _walk_to_parent(path, within, make=True)
    try:
        if (there := _stat(name, folder)) is not None:
            _require_own(there, path)
        _replace(name, data, folder, durable, None, None)
    finally:
        _close(folder)


def _replace(
    name: str,
    data: bytes,
    folder: int | None,
    durable: bool,
    settle: Callable[[str], None] | None,
    require: Callable[[], None] | None,
) -> None:
    fresh = f"{name}.{os.urandom(8).hex()}{TEMPORARY_SUFFIX}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _PLAIN
    handle = os.open(fresh, flags, 0o600, dir_fd=folder)
    try:
        try:
            write_all(handle, data)
            if settle is not None:
                settle(fresh)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        if require is not None:
            require()
        _rename_over(fresh, name, folder)
    except BaseException:
        with where_possible:  # else the folder went with it
            os.unlink(fresh, dir_fd=folder)
        raise


def _rename_over(fresh: str, name: str, folder: int | None) -> None:
    for attempt in range(REPLACE_ATTEMPTS):
        try:
            os.replace(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
            return
        except OSError as error:
            if not is_held_open(error) or attempt + 1 == REPLACE_ATTEMPTS:
                raise
        import time

        time.sleep(REPLACE_WAIT_SECONDS)


def is_temporary(entry: str, name: str) -> bool:
    """Whether a file's name is one that `replace` gives while it writes another."""
    random = entry.removeprefix(f"{name}.").removesuffix(TEMPORARY_SUFFIX)
    return (
        entry == f"{name}.{random}{TEMPORARY_SUFFIX}"
        and _HEX.issuperset(random)
        and len(random) == 16
    )


def append(path: str, data: bytes, *, within: str = "", most: int = 0) -> bool:
    """In one write, so that two at once never mix; nothing once the file has `most` bytes.

    Tells whether all of it was written.
    """
    folder, name = _walk_to_parent(path, within, make=True) if within else (None, path)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NO_LINK | _NO_WAIT | _PLAIN
    try:
        handle = os.open(name, flags, 0o600, dir_fd=folder)
        try:
            there = os.fstat(handle)
            _require_own(there, path)
            return (not most or there.st_size < most) and os.write(handle, data) == len(data)
        finally:
            os.close(handle)
    finally:
        _close(folder)


def create_exclusive(path: str) -> None:
    """An empty file that was not there: FileExistsError for everyone but the first."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _PLAIN, 0o600))


def touch(path: str) -> None:
    """A file for the user alone, empty where it was not there."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | _NO_WAIT | _PLAIN, 0o600))


def open_lock(path: str) -> int:
    """The handle of a file that is there to be locked."""
    return os.open(path, os.O_CREAT | os.O_RDWR | _NO_LINK | _NO_WAIT | _PLAIN, 0o600)


def open_output(path: str) -> int:
    """The handle of an emptied file that a person named: goes where a shell's `>` would go."""
    return os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | _PLAIN, 0o600)


def create_with_lines(path: str, lines: Iterable[bytes]) -> None:
    """A new file that is there whole or not at all; FileExistsError where there is one."""
    make_parents(path)
    unfinished = f"{path}.{os.getpid()}{TEMPORARY_SUFFIX}"
    try:
        with open(open_output(unfinished), "wb") as file:
            for line in lines:
                file.write(line.rstrip(b"\n") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(unfinished, path)
    finally:
        remove(unfinished)


def write_output(path: str, data: bytes) -> None:
    """The same, with all that goes in."""
    handle = open_output(path)
    try:
        write_all(handle, data)
    finally:
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def move(old: str, new: str) -> None:
    """A rename among the user's own files: of all that try, one wins."""
    os.rename(old, new)


def read(path: str, *, within: str = "", most: int = MAX_READ_BYTES) -> bytes | None:
    """The first `most` bytes; None where there is no plain file that may be read."""
    try:
        return read_or_raise(path, within=within, most=most)
    except (OSError, ValueError):
        return None


def read_or_raise(path: str, *, within: str = "", most: int = MAX_READ_BYTES) -> bytes:
    """The same, for callers that need the reason: raises OSError."""
    handle = _open_read(path, within)
    try:
        pieces = []
        while most > 0 and (piece := os.read(handle, min(most, 1 << 20))):
            pieces.append(piece)
            most -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(handle)


def read_from(path: str, start: int, length: int) -> bytes:
    """What is there of it; b"" where nothing can be read."""
    try:
        handle = _open_read(path, "")
    except (OSError, ValueError):
        return b""
    try:
        os.lseek(handle, start, os.SEEK_SET)
        return os.read(handle, length)
    except OSError:
        return b""
    finally:
        os.close(handle)


def _open_read(path: str, within: str) -> int:
    folder, name = _walk_to_parent(path, within) if within else (None, path)
    try:
        handle = os.open(name, _READ | (_NO_LINK if within else 0), dir_fd=folder)
    finally:
        _close(folder)
    try:
        there = os.fstat(handle)
        if within:
            _require_own(there, path)
        elif there.st_mode & _KIND != _IS_FILE:
            raise UnsafePath(f"{path} is not a regular file")
    except OSError:
        os.close(handle)
        raise
    return handle


def stat(path: str, *, within: str = "") -> os.stat_result | None:
    """Of a plain file or a folder; None where there is neither, or a link in a tree."""
    try:
        if not within:
            return os.stat(path)
        folder, name = _walk_to_parent(path, within)
        try:
            found = _stat(name, folder)
        finally:
            _close(folder)
    except (OSError, ValueError):
        return None
    return found if found and found.st_mode & _KIND in (_IS_FILE, _IS_FOLDER) else None


def is_file(path: str, *, within: str = "") -> bool:
    found = stat(path, within=within)
    return found is not None and found.st_mode & _KIND == _IS_FILE


def is_usable(path: str, within: str) -> bool:
    """Whether a file of ours can be kept there: what is on the way, and in its place, is plain."""
    try:
        folder, name = _walk_to_parent(path, within)
        try:
            if (there := _stat(name, folder)) is not None:
                _require_own(there, path)
        finally:
            _close(folder)
    except FileNotFoundError:
        return True  # folders that are not there yet
    except (OSError, ValueError):
        return False
    return True


def exists(path: str) -> bool:
    return stat(path) is not None


def file_size(path: str) -> int:
    """-1 where there is no such file."""
    there = stat(path)
    return -1 if there is None else there.st_size


def file_age(path: str, seconds: float) -> float:
    there = stat(path)
    return 0.0 if there is None else seconds - there.st_mtime


def list_names(folder: str, *, within: str = "") -> list[str]:
    """What is in a folder; nothing where it cannot be listed, or is reached by a link in a tree."""
    try:
        if not within or not _BY_HANDLE:
            if within:
                _walk_to_parent(folder + "/x", within)
            return os.listdir(folder)
        handle, _ = _walk_to_parent(folder + "/x", within)
        try:
            return os.listdir(handle)
        finally:
            _close(handle)
    except (OSError, ValueError):
        return []


def remove(path: str) -> None:
    with where_possible:  # else gone already, or not ours to remove
        os.unlink(path)


def remove_tree(folder: str) -> None:
    """A folder of ours with all that is in it; a link in it goes, what it points to stays."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _require_own(there: os.stat_result, path: str) -> None:
    if there.st_mode & _KIND != _IS_FILE:
        raise UnsafePath(f"{path} is not a regular file")
    if there.st_nlink > 1:
        # The other name may be a file of the user's outside of the tree.
        raise UnsafePath(f"{path} has a second name (a hard link)")


def _stat(name: str, folder: int | None) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _walk_to_parent(path: str, within: str, *, make: bool = False) -> tuple[int | None, str]:
    """The handle of the folder that the file is in, and its name there; who asks closes it."""
    if os.sep != "/":
        path, within = path.replace(os.sep, "/"), within.replace(os.sep, "/")
    root = within.rstrip("/")
    if not path.startswith(root + "/"):
        raise UnsafePath(f"{path} is not in {within}")
    *steps, name = path[len(root) + 1 :].split("/")
    if not name or any(step in ("", ".", "..") for step in (*steps, name)):
        raise UnsafePath(f"{path} leads outside {within}")
    if not _BY_HANDLE:
        return None, _check_steps(root, steps, name, make)
    handle = os.open(root or "/", os.O_RDONLY | _FOLDER | _PLAIN)
    try:
        for step in steps:
            if make:
                try:  # noqa: SIM105  as above
                    os.mkdir(step, 0o700, dir_fd=handle)
                except FileExistsError:
                    pass  # looked at right below
            below = os.open(step, os.O_RDONLY | _FOLDER | _NO_LINK | _PLAIN, dir_fd=handle)
            os.close(handle)
            handle = below
    except BaseException:
        os.close(handle)
        raise
    return handle, name


def _check_steps(folder: str, steps: list[str], name: str, make: bool) -> str:
    """The same without handles: every part is looked at, though not held."""
    for step in steps:
        folder = f"{folder}/{step}"
        if make:
            try:  # noqa: SIM105  as above
                os.mkdir(folder, 0o700)
            except FileExistsError:
                pass  # looked at right below
        _refuse_link(folder)
    _refuse_link(f"{folder}/{name}")
    return f"{folder}/{name}"


def _refuse_link(path: str) -> None:
    found = _stat(path, None)
    if found is not None and found.st_mode & _KIND == _IS_LINK:
        raise UnsafePath(f"{path} is a link")


def _close(handle: int | None) -> None:
    if handle is not None:
        os.close(handle)
