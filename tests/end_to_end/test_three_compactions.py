"""Three compactions in a row, with work between them: nothing stale, nothing that grows."""

import re
from itertools import takewhile

import pytest

from support.claude import Request, ScriptedApi, bash, tool

from .stage import BRIEF, RULE, Stage, injected, steering, write_file

pytestmark = pytest.mark.client

CORRECTED = "Actually, money is no longer Decimal: use integer cents instead, never Decimal."
TEST = "test_total_rounds_half_even"


def latest_brief(request: Request) -> str:
    return injected(request, BRIEF)[-1]


def open_tasks(brief: str) -> str:
    return brief.partition("Open tasks:")[2].partition("Done, not to be redone:")[0]


def rules(text: str) -> str:
    """What is told as a rule in force."""
    heading = re.compile("^Rules the user gave.*:$", re.MULTILINE)  # shorter where it is shown
    lines = heading.split(text, 1)[-1].lstrip("\n").split("\n") if heading.search(text) else []
    return "\n".join(takewhile(lambda line: line.startswith("- "), lines))


def failing(text: str) -> str:
    """What is told as a check that fails."""
    return "\n".join(line for line in text.split("\n") if line.startswith("- failed: "))


def test_corrected_rules_finished_tasks_and_mended_tests_stay_so(
    stage: Stage, api: ScriptedApi
) -> None:
    with stage.client.session() as live:
        api.say(*stage.work(), "Begun.")
        live.ask(f"Build the shop on port 8123. {RULE}")
        live.compact()
        live.ask("go on")
        first = latest_brief(api.last)
        assert RULE in rules(first)
        assert TEST in failing(first)
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
        assert RULE not in rules(second)
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
        assert RULE not in rules(third)
        assert "use integer cents instead, never Decimal." in third
        assert "Wire the cart" not in open_tasks(third)
        assert TEST not in third
        assert len(third) < 1.3 * len(second)

    steered = [steering(request) for request in api.summary_requests]
    assert [RULE in rules(text) for text in steered] == [True, False, False]
    assert [TEST in failing(text) for text in steered] == [True, False, False]
    with stage.store() as store:
        assert [c.epoch for c in store.compactions(live.session_id)] == [2, 1, 0]
        briefs = [d.epoch for d in store.deliveries(live.session_id) if d.kind == "brief"]
    assert sorted(briefs) == [0, 1, 2]
    assert stage.log() == ""
