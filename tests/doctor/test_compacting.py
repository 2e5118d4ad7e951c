"""When the client compacts, from the settings in effect."""

from typing import Any

import pytest

from holdfast.doctor.compacting import check_compacting, told

from .world import World


@pytest.mark.parametrize(
    ("variables", "options", "said"),
    [
        ({}, {}, "the client's own window"),
        ({"DISABLE_COMPACT": "1"}, {}, "never compacts"),
        ({"DISABLE_AUTO_COMPACT": "true"}, {}, "only /compact"),
        ({"DISABLE_AUTO_COMPACT": "0"}, {}, "the client's own window"),
        ({}, {"autoCompactEnabled": False}, "off in the settings"),
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
    assert said in told(variables, options).seen


def test_the_settings_files_and_their_env_count_the_later_scope_first(world: World) -> None:
    world.write({"autoCompactWindow": 300_000, "env": {"DISABLE_AUTO_COMPACT": 1}})
    (found,) = check_compacting(world.around)
    assert "DISABLE_AUTO_COMPACT" in found.seen
    world.write({"env": {"DISABLE_AUTO_COMPACT": "0"}}, "local")
    (found,) = check_compacting(world.around)
    assert "window 300,000" in found.seen


def test_the_clients_own_file_is_read(world: World) -> None:
    (world.home / ".claude.json").write_text('{"autoCompactEnabled": false}')
    (found,) = check_compacting(world.around)
    assert "off in the settings" in found.seen
