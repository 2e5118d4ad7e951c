"""What a summary lost, at length: everything that stands and is not said, and nothing twice."""

from holdfast.brief.lost import compose_lost
from holdfast.state import State
from state.story import Story

RULE = "Never use float for money, always use Decimal with two places."
OTHER = "Always print receipts on eighty millimetre thermal paper."


def worked() -> State:
    story = Story().user(f"Build the shop. {RULE}").user(f"And the receipts. {OTHER}")
    story.task("1", "Wire the cart to checkout").task("2", "Sketch the price table")
    story.task_is("2", "completed")
    story.touched("/work/shop/cart_totals.py", text="def round_half_even(): ...")
    return story.ran("make receipts", "printed").state


def test_what_the_summary_says_is_not_said_again() -> None:
    text = compose_lost(worked(), f"The user said: {RULE} Then make receipts was run.", 16_000).text
    assert RULE not in text
    assert OTHER in text
    assert "Open task: #1 Wire the cart to checkout" in text
    assert "Finished, no longer open: #2 Sketch the price table" in text
    assert "cart_totals.py" in text
    assert "make receipts" not in text


def test_a_conversation_that_carries_everything_gets_nothing() -> None:
    state = worked()
    everything = compose_lost(state, "", 16_000).text
    again = compose_lost(state, everything, 16_000)
    assert again.facts == ()


def test_the_budget_is_a_bound() -> None:
    for budget in (0, 50, 200, 500, 1_000, 16_000):
        assert len(compose_lost(worked(), "", budget).text) <= budget
