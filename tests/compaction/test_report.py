"""Which deliveries belong to a compaction, and what counts as restored by them."""

import pytest

from holdfast.compaction.report import build_report, select_deliveries
from holdfast.events import Origin
from holdfast.state import EMPTY_STATE
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Compaction, Delivery
from support.agent_sessions import told

RULE = "Never use tabs in the payment service, only four spaces."
FACTS = [Fact("r1", "rule", RULE, OPEN, Origin("row", 0, 1, ""))]
SEEN = Compaction("s1", 1, "2026-01-01T10:00:00Z", "auto", kept=("t1",), lost=("r1",))
BRIEF = Delivery("s1", 1, "brief", "SessionStart", "2026-01-01T10:00:02Z", "", ())


@pytest.mark.parametrize("kind", ["handoff", "notice", "message", "message:m1"])
def test_what_is_delivered_for_no_compaction_restores_nothing(kind: str) -> None:
    report = build_report(SEEN, EMPTY_STATE, FACTS, [BRIEF._replace(kind=kind, text=RULE)])
    assert (report.deliveries, report.restored) == ((), {})


def test_deliveries_are_those_of_its_session_and_epoch_in_order() -> None:
    gap = BRIEF._replace(kind="gap", time="2026-01-01T10:00:09Z")
    steering = BRIEF._replace(kind="steering", time="2026-01-01T09:59:00Z")
    others = [BRIEF._replace(epoch=0), BRIEF._replace(session_id="s2")]
    assert select_deliveries(SEEN, [gap, BRIEF, *others, steering]) == (steering, BRIEF, gap)


@pytest.mark.parametrize(
    ("given", "restored"),
    [
        (BRIEF._replace(facts=("r1",)), {"r1": "brief"}),
        (BRIEF._replace(text=f'- "{RULE}"'), {"r1": "brief"}),
        (BRIEF._replace(text="Tabs are a matter of taste."), {}),
        (BRIEF._replace(kind="steering", facts=("r1",), text=RULE), {}),
    ],
    ids=["named", "told", "neither", "steering"],
)
def test_restored_is_what_a_brief_or_a_gap_names_or_tells(
    given: Delivery, restored: dict[str, str]
) -> None:
    assert build_report(SEEN, EMPTY_STATE, FACTS, [given]).restored == restored


def test_both_that_restored_a_fact_are_named() -> None:
    gap = BRIEF._replace(kind="gap", facts=("r1",), time="2026-01-01T10:00:09Z")
    report = build_report(SEEN, EMPTY_STATE, FACTS, [gap, BRIEF._replace(text=RULE)])
    assert report.restored == {"r1": "brief and gap"}


def test_a_lost_fact_that_is_no_longer_stored_counts_and_is_not_shown() -> None:
    report = build_report(SEEN, EMPTY_STATE, [], [])
    assert (report.comparison, report.lost, report.lost_facts) == ("recorded", ("r1",), [])


def test_without_a_summary_there_is_nothing_to_compare() -> None:
    unseen = SEEN._replace(kept=(), lost=())
    assert build_report(unseen, EMPTY_STATE, FACTS, []).comparison == "no"


def test_where_no_hook_ran_the_brief_that_would_have_been_given_is_made_and_kept_apart() -> None:
    before = told().state
    unseen = SEEN._replace(epoch=0, kept=(), lost=(), summary="We wrote some code.")
    report = build_report(unseen, before, [], [])
    assert report.comparison == "afterwards"
    assert report.would_deliver is not None
    assert report.lost
    assert report.would_restore <= set(report.lost)
    assert report.would_restore
    assert (report.restored, report.deliveries) == ({}, ())


def test_what_was_delivered_is_told_and_not_what_would_have_been() -> None:
    before = told().state
    unseen = SEEN._replace(epoch=0, kept=(), lost=(), summary="We wrote some code.")
    report = build_report(unseen, before, [], [BRIEF._replace(epoch=0, text="Something.")])
    assert (report.comparison, report.would_deliver) == ("afterwards", None)
    assert report.would_restore == frozenset()
