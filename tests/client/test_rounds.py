"""Three compactions in a row, with work between them: nothing stale, nothing that grows."""

import pytest

from realclient import Request, ScriptedApi, bash, tool

from .stage import BRIEF, RULE, Stage, injected, steering, write_file

pytestmark = pytest.mark.client

CORRECTED = "Actually, money is no longer Decimal: use integer cents instead, never Decimal."
TEST = "test_total_rounds_half_even"


def latest_brief(request: Request) -> str:
    return injected(request, BRIEF)[-1]


def open_tasks(brief: str) -> str:
    return brief.partition("Open tasks:")[2].partition("Done, not to be redone:")[0]


def test_corrected_rules_finished_tasks_and_mended_tests_stay_so(
    stage: Stage, api: ScriptedApi
) -> None:
    with stage.client.session() as live:
        api.say(*stage.work(), "Begun.")
        live.ask(f"Build the shop on port 8123. {RULE}")
        live.compact()
        live.ask("go on")
        first = latest_brief(api.last)
        assert RULE in first
        assert "Wire the cart" in open_tasks(first)

        (stage.client.project / "broken").unlink()
        api.say(
            write_file(stage, "cents.py", "CENTS = 100\n"),
            bash("pytest -q"),
            tool("TaskUpdate", taskId="1", status="completed"),
            tool("TaskCreate", subject="Print the receipt", description="next"),
            "Done so far.",
        )
        live.ask(CORRECTED)
        live.compact()
        live.ask("go on")
        second = latest_brief(api.last)
        assert f'- "{RULE}"' not in second
        assert "use integer cents instead, never Decimal." in second
        assert "Print the receipt" in open_tasks(second)
        assert "Wire the cart" not in open_tasks(second)
        assert TEST not in second

        api.say(bash("echo more work"), "More done.")
        live.ask("a little more")
        live.compact()
        live.ask("go on")
        third = latest_brief(api.last)
        assert injected(api.last, BRIEF) == [third]
        assert f'- "{RULE}"' not in third
        assert "use integer cents instead, never Decimal." in third
        assert "Wire the cart" not in open_tasks(third)
        assert TEST not in third
        assert len(third) < 1.3 * len(second)

    steered = [steering(request) for request in api.summary_requests]
    assert [f'standing rule: "{RULE}"' in text for text in steered] == [True, False, False]
    assert [f"Failing test run: pytest -q: tests/test_cart.py::{TEST}" in t for t in steered] == [
        True,
        False,
        False,
    ]
    with stage.store() as store:
        assert [c.epoch for c in store.compactions(live.session_id)] == [2, 1, 0]
        briefs = [d.epoch for d in store.deliveries(live.session_id) if d.what == "brief"]
    assert sorted(briefs) == [0, 1, 2]
    assert stage.log() == ""
