"""What the summary lost, and our brief had no room for, comes once with what happens next."""

from collections.abc import Callable

import pytest

from support.claude import (
    Lane,
    LiveSession,
    Reply,
    Request,
    ScriptedApi,
    bash,
    mid_turn_compaction,
    text,
    wait_until,
)

from .stage import BRIEF, GAP, Stage, injected

pytestmark = pytest.mark.client

# More rules than a brief has room for, each in words of its own.
_TYPED = """
    Never rename the invoices table, the nightly accounting export at Lindqvist reads it by name.
    Always print receipts on eighty millimetre thermal paper, the Munich kiosk has no other rolls.
    Never delete parcels before the courier confirmed pickup, customs audits look back nine weeks.
    Always round vouchers down towards zero, marketing promised that in the autumn campaign leaflet.
    Never email refunds to guests, regulators in Portugal demand a posted letter for each of them.
    Always sort catalogues by supplier then colour, warehouse staff scan the aisles in that order.
    Never cache baskets longer than ninety seconds, flash sales change stock under a visitor's nose.
    Always quote pallet weights in kilograms, the Rotterdam crane computer rejects imperial units.
    Never log barcodes together with surnames, the privacy officer signed a ruling about that pair.
    Always mount scanners through udev symlinks, kernel upgrades shuffle the numbered device nodes.
    Never restart printers during lunch, the kitchen prints allergy tickets between noon and two.
    Always pin the terminals firmware at release forty, newer builds drop the contactless reader.
    Never translate product codes, the Osaka office matches them letter by letter in spreadsheets.
    Always keep the drawers closing sound enabled, blind cashiers depend upon hearing that click.
    Never batch loyalty points across midnight, anniversaries are computed in the customer timezone.
    Always store gift messages as plain text, the engraving robot chokes upon emoji and markup.
    Never shorten tracking links, carriers revoke partnerships when a third party domain appears.
    Always seed demo shops with fictional towns, a real village once sued about a bakery review.
    Never paginate the stock ledger below fifty lines, auditors print it for the annual binder.
    Always wrap currency conversion in the treasury helper, spot rates there carry a signed stamp.
"""
RULES = [rule.strip() for rule in _TYPED.strip().split("\n")]
CARRIED = RULES[7]
SUMMARY = f"The user is building a shop. The user said: {CARRIED}"


@pytest.fixture
def stage(stage: Stage) -> Stage:
    """With little room for the brief: not all that the summary lost fits."""
    stage.data.mkdir(parents=True)
    (stage.data / "settings.json").write_text('{"brief_chars": 1500}')
    return stage


def tell_rules(live: LiveSession) -> None:
    for start in range(0, len(RULES), 5):
        live.ask(" ".join(RULES[start : start + 5]))


def check_gap(gap: str, brief: str) -> None:
    told = [rule for rule in RULES if rule in gap]
    assert told
    assert CARRIED not in gap
    assert [rule for rule in told if rule in brief] == []
    assert [rule for rule in RULES if rule not in brief + gap + SUMMARY] == []
    assert len(gap) <= 4_000


def working_until_the_gap_comes() -> Callable[[Request], Reply]:
    """A compaction in the middle of the turn, then batch after batch, at a model's pace."""
    opening = mid_turn_compaction()[:2]
    batches = [bash(f"echo batch {n}").after(0.3) for n in range(60)]
    replies = iter([*opening, *batches])

    def answer(request: Request) -> Reply:
        return text("Finished.") if injected(request, GAP) else next(replies)

    return answer


def test_the_gap_and_only_the_gap_comes_with_the_next_prompt_once(
    stage: Stage, api: ScriptedApi
) -> None:
    api.summarise_with(SUMMARY)
    with stage.client.session() as live:
        tell_rules(live)
        live.compact()
        live.ask("go on")
        (brief,) = injected(api.last, BRIEF)
        (gap,) = injected(api.last, GAP)
        check_gap(gap, brief)
        live.ask("and on")
        live.ask("and on again")
        assert injected(api.last, GAP) == [gap]
        stage.settled(live)
    with stage.store() as store:
        given = store.deliveries(live.session_id)
        deliveries = {d.kind: d for d in given if not d.kind.startswith("recall:")}
        assert set(deliveries) == {"steering", "brief", "gap"}
        assert deliveries["gap"].channel == "UserPromptSubmit"
        (compaction,) = store.compactions(live.session_id)
        assert set(deliveries["gap"].facts) < set(compaction.lost)


def test_in_the_middle_of_a_turn_it_comes_with_a_tool_batch_once(
    stage: Stage, api: ScriptedApi
) -> None:
    api.summarise_with(SUMMARY)
    with stage.client.session() as live:
        tell_rules(live)
        api.script(Lane.MAIN, working_until_the_gap_comes())
        live.ask("work on")
        (brief,) = injected(api.last, BRIEF)
        (gap,) = injected(api.last, GAP)
        check_gap(gap, brief)
        live.ask("and on")
        assert injected(api.last, GAP) == [gap]
        stage.settled(live)
    with stage.store() as store:
        deliveries = [d.channel for d in store.deliveries(live.session_id) if d.kind == "gap"]
    assert deliveries == ["PostToolBatch"]


def test_a_summary_that_carries_everything_leaves_no_gap(stage: Stage, api: ScriptedApi) -> None:
    api.summarise_with("The user said: " + "\n".join(f"- {rule}" for rule in RULES))
    with stage.client.session() as live:
        tell_rules(live)
        live.compact()
        session_dir = stage.session_dir(live.session_id)
        wait_until(lambda: (session_dir / "verified.0").exists())
        live.ask("go on")
    assert injected(api.last, BRIEF)
    assert injected(api.last, GAP) == []
