"""The point of compaction, as the client computes it."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.clients.claude_code.client import (
    CLIENT,
    build_window_config,
)
from holdfast.clients.claude_code.hooks import list_settings_files
from holdfast.clients.client_protocol import (
    CompactionPoint,
    RunningModel,
    WindowConfig,
    percent_left,
)
from holdfast.clients.json_fields import read_settings

SONNET = "claude-sonnet-4-5-20250929"
WINDOW = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"


def compaction_point(chosen: WindowConfig, model: str, *known: Any) -> CompactionPoint:
    return CLIENT.context_window.compaction_point(chosen, RunningModel(model, *known))


@pytest.mark.parametrize(
    ("environ", "settings", "model", "tokens"),
    [
        ({}, [], SONNET, 167_000),
        ({}, [], "claude-sonnet-4-5[1m]", 967_000),
        ({}, [], "claude-sonnet-5", 967_000),
        ({WINDOW: "100000"}, [], SONNET, 67_000),
        ({WINDOW: "150k"}, [], SONNET, 117_000),
        ({WINDOW: "1m"}, [], SONNET, 167_000),  # never beyond the model's own
        ({WINDOW: "5000"}, [], SONNET, 67_000),
        ({WINDOW: "soon"}, [], SONNET, 167_000),
        ({}, [{"autoCompactWindow": 120_000}], SONNET, 87_000),
        ({}, [{"autoCompactWindow": "auto"}], SONNET, 167_000),
        ({}, [{"autoCompactWindow": 50}], SONNET, 167_000),
        ({}, [{"env": {WINDOW: "100000"}}], SONNET, 67_000),
        ({WINDOW: "100000"}, [{"autoCompactWindow": 150_000}], SONNET, 67_000),
        ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, [], SONNET, 90_000),
        ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "99"}, [], SONNET, 167_000),  # it can only lower
        ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "lots"}, [], SONNET, 167_000),
        ({"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}, [], SONNET, 179_000),
        ({"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "120000"}, [], "own-model", 87_000),
    ],
)
def test_the_point_follows_settings_and_environment(
    environ: dict[str, str], settings: list[dict[str, Any]], model: str, tokens: int
) -> None:
    assert compaction_point(build_window_config(environ, settings), model).tokens == tokens


def test_a_model_has_its_own_window_by_its_canonical_name() -> None:
    own = {"modelSettings": {"claude-sonnet-4-5": {"autoCompactWindow": 110_000}}}
    chosen = build_window_config({}, [{"autoCompactWindow": 150_000, **own}])
    assert compaction_point(chosen, SONNET).window == 110_000
    assert compaction_point(chosen, "claude-opus-4-5").window == 150_000
    assert (
        compaction_point(build_window_config({WINDOW: "100000"}, [own]), SONNET).window == 100_000
    )


def test_the_stronger_file_wins() -> None:
    files = [{"autoCompactWindow": 150_000}, {"autoCompactWindow": 120_000}]
    assert build_window_config({}, files).window == 120_000


@pytest.mark.parametrize(
    ("environ", "settings"),
    [
        ({"DISABLE_AUTO_COMPACT": "1"}, {}),
        ({"DISABLE_COMPACT": "true"}, {}),
        ({}, {"autoCompactEnabled": False}),
        ({}, {"env": {"DISABLE_COMPACT": "1"}}),
    ],
)
def test_what_turns_it_off_is_known(environ: dict[str, str], settings: dict[str, Any]) -> None:
    assert not compaction_point(build_window_config(environ, [settings]), SONNET).auto_compact
    assert build_window_config({"DISABLE_COMPACT": "0"}, [{}]).auto_compact


def test_a_window_that_nobody_set_is_the_earliest_point() -> None:
    assert compaction_point(WindowConfig(), SONNET).is_lower_bound
    assert not compaction_point(WindowConfig(window=120_000), SONNET).is_lower_bound


def test_what_the_client_said_and_what_once_fitted_tell_the_window() -> None:
    assert compaction_point(WindowConfig(), SONNET, 1_000_000).window == 1_000_000
    assert compaction_point(WindowConfig(), SONNET, 0, 250_000).window == 1_000_000


@pytest.mark.parametrize(
    ("model", "requested", "more", "expected"),
    [
        ("claude-sonnet-4-5", True, (0, 0), (200_000, True)),
        ("claude-sonnet-4-5[1m]", True, (0, 0), (1_000_000, True)),
        (
            "claude-sonnet-4-5-20250929",
            False,
            (0, 0),
            (200_000, False),
        ),  # may have been asked as [1m]
        ("claude-opus-4-6", True, (0, 0), (200_000, True)),
        ("claude-opus-4-7", True, (0, 0), (1_000_000, False)),
        ("claude-opus-5-5", True, (0, 0), (1_000_000, False)),  # some accounts have less
        ("claude-haiku-5-5", True, (0, 0), (1_000_000, False)),
        ("a-model-of-tomorrow", True, (0, 0), (1_000_000, False)),
        ("", False, (0, 0), (1_000_000, False)),
        ("claude-opus-5-5", True, (0, 200_001), (1_000_000, True)),
        ("claude-opus-5-5", True, (200_000, 0), (200_000, True)),
        ("claude-sonnet-4-5", True, (200_000, 250_000), (1_000_000, True)),
    ],
)
def test_a_window_is_known_or_a_guess(
    model: str, requested: bool, more: tuple[int, int], expected: tuple[int, bool]
) -> None:
    point = compaction_point(WindowConfig(), model, *more, requested)
    assert (point.window, point.is_certain) == expected


def test_a_configured_window_below_every_models_is_known() -> None:
    assert compaction_point(WindowConfig(window=150_000), "claude-opus-5-5").is_certain
    assert not compaction_point(WindowConfig(window=500_000), "claude-opus-5-5").is_certain
    off = build_window_config({"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}, [])
    point = compaction_point(off, "claude-opus-5-5")
    assert (point.window, point.is_certain) == (200_000, True)


def test_what_is_left_goes_from_100_to_0() -> None:
    point = compaction_point(WindowConfig(window=100_000), SONNET)
    assert [percent_left(used, point) for used in (0, 33_500, 67_000, 90_000)] == [100, 50, 0, 0]


def test_settings_files_are_found_and_broken_ones_passed_over(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".claude").mkdir(parents=True)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"autoCompactWindow": 150_000}))
    (project / ".claude/settings.json").write_text("{broken")
    (project / ".claude/settings.local.json").write_text('{"autoCompactWindow": 120000}')
    files = list_settings_files({"HOME": str(tmp_path)}, str(project))
    assert build_window_config({}, [read_settings(path) for path in files[:3]]).window == 120_000
    moved = list_settings_files({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, "")
    assert moved[0] == "/c/settings.json"
