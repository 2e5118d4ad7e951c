"""What compactions kept, lost and got back: a table of them, a session's chain, and one up close.

Owns how a compaction is shown and its JSON, for `status`, `show` and `try`. What it kept, lost and
got back is decided in `compaction.report`.
"""

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from holdfast.brief.contradictions import Contradiction
from holdfast.brief.gap import list_open_facts
from holdfast.brief.lines import shorten_path
from holdfast.cli import output
from holdfast.cli.screen import NARROW_WIDTH, WIDE_WIDTH, Screen, drop_columns, make_table
from holdfast.cli.store_access import resolve_project
from holdfast.cli.views.fact import fact_to_json
from holdfast.clock import format_minute
from holdfast.compaction.report import (
    CompactionReport,
    find_restored,
    find_wrong,
    load_report,
    select_restoring,
)
from holdfast.session.update import load_state_before
from holdfast.state import State
from holdfast.state.facts import Fact
from holdfast.state.model import count_kind, kind_heading, kind_name
from holdfast.store.protocol import Compaction, Session
from holdfast.store.sqlite.store import SqliteStore
from holdfast.text import pluralize

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
        "lost_by_kind": dict(Counter(fact.kind for fact in report.lost_facts)),
        "restored": len(report.restored) if compared else None,
        "also_known": len(report.also_known),
        "would_restore": len(report.would_restore) if report.would_deliver else None,
        "in_transcript": bool(compaction.row),
        "delivered": [
            {
                "what": delivery.kind,
                "channel": delivery.channel,
                "time": delivery.time,
                "characters": len(delivery.text),
                "facts": list(delivery.facts),
            }
            for delivery in report.deliveries
        ],
    }


def format_outcome(document: dict[str, Any]) -> str:
    """`kept 3, lost 2: 1 rule, 1 task`."""
    kinds = ", ".join(count_kind(n, kind) for kind, n in document["lost_by_kind"].items())
    afterwards = " (compared afterwards)" if document["compared"] == "afterwards" else ""
    counts = f"kept {document['kept']}, lost {document['lost']}"
    return counts + (f": {kinds}" if kinds else "") + afterwards


def format_restored(document: dict[str, Any], *, short: bool = False) -> str:
    """`2 of 3 (brief by SessionStart)`; what would have been, where no hook ran."""
    given = ", ".join(f"{one['what']} by {one['channel']}" for one in document["delivered"])
    lost, would = document["lost"], document["would_restore"]
    if document["compared"] == "no":
        return f"not compared ({given})" if given else "not compared"
    if would is None:
        counts = f"{document['restored']} of {lost}" if lost else "nothing lost"
        return f"{counts} ({given})" if given else counts
    if not lost:
        return "-" if short else "no hook ran; nothing was lost"
    of_lost = f"{would} of {lost}"
    return f"would: {of_lost}" if short else f"no hook ran; Holdfast would have restored {of_lost}"


def show_compactions(store: SqliteStore, project: str, limit: int, as_json: bool) -> None:
    """The table of `holdfast status --compactions`: those of all sessions, latest first."""
    found = store.compactions(limit=MAX_ROWS if project else limit + 1)
    if project:
        sessions = store.sessions(project=resolve_project(project), limit=MAX_ROWS)
        known = {one.id for one in sessions}
        found = [one for one in found if one.session_id in known]
    documents = [report_to_json(report) for report in _load_reports(store, found[:limit])]
    if as_json:
        output.print_json(documents)
        return
    out = Screen()
    if not documents:
        out.say("No compactions yet.")
        return
    _print_table(out, documents)
    if len(found) > limit:
        out.cut(limit, "compaction")


def _load_reports(store: SqliteStore, found: Sequence[Compaction]) -> list[CompactionReport]:
    given = {id_: store.deliveries(id_, MAX_ROWS) for id_ in {one.session_id for one in found}}
    return [load_report(store, one, given[one.session_id]) for one in found]


def _print_table(out: Screen, documents: list[dict[str, Any]]) -> None:
    names = ("session", "no", "when (UTC)", "trigger", ">tokens", ">after", ">kept", ">lost")
    table = make_table(*names)
    for column in table.columns:
        column.no_wrap = True
    table.add_column("restored", overflow="fold")
    narrow = out.width < NARROW_WIDTH
    for each in documents:
        table.add_row(
            Text(each["session"][:8], style="cyan"),
            str(each["number"]),
            format_minute(each["time"])[: 10 if narrow else None],
            Text(output.format_one_line(each["trigger"] or "-", 10)),
            *(output.format_count(each[name]) for name in ("tokens_before", "tokens_after")),
            *(output.format_count(each[name]) for name in ("kept", "lost")),
            Text(format_restored(each, short=True)),
        )
    if narrow:
        drop_columns(table, "trigger", "tokens", "kept")
    if out.width < WIDE_WIDTH:
        drop_columns(table, "after")
    out.print(table)
    if any(each["would_restore"] is not None for each in documents):
        out.say("would: read from a transcript; no hook ran, so nothing was restored", "dim")


