"""Which client is here, and what its version means."""

from typing import Any

import pytest

from holdfast.doctor.check_client import (
    FoundClient,
    check_autocompact,
    check_client,
    describe_autocompact,
    find_clients,
    judge_clients,
    parse_version,
)
from holdfast.install.claude_code import build_auto_compact

from .world import World


def client(*version: int) -> FoundClient:
    return FoundClient("/opt/claude", "command line", version)


def test_a_client_of_today_is_supported() -> None:
    found = judge_clients([client(2, 1, 325)])
    assert (found.level, found.details) == ("ok", ())
    assert "2.1.325" in found.message
    assert "supported" in found.message


def test_the_oldest_supported_one_is_told_what_it_does_not_say() -> None:
    found = judge_clients([client(2, 1, 139)])
    assert found.level == "ok"
    assert "which subagent compacts" in found.details[0]


def test_an_old_client_alone_is_broken_and_beside_a_new_one_a_warning() -> None:
    alone = judge_clients([client(2, 1, 100)])
    assert alone.level == "fail"
    assert "claude update" in alone.next_step
    assert judge_clients([client(2, 1, 325), client(2, 1, 100)]).level == "warn"


def test_no_client_and_one_that_does_not_say_are_warnings() -> None:
    assert judge_clients([]).level == "warn"
    assert judge_clients([client()]).level == "warn"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2.1.325 (Claude Code)", (2, 1, 325)),
        ("/x/anthropic.claude-code-2.1.10-linux-x64/claude", (2, 1, 10)),
        ("v22.1.0/versions/2.1.139", (2, 1, 139)),
        ("nothing", ()),
    ],
)
def test_the_last_number_in_a_text_is_the_version(text: str, number: tuple[int, ...]) -> None:
    assert parse_version(text) == number


def test_a_client_on_the_path_is_asked(world: World) -> None:
    world.program("bin/claude", "echo '2.1.200 (Claude Code)'")
    (found,) = find_clients(world.around)
    assert (found.version, found.kind) == ((2, 1, 200), "command line")


def test_a_client_that_fails_is_found_without_a_version(world: World) -> None:
    world.program("bin/claude", "exit 3")
    (finding,) = check_client(world.around)
    assert finding.level == "warn"
    assert "could not be read" in finding.message


def test_an_npm_client_is_known_by_its_package(world: World) -> None:
    folder = "home/.npm-global/lib/node_modules/@anthropic-ai/claude-code"
    real = world.program(f"{folder}/cli.js", "exit 9")
    described = '{"name": "@anthropic-ai/claude-code", "version": "2.1.150"}'
    (real.parent / "package.json").write_text(described)
    (world.root / "bin").mkdir()
    (world.root / "bin" / "claude").symlink_to(real)
    assert [found.version for found in find_clients(world.around)] == [(2, 1, 150)]


def test_of_an_editors_extensions_the_newest_counts(world: World) -> None:
    for version in ("2.1.9", "2.1.10"):
        tail = f"anthropic.claude-code-{version}-linux-x64/resources/native-binary/claude"
        world.program(f"home/.vscode/extensions/{tail}", "exit 9")
    (found,) = find_clients(world.around)
    assert (found.kind, found.version) == ("editor", (2, 1, 10))


def test_one_client_by_two_names_is_one(world: World) -> None:
    real = world.program("home/.local/share/claude/versions/2.1.300", "exit 9")
    (world.home / ".local" / "bin").mkdir(parents=True)
    (world.home / ".local" / "bin" / "claude").symlink_to(real)
    world.environ["CLAUDE_CODE_EXECPATH"] = str(real)
    assert [found.version for found in find_clients(world.around)] == [(2, 1, 300)]


# When the client compacts, from the settings in effect.


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
        ({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "lots"}, {}, "the window lots is not taken"),
        ({}, {"autoCompactWindow": 900}, "it goes from 100,000 to 1,000,000"),
        ({}, {}, "at the earliest at 167,000 tokens of 200,000 or 967,000 tokens of 1,000,000"),
        ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, {}, "90,000 tokens of 200,000"),
        ({"DISABLE_AUTO_COMPACT": "1"}, {}, "a full window ends the turn"),
    ],
)
def test_the_words_for_each_setting(
    variables: dict[str, str], options: dict[str, Any], said: str
) -> None:
    assert said in describe_autocompact(build_auto_compact(variables, [options])).message


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
