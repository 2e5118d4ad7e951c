"""What happens at each moment of a session, without a client."""

import json
from typing import cast

import pytest

from holdfast.brief.hook_texts import STEERING_TITLE
from holdfast.compaction import handlers
from holdfast.compaction.active_commands import registry
from holdfast.compaction.instructions import TEMPLATE_OPENING
from holdfast.fastpath.delivery import ClaimedText, claim_pending
from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.session import update
from holdfast.session.context import SessionContext, load_config
from holdfast.store.protocol import StoreBusy
from holdfast.store.sql_store import Store
from holdfast.text import BAR
from support.growing_session import BOUNDARY, ROWS, SESSION, Follow, go_through_precompact

RULE = "money is integer cents everywhere, never floats"


def compact(follow: Follow, summary: str, trigger: str = "auto") -> None:
    handlers.on_postcompact(follow.ctx, trigger=trigger, summary=summary)


def test_before_a_compaction_there_is_a_checkpoint_a_brief_and_steering(follow: Follow) -> None:
    follow.write(BOUNDARY)
    text, prepared = go_through_precompact(follow.ctx)
    assert RULE in text
    assert len(text) <= 4_000
    (checkpoint,) = follow.store.checkpoints(SESSION)
    assert (checkpoint.cause, checkpoint.epoch) == ("precompact:auto", 0)
    assert prepared is not None
    assert follow.session_dir.read_brief() is not None
    assert prepared.offset == follow.transcript.stat().st_size
    assert RULE in prepared.text
    assert prepared.text.startswith("Holdfast: the state of this session")


@pytest.mark.parametrize(("columns", "most"), [(80, 200), (120, 350), (200, 670)])
def test_under_a_compact_in_a_terminal_stands_one_paragraph(
    columns: int, most: int, follow: Follow
) -> None:
    follow.write(BOUNDARY)
    ctx = follow.ctx._replace(config=follow.ctx.config._replace(screen_columns=columns))
    shown = handlers.on_precompact(ctx, "manual").text
    assert columns < 100 or "[r4]" in shown
    assert shown.startswith(STEERING_TITLE)
    assert len(shown) <= most
    assert "\n" not in shown
    assert TEMPLATE_OPENING not in shown
    for text in (handlers.on_precompact(ctx, "auto"), handlers.on_precompact(follow.ctx, "manual")):
        assert TEMPLATE_OPENING in text.text
        assert RULE in text.text


def test_a_summariser_that_has_been_steered_is_not_told_again(follow: Follow) -> None:
    follow.write(BOUNDARY)
    text = handlers.on_precompact(follow.ctx, "manual", "mind the cart").text
    assert RULE in text
    again = handlers.on_precompact(follow.ctx, "manual", f"mind the cart\n\n{text}")
    assert again.text == ""


def test_the_same_moment_again_changes_nothing(follow: Follow) -> None:
    follow.write(BOUNDARY)
    first, _ = go_through_precompact(follow.ctx)
    again, _ = go_through_precompact(follow.ctx)
    assert first == again
    assert len(follow.store.checkpoints(SESSION)) == 1


def test_a_precompact_that_is_killed_once_it_has_answered_is_read_again(follow: Follow) -> None:
    follow.write(BOUNDARY)
    text = handlers.on_precompact(follow.ctx, "auto").text
    assert follow.store.load(SESSION) is None
    again, _ = go_through_precompact(follow.ctx)
    assert again == text
    assert RULE in next(fact.text for fact in follow.store.facts(SESSION, kind="rule"))
    assert [one.kind for one in follow.store.deliveries(SESSION)] == ["steering"]


def test_a_precompact_without_a_compaction_costs_nothing_later(follow: Follow) -> None:
    follow.write(40)
    go_through_precompact(follow.ctx)
    follow.write(BOUNDARY)
    go_through_precompact(follow.ctx)
    made = handlers.on_session_start_compact(follow.ctx, "SessionStart")
    assert made is not None
    assert made.items[0].epoch == 0
    assert "make the server test green" in made.text


def test_the_brief_is_delivered_once_per_epoch(follow: Follow) -> None:
    follow.write(BOUNDARY)
    first = handlers.on_session_start_compact(follow.ctx, "SessionStart")
    again = handlers.on_session_start_compact(follow.ctx, "SessionStart")
    assert first is not None
    assert again is None
    follow.write(len(ROWS))
    later = handlers.on_session_start_compact(follow.ctx, "SessionStart")
    assert later is not None
    assert later.items[0].epoch == 1


def test_a_latch_left_by_a_fold_that_is_stuck_does_not_silence_us_for_ever(
    follow: Follow,
) -> None:
    follow.write(BOUNDARY)
    assert handlers.on_session_start_compact(follow.ctx, "SessionStart")
    follow.seconds += 121
    assert handlers.on_session_start_compact(follow.ctx, "SessionStart")


