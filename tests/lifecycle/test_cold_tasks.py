"""When finished tasks are looked for, and that each is summarised once."""

import json
from pathlib import Path

from holdfast.lifecycle.cold_tasks import Limits, laid_over, look, shelf
from holdfast.lifecycle.track import catch_up
from holdfast.lifecycle.tray import Tray

from .follow import ROWS, Follow

LIMITS = Limits(cold_turns=1, percent=70, every_turns=10)


def looked(follow: Follow, percent: int = 90, limits: Limits = LIMITS) -> list[str]:
    tracked = catch_up(str(follow.transcript))
    found = look(
        follow.tray, str(follow.transcript), tracked.state, tracked.abandoned, percent, limits
    )
    return [one.subject for one in found]


def test_below_the_threshold_nothing_is_looked_at(follow: Follow) -> None:
    follow.write(len(ROWS))
    assert looked(follow, percent=69) == []
    assert not (Path(follow.tray.folder) / "tasks.json").exists()


def test_cold_tasks_are_summarised_once(follow: Follow) -> None:
    follow.write(len(ROWS))
    first = looked(follow)
    assert "Add Cart.apply_discount and total_cents" in first
    before = (Path(follow.tray.folder) / "tasks.json").read_bytes()
    assert looked(follow, limits=LIMITS._replace(every_turns=0)) == first
    assert (Path(follow.tray.folder) / "tasks.json").read_bytes() == before


def test_it_is_looked_every_so_many_turns_only(follow: Follow) -> None:
    follow.write(60)  # nothing is done yet
    assert looked(follow) == []
    turn = shelf(follow.tray).looked
    follow.write(len(ROWS))
    assert looked(follow, limits=LIMITS._replace(every_turns=1000)) == []
    assert shelf(follow.tray).looked == turn
    assert looked(follow) != []


def test_paths_are_short_and_secrets_stay_out(follow: Follow) -> None:
    secret = b"sk-ant-api03-" + b"abcDEF123-" * 9 + b"AA"
    rows = [row.replace(b"shop/cart.py", b"shop/" + secret + b".py") for row in ROWS]
    follow.transcript.write_bytes(b"".join(rows))
    assert looked(follow) != []
    kept = (Path(follow.tray.folder) / "tasks.json").read_bytes()
    assert secret not in kept
    assert b"/home/dev/shop/" not in kept


def test_a_damaged_file_is_written_anew(follow: Follow, tmp_path: Path) -> None:
    follow.write(len(ROWS))
    follow.tray.write("tasks.json", b"[half")
    assert shelf(follow.tray).summaries == ()
    assert looked(follow) != []
    json.loads((Path(follow.tray.folder) / "tasks.json").read_bytes())
    assert shelf(Tray(str(tmp_path), "nobody")).summaries == ()


def test_a_task_that_is_open_again_loses_its_summary_in_what_is_shown(follow: Follow) -> None:
    follow.write(len(ROWS))
    looked(follow)
    state = catch_up(str(follow.transcript)).state
    summaries = shelf(follow.tray).summaries
    assert laid_over(state, summaries).finished
    reopened = {k: t._replace(standing="open") for k, t in state.tasks.items()}
    assert laid_over(state._replace(tasks=reopened), summaries).finished == {}
