"""One line in Codex's config.toml, put in and taken out."""

from __future__ import annotations

import tomllib

import pytest

from holdfast.install.codex_config import add_windows, remove_windows
from holdfast.install.installation import UnsafeEdit

FILES = {
    "empty": "",
    "no table": '# Mine.\nmodel = "m"\n\n[projects."/a"]\ntrust_level = "trusted"',
    "a table": '# Mine.\n[features] # also mine\nhooks = true\n\n[tui]\ntheme = "x"\n',
    "dotted": 'model = "m"\nfeatures.hooks = true\n',
    "windows line ends": 'model = "m"\r\n[features]\r\nhooks = true\r\n',
    "a byte order mark": '\ufeffmodel = "m"\n',
}


@pytest.mark.parametrize("name", FILES)
def test_it_is_put_in_and_taken_out_byte_for_byte(name: str) -> None:
    text = FILES[name]
    added = add_windows(text)
    assert tomllib.loads(added.removeprefix("\ufeff"))["features"]["token_budget"] is True
    assert len(added.splitlines()) == len(text.splitlines()) + 1
    assert add_windows(added) == added
    assert remove_windows(added) == text


def test_what_the_user_wrote_stays() -> None:
    own = "[features]\ntoken_budget = true\n"
    assert add_windows(own) == own
    assert remove_windows(own) == own
    grown = add_windows("[features]\n") + "more = 1\n"
    assert remove_windows(grown) == "[features]\nmore = 1\n"


@pytest.mark.parametrize(
    "text",
    ["features = { hooks = true }\n", "[features]\ntoken_budget = false\n", "[features]", "a = \n"],
)
def test_what_cannot_be_edited_safely_is_refused(text: str) -> None:
    with pytest.raises(UnsafeEdit):
        add_windows(text)
