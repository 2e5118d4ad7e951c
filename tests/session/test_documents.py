"""When finished tasks are looked for, and that each is summarised once."""

import json
from pathlib import Path

from holdfast.fastpath.session_dir import SessionDir
from holdfast.session.documents import (
    SummaryLimits,
    load_summaries,
    overlay_summaries,
    update_summaries,
)
from holdfast.session.follow import follow_transcript
from support.growing_session import ROWS, Follow

LIMITS = SummaryLimits(idle_turns=1, percent=70, every_turns=10)


def looked(follow: Follow, percent: int = 90, limits: SummaryLimits = LIMITS) -> list[str]:
    followed = follow_transcript(str(follow.transcript))
    found = update_summaries(
        follow.session_dir,
        str(follow.transcript),
        followed.state,
        followed.abandoned,
        percent,
        limits,
    )
    return [one.subject for one in found]


def test_below_the_threshold_nothing_is_looked_at(follow: Follow) -> None:
    follow.write(len(ROWS))
    assert looked(follow, percent=69) == []
    assert not (Path(follow.session_dir.path) / "tasks.json").exists()


def test_cold_tasks_are_summarised_once(follow: Follow) -> None:
    follow.write(len(ROWS))
    first = looked(follow)
    assert "Add Cart.apply_discount and total_cents" in first
    before = (Path(follow.session_dir.path) / "tasks.json").read_bytes()
    assert looked(follow, limits=LIMITS._replace(every_turns=0)) == first
    assert (Path(follow.session_dir.path) / "tasks.json").read_bytes() == before


def test_it_is_looked_every_so_many_turns_only(follow: Follow) -> None:
    follow.write(60)  # nothing is done yet
    assert looked(follow) == []
    turn = load_summaries(follow.session_dir).checked_at_step
    follow.write(len(ROWS))
    assert looked(follow, limits=LIMITS._replace(every_turns=1000)) == []
    assert load_summaries(follow.session_dir).checked_at_step == turn
    assert looked(follow) != []


def test_paths_are_short_and_secrets_stay_out(follow: Follow) -> None:
    secret = b"sk-ant-api03-" + b"abcDEF123-" * 9 + b"AA"
    rows = [row.replace(b"shop/cart.py", b"shop/" + secret + b".py") for row in ROWS]
    follow.transcript.write_bytes(b"".join(rows))
    assert looked(follow) != []
    kept = (Path(follow.session_dir.path) / "tasks.json").read_bytes()
    assert secret not in kept
    assert b"/home/dev/shop/" not in kept


def test_a_damaged_file_is_written_anew(follow: Follow, tmp_path: Path) -> None:
    follow.write(len(ROWS))
    follow.session_dir.write("tasks.json", b"[half")
    assert load_summaries(follow.session_dir).summaries == ()
    assert looked(follow) != []
    json.loads((Path(follow.session_dir.path) / "tasks.json").read_bytes())
    assert load_summaries(SessionDir(str(tmp_path), "nobody")).summaries == ()


def test_a_task_that_is_open_again_loses_its_summary_in_what_is_shown(follow: Follow) -> None:
    follow.write(len(ROWS))
    looked(follow)
    state = follow_transcript(str(follow.transcript)).state
    summaries = load_summaries(follow.session_dir).summaries
    assert overlay_summaries(state, summaries).task_summaries
    reopened = {k: t._replace(status="open") for k, t in state.tasks.items()}
    assert overlay_summaries(state._replace(tasks=reopened), summaries).task_summaries == {}
