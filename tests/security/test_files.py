"""`holdfast.files`: what is in a tree is reached by nothing but plain folders, and held."""

import os
import shutil
import stat
import threading
from pathlib import Path

import pytest

from holdfast import files
from holdfast.files import File, UnsafePath


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("outside")
    return tmp_path / "tree"


def test_a_file_in_a_tree_is_written_whole_and_for_the_user_alone(tree: Path) -> None:
    file = File(f"{tree}/a/b/file", str(tree))
    file.write_atomic(b"one")
    file.append(b", two")
    assert file.text(100) == "one, two"
    assert file.read(3) == b"one"
    assert stat.S_IMODE((tree / "a/b/file").stat().st_mode) == 0o600
    assert stat.S_IMODE((tree / "a").stat().st_mode) == 0o700
    assert os.listdir(tree / "a/b") == ["file"]
    assert files.list_names(f"{tree}/a", within=str(tree)) == ["b"]


@pytest.mark.parametrize("by_handle", [True, False])
@pytest.mark.parametrize("path", ["link/file", "a/link/file", "to-file", "../outside/file", "a//f"])
def test_no_part_of_a_path_leads_out(
    tree: Path, path: str, by_handle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BY_HANDLE", by_handle)
    (tree / "a").mkdir()
    (tree / "link").symlink_to("../outside")
    (tree / "a/link").symlink_to("../../outside")
    (tree / "to-file").symlink_to("../outside/file")
    file = File(f"{tree}/{path}", str(tree))
    assert file.read(100) is None
    assert file.stat() is None
    assert not file.is_usable()
    with pytest.raises(OSError, match=r"\w"):
        file.write_atomic(b"new")
    with pytest.raises(OSError, match=r"\w"):
        file.append(b"new")
    assert (tree.parent / "outside/file").read_text() == "outside"
    assert os.listdir(tree.parent / "outside") == ["file"]


def test_links_inside_of_the_tree_are_not_followed_either(tree: Path) -> None:
    (tree / "real").write_text("x")
    (tree / "link").symlink_to("real")
    assert files.read(f"{tree}/link", within=str(tree)) is None
    assert files.read(f"{tree}/link") == b"x"


def test_a_second_name_is_not_ours(tree: Path) -> None:
    (tree / "hard").hardlink_to(tree.parent / "outside/file")
    file = File(f"{tree}/hard", str(tree))
    assert file.read(100) is None
    with pytest.raises(UnsafePath, match="second name"):
        file.append(b"x")
    with pytest.raises(UnsafePath, match="second name"):
        file.write_atomic(b"x")


@pytest.mark.parametrize("within", [True, False])
def test_pipes_and_devices_are_not_waited_for(tree: Path, within: bool) -> None:
    os.mkfifo(tree / "pipe")
    inside = str(tree) if within else ""
    assert files.read(f"{tree}/pipe", within=inside) is None
    assert files.read_from(f"{tree}/pipe", 0, 10) == b""
    with pytest.raises(OSError, match=r"\w"):
        files.append(f"{tree}/pipe", b"x", within=inside)
    assert files.read("/dev/zero") is None


def test_temporary_names_are_random_and_made_exclusively(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, int]] = []
    real = os.open

    def noting(path: str, flags: int, *args: int, **more: int) -> int:
        if str(path).endswith(".new"):
            made.append((str(path), flags))
        return real(path, flags, *args, **more)

    monkeypatch.setattr(os, "open", noting)
    for _ in range(3):
        files.write_atomic(f"{tree}/file", b"x")
    assert len({path for path, _ in made}) == 3
    assert all(flags & os.O_EXCL and flags & os.O_NOFOLLOW for _, flags in made)
    assert all(files.is_temporary(os.path.basename(path), "file") for path, _ in made)
    assert not files.is_temporary("file.mine.new", "file")


def test_a_taken_temporary_name_is_never_written_through(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    (tree / f"file.{'00' * 8}.new").symlink_to(tree.parent / "outside/file")
    with pytest.raises(FileExistsError):
        files.write_atomic(f"{tree}/file", b"x")
    assert (tree.parent / "outside/file").read_text() == "outside"


def test_a_folder_exchanged_for_a_link_under_us_gets_nothing(tree: Path) -> None:
    """A race that is run many times: whichever side wins, nothing is written outside."""
    outside = tree.parent / "outside"
    stop = threading.Event()

    def exchange() -> None:
        place = tree / "place"
        while not stop.is_set():
            try:
                place.symlink_to(outside)
                place.unlink()
                place.mkdir()
                shutil.rmtree(place)
            except OSError:  # the writer came between: its folder, or a file in ours
                shutil.rmtree(place, ignore_errors=True)

    other = threading.Thread(target=exchange)
    other.start()
    try:
        for _ in range(400):
            file = File(f"{tree}/place/mine", str(tree))
            for write in (file.write_atomic, file.append):
                try:
                    write(b"x")
                except OSError:
                    continue
    finally:
        stop.set()
        other.join()
    assert os.listdir(outside) == ["file"]
