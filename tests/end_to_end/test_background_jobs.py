"""The end of background work comes as a prompt that the user never typed."""

import pytest

from support.claude import Lane, Reply, ScriptedApi, bash, compaction_by_error, run_subagent, text

from .stage import BRIEF, Stage, injected, steering

pytestmark = pytest.mark.client

REQUEST = "Build the cart with totals on port 8123"
MARKUP = "<task-notification"
# Both are back only after the turn that began them.
SUBAGENT = run_subagent("look at the shop", background=True)
JOB = bash("sleep 1; echo built", run_in_background=True)


@pytest.mark.parametrize(
    ("work", "automatic"),
    [(SUBAGENT, False), (JOB, True)],
    ids=["subagent, /compact", "job, automatic"],
)
def test_a_notification_is_not_told_as_the_users_request(
    stage: Stage, api: ScriptedApi, work: Reply, automatic: bool
) -> None:
    api.script(Lane.SUBAGENT, [text("The shop has three shelves.").after(1.0)])
    back = compaction_by_error("It is back.") if automatic else [text("It is back.")]
    api.say(work, "Started.", *back)
    with stage.client.session() as live:
        assert live.ask(REQUEST).text == "Started."
        assert live.wait().unsolicited
        if not automatic:
            live.compact()
            live.ask("go on")
        rows = stage.client.rows(live.session_id)
    # The client did hand it to us as a prompt.
    assert any(r["type"] == "user" and MARKUP in str(r["message"]["content"])[:40] for r in rows)
    (brief,) = injected(api.last, BRIEF)
    for told in (brief, steering(api.summary_requests[-1])):
        assert REQUEST in told
        assert MARKUP not in told