def test_what_the_summary_lost_is_recorded_and_what_nobody_told_is_queued(
    follow: Follow,
) -> None:
    follow.write(BOUNDARY)
    compact(follow, "The user works on a shop.")
    (compaction,) = follow.store.compactions(SESSION)
    assert (compaction.epoch, compaction.summary) == (0, "The user works on a shop.")
    assert "r1" in compaction.lost
    gap = follow.session_dir.pending.claim_prebuilt("gap")
    assert gap is not None
    assert RULE in gap.text
    assert gap.text.startswith("Holdfast: known before the last compaction")
    assert set(gap.fact_ids.split(",")) <= set(compaction.lost)


def test_what_the_brief_told_is_not_told_again(follow: Follow) -> None:
    follow.write(BOUNDARY)
    made = handlers.on_session_start_compact(follow.ctx, "SessionStart")
    assert made is not None
    follow.session_dir.append_spool(
        '{"what":"brief","epoch":0,"channel":"SessionStart","time":"t","facts":"",'
        f'"text":{json.dumps(made.text)}}}'
    )
    compact(follow, "The user works on a shop.")
    gap = follow.session_dir.pending.claim_prebuilt("gap")
    assert gap is None or RULE not in gap.text
    (delivery,) = follow.store.deliveries(SESSION)
    assert (delivery.kind, delivery.text) == ("brief", made.text)


def test_rules_that_the_brief_had_no_room_for_follow_one_piece_per_hook(follow: Follow) -> None:
    rules = [f"Rule {n}: {'word ' * 15}end" for n in range(250)]
    block = "\n".join(["<!-- COMPACT_SUMMARY_START -->", *rules, "<!-- COMPACT_SUMMARY_END -->"])
    path = follow.root / ".claude/commands/careful.md"
    path.parent.mkdir(parents=True)
    path.write_text(block)
    registry.append_manual_entry(follow.session_dir, registry.ACTIVATED, "careful", "", "t")
    follow.write(BOUNDARY)
    ctx = _with_project(follow)
    made = handlers.on_session_start_compact(ctx, "SessionStart")
    assert made is not None
    made.settle()
    handlers.on_postcompact(ctx, trigger="auto", summary="The user works on a shop.")
    texts = [made.text]
    while (claimed := _claim_next(follow)) is not None:
        assert 0 < len(claimed.text) <= 10_000
        texts.append(claimed.text)
        claimed.settle()
    assert len(texts) >= 3
    lines = "\n".join(texts).split("\n")
    assert [line for line in lines if "Rule " in line and "word" in line] == [
        f"{BAR}{rule}" for rule in rules
    ]


def _claim_next(follow: Follow) -> ClaimedText | None:
    return claim_pending(follow.session_dir, "PostToolBatch", 10_000, to_user=False, warn=True)


def _with_project(follow: Follow) -> SessionContext:
    config = load_config({"HOME": str(follow.root)}, follow.session_dir.data_dir, str(follow.root))
    return follow.ctx._replace(config=config)


def test_the_summary_is_looked_at_once(follow: Follow) -> None:
    follow.write(BOUNDARY)
    compact(follow, "Short.")
    assert follow.session_dir.pending.claim_prebuilt("gap") is not None
    compact(follow, "Short.")
    assert follow.session_dir.pending.claim_prebuilt("gap") is None


def test_a_replaced_history_without_a_summary_queues_nothing(follow: Follow) -> None:
    follow.write(BOUNDARY)
    follow.session_dir.pending.put("gap", PrebuiltText(0, 0, 0, "t", "r1", "An old gap."))
    compact(follow, "")
    assert "gap" not in follow.session_dir.pending.list_waiting()
    (compaction,) = follow.store.compactions(SESSION)
    assert (compaction.kept, compaction.lost) == ((), ())


def test_a_summary_that_comes_after_the_boundary_row_is_the_same_compaction(
    follow: Follow,
) -> None:
    follow.write(BOUNDARY)
    assert handlers.on_session_start_compact(follow.ctx, "SessionStart")
    follow.write(BOUNDARY + 1)
    compact(follow, "The user works on a shop.")
    (compaction,) = follow.store.compactions(SESSION)
    assert compaction.epoch == 0
    assert compaction.row
    assert compaction.summary


def test_a_growing_context_is_checkpointed_once_per_threshold(follow: Follow) -> None:
    rows = [
        row.replace(b'"cache_read_input_tokens":', b'"cache_read_input_tokens":7') for row in ROWS
    ]
    follow.transcript.write_bytes(b"".join(rows[:60]))
    for _ in range(3):
        handlers.on_progress(follow.ctx, client=1)
    causes = [c.cause for c in follow.store.checkpoints(SESSION)]
    assert len(causes) == 1
    assert causes[0] == "left:30"


def test_a_prompt_that_the_transcript_does_not_have_yet_is_shown_and_not_saved(
    follow: Follow,
) -> None:
    follow.write(BOUNDARY)
    follow.session_dir.append_spool(
        '{"what":"prompt","time":"2099-01-01T00:00:00Z","text":"Now paint the shop green."}'
    )
    text, prepared = go_through_precompact(follow.ctx)
    assert "Now paint the shop green." in text
    assert prepared is not None
    assert "Now paint the shop green." in prepared.text
    requests = follow.store.facts(SESSION, kind="request")
    assert [fact.text for fact in requests if "paint the shop" in fact.text] == []


