"""When the client compacts, from the settings in effect."""

from typing import Any

import pytest

from holdfast.clients.claude_code.install.installed import build_auto_compact
from holdfast.doctor.check_autocompact import check_autocompact, describe_autocompact

from .world import World


@pytest.mark.parametrize(
    ("variables", "options", "said"),
    [
        ({}, {}, "the client's own window"),
        ({"DISABLE_COMPACT": "1"}, {}, "never compacts"),
        ({"DISABLE_AUTO_COMPACT": "true"}, {}, "only /compact"),
        ({"DISABLE_AUTO_COMPACT": "0"}, {}, "the client's own window"),
        ({}, {"autoCompactEnabled": False}, "disabled in the settings"),
        ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200k"}, {}, "at about 167,000 tokens"),
        ({}, {"autoCompactWindow": 200_000}, "at about 167,000 tokens"),
        (
            {
                "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000",
                "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50",
            },
            {},
            "at about 90,000 tokens",
        ),
        ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "70"}, {}, "70 %"),
        ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "lots"}, {}, "the client's own window"),
    ],
)
def test_the_words_for_each_setting(
    variables: dict[str, str], options: dict[str, Any], said: str
) -> None:
    assert said in describe_autocompact(build_auto_compact(variables, options)).message


def test_the_settings_files_and_their_env_count_the_later_scope_first(world: World) -> None:
    world.write({"autoCompactWindow": 300_000, "env": {"DISABLE_AUTO_COMPACT": 1}})
    (found,) = check_autocompact(world.around)
    assert "DISABLE_AUTO_COMPACT" in found.message
    world.write({"env": {"DISABLE_AUTO_COMPACT": "0"}}, "local")
    (found,) = check_autocompact(world.around)
    assert "window 300,000" in found.message


def test_the_clients_own_file_is_read(world: World) -> None:
    (world.home / ".claude.json").write_text('{"autoCompactEnabled": false}')
    (found,) = check_autocompact(world.around)
    assert "disabled in the settings" in found.message
