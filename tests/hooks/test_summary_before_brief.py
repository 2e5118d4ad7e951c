"""The summary of a compaction comes with SubagentStop: the brief is prepared against it."""

import json
import time

import pytest

from holdfast.clients.claude_code.hooks import HOOKS
from holdfast.clients.holdfast_text import AUGMENT_OPENING
from holdfast.fastpath.pending_texts import PrebuiltText
from support.hook_process import Caller, Ran

from .test_imports import FAST_MODULES, imports_of

ALONE = "Holdfast: the state of this session"
TIME = "2026-01-01T00:00:00Z"


def before_boundary(caller: Caller) -> None:
    caller.begin()
    rows = caller.transcript.read_bytes().splitlines(keepends=True)
    end = next(n for n, row in enumerate(rows) if b'"compact_boundary"' in row)
    caller.transcript.write_bytes(b"".join(rows[:end]))


def summarised(caller: Caller, summary: str, **more: str) -> Ran:
    fields = {"agent_id": "a9", "agent_type": "", "last_assistant_message": summary, **more}
    return caller.call("SubagentStop", **fields)


def compacting(caller: Caller) -> str:
    """PreCompact, and the brief that it prepared: what is told without a summary."""
    before_boundary(caller)
    caller.call("PreCompact", trigger="auto")
    return caller.wait_for_brief().text


def lines_of(text: str) -> list[str]:
    return text.split("\n")[1:]


def test_what_the_summary_tells_is_left_out_and_session_start_only_hands_over(
    caller: Caller,
) -> None:
    alone = compacting(caller)
    said = next(line for line in lines_of(alone) if line.startswith("- ["))
    assert summarised(caller, f"<analysis>x</analysis><summary>{said}</summary>").out == ""
    prepared = caller.session_dir.read_restored_brief()
    assert prepared is not None
    assert imports_of(caller, "SessionStart", source="compact") <= FAST_MODULES
    assert caller.call("SessionStart", source="compact").out == ""  # that one had it
    assert prepared.text.startswith(AUGMENT_OPENING)
    assert said not in prepared.text
    assert len(lines_of(prepared.text)) > 3
    caller.call("PostCompact", trigger="auto", compact_summary="x")
    assert caller.session_dir.read_summary() is caller.session_dir.read_restored_brief() is None
    assert not caller.session_dir.is_compacting()
    assert caller.log() == ""


@pytest.mark.parametrize(
    "answer", ["", "   ", "<analysis>only thoughts</analysis>", "<summary> </summary>"]
)
def test_without_a_summary_the_brief_stands_alone(caller: Caller, answer: str) -> None:
    alone = compacting(caller)
    assert summarised(caller, answer).out == ""
    assert caller.session_dir.read_restored_brief() is None
    assert caller.call("SessionStart", source="compact").context == alone


def test_a_very_long_summary_is_looked_at_as_far_as_it_is_kept(caller: Caller) -> None:
    compacting(caller)
    summarised(caller, "<summary>" + "All is well. " * 200_000 + "</summary>")
    told = caller.call("SessionStart", source="compact").context
    assert told.startswith(AUGMENT_OPENING)
    kept = caller.session_dir.read_summary()
    assert kept is not None
    assert len(kept.text) <= 60_000


def test_two_different_summaries_are_none(caller: Caller) -> None:
    """A subagent in the background compacted itself meanwhile: whose is whose, nobody says."""
    alone = compacting(caller)
    summarised(caller, "<summary>One.</summary>")
    summarised(caller, "<summary>One.</summary>")
    assert caller.session_dir.read_restored_brief() is not None
    summarised(caller, "<summary>Two.</summary>")
    summarised(caller, "<summary>One.</summary>")
    assert caller.session_dir.read_restored_brief() is None
    assert caller.call("SessionStart", source="compact").context == alone


def test_a_subagent_that_compacts_itself_is_none_of_ours(caller: Caller) -> None:
    before_boundary(caller)
    caller.call("PreCompact", trigger="auto", agent_id="a1", agent_type="general-purpose")
    assert summarised(caller, "<summary>Of the subagent.</summary>").out == ""
    assert caller.session_dir.read_summary() is caller.session_dir.read_restored_brief() is None


