"""The settings file itself: bytes, mode, links, folders, backup, and the way back."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from holdfast.install.claude_code import INSTALLER as installer
from holdfast.install.installation import InvalidSettings, NotWritable, Scope, UnsafeEdit
from holdfast.settings import json_edit
from install.settings_home import EVENTS, PYTHON, SCRIPT, Place, other_entry
from install.settings_samples import STYLES


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("raw", STYLES.values(), ids=STYLES.keys())
def test_install_and_uninstall_give_the_same_bytes_back(place: Place, raw: bytes) -> None:
    place.write(raw)
    installed = place.install()
    assert (installed.action, installed.before, installed.after) == (
        "installed",
        raw,
        place.read(),
    )
    assert installed.after != raw
    removed = place.uninstall()
    assert (removed.action, removed.identical, place.read()) == ("removed", True, raw)
    assert sorted(removed.removed) == sorted(EVENTS)


def test_a_second_install_writes_nothing(place: Place) -> None:
    place.write(b'{"model": "opus"}')
    place.install()
    before = place.settings.stat()
    again = place.install()
    after = place.settings.stat()
    assert again.action == "unchanged"
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_where_there_was_nothing_there_is_nothing_again(place: Place) -> None:
    assert place.install().action == "installed"
    assert mode(place.settings) == 0o600
    removed = place.uninstall()
    assert (removed.identical, removed.after) == (True, None)
    assert list((place.root / "home").iterdir()) == []


def test_a_folder_that_we_made_stays_when_something_else_is_in_it(place: Place) -> None:
    place.install()
    (place.settings.parent / "CLAUDE.md").write_text("mine")
    place.uninstall()
    assert place.files() == {".claude/CLAUDE.md": b"mine"}


def test_a_folder_that_was_there_stays_even_when_empty(place: Place) -> None:
    place.settings.parent.mkdir()
    place.install()
    place.uninstall()
    assert place.settings.parent.is_dir()
    assert not place.settings.exists()


def test_the_backup_holds_the_old_bytes_for_the_owner_alone(place: Place) -> None:
    raw = b'{"env": {"TOKEN": "secret"}}\n'
    place.write(raw)
    backup = place.install().backup
    assert backup is not None
    assert Path(backup).read_bytes() == raw
    assert mode(Path(backup)) == 0o600
    assert mode(Path(backup).parent) == 0o700
    assert Path(backup).is_relative_to(place.data)
    place.uninstall()
    assert not Path(backup).exists()


@pytest.mark.parametrize("bits", [0o600, 0o644, 0o664])
def test_the_mode_is_kept_both_ways(place: Place, bits: int) -> None:
    place.write(b"{}")
    place.settings.chmod(bits)
    place.install()
    assert mode(place.settings) == bits
    place.uninstall()
    assert mode(place.settings) == bits


def test_the_owner_is_kept_where_the_system_allows_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(b"{}")
    if os.geteuid() == 0:
        os.chown(place.settings, 12345, 12346)
    owner = (place.settings.stat().st_uid, place.settings.stat().st_gid)
    place.install()
    assert (place.settings.stat().st_uid, place.settings.stat().st_gid) == owner

    def denied(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", denied)
    assert place.uninstall().identical is True


def test_a_read_only_file_is_left_as_its_owner_wants_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(b"{}")
    monkeypatch.setattr(os, "access", lambda path, how: how != os.W_OK)
    with pytest.raises(NotWritable, match="read-only"):
        place.install()
    assert place.read() == b"{}"
    monkeypatch.undo()
    place.install()
    installed = place.read()
    monkeypatch.setattr(os, "access", lambda path, how: how != os.W_OK)
    with pytest.raises(NotWritable, match="read-only"):
        place.uninstall()
    assert place.read() == installed


def test_an_edit_that_would_touch_anything_else_is_not_written(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = b'{"model": "opus", "b": 1}'
    place.write(raw)
    put_in, take_out = json_edit.add_members, json_edit.remove_member
    with monkeypatch.context() as patch:
        patch.setattr(
            json_edit, "add_members", lambda *args: put_in(*args).replace('"opus"', '"o"')
        )
        with pytest.raises(UnsafeEdit, match="something else"):
            place.install()
    assert place.read() == raw
    place.install()
    place.write(place.read() + b"\n")
    with monkeypatch.context() as patch:
        patch.setattr(
            json_edit, "remove_member", lambda *args: take_out(*args).replace("opus", "o")
        )
        with pytest.raises(UnsafeEdit, match="something else"):
            place.uninstall()
    assert place.uninstall().after == raw + b"\n"


def test_a_symlink_stays_a_link_and_its_target_is_written(place: Place) -> None:
    dotfiles = place.root / "dotfiles"
    dotfiles.mkdir()
    target = dotfiles / "claude.json"
    target.write_bytes(b'{"a": 1}')
    place.settings.parent.mkdir()
    place.settings.symlink_to(target)
    outcome = place.install()
    assert outcome.path == os.path.realpath(target)
    assert place.settings.is_symlink()
    assert b"holdfast-hook" in target.read_bytes()
    assert sorted(path.name for path in dotfiles.iterdir()) == ["claude.json"]
    place.uninstall()
    assert (place.settings.is_symlink(), target.read_bytes()) == (True, b'{"a": 1}')


def test_a_link_to_nowhere_gets_its_target_and_loses_it_again(place: Place) -> None:
    target = place.root / "dotfiles" / "claude.json"
    place.settings.parent.mkdir()
    place.settings.symlink_to(target)
    place.install()
    assert target.is_file()
    place.uninstall()
    assert place.settings.is_symlink()
    assert not target.parent.exists()


def test_changes_since_the_install_stay_and_only_our_entries_go(place: Place) -> None:
    place.write(b'{\n  "hooks": {\n    "Stop": [ ]\n  },\n  "model": "opus"\n}\n')
    place.install()
    place.write(place.read().replace(b'"model": "opus"', b'"model":   "haiku", "new": [1]'))
    removed = place.uninstall()
    assert removed.identical is False
    assert (
        place.read()
        == b'{\n  "hooks": {\n    "Stop": [ ]\n  },\n  "model":   "haiku", "new": [1]\n}\n'
    )


def test_another_tool_that_joined_our_group_stays(place: Place) -> None:
    place.write(b"{}")
    place.install()
    document = place.parsed()
    document["hooks"]["Stop"][0]["hooks"].append(other_entry())
    place.write(json.dumps(document).encode())
    place.uninstall()
    assert place.parsed() == {"hooks": {"Stop": [{"hooks": [other_entry()]}]}}


def test_a_client_that_rewrote_the_file_leaves_no_empty_containers_behind(place: Place) -> None:
    place.install()
    place.write(json.dumps(place.parsed() | {"model": "opus"}, indent=2).encode())
    place.uninstall()
    assert place.parsed() == {"model": "opus"}


def test_a_rewrite_that_changed_only_the_layout_still_ends_with_no_file(place: Place) -> None:
    place.install()
    place.write(json.dumps(place.parsed()).encode())
    assert place.uninstall().identical is True
    assert not place.settings.exists()


def test_without_the_backup_the_entries_go_and_the_doubt_is_told(place: Place) -> None:
    place.write(b'{\n  "model": "opus"\n}\n')
    place.install()
    shutil.rmtree(place.data)
    removed = place.uninstall()
    assert removed.identical is None
    assert place.read() == b'{\n  "model": "opus"\n}\n'


def test_a_backup_that_was_tampered_with_is_not_restored(place: Place) -> None:
    place.write(b'{"model": "opus"}')
    backup = place.install().backup
    assert backup is not None
    Path(backup).write_bytes(b'{"model": "evil"}')
    removed = place.uninstall()
    assert (removed.identical, place.read()) == (None, b'{"model": "opus"}')


@pytest.mark.parametrize("receipt", [b"", b"[]", b"{}", b"\xff", b'{"base_sha256": 1}'])
def test_a_damaged_receipt_counts_as_none(place: Place, receipt: bytes) -> None:
    place.write(b'{"model": "opus"}')
    place.install()
    (path,) = place.data.rglob("receipt.json")
    path.write_bytes(receipt)
    assert place.uninstall().identical is None
    assert place.read() == b'{"model": "opus"}'


def test_a_repair_still_leads_back_to_the_first_bytes(place: Place) -> None:
    place.write(b'{"model":"opus"}')
    place.install()
    place.write(place.read().replace(bytes(place.launcher), b"/old/holdfast-hook"))
    repaired = place.install()
    assert (repaired.action, sorted(repaired.repaired)) == ("repaired", sorted(EVENTS))
    assert b"/old/holdfast-hook" not in place.read()
    assert place.uninstall().identical is True
    assert place.read() == b'{"model":"opus"}'


def test_another_interpreter_changes_the_launcher_and_not_the_settings(place: Place) -> None:
    place.write(b'{"model":"opus"}')
    place.install(interpreter="/old/python")
    before = place.read()
    repaired = place.install(interpreter="/new/python")
    assert (repaired.action, repaired.launcher is not None) == ("repaired", True)
    assert place.read() == before
    assert b"/old/python" not in place.launcher.read_bytes()
    assert place.install(interpreter="/new/python").action == "unchanged"
    assert place.uninstall().identical is True


def test_the_launcher_is_the_users_alone_and_goes_with_the_last_entry(place: Place) -> None:
    place.install()
    assert place.launcher.stat().st_mode & 0o777 == 0o700
    other = Place(place.root / "other")
    installer.install(
        str(other.settings), data_dir=str(place.data), interpreter=PYTHON, script=SCRIPT
    )
    place.uninstall()
    assert place.launcher.exists()  # the other file's entries name it
    installer.uninstall(str(other.settings), data_dir=str(place.data))
    assert not place.launcher.exists()


def test_the_launcher_stays_where_another_settings_file_cannot_be_read(place: Place) -> None:
    place.install()
    other = Place(place.root / "other")
    installer.install(
        str(other.settings), data_dir=str(place.data), interpreter=PYTHON, script=SCRIPT
    )
    other.settings.write_text("{")
    place.uninstall()
    assert place.launcher.exists()


def test_a_dry_run_writes_no_launcher(place: Place) -> None:
    assert place.install(dry_run=True).launcher
    assert not place.launcher.exists()


def test_a_repair_after_other_changes_leads_back_to_those(place: Place) -> None:
    place.write(b'{"model":"opus"}')
    place.install(interpreter="/old/python")
    place.write(place.read().replace(b'"opus"', b'"haiku"'))
    place.install(interpreter="/new/python")
    removed = place.uninstall()
    assert (removed.identical, place.read()) == (False, b'{"model":"haiku"}')


def test_hooks_taken_out_by_hand_leave_only_a_receipt_to_clear(place: Place) -> None:
    place.write(b'{"a": 1}')
    place.install()
    place.write(b'{"a": 2}')
    assert place.uninstall().action == "not installed"
    assert place.read() == b'{"a": 2}'
    assert not list(place.data.rglob("receipt.json"))


def test_a_file_removed_by_hand_lets_our_folder_go(place: Place) -> None:
    place.install()
    place.settings.unlink()
    assert place.uninstall().action == "not installed"
    assert not place.settings.parent.exists()


def test_a_dry_run_writes_nothing_anywhere(place: Place) -> None:
    place.write(b"{}")
    outcome = place.install(dry_run=True)
    assert outcome.after is not None
    assert b"holdfast-hook" in outcome.after
    assert (place.read(), place.data.exists()) == (b"{}", False)
    place.install()
    installed = place.read()
    assert place.uninstall(dry_run=True).after == b"{}"
    assert place.read() == installed


def test_two_settings_files_keep_two_backups(place: Place, tmp_path: Path) -> None:
    place.write(b'{"a": 1}')
    other = Place(tmp_path / "other")
    other.write(b'{"b": 2}')
    for path in (place.settings, other.settings):
        installer.install(
            str(path), data_dir=str(place.data), interpreter="/p", script="/holdfast/hooks/main.py"
        )
    for path in (place.settings, other.settings):
        installer.uninstall(str(path), data_dir=str(place.data))
    assert (place.read(), other.read()) == (b'{"a": 1}', b'{"b": 2}')


@pytest.mark.parametrize("raw", [b"{\n  // x\n}", b'{"a": 1,}', b'{"hooks": []}', b'{"a": "\xff"}'])
def test_a_broken_file_is_refused_by_name_and_left_alone(place: Place, raw: bytes) -> None:
    place.write(raw)
    with pytest.raises(InvalidSettings) as refusal:
        place.install()
    assert str(refusal.value).startswith(f"{place.settings}, line ")
    assert place.files() == {".claude/settings.json": raw}
    assert not list(place.data.rglob("receipt.json"))


def test_a_folder_or_a_pipe_in_its_place_is_refused(place: Place) -> None:
    place.settings.mkdir(parents=True)
    with pytest.raises(NotWritable) as refusal:
        place.install()
    assert str(refusal.value) == f"{place.settings}: not a regular file"
    place.settings.rmdir()
    os.mkfifo(place.settings)
    with pytest.raises(NotWritable, match="not a regular file"):
        place.install()


def test_a_loop_of_links_is_refused(place: Place) -> None:
    place.settings.parent.mkdir()
    place.settings.symlink_to(place.settings)
    with pytest.raises(NotWritable, match="symbolic links"):
        place.install()


def test_a_path_that_is_not_text_is_refused(place: Place) -> None:
    with pytest.raises(NotWritable, match="not valid UTF-8"):
        installer.install(
            str(place.settings), data_dir=f"{place.root}/\udcff", interpreter="/p", script=SCRIPT
        )
    assert place.files() == {}


@pytest.mark.parametrize(
    ("scope", "config_dir", "expected"),
    [
        ("user", None, "/home/me/.claude/settings.json"),
        ("user", "/etc/mine", "/etc/mine/settings.json"),
        ("project", "/etc/mine", "/src/shop/.claude/settings.json"),
        ("local", None, "/src/shop/.claude/settings.local.json"),
    ],
)
def test_each_scope_has_its_file(scope: Scope, config_dir: str | None, expected: str) -> None:
    environ = {"CLAUDE_CONFIG_DIR": config_dir} if config_dir else {}
    assert installer.settings_path(scope, environ, "/home/me", "/src/shop") == expected
