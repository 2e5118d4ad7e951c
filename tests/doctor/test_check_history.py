"""What happened lately: our own errors, and the compactions."""

import os
from contextlib import closing

from holdfast.clients.holdfast_text import AUGMENT_OPENING
from holdfast.clock import format_timestamp
from holdfast.doctor.check_history import (
    check_compactions,
    check_errors,
    check_kept,
    judge_compactions,
    read_log,
)
from holdfast.store.protocol import Compaction, Delivery
from holdfast.store.sqlite.store import SqliteStore

from .world import NOW, World


def write_log(world: World, *lines: str, name: str = "holdfast.log") -> None:
    world.data.mkdir(exist_ok=True)
    (world.data / name).write_text("".join(line + "\n" for line in lines))


def test_no_log_is_no_error(world: World) -> None:
    (found,) = check_errors(world.around)
    assert found.level == "ok"


def test_recent_errors_are_counted_and_the_last_are_shown(world: World) -> None:
    lines = [
        f"{format_timestamp(NOW - 60 * n)} {n} Stop StoreBusy: number {n}" for n in range(9, 0, -1)
    ]
    write_log(world, *lines, "no line of ours", "")
    (found,) = check_errors(world.around)
    assert found.level == "warn"
    assert "9 errors" in found.message
    assert format_timestamp(NOW - 60) in found.message
    assert [line.rpartition(" ")[2] for line in found.details] == ["3", "2", "1"]


def test_a_wrong_setting_is_no_error_of_a_hook(world: World) -> None:
    write_log(
        world, f"{format_timestamp(NOW - 60)} 1 settings: handoff takes true or false; true is used"
    )
    (found,) = check_errors(world.around)
    assert found.level == "ok"


def test_old_errors_are_forgotten_and_the_turned_over_log_is_read(world: World) -> None:
    write_log(world, f"{format_timestamp(NOW - 30 * 86400)} 1 Stop OSError: long ago")
    (found,) = check_errors(world.around)
    assert found.level == "ok"
    write_log(world, f"{format_timestamp(NOW - 60)} 1 Stop OSError: before", name="holdfast.log.1")
    assert next(text for _, text in read_log(str(world.data))) == "Stop OSError: before"
    (found,) = check_errors(world.around)
    assert "1 error " in found.message


SEEN = Compaction("s1", 0, "2026-11-16T00:00:00Z", "auto", summary="Short.", lost=("r1",))
BRIEF = Delivery("s1", 0, "brief", "SessionStart", "2026-11-16T00:00:01Z", "text")


def test_a_compaction_that_was_followed_up_is_fine() -> None:
    found = judge_compactions([SEEN], [BRIEF])
    assert found.level == "ok"
    assert found.message.startswith("restored after the only one so far; ")
    assert found.details == ("2026-11-16 00:00 s1 auto: delivered brief",)


def test_it_is_said_how_the_last_brief_came() -> None:
    alone = "the last brief was built without the summary (not received from SubagentStop)"
    assert judge_compactions([SEEN], [BRIEF]).message.endswith(f"; {alone}")
    against = BRIEF._replace(text=f"{AUGMENT_OPENING}, from its transcript.")
    assert judge_compactions([SEEN], [against]).message.endswith(
        "; the last brief was chosen against the summary"
    )
    module = BRIEF._replace(channel="session.compact")
    assert "by the plugin's module" in judge_compactions([SEEN], [module]).message
    other = BRIEF._replace(session_id="s2", text=AUGMENT_OPENING)
    assert judge_compactions([SEEN], [other, BRIEF]).message.endswith(alone)


def test_one_after_which_nothing_was_restored_is_a_warning() -> None:
    assert judge_compactions([SEEN], []).level == "warn"
    assert judge_compactions([SEEN], [BRIEF._replace(epoch=1)]).level == "warn"
    assert judge_compactions([SEEN], [BRIEF._replace(kind="steering")]).level == "warn"
    assert judge_compactions([SEEN._replace(kept=("r1",), lost=())], []).level == "ok"


def test_a_compaction_that_was_only_indexed_proves_nothing() -> None:
    found = judge_compactions([SEEN._replace(lost=())], [])
    assert (found.level, "indexed" in found.message) == ("ok", True)


def test_transcripts_that_go_soon_are_counted_and_whether_they_are_kept(world: World) -> None:
    folder = world.config / "projects" / "-shop"
    folder.mkdir(parents=True)
    for name, days in (("aaaa", 1), ("bbbb", 25), ("cccc", 29)):
        (folder / f"{name}.jsonl").write_text("{}\n")
        os.utime(folder / f"{name}.jsonl", (NOW, NOW - days * 86_400))
    with closing(SqliteStore(str(world.data / "holdfast.db"))) as store:
        store.archive("bbbb", 0, 0, 3, b"{}\n", "2026-01-01T10:00:00Z")
    (found,) = check_kept(world.around)
    assert (found.level, "; 2 within 7 days, 1 of them kept here" in found.message) == (
        "warn",
        True,
    )
    assert "rows of 1 session kept here, 0.0 MB" in found.message
    world.write({"cleanupPeriodDays": 365})
    (found,) = check_kept(world.around)
    assert (found.level, "after 365 days" in found.message) == ("ok", True)


def test_the_store_is_asked(world: World) -> None:
    (found,) = check_compactions(world.around)
    assert "none" in found.message
    with closing(SqliteStore(str(world.data / "holdfast.db"))) as store:
        store.record_compaction(SEEN)
        store.record_delivery(BRIEF)
    (found,) = check_compactions(world.around)
    assert (found.level, len(found.details)) == ("ok", 1)


def test_a_pipe_in_place_of_the_log_is_not_waited_for(world: World) -> None:
    world.data.mkdir(parents=True, exist_ok=True)
    os.mkfifo(world.data / "holdfast.log")
    assert read_log(str(world.data)) == []
