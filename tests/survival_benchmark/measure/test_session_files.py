"""Sessions: copies merged, sidechains dropped, boundaries found. Rows are hand-made."""

import gzip
from pathlib import Path

from benchmarks.measure.session_files import (
    MAX_TOOL_CALLS_AFTER,
    find_boundaries,
    find_transcripts,
    group_by_session,
    list_roots,
    list_tool_calls,
    load_session,
    merge_copies,
    name_repository,
)
from survival_benchmark.measure.handmade import Story, tax_story


def test_copies_of_a_session_are_merged_by_uuid_in_file_order(tmp_path: Path) -> None:
    story = tax_story()
    (tmp_path / "early").mkdir()
    early = Story(story.session_id)
    early.rows = story.rows[:20]
    first = early.write(tmp_path / "early")
    second = story.write(tmp_path)
    [(session_id, paths)] = group_by_session(find_transcripts(tmp_path))
    assert session_id == "s-1"
    assert set(paths) == {first, second}
    assert [r["uuid"] for r in load_session(paths).rows] == [r["uuid"] for r in story.rows]


def test_a_row_only_one_copy_has_stands_behind_the_row_it_follows() -> None:
    a, b, c = ({"uuid": u} for u in "abc")
    assert merge_copies([[a, c, {"uuid": "d"}], [a, b, c]]) == [a, b, c, {"uuid": "d"}]


def test_sidechain_rows_are_dropped(tmp_path: Path) -> None:
    story = tax_story()
    story.rows[3]["isSidechain"] = True
    assert len(load_session([story.write(tmp_path)]).rows) == len(story.rows) - 1


def test_the_summary_is_found_by_file_order_even_with_an_earlier_timestamp() -> None:
    story = tax_story()
    for row in story.rows:
        row["timestamp"] = "2026-01-01T10:00:00Z"
        if row.get("isCompactSummary"):
            row["timestamp"] = "2026-01-01T09:00:00Z"
    [boundary] = find_boundaries(story.rows)
    assert boundary.summary == "Summary: work went on."


def test_torn_and_foreign_lines_are_passed_over(tmp_path: Path) -> None:
    path = tax_story().write(tmp_path)
    whole = len(load_session([path]).rows)
    path.write_bytes(b"\0\0" + path.read_bytes() + b'[1]\n{"type": "us')
    assert len(load_session([path]).rows) == whole


def test_gzipped_transcripts_are_read_like_plain_ones(tmp_path: Path) -> None:
    path = tax_story().write(tmp_path)
    packed = tmp_path / "s-1.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load_session([packed]).rows == load_session([path]).rows


def test_a_boundary_with_few_calls_on_either_side_is_not_used() -> None:
    few_before = Story()
    few_before.idle(14)
    few_before.compact()
    few_before.idle(8)
    few_after = Story()
    few_after.idle(15)
    few_after.compact()
    few_after.idle(7)
    enough = Story()
    enough.idle(15)
    enough.compact()
    enough.idle(8)
    assert find_boundaries(few_before.rows) == []
    assert find_boundaries(few_after.rows) == []
    assert len(find_boundaries(enough.rows)) == 1


def test_after_ends_at_the_next_boundary_and_at_the_last_call_that_counts() -> None:
    story = Story()
    story.idle(15)
    story.compact()
    story.idle(20)
    story.compact()
    story.idle(MAX_TOOL_CALLS_AFTER + 30)
    first, second = find_boundaries(story.rows)
    assert first.after_end == second.index
    after = story.rows[second.after_start : second.after_end]
    assert sum(len(list_tool_calls(r)) for r in after) == MAX_TOOL_CALLS_AFTER


def test_worktrees_belong_to_their_repository() -> None:
    assert name_repository(["/w/shop/.worktrees/tax", "/w/shop/.worktrees/tax/src"]) == "shop"
    assert name_repository(["/w/shop/src", "/w/shop"]) == "shop"
    assert name_repository(["/w/shop-worktree-2"]) == "shop"
    assert name_repository([]) == "unknown"


def test_a_worktree_is_a_root_of_its_own_and_a_subfolder_is_not() -> None:
    cwds = ["/w/shop", "/w/shop/src", "/w/shop/.worktrees/tax"]
    assert list_roots(cwds) == ["/w/shop/.worktrees/tax", "/w/shop"]
