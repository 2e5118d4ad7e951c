"""Putting our entries into a settings text and taking them out leaves everything else alone."""

import json

import pytest

from holdfast.install import hook_edit
from holdfast.install.hook_edit import remove_hooks
from holdfast.install.hook_entries import parse_entries
from holdfast.install.installation import InvalidSettings, UnsafeEdit
from holdfast.install.launcher import Launcher, LaunchTarget
from install.settings_home import EVENTS, LAUNCHER, add_hooks, our_entry
from install.settings_samples import STYLES

TEXTS = {
    name: raw.decode("utf-16" if raw.startswith(b"\xff\xfe") else "utf-8-sig")
    for name, raw in STYLES.items()
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_every_event_gets_one_entry_and_nothing_else_changes(text: str) -> None:
    edit = add_hooks(text, LAUNCHER)
    assert sorted(hook.event for hook in parse_entries(edit.text)) == sorted(EVENTS)
    assert sorted(edit.added) == sorted(EVENTS)
    if text.strip():
        assert remove_hooks(edit.text, text).text == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_second_time_changes_nothing(text: str) -> None:
    once = add_hooks(text, LAUNCHER).text
    twice = add_hooks(once, LAUNCHER)
    assert (twice.text, twice.added, twice.repaired, twice.removed) == (once, (), (), ())


def test_an_entry_is_in_exec_form_with_its_event_and_limit() -> None:
    hooks = json.loads(add_hooks("{}", LAUNCHER).text)["hooks"]
    assert hooks["PreCompact"] == [
        {
            "hooks": [
                {
                    "type": "command",
                    "command": LAUNCHER.path,
                    "args": ["PreCompact"],
                    "timeout": 10,
                }
            ]
        }
    ]
    (stop,) = hooks["Stop"][0]["hooks"]
    assert (stop["async"], stop["timeout"]) == (True, 60)
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] == 5


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t{\n'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "hooks": {\r\n        "SessionStart": ['),
        ('{"a":1}', '{"a":1,"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"'),
        ('{"a": 1}', '{"a": 1, "hooks": {"SessionStart": [{"hooks": [{"type": "command", "c'),
        ("{}", '{\n  "hooks": {\n    "SessionStart": [\n      {\n        "hooks": [\n'),
    ],
)
def test_new_entries_follow_the_style_of_the_file(text: str, looks: str) -> None:
    edited = add_hooks(text, LAUNCHER).text
    assert edited.startswith(looks)
    assert ("\n" in edited.replace("\r\n", "")) == ("\n" in looks.replace("\r\n", ""))


def test_a_moved_install_replaces_its_entries_where_they_stand() -> None:
    old = add_hooks('{"z": 1}', LAUNCHER._replace(path="/old/data/holdfast-hook")).text
    edit = add_hooks(old, LAUNCHER)
    assert edit.text == add_hooks('{"z": 1}', LAUNCHER).text
    assert sorted(edit.repaired) == sorted(EVENTS)
    assert edit.added == ()


def test_where_there_is_no_shell_an_entry_gives_python_a_few_lines_and_is_still_ours() -> None:
    script = "D:\\lib\\holdfast\\hooks\\main.py"
    windows = Launcher("", LaunchTarget("D:\\py\\python.exe", script), windows=True)
    text = add_hooks("{}", windows).text
    (entry,) = json.loads(text)["hooks"]["Stop"][0]["hooks"]
    assert entry["command"] == "D:\\py\\python.exe"
    assert entry["args"][:3] == ["-I", "-S", "-c"]
    assert entry["args"][4:] == [script, "Stop"]
    assert add_hooks(text, windows).text == text
    assert sorted(add_hooks(text, LAUNCHER).repaired) == sorted(EVENTS)


@pytest.mark.parametrize(
    "hooks",
    [
        {"Stop": [{"hooks": [our_entry("Stop"), our_entry("Stop", "/old/holdfast-hook")]}]},
        {"Stop": [{"hooks": [our_entry("Stop")]}, {"hooks": [our_entry("Stop")]}]},
        {"SessionStart": [{"matcher": "compact", "hooks": [our_entry("SessionStart")]}]},
        {"Stop": [{"hooks": [our_entry("PreCompact")]}]},
    ],
    ids=["twice in a group", "in two groups", "narrowed by a matcher", "under a wrong event"],
)
def test_entries_that_cannot_work_as_they_stand_are_put_right(hooks: object) -> None:
    (event,) = dict(hooks)  # type: ignore[call-overload]
    edit = add_hooks(json.dumps({"hooks": hooks}), LAUNCHER)
    (hook,) = [hook for hook in parse_entries(edit.text) if hook.event == event]
    (group,) = json.loads(edit.text)["hooks"][event]
    assert (hook.argv, group.get("matcher")) == ((LAUNCHER.path, event), None)
    assert event in edit.repaired


def test_an_event_that_we_no_longer_use_loses_our_entry_and_keeps_the_others() -> None:
    other = {"type": "command", "command": "other"}
    hooks = {"Notification": [{"matcher": "x", "hooks": [our_entry("Notification"), other]}]}
    edit = add_hooks(json.dumps({"hooks": hooks}), LAUNCHER)
    assert json.loads(edit.text)["hooks"]["Notification"] == [{"matcher": "x", "hooks": [other]}]
    assert edit.removed == ("Notification",)


