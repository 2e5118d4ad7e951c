"""What is in the sdist and the wheel that `make dist` builds."""

import subprocess
import sys

from tools import build_dist
from tools.build_dist import Built, find_faults, list_sdist, list_wheel


def test_nothing_is_missing_and_nothing_is_too_much(built: Built) -> None:
    assert find_faults(built) == []


def test_the_wheel_has_what_is_no_python_module(built: Built) -> None:
    """Named one by one: `find_faults` compares with the folders and would miss an emptied one."""
    assert {
        "holdfast/clients/opencode/plugin.js",
        "holdfast/plugin/.claude-plugin/plugin.json",
        "holdfast/plugin/.mcp.json",
        "holdfast/plugin/bin/holdfast-run",
        "holdfast/plugin/commands/recall.md",
        "holdfast/plugin/hooks/hooks.json",
        "holdfast/plugin/hooks/register.js",
        "holdfast/plugin/skills/remembering/SKILL.md",
        "holdfast/py.typed",
        "holdfast/samples/session.jsonl",
        "holdfast/server/dashboard/page/index.html",
    } <= set(list_wheel(built.wheel))


def test_no_tests_benchmarks_or_transcripts_are_shipped(built: Built) -> None:
    names = list_wheel(built.wheel) + list_sdist(built.sdist)
    parts = {part for name in names for part in name.split("/")}
    assert not parts & {"tests", "benchmarks", "tools", "corpus", "conftest.py", "__pycache__"}
    assert [name for name in list_wheel(built.wheel) if name.endswith(".jsonl")] == [
        "holdfast/samples/session.jsonl"
    ]
    # The plugin's link to the code is not followed: everything is in the wheel once.
    assert not [name for name in names if name.removeprefix("holdfast/").startswith("plugin/lib")]


def test_an_index_would_take_them(built: Built) -> None:
    wanted = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built)]
    ended = subprocess.run(wanted, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_what_should_not_be_there_is_told(built: Built, tmp_path: object) -> None:
    described = build_dist.describe(built)
    assert "holdfast/plugin/hooks/hooks.json" in described
    assert "src/holdfast/py.typed" in described
