"""What compactions kept, lost and got back: a table of them, a session's chain, and one up close.

Owns how a compaction is shown and its JSON, for `status` and `show`. What it kept, lost and got
back is decided in `compaction.report`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.table import Table
from rich.text import Text

from holdfast.brief.gap import list_open_facts
from holdfast.brief.lines import shorten_path
from holdfast.cli.fact_words import fact_to_json
from holdfast.cli.output import (
    NARROW_WIDTH,
    CliError,
    drop_columns,
    format_bytes,
    format_count,
    format_one_line,
    make_console,
    pluralize,
    print_cut,
    print_indented,
    print_json,
    replace_control_chars,
)
from holdfast.cli.sessions import WIDE_WIDTH, resolve_project
from holdfast.cli.store_access import open_user_store, print_if_empty
from holdfast.clock import format_minute
from holdfast.compaction.report import find_restored, load_counts, load_report, select_restoring
from holdfast.session.update import load_state_before
from holdfast.state.facts import count_kind, kind_heading, kind_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.compaction.report import CompactionReport
    from holdfast.state import State
    from holdfast.state.facts import Fact
    from holdfast.store.protocol import Compaction, Delivery, Session
    from holdfast.store.sqlite.store import SqliteStore


MAX_ROWS = 10_000  # more of one session than any table shows
MAX_DETAIL_CHARS = 300  # characters of a lost fact that are shown
MAX_TEXT_CHARS = 160
MAX_LOST_SHOWN = 8


def report_to_json(report: CompactionReport) -> dict[str, Any]:
    """Counts and deliveries of one compaction; None where there is nothing to compare, and where
    the hooks ran there is nothing that would have been restored."""
    compaction = report.compaction
    compared = report.comparison != "no"
    return {
        "session": compaction.session_id,
        "number": compaction.epoch + 1,
        "time": compaction.time,
        "trigger": compaction.trigger,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "compared": report.comparison,
        "kept": len(report.kept) if compared else None,
        "lost": len(report.lost) if compared else None,
        "would_restore": len(report.would_restore) if report.would_deliver else None,
        "in_transcript": bool(compaction.row),
        "delivered": [_delivery_to_json(delivery) for delivery in report.deliveries],
    }


def _delivery_to_json(delivery: Delivery) -> dict[str, Any]:
    return {
        "what": delivery.kind,
        "channel": delivery.channel,
        "time": delivery.time,
        "characters": len(delivery.text),
        "facts": list(delivery.facts),
    }


def count_by_kind(facts: Iterable[Fact]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for fact in facts:
        counts[fact.kind] = counts.get(fact.kind, 0) + 1
    return counts


def format_outcome(document: dict[str, Any]) -> str:
    """`kept 3, lost 2: 1 rule, 1 task`."""
    kinds = ", ".join(count_kind(n, kind) for kind, n in document["lost_by_kind"].items())
    afterwards = " (compared afterwards)" if document["compared"] == "afterwards" else ""
    counts = f"kept {document['kept']}, lost {document['lost']}"
    return counts + (f": {kinds}" if kinds else "") + afterwards


def format_deliveries(document: dict[str, Any]) -> str:
    """`brief by SessionStart`, for each; what would have been, where no hook ran."""
    given = ", ".join(f"{d['what']} by {d['channel']}" for d in document["delivered"])
    would, lost = document["would_restore"], document["lost"]
    if given or would is None:
        return given or "nothing"
    if not lost:
        return "no hook ran; nothing was lost"
    return f"no hook ran; Holdfast would have restored {would} of {lost}"


def show_compactions(project: str, limit: int, as_json: bool) -> None:
    """The table of `holdfast status --compactions`: those of all sessions, latest first."""
    if print_if_empty(as_json, []):
        return
    with open_user_store() as store:
        found = _list_latest(store, project, limit + 1)
        documents = _load_table(store, found[:limit])
    if as_json:
        print_json(documents)
        return
    _print_table(documents)
    if len(found) > limit:
        print_cut(limit, "compaction")


def _list_latest(store: SqliteStore, project: str, limit: int) -> Sequence[Compaction]:
    if not project:
        return store.compactions(limit=limit)
    known = {one.id for one in store.sessions(project=resolve_project(project), limit=MAX_ROWS)}
    return [c for c in store.compactions(limit=MAX_ROWS) if c.session_id in known][:limit]


def _load_table(store: SqliteStore, found: Sequence[Compaction]) -> list[dict[str, Any]]:
    given = {id_: store.deliveries(id_, MAX_ROWS) for id_ in {c.session_id for c in found}}
    return [report_to_json(load_counts(store, c, given[c.session_id])) for c in found]


def _print_table(documents: list[dict[str, Any]]) -> None:
    out = make_console()
    if not documents:
        out.print("No compactions yet.")
        return

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("session", no_wrap=True, min_width=8)
    for name in ("no", "when (UTC)", "trigger"):
        table.add_column(name, no_wrap=True)
    for name in ("tokens", "after", "kept", "lost"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("restored", overflow="fold")
    narrow = out.width < NARROW_WIDTH
    for each in documents:
        table.add_row(
            Text(each["session"][:8], style="cyan"),
            str(each["number"]),
            format_minute(each["time"])[: 10 if narrow else None],
            Text(format_one_line(each["trigger"] or "-", 10)),
            format_count(each["tokens_before"]),
            format_count(each["tokens_after"]),
            format_count(each["kept"]),
            format_count(each["lost"]),
            Text(_format_restored(each)),
        )
    if narrow:
        drop_columns(table, "trigger", "tokens", "kept")
    if out.width < WIDE_WIDTH:
        drop_columns(table, "after")
    out.print(table)
    if any(each["would_restore"] is not None for each in documents):
        unseen = "would: read from a transcript; no hook ran, so nothing was restored"
        out.print(Text(unseen, style="dim"))


def _format_restored(document: dict[str, Any]) -> str:
    """A table's cell: what was delivered, or how many of the lost facts would have come back."""
    if document["would_restore"] is not None:
        if not document["lost"]:
            return "nothing lost"
        return f"would: {document['would_restore']} of {document['lost']}"
    if document["compared"] == "no" and not document["delivered"]:
        return "not compared"
    return format_deliveries(document)


