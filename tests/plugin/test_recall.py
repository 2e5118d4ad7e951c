"""Recall from a scripted turn of the real client: by the plugin's server, and through the shell."""

import pytest

from support.claude import ScriptedApi, bash, last_user_text, tool

from .conftest import MakeScene
from .plugin_stage import PLUGIN, RULE, conversation, restored

pytestmark = pytest.mark.client

SERVER = "mcp__plugin_holdfast_holdfast__"
RUN = f'/bin/sh "{PLUGIN}/bin/holdfast-run"'
DECISION = "Cents are stored as integers because the ledger rounds."


def tools_of(api: ScriptedApi) -> list[str]:
    return [str(one["name"]) for one in api.last.body["tools"] if "holdfast" in str(one["name"])]


def test_the_server_answers_and_a_note_survives_the_compaction(
    make_scene: MakeScene, api: ScriptedApi
) -> None:
    scene = make_scene()
    with scene.client.session() as live:
        scene.work(live)
        live.compact()
        api.say(
            tool(f"{SERVER}recall", query="decimal money"),
            tool(f"{SERVER}note", kind="decision", text=DECISION),
            "Recalled.",
        )
        live.ask("what was the rule?")
        names = {name.removeprefix(SERVER) for name in tools_of(api)}
        assert names == {"recall", "show", "state", "note", "handoff"}
        said = "\n".join(conversation(api.last))
        assert ":r1] rule, open, " in said
        assert f'Noted as decision: "{DECISION}"' in said
        (notes,) = scene.data.glob(f"sessions/{live.session_id}/notes.jsonl")
        assert DECISION in notes.read_text()
        live.compact()
        live.ask("go on")
    (text,) = restored(api.last)
    assert text.count(DECISION) == 1
    assert RULE in text


def test_the_shell_answers(make_scene: MakeScene, api: ScriptedApi) -> None:
    scene = make_scene()
    with scene.client.session() as live:
        scene.work(live)
        scene.settled(live)
        api.say(
            bash(f"{RUN} recall decimal money"),
            bash(f'{RUN} note decision "{DECISION}"'),
            bash(f"{RUN} show r1"),
            "Recalled.",
        )
        live.ask("what was the rule?")
        said = "\n".join(conversation(api.last))
        assert "rule, open, " in said
        assert "Source row, quoted:" in said
        live.compact()
        live.ask("go on")
    (text,) = restored(api.last)
    assert DECISION in text


def test_the_commands_answer_from_the_store(make_scene: MakeScene, api: ScriptedApi) -> None:
    scene = make_scene()
    with scene.client.session() as live:
        scene.work(live)
        live.compact()
        for command, expected in (
            ("/holdfast:status", "its summary kept 0 of"),
            ("/holdfast:why", "[r1] rule, not in the summary"),
            ("/holdfast:before", "- user, "),
            ("/holdfast:recall decimal money", "rule, open, "),
            ("/holdfast:handoff", "Handoff of session"),
        ):
            live.ask(command)
            assert expected in last_user_text(api.last), command
