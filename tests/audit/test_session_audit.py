"""One session audited: costs, what was lost, what happened next, and files that are broken."""

import gzip
import os
from pathlib import Path

import pytest

from audit.stories import RULE, SECRET, Clocked, Story, invoices
from holdfast.audit import session_audit as audited_session
from holdfast.audit.results import Compaction, Session
from holdfast.audit.session_audit import audit_folder, audit_session, find_transcripts
from holdfast.brief.hook_texts import compose_restore_brief
from holdfast.samples import SESSION_FILE
from holdfast.session.replay import iterate_compactions


def audited(story: Story, folder: Path) -> Session:
    return audit_session(story.session_id, [str(story.write(folder))])


def only(session: Session) -> Compaction:
    assert session.error == ""
    (compaction,) = session.compactions
    return compaction


def test_the_recorded_sample_has_its_costs_as_the_client_wrote_them() -> None:
    found = only(audit_session("sample", [SESSION_FILE]))
    assert (found.trigger, found.tokens_before, found.tokens_after) == ("auto", 172309, 3831)
    assert found.seconds == pytest.approx(0.052)
    assert not found.seconds_estimated


def test_the_recorded_sample_lost_rules_that_the_brief_tells() -> None:
    found = only(audit_session("sample", [SESSION_FILE]))
    rules = found.facts["rule"]
    assert rules.in_summary < rules.known == rules.with_brief
    assert found.need is not None
    assert found.need.in_summary < found.need.grounded
    assert 0 < found.brief_chars <= 6000


def test_every_sentence_of_the_user_counts_until_it_is_taken_back(tmp_path: Path) -> None:
    story = Clocked()
    story.user("Put the price table on the left side. Paint the header of the page green.")
    story.says("Painted.")
    story.user("Actually, do not paint the header of the page green. Ship the catalogue on Monday.")
    story.says("Noted.")
    story.user("go on")
    story.compacted()
    counted = only(audited(story, tmp_path)).facts["said"]
    assert (counted.known, counted.in_summary, counted.with_brief) == (3, 0, 3)


def test_a_sentence_that_the_summary_tells_counts_as_told() -> None:
    counted = only(audit_session("sample", [SESSION_FILE])).facts["said"]
    assert 0 < counted.in_summary < counted.with_brief == counted.known


def test_everything_that_went_wrong_is_found(tmp_path: Path) -> None:
    found = only(audited(invoices(), tmp_path))
    by_kind = {one.kind: one for one in found.consequences}
    assert set(by_kind) == {"said_again", "retried", "redone", "reminded"}
    assert by_kind["said_again"].known == RULE
    assert by_kind["said_again"].kept
    assert by_kind["retried"].known.startswith("./deploy.sh staging")
    assert by_kind["redone"].known == "Fix rounding in the tax table"
    assert by_kind["reminded"].then == "We already fixed that yesterday."
    assert not any(one.in_summary for one in found.consequences)


def test_what_happened_before_the_compaction_is_no_consequence_of_it(tmp_path: Path) -> None:
    story = Clocked()
    story.user(RULE)
    story.user(RULE + " Really, never round prices before the last step of an invoice.")
    story.bash("./deploy.sh", "fatal: no route", error=True)
    story.bash("./deploy.sh", "fatal: no route", error=True)
    story.compacted()
    story.says("Going on.")
    assert only(audited(story, tmp_path)).consequences == ()


def test_look_ups_made_again_are_listed_with_what_they_brought(tmp_path: Path) -> None:
    found = only(audited(invoices(), tmp_path)).lookups
    reads = {one.what: one.chars for one in found.repeats if one.what.startswith("Read")}
    assert set(reads) == {"Read src/billing/tax.py", "Read src/billing/invoice.py"}
    assert reads["Read src/billing/tax.py"] > 500
    assert found.after >= len(found.repeats)


@pytest.mark.parametrize(
    ("trigger", "pause", "expected"),
    [("auto", 50, 60.0), ("manual", 50, None), ("auto", 5000, None)],
)
def test_waiting_is_estimated_only_where_nothing_else_can_have_happened(
    tmp_path: Path, trigger: str, pause: float, expected: float | None
) -> None:
    story = Clocked()
    story.user("Fix the tax.")
    story.idle(2)
    story.wait(pause)
    story.compacted(trigger)
    found = only(audited(story, tmp_path))
    assert found.seconds == expected
    assert found.seconds_estimated == (expected is not None)


def test_a_message_the_client_kept_word_for_word_is_not_lost(tmp_path: Path) -> None:
    story = Clocked()
    said = story.user(RULE)
    story.idle(2)
    story.compacted(preservedMessages={"anchorUuid": "x", "uuids": [said["uuid"]]})
    found = only(audited(story, tmp_path))
    assert found.facts["rule"].known == found.facts["rule"].in_summary == 1


