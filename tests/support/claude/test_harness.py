"""The harness does what it says: the real client compacts on demand and its hooks are heard."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from support.claude import (
    SMALL_WINDOW,
    Client,
    Lane,
    Recorded,
    Reply,
    Request,
    ScriptedApi,
    additional_context,
    bash,
    compaction_by_error,
    compaction_by_window,
    fills_the_window,
    last_user_text,
    mid_turn_compaction,
    newest_client,
    oldest_client,
    recorded,
    recording_hooks_settings,
    run_subagent,
    subagent_that_compacts,
    text,
    texts,
    thinking,
    tool,
    wait_until,
    where,
)

pytestmark = pytest.mark.client

STEERING = "The user said: the shop listens on port 8123."
AFTERWARDS = "Known before the compaction: the shop listens on port 8123."
IN_BATCH = "Seen while tools ran: two tests are red."
SAY = {
    "PreCompact": STEERING,
    "SessionStart:compact": additional_context("SessionStart", AFTERWARDS),
}

MakeClient = Callable[..., Client]


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as scripted:
        yield scripted


@pytest.fixture
def make_client(tmp_path: Path, api: ScriptedApi) -> MakeClient:
    def make(*, say: Mapping[str, str] = SAY, env: Mapping[str, str] | None = None) -> Client:
        settings = recording_hooks_settings(tmp_path / "hooks", say=say)
        return Client(tmp_path, api, settings=settings, env=env or {})

    return make


def heard(client: Client) -> list[Recorded]:
    return recorded(client.root / "hooks")


def compaction_events(client: Client) -> list[str]:
    wanted = ("PreCompact", "SessionStart", "PostCompact")
    seen = [run for run in heard(client) if run.event in wanted and run.detail != "startup"]
    return [f"{run.event}:{run.detail}" for run in seen]


def test_tools_really_run_and_their_results_reach_the_next_request(
    api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client()
    api.say(
        thinking("A file first.") + tool("Write", file_path="notes.txt", content="kept\n"),
        bash("cat notes.txt; exit 3"),
        "Written.",
    )
    run = client.run("write a note")
    assert (run.text, run.exit_code) == ("Written.", 0)
    assert (client.project / "notes.txt").read_text() == "kept\n"
    assert "Exit code 3" in last_user_text(api.last)
    failed = [r.payload["error"] for r in heard(client) if r.event == "PostToolUseFailure"]
    assert failed == ["Exit code 3\nkept"]


def test_manual_compaction_is_steered_by_precompact_and_followed_by_session_start(
    api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client()
    api.summarise_with("A summary that forgot the port.")
    with client.session() as live:
        live.ask("the shop listens on port 8123")
        live.ask("now build it")
        turn = live.compact("keep the build")
        live.ask("go on")
    (request,) = api.summary_requests
    instructions = last_user_text(request)
    assert "Additional Instructions:\nkeep the build\n\n" + STEERING in instructions
    assert [c["compact_metadata"]["trigger"] for c in turn.compactions] == ["manual"]
    assert compaction_events(client) == [
        "PreCompact:manual",
        "SessionStart:compact",
        "PostCompact:manual",
    ]
    assert "A summary that forgot the port." in api.last
    assert {piece.role for piece in where(api.last, AFTERWARDS)} <= {"user", "system"}
    assert where(api.last, AFTERWARDS)
    assert live.exit_code == 0


def test_growing_past_a_small_window_compacts_in_the_middle_of_the_turn(
    api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client(env=SMALL_WINDOW)
    api.say(*compaction_by_window("Filled and went on."))
    with client.session() as live:
        turn = live.ask("print the long listings")
    assert turn.text == "Filled and went on."
    assert [c["compact_metadata"]["trigger"] for c in turn.compactions] == ["auto"]
    assert compaction_events(client)[0] == "PreCompact:auto"
    assert STEERING in last_user_text(api.summary_requests[0])
    assert AFTERWARDS in api.last


def test_a_claimed_token_count_compacts_when_the_window_is_small(
    api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client(env=SMALL_WINDOW)
    api.say("First.", fills_the_window(bash("echo busy")), "Went on.", "Last.")
    with client.session() as live:
        live.ask("one")
        turn = live.ask("two")
        later = live.ask("three")
    assert (turn.text, later.text) == ("Went on.", "Last.")
    assert [c["compact_metadata"]["trigger"] for c in turn.compactions] == ["auto"]
    assert later.compactions == []


def test_a_refused_request_compacts_and_leaves_boundary_and_summary_rows(
    api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client()
    api.say("First.", "Second.", *compaction_by_error("Went on."))
    api.summarise_with("What came before, in short.")
    with client.session() as live:
        live.ask("one")
        live.ask("two")
        turn = live.ask("three")
    assert turn.text == "Went on."
    rows = client.rows(live.session_id)
    boundary = [row for row in rows if row.get("subtype") == "compact_boundary"]
    summaries = [row for row in rows if row.get("isCompactSummary")]
    assert [row["compactMetadata"]["trigger"] for row in boundary] == ["auto"]
    assert "What came before, in short." in str(summaries[0]["message"]["content"])
    assert AFTERWARDS in api.last


def test_context_from_post_tool_batch_arrives_within_the_same_turn(
    api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client(say={"PostToolBatch": additional_context("PostToolBatch", IN_BATCH)})
    api.say(*mid_turn_compaction(bash("echo after it"), "Finished."))
    with client.session() as live:
        turn = live.ask("work")
    assert turn.text == "Finished."
    assert len(turn.compactions) == 1
    assert where(api.last, IN_BATCH)
    assert len([run for run in heard(client) if run.event == "UserPromptSubmit"]) == 1


def test_a_subagent_compacts_by_itself_and_its_hooks_carry_its_id(
    api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client(env=SMALL_WINDOW)
    api.say(run_subagent("find the port"), "Main went on.")
    api.script(Lane.SUBAGENT, subagent_that_compacts("The port is 8123."))
    with client.session() as live:
        turn = live.ask("ask a subagent")
    assert turn.text == "Main went on."
    assert [request.from_subagent for request in api.summary_requests] == [True]
    assert "The port is 8123." in api.last
    assert AFTERWARDS not in api.last
    assert AFTERWARDS in api.subagent_requests[-1]
    (started,) = recorded(client.root / "hooks", "SubagentStart")
    compacting = [r for r in heard(client) if r.event in ("PreCompact", "PostCompact")]
    assert {run.agent_id for run in compacting} == {started.agent_id}
    main_file = str(client.transcript_path(live.session_id))
    assert {run.payload["transcript_path"] for run in compacting} == {main_file}
    names = [path.name for path in client.subagent_transcripts(live.session_id)]
    assert f"agent-{started.agent_id}.jsonl" in names


def test_a_background_agent_reports_back_in_a_turn_of_its_own(
    api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client()
    api.say(run_subagent("look", background=True), "Launched.", "Noted.", "Answered.")
    launched = threading.Event()

    def answer_after_the_launch(request: Request) -> Reply:
        launched.wait()
        return text("The port is 8123.")

    api.script(Lane.SUBAGENT, answer_after_the_launch)
    with client.session() as live:
        assert live.ask("start it").text == "Launched."
        launched.set()
        report = live.wait()
        assert (report.text, report.unsolicited) == ("Noted.", True)
        assert live.ask("and now?").text == "Answered."
    prompts = [run.payload["prompt"] for run in recorded(client.root / "hooks", "UserPromptSubmit")]
    assert [words.startswith("<task-notification>") for words in prompts] == [False, True, False]


@pytest.mark.parametrize("binary", [newest_client, oldest_client])
def test_newest_and_oldest_client_compact_alike(
    binary: Callable[[], Path], api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client(env=SMALL_WINDOW)
    client.binary = binary()
    api.say("First.", fills_the_window(bash("echo busy")), bash("echo still"), "Went on.", "Last.")
    with client.session() as live:
        live.ask("one")
        automatic = live.ask("two")
        manual = live.compact("keep the port")
        live.ask("three")
    triggers = [c["compact_metadata"]["trigger"] for c in automatic.compactions]
    triggers += [c["compact_metadata"]["trigger"] for c in manual.compactions]
    assert triggers == ["auto", "manual"]
    assert automatic.text == "Went on."
    assert [STEERING in last_user_text(request) for request in api.summary_requests] == [True] * 2
    assert AFTERWARDS in api.last
    assert {"PostCompact", "PostToolBatch", "SessionEnd"} <= {run.event for run in heard(client)}


def test_resume_continues_a_session_and_fork_opens_a_new_one(
    api: ScriptedApi, make_client: MakeClient
) -> None:
    client = make_client()
    first = client.run("remember the port 8123")
    resumed = client.run("which port?", resume=first.session_id)
    assert resumed.session_id == first.session_id
    assert "remember the port 8123" in api.last
    forked = client.run("which port?", resume=first.session_id, fork=True)
    assert forked.session_id != first.session_id
    assert "remember the port 8123" in api.last
    starts = [run.detail for run in heard(client) if run.event == "SessionStart"]
    assert starts == ["startup", "resume", "fork"]


def test_clear_gives_the_live_session_a_new_id(api: ScriptedApi, make_client: MakeClient) -> None:
    client = make_client()
    with client.session() as live:
        before = live.ask("hello").session_id
        live.ask("/clear")
        after = live.ask("hello again").session_id
    assert before != after
    assert not [piece for piece in texts(api.last) if piece.text == "hello"]
    ends = [run.detail for run in heard(client) if run.event == "SessionEnd"]
    assert ends[0] == "clear"


def test_a_killed_session_leaves_no_process(api: ScriptedApi, make_client: MakeClient) -> None:
    client = make_client()
    api.say(bash("echo $$ > shell.pid; touch written; python3 -c 'import time; time.sleep(300)'"))
    live = client.session()
    live.send("wait")
    wait_until((client.project / "written").exists)
    shell = int((client.project / "shell.pid").read_text())
    live.kill()
    wait_until(lambda: not is_running(shell))
    assert not is_running(live.pid)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
