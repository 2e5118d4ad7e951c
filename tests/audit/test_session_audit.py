"""One session audited: costs, what was lost, what happened next, and files that are broken."""

import gzip
import os
from pathlib import Path

import pytest

from audit.stories import RULE, SECRET, Clocked, Story, invoices
from holdfast.audit.session_audit import (
    Compaction,
    Session,
    audit_all,
    audit_session,
    find_transcripts,
)
from holdfast.brief.hook_texts import compose_restore_brief
from support.demonstration import SESSION_FILE
from support.transcripts import load_last_summary


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
    assert 0 < found.brief_chars <= 9500


def test_every_sentence_of_the_user_counts_until_it_is_taken_back(tmp_path: Path) -> None:
    story = Clocked()
    story.user("Put the price table on the left side. Paint the header of the page green.")
    story.says("Painted.")
    story.user("Actually, do not paint the header of the page green. Ship the catalogue on Monday.")
    story.says("Noted.")
    story.user("go on")
    story.compacted()
    counted = only(audited(story, tmp_path)).said
    assert (counted.known, counted.in_summary, counted.with_brief) == (3, 0, 3)


def test_a_sentence_that_the_summary_tells_counts_as_told() -> None:
    counted = only(audit_session("sample", [SESSION_FILE])).said
    assert 0 < counted.in_summary < counted.with_brief == counted.known


def test_look_ups_made_again_after_the_compaction_are_listed(tmp_path: Path) -> None:
    found = only(audited(invoices(), tmp_path)).repeats
    reads = {one.rpartition("/")[2] for one in found if one.startswith("Read")}
    assert reads == {"tax.py", "invoice.py"}


def test_failed_commands_and_files_are_also_known_and_not_counted(tmp_path: Path) -> None:
    found = only(audited(invoices(), tmp_path))
    assert not {"dead_end", "file", "identifier"} & set(found.facts)
    assert found.also_known >= 2


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
    assert (found.facts, found.also_known, found.summary_chars) == ({}, 0, 0)


def test_copies_of_a_session_are_one(tmp_path: Path) -> None:
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        invoices().write(tmp_path / place)
    found = audit_all(find_transcripts(str(tmp_path)), jobs=1)
    assert len(found) == 1
    assert len(found[0].compactions) == 1


def test_a_fork_does_not_count_its_compactions_again(tmp_path: Path) -> None:
    story = invoices()
    story.write(tmp_path, "first")
    for row in story.rows:
        row["sessionId"] = "fork"
    story.write(tmp_path, "second")
    found = audit_all(find_transcripts(str(tmp_path)), jobs=1)
    assert sorted(len(s.compactions) for s in found) == [0, 1]


def test_broken_files_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    invoices().write(tmp_path)
    whole = gzip.compress(Path(SESSION_FILE).read_bytes())
    (tmp_path / "torn.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "noise.jsonl").write_bytes(os.urandom(4000))
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "broken-link.jsonl").symlink_to(tmp_path / "nowhere")
    found = audit_all(find_transcripts(str(tmp_path)), jobs=1)
    assert sum(len(s.compactions) for s in found) >= 1
    errors = {s.session_id: s.error for s in found}
    assert errors["s-1"] == errors["empty"] == errors["noise"] == ""
    assert "nowhere" in errors["broken-link"] or "no such" in errors["broken-link"]


def test_the_same_files_give_the_same_records_however_many_processes(tmp_path: Path) -> None:
    for number in range(3):
        invoices(f"s-{number}", number).write(tmp_path)
    files = find_transcripts(str(tmp_path))
    alone, many = (audit_all(files, jobs=jobs) for jobs in (1, 2))
    assert alone == many


def test_nothing_is_written_among_the_transcripts(tmp_path: Path) -> None:
    path = invoices().write(tmp_path)
    before = (path.stat().st_mtime_ns, path.read_bytes(), sorted(tmp_path.iterdir()))
    audit_all(find_transcripts(str(tmp_path)), jobs=1)
    assert before == (path.stat().st_mtime_ns, path.read_bytes(), sorted(tmp_path.iterdir()))


def test_the_brief_is_chosen_against_the_summary_as_the_hooks_do_it(tmp_path: Path) -> None:
    story = invoices()
    found = only(audited(story, tmp_path))
    path = str(story.write(tmp_path))
    state, summary = load_last_summary(path)
    brief = compose_restore_brief(state, state.session.updated, left=summary)
    assert found.brief_chars == len(brief.text)
