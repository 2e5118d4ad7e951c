"""A call that goes against a rule is answered with the user's own words, before any compaction."""

import pytest

from holdfast.fastpath.session_dir import GUARDS_FILE
from support.claude import ScriptedApi, bash, text, wait_until

from .stage import Stage, injected, write_file

pytestmark = pytest.mark.client

REMINDED = "Holdfast: the user said"
RULE = "Never edit files below db/legacy."


def test_the_agent_is_reminded_once_of_the_rule_that_its_call_breaks(
    stage: Stage, api: ScriptedApi
) -> None:
    with stage.client.session() as live:
        live.ask(RULE)
        guards = stage.session_dir(live.session_id) / GUARDS_FILE
        wait_until(guards.exists, 20)
        api.say(bash("ls"), text("Done."))
        live.ask("Look around.")
        assert injected(api.last, REMINDED) == []
        edits = [write_file(stage, f"db/legacy/{n}.sql", "select 1;\n") for n in "ab"]
        api.say(*edits, text("Done."))
        live.ask("Mend the tables.")
        during, after = api.main_requests[-2:]
        (reminder,) = injected(during, REMINDED)
        assert f'[r1]: "{RULE}" This call edits ' in reminder
        assert injected(after, REMINDED) == [reminder]
        assert (stage.client.project / "db/legacy/b.sql").exists()
        stage.settled(live)
    with stage.store() as store:
        kinds = [d.kind for d in store.deliveries(live.session_id)]
    assert kinds == ["guard:r1"]
    assert stage.log() == ""


def test_where_the_user_chose_it_the_client_asks_before_the_call_runs(
    stage: Stage, api: ScriptedApi
) -> None:
    stage.data.mkdir(parents=True)
    (stage.data / "settings.json").write_text('{"guard": "ask"}')
    with stage.client.session() as live:
        live.ask(RULE)
        guards = stage.session_dir(live.session_id) / GUARDS_FILE
        wait_until(guards.exists, 20)
        api.say(write_file(stage, "db/legacy/a.sql", "select 1;\n"), text("Done."))
        live.ask("Mend the tables.")
    # Nobody is there to answer the dialog, so the client does not run the call.
    assert not (stage.client.project / "db/legacy/a.sql").exists()