def show_chain(store: SqliteStore, found: Session, full: bool, as_json: bool) -> None:
    """A session's compactions, oldest first, with what each one lost."""
    reports = _load_reports(store, store.compactions(found.id, MAX_ROWS)[::-1])
    documents = [_details_to_json(report) for report in reports]
    pieces = [piece for _, _, _, piece in store.read_archive(found.id)]
    rows, size = sum(piece.count(b"\n") for piece in pieces), sum(map(len, pieces))
    is_there = bool(found.transcript) and os.path.exists(found.transcript)
    if as_json:
        output.print_json(
            {
                "session": found.id,
                "started": found.started,
                "updated": found.updated,
                "compactions": documents,
                "archive": {"rows": rows, "bytes": size},
                "transcript_there": is_there,
            }
        )
        return
    out = Screen()
    title = f" {output.format_one_line(found.title, 100)}"
    begun = (f"  begun {format_minute(found.started)} UTC", "dim")
    out.print(Text.assemble((found.id[:8], "cyan"), title, begun))
    for report, each in zip(reports, documents, strict=True):
        _print_link(out, report, each, found.worktree, full)
    if not reports:
        out.say("No compactions yet.")
    if rows:
        out.say(f"{pluralize(rows, 'row')} archived ({output.format_bytes(size)})", "dim")
    if not is_there:
        out.say("The transcript file no longer exists", "dim")


def _details_to_json(report: CompactionReport) -> dict[str, Any]:
    document = report_to_json(report) | {
        "summary": report.compaction.summary,
        "kept_ids": list(report.kept),
        "lost_ids": list(report.lost),
        "lost_facts": [
            fact_to_json(fact)
            | {
                "restored": fact.id in report.restored,
                "would_restore": fact.id in report.would_restore,
            }
            for fact in report.lost_facts
        ],
        "would_deliver": report.would_deliver.text if report.would_deliver else None,
    }
    for described, delivery in zip(document["delivered"], report.deliveries, strict=True):
        described["text"] = delivery.text
    return document


def _print_link(
    out: Screen, report: CompactionReport, document: dict[str, Any], folder: str, full: bool
) -> None:
    compaction = report.compaction
    after = f" → {compaction.tokens_after:,}" if compaction.tokens_after else ""
    sizes = f"{output.format_count(compaction.tokens_before)}{after} tokens"
    trigger = output.format_one_line(compaction.trigger or "unknown", 20)
    when = f"{format_minute(compaction.time)} UTC, {trigger}, {sizes}"
    out.print(Text.assemble((f"{document['number']}. ", "bold"), when))
    if report.comparison == "no":
        out.say("   not compared: no summary, or no checkpoint before it", "dim")
        return
    out.indented(f"summary {format_outcome(document)}", indent=3)
    out.indented(f"restored: {format_restored(document)}", "dim", indent=3)
    lost = report.lost_facts
    shown = len(lost) if full else MAX_LOST_SHOWN
    kind = ""
    for fact in lost[:shown]:
        if fact.kind != kind:
            kind = fact.kind
            out.print(Text(f"   Lost: {kind_heading(kind).lower()}", style="bold"))
        line = _format_lost(report, fact, folder, MAX_DETAIL_CHARS if full else MAX_TEXT_CHARS)
        out.indented(line, indent=11, first=f"     {fact.id}")
    if len(lost) > shown:
        out.say(f"     and {len(lost) - shown} more; --full shows all", "dim")
    if gone := len(report.lost) - len(lost):
        out.say(f"     and {gone} no longer stored", "dim")


def _format_lost(report: CompactionReport, fact: Fact, folder: str, limit: int) -> Text:
    """A lost fact with whether it was restored: the same words wherever it is listed."""
    line = Text(_format_text(fact, folder, limit))
    if fact.id in report.restored:
        return line.append("  (restored)", style="green")
    if report.would_deliver is None:
        return line.append("  (not restored)", style="dim")
    if fact.id in report.would_restore:
        return line.append("  (would have been restored)", style="green")
    return line.append("  (not in the brief either)", style="dim")


def _format_text(fact: Fact, folder: str, limit: int) -> str:
    """A fact on one line; a file relative to the folder that the session works in."""
    text = shorten_path(fact.text, (folder,)) if fact.kind == "file" else fact.text
    return output.format_one_line(text, limit)


