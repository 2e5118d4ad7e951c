"""Sessions written by hand, with a clock: small enough to know what an audit must find.

No client wrote these rows; the recorded sample and the corpus stand for the client.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.measure.session_files import Row
from survival_benchmark.measure.handmade import Story, tax_story

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
RULE = "Never round prices before the last step of an invoice."
SECRET = "ghp_" + "a8Kd93LmQ0xZ7rT2vB5nC1yW6uE4sJ9hGfPq"


class Clocked(Story):
    """A session whose rows carry times, ten seconds apart."""

    def __init__(self, session_id: str = "s-1", day: int = 0) -> None:
        super().__init__(session_id)
        self.now = START + timedelta(days=day)

    def _row(self, kind: str, **fields: Any) -> Row:
        self.now += timedelta(seconds=10)
        stamp = self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return super()._row(kind, timestamp=stamp, **fields)

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def compacted(self, trigger: str = "auto", **meta: Any) -> None:
        """A boundary with a summary that tells next to nothing."""
        self._row(
            "system",
            subtype="compact_boundary",
            compactMetadata={"trigger": trigger, "preTokens": 150_000, **meta},
        )
        self.user("Summary: work on the shop went on.", isCompactSummary=True)


def invoices(session_id: str = "s-1", day: int = 0) -> Clocked:
    """Everything that can go wrong after a compaction, once."""
    story = Clocked(session_id, day)
    story.user(f"Please fix the tax on invoices. {RULE} The deploy token is {SECRET}.")
    story.idle(10)
    story.task(1, "Fix rounding in the tax table")
    story.task_is(1, "completed")
    story.read("src/billing/tax.py", "def compute_tax(line_items):\n    return TAX_RATE\n" * 20)
    story.edit("src/billing/tax.py", "return TAX_RATE", "return roundHalfUp(TAX_RATE)")
    story.read("src/billing/invoice.py", "def render_invoice(totalAmount):\n    pass\n")
    story.bash("./deploy.sh staging", "fatal: no route to staging host", error=True)
    story.says("I work on the rounding now.")
    story.compacted()
    story.read("src/billing/tax.py", "def compute_tax(line_items):\n    return TAX_RATE\n" * 20)
    story.bash("./deploy.sh staging", "fatal: no route to staging host", error=True)
    story.user("As ever: never round prices of an invoice before the last step!")
    story.user("We already fixed that yesterday.")
    story.task(2, "Fix rounding in the tax table")
    story.edit("src/billing/invoice.py", "render_invoice", "roundHalfUp(totalAmount)")
    story.read("src/billing/invoice.py", "def render_invoice(totalAmount):\n    pass\n")
    story.idle(6)
    return story


__all__ = ["RULE", "SECRET", "START", "Clocked", "Story", "invoices", "tax_story"]
