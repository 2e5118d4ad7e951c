"""Our status line around the user's own: in and out give the same bytes back."""

import json
import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.install.claude_code import INSTALLER as installer
from holdfast.install.hook_edit import (
    add_statusline,
    build_command,
    is_statusline_installed,
    remove_statusline,
    unwrap_command,
)
from holdfast.install.installation import InstallOutcome, InvalidSettings
from install.settings_home import EVENTS, LAUNCHER, PYTHON, SCRIPT, Place
from install.settings_samples import STYLES

OWN = "~/bin/status --short 'it''s' | head -1"


def ours(place: Place) -> str:
    return shlex.join([str(place.launcher), "statusline"])


def install(place: Place, *, statusline: bool = True, script: str = SCRIPT) -> InstallOutcome:
    return installer.install(
        str(place.settings),
        data_dir=str(place.data),
        interpreter=PYTHON,
        script=script,
        statusline=statusline,
    )


@pytest.mark.parametrize("raw", STYLES.values(), ids=STYLES.keys())
def test_installed_and_uninstalled_the_file_has_the_same_bytes(place: Place, raw: bytes) -> None:
    place.write(raw)
    assert install(place).statusline
    assert is_statusline_installed(installer.decode(place.read())[0])
    assert place.uninstall().identical
    assert place.read() == raw


def test_it_is_installed_only_when_asked(place: Place) -> None:
    install(place, statusline=False)
    assert "statusLine" not in place.parsed()
    install(place)
    assert place.parsed()["statusLine"] == {"type": "command", "command": ours(place)}
    install(place, statusline=False)
    assert "statusLine" in place.parsed()
    assert place.uninstall().action == "removed"
    assert place.files() == {}


def test_the_users_own_is_wrapped_with_its_other_fields_left_alone(place: Place) -> None:
    raw = json.dumps({"statusLine": {"type": "command", "padding": 0, "command": OWN}}).encode()
    place.write(raw)
    install(place)
    line = place.parsed()["statusLine"]
    assert line["padding"] == 0
    assert line["command"] == f"{ours(place)} {shlex.quote(OWN)} || /bin/sh -c {shlex.quote(OWN)}"
    place.uninstall()
    assert place.read() == raw


def test_a_second_install_wraps_once_and_follows_a_move(place: Place) -> None:
    place.write(json.dumps({"statusLine": {"type": "command", "command": OWN}}).encode())
    install(place)
    assert install(place).action == "unchanged"
    text = place.read().decode()
    place.write(text.replace(str(place.launcher), "/old/holdfast-hook").encode())
    assert install(place, statusline=False).action == "repaired"
    assert place.read().decode() == text
    moved = "/new/holdfast/hooks/main.py"
    assert install(place, statusline=False, script=moved).action == "repaired"
    assert place.read().decode() == text
    assert moved in place.launcher.read_text()


def test_a_file_changed_since_keeps_the_changes_and_gets_its_own_line_back(place: Place) -> None:
    place.write(b'{"statusLine": {"type": "command", "command": "caf\\u00e9"}}')
    install(place)
    text = place.read().decode().replace("{", '{"model": "opus", ', 1)
    place.write(text.encode())
    place.uninstall()
    assert place.read() == (
        b'{"model": "opus", "statusLine": {"type": "command", "command": "caf\\u00e9"}}'
    )


def test_only_the_status_line_can_be_taken_out(place: Place) -> None:
    raw = b'{"statusLine": {"type": "command", "command": "mine"}}'
    place.write(raw)
    install(place)
    outcome = installer.uninstall(
        str(place.settings), data_dir=str(place.data), statusline_only=True
    )
    assert outcome.action == "removed"
    assert place.parsed()["statusLine"]["command"] == "mine"
    assert set(place.parsed()["hooks"]) == set(EVENTS)
    assert place.uninstall().identical
    assert place.read() == raw


def test_a_status_line_of_a_wrong_shape_is_refused(place: Place) -> None:
    place.write(b'{"statusLine": "mine"}')
    with pytest.raises(InvalidSettings, match="must be an object"):
        install(place)
    assert place.read() == b'{"statusLine": "mine"}'


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
REST = st.dictionaries(WORDS.filter(lambda key: key != "statusLine"), WORDS, max_size=3)


@given(WORDS.filter(lambda text: bool(text.strip())))
def test_any_command_is_found_again_inside_ours(command: str) -> None:
    assert unwrap_command(build_command(LAUNCHER, command)) == command
    assert unwrap_command(command) is None


@given(REST, st.none() | st.fixed_dictionaries({"command": WORDS}, optional={"padding": WORDS}))
def test_any_settings_come_back(rest: dict[str, Any], line: dict[str, Any] | None) -> None:
    document = rest if line is None else {**rest, "statusLine": {"type": "command", **line}}
    for indent in (None, 2):
        text = json.dumps(document, indent=indent)
        with_ours = add_statusline(text, LAUNCHER)
        assert is_statusline_installed(with_ours)
        after = remove_statusline(with_ours, text)
        if line is None or line["command"]:
            assert json.loads(after) == document
        assert {k: v for k, v in json.loads(after).items() if k != "statusLine"} == rest