def test_hooks_keep_their_place_in_the_file_when_only_a_useless_entry_was_in_them() -> None:
    hooks = {"Notification": [{"hooks": [our_entry("Notification")]}]}
    edit = add_hooks(json.dumps({"hooks": hooks, "model": "opus"}), LAUNCHER)
    assert list(json.loads(edit.text)) == ["hooks", "model"]
    assert sorted(json.loads(edit.text)["hooks"]) == sorted(EVENTS)


@pytest.mark.parametrize("order", ["ours first", "ours last", "ours between"])
def test_a_neighbour_in_our_group_stays(order: str) -> None:
    ours, one, two = our_entry("Stop"), {"command": "one"}, {"command": "two"}
    entries = {
        "ours first": [ours, one, two],
        "ours last": [one, two, ours],
        "ours between": [one, ours, two],
    }[order]
    text = json.dumps({"hooks": {"Stop": [{"hooks": entries}]}}, indent=1)
    left = remove_hooks(text, None)
    assert json.loads(left.text) == {"hooks": {"Stop": [{"hooks": [one, two]}]}}


def test_a_group_that_somebody_wrote_into_stays() -> None:
    group = {"hooks": [our_entry("Stop")], "description": "mine"}
    left = remove_hooks(json.dumps({"hooks": {"Stop": [group]}}), None)
    assert json.loads(left.text) == {"hooks": {"Stop": [{"hooks": [], "description": "mine"}]}}


def test_without_the_old_text_only_containers_that_we_filled_go() -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [our_entry("Stop")]}], "Setup": []}, "a": {}})
    assert json.loads(remove_hooks(text, None).text) == {"hooks": {"Setup": []}, "a": {}}


def test_another_tools_hook_that_looks_alike_is_left_alone() -> None:
    lookalikes = [
        {"type": "command", "command": "/x/holdfast-hook Stop"},
        {"type": "command", "command": "/x/holdfast-hook.bak", "args": ["Stop"]},
        {"type": "command", "command": "/x/notholdfast-hook", "args": ["Stop"]},
        {"type": "command", "command": "cat", "args": ["/x/holdfast-hook"]},
        {"type": "command", "command": "python /x/holdfast/hooks/main.py Stop"},
        {"type": "command", "command": "python", "args": ["/x/notholdfast/hooks/main.py"]},
        {"type": "command", "command": "python", "args": ["/x/holdfast/hooks/main.py.bak"]},
        {"type": "command", "command": "python", "args": "holdfast/hooks/main.py"},
    ]
    text = json.dumps({"hooks": {"Stop": [{"hooks": lookalikes}]}})
    assert remove_hooks(text, None).text == text
    edited = json.loads(add_hooks(text, LAUNCHER).text)
    assert edited["hooks"]["Stop"][0] == {"hooks": lookalikes}


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        ("{\n  // mine\n}", (2, 3), "comments"),
        ('{\n  "a": 1, /* x */\n}', (2, 11), "comments"),
        ("# x\n{}", (1, 1), "comments"),
        ('{"a": 1,\n}', (2, 1), "comma"),
        ('{"a": [1,]}', (1, 10), "comma"),
        ('{"a": 1', (1, 8), "ends here"),
        ('{"a" 1}', (1, 6), "':'"),
        ("{'a': 1}", (1, 2), '"quotes"'),
        ('{"a": NaN}', (1, 7), "a value"),
        ('{"a": 01}', (1, 8), "','"),
        ('{"a": "x\ny"}', (1, 7), "string"),
        ("{} {}", (1, 4), "end of the file"),
        ("[]", (1, 1), "one object"),
        ("\n null", (2, 2), "one object"),
        ("[" * 300, (1, 202), "levels deep"),
        ('{"hooks": []}', (1, 11), '"hooks" must be an object'),
        ('{\n "hooks": null}', (2, 11), '"hooks" must be an object'),
        ('{"hooks": {"Stop": {}}}', (1, 20), 'the event "Stop" must be a list'),
        ('{"hooks": {"Other": 1}}', (1, 21), 'the event "Other" must be a list'),
        ('{"hooks": {},\n"hooks": {}}', (2, 1), '"hooks" appears twice'),
        ('{"hooks": {"Stop": [],\n "Stop": []}}', (2, 2), '"Stop" appears twice'),
        ('{"hooks": {"Stop": [{"hooks": [], "hooks": []}]}}', (1, 35), "a group"),
    ],
)
def test_a_file_that_the_client_would_not_read_is_refused_with_its_place(
    text: str, where: tuple[int, int], says: str
) -> None:
    with pytest.raises(InvalidSettings, match=r"line \d+, column \d+") as refusal:
        add_hooks(text, LAUNCHER)
    assert (refusal.value.line, refusal.value.column) == where
    assert says in refusal.value.reason


def test_the_check_of_an_edit_sees_an_empty_container_go() -> None:
    with pytest.raises(UnsafeEdit):
        hook_edit._require_same_rest('{"hooks": {"Stop": []}}', "{}")
    hook_edit._require_same_rest('{"hooks": {"Stop": []}}', '{"hooks": {"Stop": []}}')
