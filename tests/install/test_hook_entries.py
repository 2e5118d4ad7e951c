"""What doctor asks of a settings text, and which interpreter a hook gets."""

import json

import pytest

from holdfast.install.claude_code import HOOKS
from holdfast.install.claude_code import INSTALLER as installer
from holdfast.install.hook_entries import parse_entries
from holdfast.install.installation import ForeignHook, HookEntry, InvalidSettings, SettingsSource
from holdfast.install.launcher import choose_interpreter
from install.settings_home import LAUNCHER, add_hooks, our_entry


def test_what_was_installed_is_read_back() -> None:
    found = parse_entries(add_hooks('{"model": "opus"}', LAUNCHER).text)
    limits = [HookEntry(s.event, (LAUNCHER.path, s.event), s.timeout_seconds) for s in HOOKS]
    assert found == limits


def test_an_entry_that_somebody_changed_is_shown_as_it_is() -> None:
    entry = our_entry("Stop", "D:\\data\\holdfast-hook")
    entry["args"].pop()
    text = json.dumps({"hooks": {"Setup": [{"matcher": "init", "hooks": [entry]}]}})
    assert parse_entries(text) == [HookEntry("Setup", ("D:\\data\\holdfast-hook",), 60.0)]


def test_other_tools_on_our_events_are_listed_and_those_elsewhere_are_not() -> None:
    hooks = {
        "PreCompact": [
            {"matcher": "auto", "hooks": [{"type": "command", "command": "save.sh"}]},
            {"hooks": [our_entry("PreCompact")]},
        ],
        "Stop": [
            {"hooks": [{"type": "http", "url": "http://127.0.0.1:9/stop"}]},
            {"hooks": [{"type": "command", "command": "node", "args": ["a.js", "stop"]}, "odd"]},
        ],
        "Notification": [{"hooks": [{"type": "command", "command": "ring"}]}],
    }
    assert installer.list_foreign_hooks(json.dumps({"hooks": hooks})) == [
        ForeignHook("PreCompact", "auto", "command", "save.sh"),
        ForeignHook("Stop", None, "http", "http://127.0.0.1:9/stop"),
        ForeignHook("Stop", None, "command", "node a.js stop"),
    ]


@pytest.mark.parametrize(
    ("text", "scope", "expected"),
    [
        ("{}", "user", []),
        ('{"disableAllHooks": true}', "user", ['"disableAllHooks" is on in f']),
        ('{"disableAllHooks": 1, "allowManagedHooksOnly": true}', "user", []),
        ('{"allowManagedHooksOnly": true}', "managed", ['"allowManagedHooksOnly" is on in f']),
    ],
)
def test_the_switches_that_silence_hooks_are_read(
    text: str, scope: str, expected: list[str]
) -> None:
    off = installer.list_disabling_switches({}, [SettingsSource(scope, "f", text)])
    assert [switch.text for switch in off] == expected
    assert [switch.is_managed for switch in off] == [scope == "managed"] * len(off)


@pytest.mark.parametrize(
    "read", [parse_entries, installer.list_foreign_hooks, installer.is_switched_off]
)
def test_reading_a_broken_text_says_where(read: object) -> None:
    assert callable(read)
    with pytest.raises(InvalidSettings, match="line 2, column 1"):
        read("{\n")


def test_no_settings_hold_no_hooks() -> None:
    assert parse_entries("") == []
    assert installer.list_foreign_hooks("{}") == []


@pytest.mark.parametrize(
    ("base", "running", "chosen"),
    [
        ("/shims/python", {"/real/python"}, "/real/python"),
        ("/shims/python", {"/venv/python"}, "/venv/python"),
        (None, {"/real/python"}, "/venv/python"),
        ("", set(), "/venv/python"),
    ],
)
def test_the_interpreter_behind_the_shim_is_taken_where_it_runs(
    base: str | None, running: set[str], chosen: str
) -> None:
    links = {"/shims/python": "/real/python"}
    found = choose_interpreter(base, "/venv/python", lambda p: links[p], lambda p: p in running)
    assert found == chosen