def test_a_summary_left_over_from_a_compaction_that_failed_is_not_used(caller: Caller) -> None:
    compacting(caller)
    summarised(caller, "<summary>Of the one that failed.</summary>")
    caller.call("PreCompact", trigger="auto")
    assert caller.session_dir.read_summary() is caller.session_dir.read_restored_brief() is None
    assert caller.call("SessionStart", source="compact").context.startswith(ALONE)


def test_rows_that_came_since_are_told_against_the_same_summary(caller: Caller) -> None:
    compacting(caller)
    summarised(caller, "<summary>Nothing much.</summary>")
    rows = caller.transcript.read_bytes().splitlines(keepends=True)
    row = json.loads(next(line for line in rows if b'"type":"user"' in line))
    row |= {"uuid": "f" * 36, "timestamp": "2027-01-01T00:00:00.000Z"}
    row["message"] = {"role": "user", "content": "Paint the bicycle shed turquoise."}
    with caller.transcript.open("ab") as file:
        file.write(json.dumps(row).encode() + b"\n")
    told = caller.call("SessionStart", source="compact").context
    assert told.startswith(AUGMENT_OPENING)
    assert "Paint the bicycle shed turquoise." in told


def test_killed_before_the_brief_was_kept_it_is_made_at_session_start(caller: Caller) -> None:
    compacting(caller)
    summarised(caller, "<summary>Nothing much.</summary>")
    (caller.data / "sessions" / caller.session_id / "restored").unlink()
    (caller.data / "sessions" / caller.session_id / "brief").unlink()
    assert caller.call("SessionStart", source="compact").context.startswith(AUGMENT_OPENING)


def test_killed_while_printing_the_next_hook_has_it(caller: Caller) -> None:
    compacting(caller)
    summarised(caller, "<summary>Nothing much.</summary>")
    caller.kill_while_printing("SessionStart", source="compact")
    assert caller.call("UserPromptSubmit", prompt="go on").context.startswith(AUGMENT_OPENING)


def test_where_the_native_module_delivers_no_brief_is_prepared(caller: Caller) -> None:
    compacting(caller)
    caller.session_dir.write("delivered.0", b"native\n")
    summarised(caller, "<summary>Nothing much.</summary>")
    assert caller.session_dir.read_restored_brief() is None
    assert caller.session_dir.read_summary() is not None  # what the module restores against


def test_what_the_summary_says_of_secrets_is_not_kept(caller: Caller) -> None:
    compacting(caller)
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    summarised(caller, f"<summary>The token is {secret}.</summary>")
    kept = caller.session_dir.read_summary()
    assert kept is not None
    assert secret not in kept.text


def test_after_an_ordinary_subagent_the_client_goes_on_at_once(caller: Caller) -> None:
    before_boundary(caller)
    found = imports_of(caller, "SubagentStop", agent_id="a1", agent_type="general-purpose")
    assert found - FAST_MODULES <= {"holdfast.hooks.detach"}
    deadline = time.monotonic() + 30
    while caller.session_dir.read_brief() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert caller.session_dir.read_brief() is not None  # read by the process that was left behind


def test_a_prepared_brief_of_another_format_is_passed_over(caller: Caller) -> None:
    alone = compacting(caller)
    caller.session_dir.write("restored", b"not ours")
    assert caller.call("SessionStart", source="compact").context == alone


def test_an_analysis_that_speaks_of_the_summary_is_no_part_of_it() -> None:
    answer = "<analysis>I will write a <summary> soon.</analysis>\n<summary>\nThe rest.\n</summary>"
    assert HOOKS.extract_summary(answer) == "The rest."


def test_one_with_nothing_to_tell_says_nothing(caller: Caller) -> None:
    compacting(caller)
    size = caller.transcript.stat().st_size
    caller.session_dir.save_restored_brief(PrebuiltText(0, 0, size, TIME, "", ""))
    assert caller.call("SessionStart", source="compact").out == ""
