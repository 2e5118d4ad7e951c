"""`holdfast try`: a recorded session, and what Holdfast knows at its compaction.

The first thing a visitor sees. Works on the bundled sample in a temporary store and leaves
nothing behind.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import orjson
from rich.table import Table
from rich.text import Text

from holdfast import own_copy
from holdfast.brief.coverage import TextCoverage, covers_fact
from holdfast.cli.fact_words import fact_to_json, format_status
from holdfast.cli.output import JsonOption, format_one_line, make_console, print_json, print_steps
from holdfast.samples import SESSION_FILE
from holdfast.session.ingest import ingest_transcript
from holdfast.state import decode_state, list_facts
from holdfast.state.facts import DONE, OPEN, Fact, kind_heading
from holdfast.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.store.protocol import Compaction


# In the order in which a person picks the work up again.
_KINDS = (
    "request",
    "rule",
    "task",
    "test",
    "error",
    "dead_end",
    "file",
    "identifier",
    "next_step",
)
MAX_TEXT_CHARS = 170


class DemoLine(NamedTuple):
    fact: Fact
    text: str
    carried: bool  # by the client's own summary


def show_demo(as_json: JsonOption = False) -> None:
    """Demo: what Holdfast knows at the compaction of a recorded session.

    Uses a temporary folder; nothing is installed and nothing is left behind.

    Example: `holdfast try`
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-try-") as folder:
        store = SqliteStore(os.path.join(folder, "holdfast.db"))
        try:
            done = ingest_transcript(store, SESSION_FILE, loads=orjson.loads)
            checkpoint = store.checkpoints(done.session_id)[-1]
            saved = store.load_checkpoint(checkpoint.id)
            compaction = store.compactions(done.session_id)[-1]
        finally:
            store.close()
    if saved is None:
        raise AssertionError("a checkpoint that was just made can be read")
    lines = _lines(list(list_facts(decode_state(saved.state))), compaction.summary)
    if as_json:
        print_json(
            {
                "session": saved.session._asdict(),
                "compaction": compaction._asdict(),
                "facts": [fact_to_json(line.fact) | {"in_summary": line.carried} for line in lines],
            }
        )
        return
    _print(make_console(), compaction, done.total_rows, lines)


def _lines(known: Sequence[Fact], summary: str) -> list[DemoLine]:
    said = TextCoverage(summary)
    return [
        DemoLine(fact, _fact_text(fact), covers_fact(said, fact))
        for fact in known
        if fact.kind in _KINDS and _worth_showing(fact)
    ]


def _worth_showing(fact: Fact) -> bool:
    if fact.kind == "error":
        return fact.status == OPEN
    if fact.kind == "file":
        return "changed" in fact.detail or "created" in fact.detail
    # Commits and the branch are in the repository; what was said about a port is nowhere else.
    return not fact.text.startswith(("commit ", "branch "))


def _fact_text(fact: Fact) -> str:
    if fact.kind == "test":
        summary, _, failing = fact.detail.rpartition("; ")
        return f"{failing} ({summary})" if summary else fact.text
    if fact.kind == "error":
        # The command stands with the tests above; here it is what it said that matters.
        lines = [fact.text.partition(": ")[2], *fact.detail.split("; ")]
        return " / ".join(line.removeprefix("E ").strip() for line in lines)
    if fact.kind == "dead_end" and fact.detail:
        return f"{fact.text} → {fact.detail}"
    if fact.kind == "file":
        return f"{os.path.basename(fact.text)} · {fact.detail}"
    if fact.kind == "identifier":
        return f"{fact.text} · {fact.detail}"
    return fact.text


def _print(out: Console, compaction: Compaction, rows: int, lines: list[DemoLine]) -> None:
    before, after = compaction.tokens_before or 0, compaction.tokens_after or 0
    out.print()
    out.print(
        Text("A recorded Claude Code session", style="bold")
        + Text(f"  {rows} rows, compacted once: {before:,} tokens became {after:,}.", style="dim")
    )
    out.print(
        Text("What Holdfast knows at that point, and whether the client's summary kept it:", "dim")
    )
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, width=2)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(no_wrap=True, justify="right")
    for kind in _KINDS:
        of_kind = [line for line in lines if line.fact.kind == kind]
        if not of_kind:
            continue
        table.add_row()
        table.add_row("", "", Text(kind_heading(kind), style="bold"))
        for line in of_kind:
            table.add_row(
                _mark(line),
                line.fact.id,
                Text(
                    format_one_line(line.text, MAX_TEXT_CHARS),
                    style="" if _current(line.fact) else "dim",
                ),
                Text(format_status(line.fact), style="dim"),
            )
    out.print(table)
    wanted = [line for line in lines if _current(line.fact)]
    kept = sum(line.carried for line in wanted)
    out.print()
    out.print(
        Text(f"The summary kept {kept} of {len(wanted)} facts. ", style="bold")
        + Text("Holdfast restores the rest after the compaction.")
    )
    call = own_copy.format_call()
    steps = [
        (f"{call} audit", "what compaction has cost you so far"),
        (f"{call} install", "turn it on for Claude Code"),
    ]
    if call == "holdfast" and shutil.which(call) is None:  # as after `make try`, in .venv
        steps.insert(0, ("pipx install .", "put `holdfast` on your PATH"))
    print_steps(steps)


def _mark(line: DemoLine) -> Text:
    """Whether the summary has it; nothing for what the user took back, which it should not."""
    if not _current(line.fact):
        return Text("")
    return Text("✓", style="green") if line.carried else Text("✗", style="red")


def _current(fact: Fact) -> bool:
    return fact.status in (OPEN, DONE)