def _details_to_json(report: CompactionReport) -> dict[str, Any]:
    lost = report.lost_facts
    document = report_to_json(report) | {
        "summary": report.compaction.summary,
        "kept_ids": list(report.kept),
        "lost_ids": list(report.lost),
        "lost_by_kind": count_by_kind(lost),
        "lost_facts": [fact_to_json(f) | _outcome_to_json(report, f) for f in lost],
        "would_deliver": report.would_deliver.text if report.would_deliver else None,
    }
    for described, delivery in zip(document["delivered"], report.deliveries, strict=True):
        described["text"] = delivery.text
    return document


def _outcome_to_json(report: CompactionReport, fact: Fact) -> dict[str, Any]:
    return {
        "restored": fact.id in report.restored,
        "would_restore": fact.id in report.would_restore,
    }


def _format_text(kind: str, text: str, folder: str, limit: int) -> str:
    """A fact on one line; a file relative to the folder that the session works in."""
    return format_one_line(shorten_path(text, (folder,)) if kind == "file" else text, limit)


def _format_lost(report: CompactionReport, fact: Fact, folder: str, limit: int) -> Text:
    """A lost fact with whether it was restored: the same words wherever it is listed."""
    line = Text(_format_text(fact.kind, fact.text, folder, limit))
    if fact.id in report.restored:
        return line.append("  (restored)", style="green")
    if report.would_deliver:
        told = fact.id in report.would_restore
        words = "would have been restored" if told else "not in the brief either"
        return line.append(f"  ({words})", style="green" if told else "dim")
    return line.append("  (not restored)", style="dim")


