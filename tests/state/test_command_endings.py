"""How commands ended, by their own status or their own words: a table of many tools."""

import pytest

from .command_endings import ENDINGS, LOOKS
from .story import Story


@pytest.mark.parametrize(("line", "output", "status", "kind", "worked"), ENDINGS)
def test_how_a_command_ended(
    line: str, output: str, status: int, kind: str, worked: bool | None
) -> None:
    last = list(Story().ran(line, output, ok=status == 0).state.commands.values())[-1]
    assert (last.check, last.ok) == (kind, worked)


def test_the_table_is_large() -> None:
    assert len(ENDINGS) >= 120


@pytest.mark.parametrize("line", LOOKS)
def test_what_only_looks_is_not_kept(line: str) -> None:
    assert Story().ran(line, "1 failed, 3 passed in 0.12s").state.commands == {}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("sudo -u shop ./deploy.sh", "sudo -u shop ./deploy.sh"),
        ("PORT=8 npm start", "PORT=8 npm start"),
        ("cd web && npm test -- --run", "cd web && npm test -- --run"),
        ("(npm run build)", "npm run build"),
        ("python3 - <<'PY'\nimport os; os.remove('a')\nprint(1)\nPY", "python3 - <<PY"),
    ],
)
def test_a_command_is_kept_as_typed(line: str, text: str) -> None:
    assert list(Story().ran(line, "x").state.commands) == [text]


def test_a_narrow_pass_does_not_hide_a_wide_failure_and_a_wide_one_clears_it() -> None:
    story = Story().ran("pytest", "FAILED tests/a.py::x - no\n1 failed, 9 passed in 1s", ok=False)
    story.ran("pytest tests/b.py", "2 passed in 0.1s")
    assert {run.result for run in story.state.suite_runs.values()} == {"failed", "passed"}
    story.ran("pytest", "10 passed in 1s")
    assert {run.result for run in story.state.suite_runs.values()} == {"passed"}
