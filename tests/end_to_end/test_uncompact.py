"""The real client goes on in a session whose compaction was undone, or whose file was put back."""

import json

import pytest

from support.claude import ScriptedApi, bash, newest_client, oldest_client

from .stage import Stage

pytestmark = pytest.mark.client

SUMMARY = "The user is building something."


@pytest.mark.parametrize("version", ["oldest", "newest"])
def test_the_client_resumes_a_session_as_it_was_before_its_compaction(
    stage: Stage, api: ScriptedApi, version: str
) -> None:
    stage.client.binary = oldest_client() if version == "oldest" else newest_client()
    api.say(bash("echo the-port-is-8123"), "Port 8123 it is.", "Noted.", *["On."] * 5)
    api.summarise_with(SUMMARY)
    with stage.client.session() as live:
        live.ask("Find the port of the kiln.")
        live.ask("Keep the glaze matt.")
        live.compact()
        live.ask("go on")
        stage.settled(live)
    original = stage.client.transcript_path(live.session_id)
    before = original.read_bytes()
    made = json.loads(stage.holdfast("session", "uncompact", live.session_id, "--json"))
    run = stage.client.run("What was the glaze?", resume=made["session"])
    assert run.session_id == made["session"]
    for words in ("the-port-is-8123", "Port 8123 it is.", "Keep the glaze matt."):
        assert words in api.last
    assert SUMMARY not in api.last
    assert original.read_bytes() == before

    rows = [json.loads(line) for line in before.splitlines()]
    said = (row for row in rows if row["type"] == "user" and not row.get("isCompactSummary"))
    prompt = next(row["uuid"] for row in said if "Keep the glaze" in json.dumps(row["message"]))
    made = json.loads(
        stage.holdfast("session", "uncompact", live.session_id, "--from", prompt[:8], "--json")
    )
    stage.client.run("What was the glaze?", resume=made["session"])
    assert "Keep the glaze matt." in api.last
    assert "the-port-is-8123" not in api.last
    assert SUMMARY not in api.last
    assert original.read_bytes() == before

    original.unlink()
    stage.holdfast("session", "restore", live.session_id)
    stage.client.run("And now?", resume=live.session_id)
    assert SUMMARY in api.last