def test_a_prompt_with_the_clients_markup_is_no_request(follow: Follow) -> None:
    follow.write(BOUNDARY)
    for words in (
        "<task-notification>\n<task-id>b1</task-id>",
        "<system-reminder>x</system-reminder>",
    ):
        line = {"what": "prompt", "time": "2099-01-01T00:00:00Z", "id": "p1", "text": words}
        follow.session_dir.append_spool(json.dumps(line))
    text = handlers.on_precompact(follow.ctx, "auto").text
    assert "<task-" not in text
    assert "<system-" not in text
    assert "make the server test green" in text


def test_the_row_of_a_prompt_tells_whether_the_user_typed_it(follow: Follow) -> None:
    follow.write(BOUNDARY)
    row = {
        "type": "user",
        "uuid": "0d9f5c70-0000-4000-8000-000000000009",
        "promptId": "woken",
        "promptSource": "system",
        "turnOrigin": "scheduled",
        "timestamp": "2099-01-01T00:00:00Z",
        "message": {"role": "user", "content": "Look at the deployment again."},
    }
    line = {"what": "prompt", "time": row["timestamp"], "text": "Look at the deployment again."}
    with follow.transcript.open("a") as transcript:
        transcript.write(json.dumps(row) + "\n")
    follow.session_dir.append_spool(json.dumps({**line, "id": "woken"}))
    text = handlers.on_precompact(follow.ctx, "auto").text
    assert "Look at the deployment again." not in text
    follow.session_dir.append_spool(json.dumps({**line, "id": "typed"}))
    text = handlers.on_precompact(follow.ctx, "auto").text
    assert "Look at the deployment again." in text


def test_an_ended_session_is_marked_and_a_resumed_one_is_not(follow: Follow) -> None:
    follow.write(BOUNDARY)
    handlers.on_session_end(follow.ctx, client=1)
    session = follow.store.session(SESSION)
    assert session is not None
    assert session.ended == follow.now.text
    assert follow.store.checkpoints(SESSION)[0].cause == "end"
    handlers.on_session_resume(follow.ctx, client=1)
    session = follow.store.session(SESSION)
    assert session is not None
    assert session.ended == ""


def test_rows_are_kept_once_and_redacted(follow: Follow) -> None:
    secret = b"ghp_" + b"q7Rt2LmX9vBn4KsW8zYc1HdJ5fGa3PeU6oTi"
    leak = b'{"type":"user","uuid":"x","message":{"role":"user","content":"use ' + secret + b'"}}\n'
    follow.transcript.write_bytes(b"".join(ROWS[:40]) + leak)
    end = follow.transcript.stat().st_size
    for _ in range(2):
        handlers.archive_rows(follow.ctx, (0, end))
    ((generation, start, stop, rows),) = follow.store.read_archive(SESSION)
    assert (generation, start, stop) == (0, 0, end)
    assert secret not in rows
    assert b"".join(ROWS[:40]) in rows


def test_a_session_without_a_transcript_has_no_rows_to_keep(follow: Follow) -> None:
    assert not follow.transcript.exists()
    handlers.archive_rows(follow.ctx, (0, 0))
    assert list(follow.store.read_archive(SESSION)) == []


def test_a_beginning_alone_never_takes_the_place_of_what_was_known(
    follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow.write(BOUNDARY)
    handlers.on_progress(follow.ctx, client=1)
    known = follow.session_dir.read_brief()
    assert known is not None
    monkeypatch.setattr(update, "PIECE_BYTES", 4_000)
    monkeypatch.setattr(handlers, "FOREGROUND_SECONDS", -1)
    text = handlers.on_precompact(follow.ctx._replace(store=None), "auto").text
    assert text == ""
    made = handlers.on_session_start_compact(follow.ctx._replace(store=None), "SessionStart")
    assert made is not None
    assert made.text == known.text


def test_a_brief_of_another_life_of_the_database_does_not_stay(follow: Follow) -> None:
    follow.write(BOUNDARY)
    follow.session_dir.write_brief(
        PrebuiltText(0, 7, 10**9, "t", "q1", "From before the database was lost.")
    )
    made = handlers.on_session_start_compact(follow.ctx, "SessionStart")
    assert made is not None
    assert RULE in made.text


def test_a_store_that_fails_half_way_does_not_cost_the_gap(follow: Follow) -> None:
    follow.write(BOUNDARY)

    class Failing:
        def __getattr__(self, name: str) -> object:
            if name == "record_compaction":
                raise StoreBusy("held")
            return getattr(follow.store, name)

    failing = follow.ctx._replace(store=cast(Store, Failing()))
    with pytest.raises(StoreBusy):
        handlers.on_postcompact(failing, trigger="auto", summary="Short.")
    handlers.on_postcompact(follow.ctx._replace(store=None), trigger="auto", summary="Short.")
    assert "gap" in follow.session_dir.pending.list_waiting()