def show_chain(store: SqliteStore, found: Session, full: bool, as_json: bool) -> None:
    """A session's compactions, oldest first, with what each one lost."""
    given = store.deliveries(found.id, MAX_ROWS)
    chain = reversed(store.compactions(found.id, MAX_ROWS))
    reports = [load_report(store, compaction, given) for compaction in chain]
    document = _chain_to_json(store, found, reports)
    if as_json:
        print_json(document)
        return
    out = make_console()
    title = f" {format_one_line(found.title, 100)}"
    begun = (f"  begun {format_minute(found.started)} UTC", "dim")
    out.print(Text.assemble((found.id[:8], "cyan"), title, begun))
    for report, each in zip(reports, document["compactions"], strict=True):
        _print_link(report, each, found.worktree, full)
    if not reports:
        out.print("No compactions yet.")
    if footer := _format_archive(document):
        out.print(Text(footer, style="dim"))


def _format_archive(document: dict[str, Any]) -> str:
    """What is left of the session's rows besides its transcript, and whether that is there."""
    kept = document["archive"]
    parts = []
    if kept["rows"]:
        parts.append(f"{pluralize(kept['rows'], 'row')} archived ({format_bytes(kept['bytes'])})")
    if not document["transcript_there"]:
        parts.append("the transcript file no longer exists")
    return ", ".join(parts)


def _chain_to_json(
    store: SqliteStore, found: Session, reports: Sequence[CompactionReport]
) -> dict[str, Any]:
    rows = total = 0
    for _, _, _, piece in store.read_archive(found.id):
        rows += piece.count(b"\n")
        total += len(piece)
    return {
        "session": found.id,
        "started": found.started,
        "updated": found.updated,
        "compactions": [_details_to_json(report) for report in reports],
        "archive": {"rows": rows, "bytes": total},
        "transcript_there": bool(found.transcript) and os.path.exists(found.transcript),
    }


def _print_link(
    report: CompactionReport, document: dict[str, Any], folder: str, full: bool
) -> None:
    out = make_console()
    compaction = report.compaction
    head = Text.assemble((f"{document['number']}. ", "bold"))
    after = f" → {compaction.tokens_after:,}" if compaction.tokens_after else ""
    sizes = f"{format_count(compaction.tokens_before)}{after} tokens"
    trigger = format_one_line(compaction.trigger or "unknown", 20)
    head.append(f"{format_minute(compaction.time)} UTC, {trigger}, {sizes}")
    out.print(head)
    if report.comparison == "no":
        out.print(Text("   not compared: no summary, or no checkpoint before it", style="dim"))
        return
    print_indented(f"summary {format_outcome(document)}", indent=3)
    print_indented(f"restored: {format_deliveries(document)}", "dim", indent=3)
    lost = report.lost_facts
    shown = len(lost) if full else MAX_LOST_SHOWN
    size = MAX_DETAIL_CHARS if full else MAX_TEXT_CHARS
    kind = ""
    for fact in lost[:shown]:
        if fact.kind != kind:
            kind = fact.kind
            out.print(Text(f"   Lost: {kind_heading(kind).lower()}", style="bold"))
        line = _format_lost(report, fact, folder, size)
        print_indented(line, indent=11, first=f"     {fact.id}")
    if len(lost) > shown:
        out.print(Text(f"     and {len(lost) - shown} more; --full shows all", style="dim"))
    if gone := len(report.lost) - len(lost):
        out.print(Text(f"     and {gone} no longer stored", style="dim"))


class DiffRow(NamedTuple):
    id: str
    kind: str
    text: str
    in_summary: bool | None  # None: nobody asked
    restored: str  # "brief", "gap", both, or ""
    would_restore: bool  # no hook ran; the brief would have told it