def show_compaction(
    store: SqliteStore, found: Session, number: int, full: bool, as_json: bool
) -> None:
    """What was known before a compaction, beside the summary and what was restored."""
    chain = {one.epoch: one for one in store.compactions(found.id, MAX_ROWS)}
    compaction = chain.get(number - 1)
    if compaction is None:
        raise output.CliError(
            f"Session {found.id[:8]} has {pluralize(len(chain), 'compaction')}, not {number}",
            f"`holdfast show {found.id[:8]} --compactions` lists them.",
        )
    report = load_report(store, compaction)
    before = load_state_before(store, compaction)
    known, wrong = _list_known(report, before), find_wrong(before, compaction.summary)
    if not known:
        raise output.CliError(
            f"No checkpoint of session {found.id[:8]} from before that compaction",
            "Compactions before the hooks were installed have none.",
        )
    rows = _rows_to_json(report, known)
    if as_json:
        restored = select_restoring(report.deliveries)
        output.print_json(
            {
                "session": found.id,
                "number": number,
                "before": rows,
                "contradictions": [one._asdict() | {"at": one.at.row} for one in wrong],
                "summary": compaction.summary,
                "restored": [
                    {"what": d.kind, "channel": d.channel, "text": d.text} for d in restored
                ],
                "would_deliver": report.would_deliver.text if report.would_deliver else None,
            }
        )
        return
    out = Screen()
    _print_contradictions(out, wrong)
    _print_rows(
        out, report, rows, [_format_text(one, found.worktree, MAX_TEXT_CHARS) for one in known]
    )
    if full:
        _print_texts(out, report)


def _print_contradictions(out: Screen, wrong: Sequence[Contradiction]) -> None:
    if wrong:
        out.print(Text("The summary says otherwise than the record:", style="bold red"))
    for one in wrong:
        out.indented(f'"{output.format_one_line(one.said, MAX_DETAIL_CHARS)}"', first="  -")
        row = f"  (row {one.at.row[:8]})" if one.at.row else ""
        out.indented(f"{one.known}{row}", "green", indent=8, first=f"    {one.fact}")
    if wrong:
        out.print()


def _list_known(report: CompactionReport, before: State) -> list[Fact]:
    """What was open right before it, most important first, and what was looked for in the
    summary."""
    facts = {fact.id: fact for fact in list_open_facts(before)}
    asked = (*report.kept, *report.also_kept, *report.lost, *report.also_lost)
    facts |= {name: report.facts[name] for name in asked if name in report.facts}
    return list(facts.values())


def _rows_to_json(report: CompactionReport, known: list[Fact]) -> list[dict[str, Any]]:
    """Where each went: `in_summary` is None where that was not compared, `restored` names brief,
    gap or both, and what is not counted does not matter, and is known all the same."""
    counted = {*report.kept, *report.lost}
    told = dict.fromkeys((*report.kept, *report.also_kept), True)
    told |= dict.fromkeys((*report.lost, *report.also_lost), False)
    facts = {fact.id: fact for fact in known}
    back = find_restored(facts, facts, report.deliveries)
    would = {*report.would_restore}
    if report.would_deliver is not None:
        would |= {*report.would_deliver.fact_ids} - {*report.kept, *report.also_kept}
    return [
        {
            "id": fact.id,
            "kind": fact.kind,
            "text": fact.text,
            "in_summary": told.get(fact.id),
            "restored": back.get(fact.id, ""),
            "would_restore": fact.id in would,
            "counted": fact.id in counted,
        }
        for fact in known
    ]


def _print_rows(
    out: Screen, report: CompactionReport, rows: list[dict[str, Any]], texts: list[str]
) -> None:
    would = report.would_deliver is not None
    back_heading = "would be restored" if would else "restored"
    narrow = out.width < NARROW_WIDTH
    table = make_table(header_style="bold", expand=True)
    table.add_column("", style="cyan", no_wrap=True)
    table.add_column("known before", ratio=1, overflow="fold")
    table.add_column("in the summary", no_wrap=True)
    table.add_column(back_heading, no_wrap=True)
    for row, text in zip(rows, texts, strict=True):
        held = {True: Text("yes", "green"), False: Text("lost", "red"), None: Text("-", "dim")}
        restored = "brief" if row["would_restore"] else row["restored"]
        missing = not restored and row["in_summary"] is False and row["counted"]
        back = Text(restored or ("no" if missing else "-"), "red" if missing else "")
        label = ("" if row["counted"] else "also known, ") + kind_name(row["kind"])
        words = Text.assemble((f"{label}: ", "dim"), (text, "default"))
        if narrow:  # what the columns say, beneath the words
            words.append("\nin the summary: ").append(held[row["in_summary"]])
            if back.plain != "-":
                words.append(f", {back_heading}: ").append(back)
        table.add_row(row["id"], words, held[row["in_summary"]], back)
    if narrow:
        drop_columns(table, 2, 3)
    out.print(table)
    if report.comparison == "no":
        return
    kept, lost = len(report.kept), len(report.lost)
    given = f"restored: {format_restored(report_to_json(report))}"
    if would:
        given = f"Holdfast would have restored {len(report.would_restore)} of {lost}"
    ending = f"; {given}." if lost else "."
    out.say(f"\nThe summary kept {kept} of {kept + lost} facts that matter{ending}")


def _print_texts(out: Screen, report: CompactionReport) -> None:
    would = report.would_deliver
    restored = select_restoring(report.deliveries)
    back = "\n\n".join(f"[{d.kind} by {d.channel}]\n{d.text}" for d in restored)
    given = "what Holdfast would have given" if would else "restored by Holdfast"
    texts = {
        "the client's summary": report.compaction.summary or "-",
        given: would.text if would else back or "-",
    }
    for heading, text in texts.items():
        out.print(Text(f"\n{heading}", style="bold"))
        out.indented(text)