def test_no_secret_reaches_a_record(tmp_path: Path) -> None:
    found = audited(invoices(), tmp_path)
    assert SECRET not in repr(found)
    assert any("[redacted:" in lost.text for lost in only(found).lost)


def test_a_session_without_compactions_is_only_counted(tmp_path: Path) -> None:
    story = Clocked()
    story.user("Fix the tax.")
    found = audited(story, tmp_path)
    assert (found.compactions, found.error) == ([], "")
    assert found.size > 0


def test_a_boundary_without_a_summary_is_counted_and_not_compared(tmp_path: Path) -> None:
    story = Clocked()
    story.user(RULE)
    story._row("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    found = only(audited(story, tmp_path))
    assert (found.facts, found.need, found.summary_chars) == ({}, None, 0)


def test_copies_of_a_session_are_one(tmp_path: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        invoices().write(tmp_path / place)
    found = audit_folder(str(tmp_path), find_transcripts(str(tmp_path)), jobs=1)
    assert len(found.sessions) == 1
    assert len(found.sessions[0].compactions) == 1


def test_a_fork_does_not_count_its_compactions_again(tmp_path: Path) -> None:
    story = invoices()
    story.write(tmp_path, "first")
    for row in story.rows:
        row["sessionId"] = "fork"
    story.write(tmp_path, "second")
    found = audit_folder(str(tmp_path), find_transcripts(str(tmp_path)), jobs=1)
    assert sorted(len(s.compactions) for s in found.sessions) == [0, 1]


def test_broken_files_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    invoices().write(tmp_path)
    whole = gzip.compress(Path(SESSION_FILE).read_bytes())
    (tmp_path / "torn.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "noise.jsonl").write_bytes(os.urandom(4000))
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "broken-link.jsonl").symlink_to(tmp_path / "nowhere")
    found = audit_folder(str(tmp_path), find_transcripts(str(tmp_path)), jobs=1)
    assert sum(len(s.compactions) for s in found.sessions) >= 1
    errors = {s.session_id: s.error for s in found.sessions}
    assert errors["s-1"] == errors["empty"] == errors["noise"] == ""
    assert "nowhere" in errors["broken-link"] or "no such" in errors["broken-link"]


def test_a_very_large_session_is_counted_without_its_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audited_session, "MAX_MEASURED_BYTES", 1000)
    found = audited(invoices(), tmp_path)
    assert found.too_large
    assert only(found).need is None
    assert only(found).facts


def test_the_same_files_give_the_same_records_however_many_processes(tmp_path: Path) -> None:
    for number in range(3):
        invoices(f"s-{number}", number).write(tmp_path)
    files = find_transcripts(str(tmp_path))
    alone, many = (audit_folder(str(tmp_path), files, jobs=jobs) for jobs in (1, 2))
    assert alone == many


def test_nothing_is_written_among_the_transcripts(tmp_path: Path) -> None:
    path = invoices().write(tmp_path)
    before = (path.stat().st_mtime_ns, path.read_bytes(), sorted(tmp_path.iterdir()))
    audit_folder(str(tmp_path), find_transcripts(str(tmp_path)), jobs=1)
    assert before == (path.stat().st_mtime_ns, path.read_bytes(), sorted(tmp_path.iterdir()))


def test_a_command_that_works_later_was_no_dead_end(tmp_path: Path) -> None:
    story = Clocked()
    story.user("Please put the shop on the staging host and tell me the address.")
    story.bash("./deploy.sh staging", "fatal: no route to staging host", error=True)
    story.bash("./publish.sh --all", "error: unknown option --all", error=True)
    story.compacted()
    story.bash("./deploy.sh staging", "deployed")
    found = only(audited(story, tmp_path))
    assert found.facts["dead_end"].known == 1
    assert [one.text for one in found.lost if one.kind == "dead_end"] == ["./publish.sh --all"]


def test_a_remark_is_what_was_said_and_no_rule(tmp_path: Path) -> None:
    story = Clocked()
    story.user(
        "Keep in mind that manual commits can differ from the checkpoints. "
        "Never push anything to the upstream repository."
    )
    story.compacted()
    found = only(audited(story, tmp_path))
    assert (found.facts["rule"].known, found.facts["said"].known) == (1, 2)


def test_the_brief_is_chosen_against_the_summary_as_the_hooks_do_it(tmp_path: Path) -> None:
    story = invoices()
    found = only(audited(story, tmp_path))
    path = str(story.write(tmp_path))
    (cut,) = iterate_compactions(path, summaries=True)
    brief = compose_restore_brief(cut.state, cut.state.session.updated, summary=cut.summary)
    assert found.brief_chars == len(brief.text)
