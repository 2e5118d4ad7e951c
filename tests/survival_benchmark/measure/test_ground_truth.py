"""State truth and what counts as stale, on hand-made sessions."""

from pathlib import Path

import pytest

from benchmarks.measure.prepared_boundary import PreparedBoundary
from benchmarks.measure.scoring import score_brief
from survival_benchmark.measure.handmade import Story, tax_story


@pytest.fixture
def prepared(tmp_path: Path) -> PreparedBoundary:
    return tax_story().prepared(tmp_path)


def long_story() -> Story:
    """Deleted files, a fixed error and a cancelled task, then a need worth measuring."""
    story = Story()
    story.idle(15)
    story.edit("src/old_tax.py", "a", "b")
    story.edit("src/billing/tax.py", "alphaThing", "betaThing gammaThing deltaThing")
    story.bash("git rm src/old_tax.py")
    story.bash("make build", "error: missing separator in the price table", error=True)
    story.bash("make build", "done")
    story.bash("make lint", "error: unused import of decimal module", error=True)
    story.task(1, "Fix rounding in the tax table")
    story.task(2, "Translate the receipt")
    story.task_is(1, "completed")
    story.task_is(2, "deleted")
    story.compact()
    story.says("alphaThing betaThing gammaThing deltaThing")
    story.edit("src/billing/tax.py", "a", "b")
    story.idle(8)
    return story


def test_the_state_at_the_cut(prepared: PreparedBoundary) -> None:
    truth = prepared.truth
    assert truth.open_tasks == ["write the invoice test"]
    assert truth.closed_tasks == {"fix rounding in the tax table"}
    assert truth.edited == ["src/billing/tax.py"]
    assert (truth.test, truth.test_passed) == ("python -m pytest tests/test_tax.py", False)
    assert truth.branch == "feature/tax"
    assert [f.command for f in truth.open_errors] == ["python -m pytest tests/test_tax.py"]
    assert len(truth.rules) == 1


def test_a_brief_that_tells_all_of_it_scores_full_state(prepared: PreparedBoundary) -> None:
    brief = (
        "Branch: feature/tax\n"
        "User rule: Never round prices before the last step.\n"
        "Open tasks:\n- Write the invoice test\n"
        "Last test: `python -m pytest tests/test_tax.py` failed\n"
        "Edited: src/billing/tax.py"
    )
    outcome = score_brief(brief, prepared, 4000)
    assert outcome.state_parts == dict.fromkeys(outcome.state_parts, 1.0)
    assert set(outcome.state_parts) == {"branch", "rules", "tasks", "test", "edited", "errors"}
    assert outcome.stale == 0


def test_a_wrong_verdict_is_half_a_test(prepared: PreparedBoundary) -> None:
    outcome = score_brief("Test: python -m pytest tests/test_tax.py passed", prepared, 4000)
    assert outcome.state_parts["test"] == 0.5


def test_finished_tasks_shown_as_open_are_stale(prepared: PreparedBoundary) -> None:
    told = "Tasks:\n- Fix rounding in the tax table"
    assert score_brief(told, prepared, 4000).stale_items == ["task: fix rounding in the tax table"]
    for fine in ("Done tasks:\n- Fix rounding in the tax table", f"{told} (done)"):
        assert score_brief(fine, prepared, 4000).stale == 0


def test_fixed_errors_deleted_files_and_dropped_tasks_are_stale(tmp_path: Path) -> None:
    prepared = long_story().prepared(tmp_path)
    brief = (
        "Open errors:\n- make build: error: missing separator in the price table\n"
        "- make lint: error: unused import of decimal module\n"
        "Edited:\n- src/old_tax.py\n- src/billing/tax.py\n"
        "Open tasks:\n- Translate the receipt"
    )
    assert score_brief(brief, prepared, 4000).stale_items == [
        "error: error: missing separator in the price table",
        "file: src/old_tax.py",
        "task: translate the receipt",
    ]


def test_told_as_what_they_are_they_are_not_stale(tmp_path: Path) -> None:
    prepared = long_story().prepared(tmp_path)
    brief = (
        "Fixed errors:\n- make build: error: missing separator in the price table\n"
        "Deleted: src/old_tax.py\n"
        "Cancelled tasks:\n- Translate the receipt"
    )
    assert score_brief(brief, prepared, 4000).stale_items == []