def show_compaction(
    store: SqliteStore, found: Session, number: int, full: bool, as_json: bool
) -> None:
    """What was known before a compaction, beside the summary and what was restored."""
    chain = {c.epoch: c for c in store.compactions(found.id, MAX_ROWS)}
    compaction = chain.get(number - 1)
    if compaction is None:
        raise CliError(
            f"Session {found.id[:8]} has {pluralize(len(chain), 'compaction')}, not {number}",
            f"`holdfast show {found.id[:8]} --compactions` lists them.",
        )
    report = load_report(store, compaction)
    rows = _diff_rows(report, load_state_before(store, compaction))
    if not rows:
        raise CliError(
            f"No checkpoint of session {found.id[:8]} from before that compaction",
            "Compactions before the hooks were installed have none.",
        )
    restored = select_restoring(report.deliveries)
    if as_json:
        print_json(
            {
                "session": found.id,
                "number": number,
                "before": [row._asdict() for row in rows],
                "summary": compaction.summary,
                "restored": [
                    {"what": d.kind, "channel": d.channel, "text": d.text} for d in restored
                ],
                "would_deliver": report.would_deliver.text if report.would_deliver else None,
            }
        )
        return
    _print_diff(rows, found.worktree, would=report.would_deliver is not None)
    if full:
        _print_texts(report)


def _diff_rows(report: CompactionReport, before: State) -> list[DiffRow]:
    """What stood right before it, most important first, and where it went."""
    facts = {fact.id: fact for fact in list_open_facts(before)}
    asked = dict.fromkeys(report.kept, True) | dict.fromkeys(report.lost, False)
    facts |= {name: report.facts[name] for name in asked if name in report.facts}
    back = find_restored(facts, facts, report.deliveries)
    would = report.would_restore
    return [
        DiffRow(name, fact.kind, fact.text, asked.get(name), back.get(name, ""), name in would)
        for name, fact in facts.items()
    ]


def _print_diff(rows: list[DiffRow], folder: str, *, would: bool) -> None:
    out = make_console()
    narrow = out.width < NARROW_WIDTH
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", expand=True)
    table.add_column("", style="cyan", no_wrap=True)
    table.add_column("known before", ratio=1, overflow="fold")
    table.add_column("in the summary", no_wrap=True)
    table.add_column("would be restored" if would else "restored", no_wrap=True)
    for row in rows:
        held = {True: Text("yes", "green"), False: Text("lost", "red"), None: Text("-", "dim")}
        restored = "brief" if row.would_restore else row.restored
        missing = not restored and row.in_summary is False
        back = Text(restored or ("no" if missing else "-"), "red" if missing else "")
        words = Text(f"{kind_name(row.kind)}: ", style="dim")
        shown = _format_text(row.kind, row.text, folder, MAX_TEXT_CHARS)
        words.append(shown, style="default")
        if narrow:  # what the columns say, beneath the words
            words.append("\nin the summary: ").append(held[row.in_summary])
            words.append(", would be restored: " if would else ", restored: ").append(back)
        table.add_row(row.id, words, held[row.in_summary], back)
    if narrow:
        drop_columns(table, 2, 3)
    out.print(table)


def _print_texts(report: CompactionReport) -> None:
    would = report.would_deliver
    restored = select_restoring(report.deliveries)
    back = "\n\n".join(f"[{d.kind} by {d.channel}]\n{d.text}" for d in restored)
    given = "what Holdfast would have given" if would else "restored by Holdfast"
    texts = {
        "the client's summary": report.compaction.summary or "-",
        given: would.text if would else back or "-",
    }
    out = make_console()
    out.print()
    if out.width < NARROW_WIDTH:  # no room for two beside each other
        for heading, text in texts.items():
            out.print(Text(heading, style="bold"))
            print_indented(text)
        return
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold", expand=True)
    for heading in texts:
        table.add_column(heading, ratio=1, overflow="fold")
    table.add_row(*(Text(replace_control_chars(text)) for text in texts.values()))
    out.print(table)
