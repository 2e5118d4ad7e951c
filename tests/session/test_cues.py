"""The index that recall searches: made after a compaction, of what summary and brief left out."""

import json
from pathlib import Path

from holdfast.compaction import handlers
from holdfast.fastpath.cue_index import CueIndex, read_built
from holdfast.fastpath.recall import recall
from holdfast.fastpath.session_dir import INDEX_FILE, WORK_FILE
from holdfast.session.cues import encode_index, read_passages
from holdfast.settings.loader import Settings, SettingValue
from holdfast.store.protocol import Message
from support.growing_session import BOUNDARY, ROWS, Follow


def index_path(follow: Follow) -> str:
    return f"{follow.session_dir.path}/{INDEX_FILE}"


def ask(follow: Follow, question: str) -> str:
    index = CueIndex(index_path(follow))
    try:
        return "\n".join(recall(index, follow.session_dir.path, question, 1_200, set()))
    finally:
        index.close()


def compact(follow: Follow, summary: str) -> None:
    handlers.on_postcompact(follow.ctx, trigger="auto", summary=summary)
    handlers.prepare_recall(follow.ctx)


def say(speaker: str, text: str, minute: int) -> Message:
    return Message(f"row{minute}", speaker, text, f"2026-11-16T08:{minute:02d}:00.000Z")


def test_before_a_compaction_there_is_none(follow: Follow) -> None:
    follow.write(BOUNDARY)
    handlers.on_progress(follow.ctx, client=1, turn_ended=True)
    assert read_built(index_path(follow)) == ""


def test_after_a_compaction_what_the_summary_left_out_is_found(follow: Follow) -> None:
    follow.write(BOUNDARY)
    handlers.on_postcompact(follow.ctx, trigger="auto", summary="The user works on a shop.")
    follow.session_dir.pending.drop("gap")
    handlers.prepare_recall(follow.ctx)
    assert "never floats" in ask(follow, "Is money a float or integer cents here?")
    assert read_built(index_path(follow)) == "1:all"


def test_what_the_waiting_gap_tells_is_left_out(follow: Follow) -> None:
    follow.write(BOUNDARY)
    compact(follow, "The user works on a shop.")
    waiting = follow.session_dir.pending.read_prebuilt("gap")
    assert waiting is not None
    assert "never floats" in waiting.text
    assert "never floats" not in ask(follow, "Is money a float or integer cents here?")


def test_what_the_summary_told_is_left_out(follow: Follow) -> None:
    follow.write(BOUNDARY)
    words = next(
        said
        for row in ROWS[:BOUNDARY]
        if '"user"' in row.decode() and "integer cents" in (said := str(json.loads(row)["message"]))
    )
    compact(follow, f"The user said: {words}")
    assert "never floats" not in ask(follow, "Is money a float or integer cents here?")


def test_it_is_made_once_a_compaction_and_the_work_at_hand_goes_on(follow: Follow) -> None:
    follow.write(BOUNDARY)
    compact(follow, "Short.")
    follow.write(len(ROWS))
    (made,) = [one for one in follow.store.compactions(follow.session_id) if one.epoch == 0]
    with open(index_path(follow), "rb") as file:
        before = file.read()
    handlers.on_progress(follow.ctx, client=1, turn_ended=True)
    with open(index_path(follow), "rb") as file:
        assert file.read() == before
    assert made.summary == "Short."
    with open(f"{follow.session_dir.path}/{WORK_FILE}") as file:
        assert file.read().strip()


def test_switched_off_there_is_none(follow: Follow) -> None:
    follow.write(BOUNDARY)
    compact(follow, "Short.")
    off = follow.ctx.config._replace(settings=Settings({"recall": SettingValue("off")}))
    handlers.prepare_recall(follow.ctx._replace(config=off))
    assert read_built(index_path(follow)) == ""


def test_a_command_that_failed_says_that_it_worked_later() -> None:
    found = read_passages(
        [
            say("failed", "$ make test\nno rule to make target", 1),
            say("edited", "/shop/Makefile: test: pytest", 2),
            say("ran", "$ make test\n4 passed", 3),
        ]
    )
    assert [one.later for one in found] == [
        "the same command worked at 11-16 08:03 after edits of Makefile", "", "",
    ]  # fmt: skip


def test_words_that_were_taken_back_stand_beside_those_that_took_their_place() -> None:
    found = read_passages(
        [
            say("user", "Use port 5432 for the staging database.", 1),
            say("agent", "Done.", 2),
            say("user", "Actually, use port 6000 for the staging database instead.", 3),
        ]
    )
    assert "port 6000" in found[0].later
    assert found[2].later == ""


def test_of_a_command_that_ran_again_the_last_outcome_is_kept() -> None:
    found = read_passages([say("ran", "$ ls\nold.txt", 1), say("ran", "$ ls\nnew.txt", 2)])
    assert [one.text for one in found] == ["$ ls\nnew.txt"]


def test_a_log_pasted_into_a_prompt_is_its_ends_and_what_the_agent_does_next_is_no_passage() -> (
    None
):
    log = "\n".join(f"12:00:{n:02d} worker {n} took job {n * 7} from the queue" for n in range(40))
    passages = read_passages([
        say("user", f"See what it prints:\n{log}\nWhy is it slow?", 1),
        say("agent", "Let me look at the queue:", 2),
        say("agent", "The queue in jobs/queue.py is read under one lock.", 3),
    ])  # fmt: skip
    texts = [one.text for one in passages]
    assert not any("worker 20" in text for text in texts)
    assert any("Why is it slow?" in text for text in texts)
    assert texts[-1] == "The queue in jobs/queue.py is read under one lock."
    assert not any("Let me look" in text for text in texts)


def test_what_the_agent_said_of_a_file_is_found_by_the_file(tmp_path: Path) -> None:
    said = say("agent", "The queue in jobs/queue.py is read under one lock.", 1)
    path = tmp_path / "index"
    path.write_bytes(encode_index(read_passages([said]), built="1:all"))
    index = CueIndex(str(path))
    try:
        ((_, text),) = index.find(f"/home/dev/{'a-long-folder/' * 6}shop/jobs/queue.py")
        assert "one lock" in text
    finally:
        index.close()
