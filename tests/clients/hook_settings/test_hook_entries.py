"""What doctor asks of a settings text, and which interpreter a hook gets."""

import json

import pytest

from clients.hook_settings.settings_home import LAUNCHER, add_hooks, our_entry
from holdfast.clients.claude_code import installer
from holdfast.clients.claude_code.install.hook_table import HOOKS
from holdfast.clients.hook_launcher import choose_interpreter
from holdfast.clients.hook_settings.hook_entries import (
    list_installed_hooks,
    read_hook_flags,
)
from holdfast.clients.installation import ForeignHook, HookFlags, InstalledHook, InvalidSettings


def test_what_was_installed_is_read_back() -> None:
    found = list_installed_hooks(add_hooks('{"model": "opus"}', LAUNCHER).text)
    assert found == [
        InstalledHook(s.event, LAUNCHER.path, s.event, s.matcher, s.run_async, s.timeout_seconds)
        for s in HOOKS
    ]


def test_an_entry_that_somebody_changed_is_shown_as_it_is() -> None:
    entry = our_entry("Stop", "D:\\data\\holdfast-hook")
    entry["args"].pop()
    text = json.dumps({"hooks": {"Setup": [{"matcher": "init", "hooks": [entry]}]}})
    assert list_installed_hooks(text) == [
        InstalledHook(
            event="Setup",
            program="D:\\data\\holdfast-hook",
            argument="",
            matcher="init",
            background=False,
            timeout=None,
        )
    ]


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
        "PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}],
    }
    assert installer.list_foreign_hooks(json.dumps({"hooks": hooks})) == [
        ForeignHook("PreCompact", "auto", "command", "save.sh"),
        ForeignHook("Stop", None, "http", "http://127.0.0.1:9/stop"),
        ForeignHook("Stop", None, "command", "node a.js stop"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", HookFlags(disable_all_hooks=False, allow_managed_hooks_only=False)),
        (
            '{"disableAllHooks": true, "allowManagedHooksOnly": false}',
            HookFlags(disable_all_hooks=True, allow_managed_hooks_only=False),
        ),
        (
            '{"disableAllHooks": 1, "allowManagedHooksOnly": true}',
            HookFlags(disable_all_hooks=False, allow_managed_hooks_only=True),
        ),
    ],
)
def test_the_switches_that_silence_hooks_are_read(text: str, expected: HookFlags) -> None:
    assert read_hook_flags(text) == expected


@pytest.mark.parametrize(
    "read", [list_installed_hooks, installer.list_foreign_hooks, read_hook_flags]
)
def test_reading_a_broken_text_says_where(read: object) -> None:
    assert callable(read)
    with pytest.raises(InvalidSettings, match="line 2, column 1"):
        read("{\n")


def test_no_settings_hold_no_hooks() -> None:
    assert list_installed_hooks("") == []
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
