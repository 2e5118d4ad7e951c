"""Taking the trust of our hooks out of a config.toml: nothing else in it may change."""

from __future__ import annotations

import pytest

from holdfast.install.codex_config import list_trust_keys, remove_trust
from holdfast.install.installation import UnsafeEdit

FILE = "/home/u/.codex/hooks.json"
OURS = {f"{FILE}:stop:1:0", f"{FILE}:session_start:0:0"}
USERS = '# Mine.\nmodel = "m"   # the good one\n\n[tui]\ntheme = "x"\n'


def table(key: str, end: str = "\n") -> str:
    return f'{end}[hooks.state."{key}"]{end}trusted_hash = "sha256:1"{end}'


def trust_tables(end: str = "\n") -> str:
    return f"{end}[hooks.state]{end}" + "".join(table(key, end) for key in sorted(OURS))


@pytest.mark.parametrize(
    "behind",
    ["", '\n# Theirs.\n[projects."/shop"]\ntrust_level = "trusted"\n', "\n\n# The end.\n", "\n"],
)
@pytest.mark.parametrize("before", [USERS, "", "\n\n", '[hooks.Stop]\n\n[a]\nb = """\n[c]\n"""\n'])
def test_what_stands_around_stays(before: str, behind: str) -> None:
    assert remove_trust(before + trust_tables() + behind, OURS) == before + behind


def test_line_ends_of_windows_stay() -> None:
    before = USERS.replace("\n", "\r\n")
    assert remove_trust(before + trust_tables("\r\n"), OURS) == before


def test_the_trust_of_others_stays() -> None:
    theirs = "\n[hooks.state]\n" + table(f"{FILE}:stop:0:0")
    ours = "".join(map(table, sorted(OURS)))
    assert remove_trust(USERS + theirs + ours, OURS) == USERS + theirs


def test_a_switch_in_our_table_goes_with_it() -> None:
    text = USERS + trust_tables().replace('"sha256:1"\n', '"sha256:1"\nenabled = false\n')
    assert remove_trust(text, OURS) == USERS


@pytest.mark.parametrize(
    "text",
    [
        f'[hooks]\nstate = {{"{FILE}:stop:1:0" = {{trusted_hash = "sha256:1"}}}}\n',
        "model = \n",
        f'note = """{table(f"{FILE}:stop:1:0")}"""\n' + table(f"{FILE}:stop:1:0"),
    ],
    ids=["an inline table", "not TOML", "its words in a string"],
)
def test_what_cannot_be_taken_out_with_certainty_is_left(text: str) -> None:
    with pytest.raises(UnsafeEdit):
        remove_trust(text, OURS)


def test_a_config_without_our_trust_is_left() -> None:
    assert remove_trust(USERS, OURS) == USERS


def test_keys_count_groups_and_entries_as_the_client_does() -> None:
    ours = {"type": "command", "command": "/data/holdfast-hook codex:Stop"}
    theirs = {"type": "command", "command": "true"}
    hooks = {
        "hooks": {
            "Stop": [{"hooks": [theirs]}, {"hooks": [theirs, ours]}],
            "UserPromptSubmit": [{"hooks": [ours]}],
            "PreCompact": "no list",
            "PostCompact": ["no group", {"hooks": None}],
        }
    }
    found = list_trust_keys(hooks, FILE)
    assert found == {f"{FILE}:stop:1:1", f"{FILE}:user_prompt_submit:0:0"}
