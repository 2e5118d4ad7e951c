"""`holdfast status`: what is saved of this session or of all, and what the last compaction did."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.output import (
    CliError,
    JsonOption,
    format_bytes,
    format_count,
    format_one_line,
    make_console,
    pluralize,
    print_json,
    print_words,
)
from holdfast.cli.overview import StoredSessions, describe_stored, read_stored_sessions
from holdfast.cli.store_access import (
    SessionArgument,
    find_session,
    open_user_store,
    translate_errors,
)
from holdfast.clock import format_minute
from holdfast.fastpath.session_dir import SessionDir, decode_prebuilt
from holdfast.files import read
from holdfast.paths import data_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.state import State
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite.store import SqliteStore


def status(
    session: SessionArgument = "",
    all_sessions: Annotated[
        bool, typer.Option("--all", help="List all stored sessions, latest first.")
    ] = False,
    compactions: Annotated[
        bool,
        typer.Option(
            "--compactions",
            help="List the compactions of all sessions, latest first: what each summary kept and "
            "lost, and what was restored.",
        ),
    ] = False,
    project: Annotated[
        str,
        typer.Option("--project", metavar="FOLDER", help="With a list: only of this project."),
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="With a list: maximum rows.")
    ] = 50,
    as_json: JsonOption = False,
) -> None:
    """Show what is saved of this session, or of all, and what the last compaction did.

    Example: `holdfast status --all`
    """

    from holdfast.cli.compactions import show_compactions
    from holdfast.cli.sessions import show_sessions

    _check_options(session, all_sessions, compactions, project)
    if all_sessions:
        show_sessions(project, limit, as_json)
    elif compactions:
        show_compactions(project, limit, as_json)
    else:
        _show_session(session, as_json)


def _check_options(session: str, all_sessions: bool, compactions: bool, project: str) -> None:
    if all_sessions and compactions:
        raise typer.BadParameter("use either --all or --compactions", param_hint="--all")
    if session and (all_sessions or compactions):
        name = "--all" if all_sessions else "--compactions"
        raise typer.BadParameter("lists all sessions; pass none", param_hint=name)
    if project and not (all_sessions or compactions):
        raise typer.BadParameter("needs --all or --compactions", param_hint="--project")


def _show_session(session: str, as_json: bool) -> None:
    hint, service = _check_hooks_quickly(), _read_sync_status()
    stored = StoredSessions() if session else read_stored_sessions()
    if not session and not stored.here_id:
        machine = {"session": None, "sessions": stored.total, "hint": hint, "service": service}
        print_json(machine) if as_json else _print_machine(stored, hint, service)
        return
    with open_user_store() as store, translate_errors():
        document = _document(store, find_session(store, session or stored.here_id))
    document["hint"] = hint
    document["service"] = service
    if as_json:
        print_json(document)
        return
    _show(document)


def _print_machine(stored: StoredSessions, hint: str, service: dict[str, Any] | None) -> None:
    """How it stands on this machine, where no session of this folder is stored."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("hooks", Text(hint or "installed"))
    table.add_row("sessions", Text(describe_stored(stored)))
    table.add_row("data", Text(data_dir()))
    if service:
        table.add_row("service", Text(service["words"]))
    out = make_console()
    out.print(table)
    if stored.total:
        out.print(Text("`holdfast status --all` lists them.", style="dim"))


def _check_hooks_quickly() -> str:
    """Whether the hooks are all right, from reading the settings alone."""

    from holdfast.cli.doctor import detect_environment
    from holdfast.doctor.check_hooks import describe_hook_problem

    return describe_hook_problem(detect_environment(quick=True))


def _read_sync_status() -> dict[str, Any] | None:
    """How syncing to the team's server is going; None where there is none."""

    from holdfast.sync.connection import UnsafeConnectionFile, format_sync_status, read_sync_status

    try:
        told = read_sync_status(data_dir(), os.environ)
    except UnsafeConnectionFile as error:
        return {"words": str(error)}
    if told is None:
        return None
    document = told._asdict()
    for name in ("rejected", "messages_rejected"):
        document[name] = [one._asdict() for one in document[name]]
    return {**document, "words": format_sync_status(told, time.time())}


def _document(store: SqliteStore, session: Session) -> dict[str, Any]:
    from holdfast.cli.compactions import count_by_kind, report_to_json
    from holdfast.compaction.report import load_report

    checkpoints = store.checkpoints(session.id)
    compactions = store.compactions(session.id, 1)
    deliveries = store.deliveries(session.id)
    document: dict[str, Any] = {
        "session": session._asdict(),
        "saved": _saved(store, session),
        "checkpoints": len(checkpoints),
        "checkpoint": None,
        "compaction": None,
        "waiting": _read_pending_gap(session),
        "handoff": next((d.time for d in deliveries if d.kind == "handoff"), None),
    }
    if checkpoints:
        latest = checkpoints[0]
        document["checkpoint"] = {
            "id": latest.id,
            "cause": latest.cause,
            "time": latest.time,
            "epoch": latest.epoch,
        }
    if compactions:
        report = load_report(store, compactions[0], deliveries)
        document["compaction"] = report_to_json(report) | {
            "lost_by_kind": count_by_kind(report.lost_facts)
        }
    return document


def _saved(store: SqliteStore, session: Session) -> dict[str, Any] | None:
    """What the saved state says; None where none was saved."""

    from holdfast.session.follow import from_saved
    from holdfast.state import UnreadableState

    saved = store.load(session.id)
    if saved is None:
        return None
    try:
        followed = from_saved(saved.state, saved.position)
    except UnreadableState as error:
        raise CliError(
            f"The saved state has another version ({error})", "The next hook rebuilds it."
        ) from error
    state = followed.state
    try:
        behind = os.path.getsize(session.transcript) - followed.cursor.position
    except OSError:
        behind = 0  # the transcript is gone: all there is, is here
    return {
        "epoch": state.position.epoch,
        "context_tokens": state.usage.context or None,
        "model": state.usage.model,
        "updated": state.session.updated,
        "read_bytes": followed.cursor.position,
        "unread_bytes": max(0, behind),
        "open": _open(state),
    }


def _open(state: State) -> dict[str, int]:
    return {
        "rule": _count_open(state.rules),
        "task": _count_open(state.tasks),
        "error": _count_open(state.errors),
        "failing_test": sum(run.result == "failed" for run in state.suite_runs.values()),
        "dead_end": _count_open(state.dead_ends),
    }


def _count_open(records: Mapping[str, Any]) -> int:
    from holdfast.state.facts import OPEN

    return sum(record.status == OPEN for record in records.values())


def _read_pending_gap(session: Session) -> dict[str, Any] | None:
    """The gap that the next prompt or tool batch will bring; read, not claimed."""
    session_dir = SessionDir(data_dir(), session.id)
    raw = read(f"{session_dir.path}/gap")
    gap = decode_prebuilt(raw) if raw is not None else None
    if gap is None:
        return None
    facts = [name for name in gap.fact_ids.split(",") if name]
    return {"epoch": gap.epoch, "time": gap.time, "characters": len(gap.text), "facts": facts}


def _show(document: dict[str, Any]) -> None:
    out = make_console()
    session = document["session"]
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    state = "ended " + format_minute(session["ended"]) if session["ended"] else "may go on"
    about = f"  {format_one_line(session['title'], 60)}" if session["title"] else ""
    table.add_row("session", Text(session["id"][:8], style="cyan") + Text(f"{about} ({state})"))
    branch = f" on {session['branch']}" if session["branch"] else ""
    table.add_row("project", Text(format_one_line(f"{session['worktree'] or '-'}{branch}", 200)))
    for name, words in _rows(document):
        table.add_row(name, Text(words))
    out.print(table)
    if document["hint"]:
        print_words(document["hint"], "dim")


def _rows(document: dict[str, Any]) -> list[tuple[str, str]]:
    from holdfast.cli.compactions import format_deliveries, format_outcome

    rows = []
    saved = document["saved"]
    if saved is None:
        rows.append(("saved", "nothing yet"))
    else:
        behind = saved["unread_bytes"]
        unread = f"; {format_bytes(behind)} written since then not read yet" if behind else ""
        rows.append(("saved", f"up to {format_minute(saved['updated'])} UTC{unread}"))
        used = saved["context_tokens"]
        context = f"{used:,} tokens in use" if used else "not known yet"
        rows.append(("context", f"{context}, after {pluralize(saved['epoch'], 'compaction')}"))
        counts = saved["open"]
        said = [pluralize(count, name) for name, count in counts.items() if count]
        rows.append(("open", ", ".join(said) or "nothing"))
    checkpoint = document["checkpoint"]
    if checkpoint:
        rows.append(
            ("checkpoint", f"{format_minute(checkpoint['time'])} UTC, {checkpoint['cause']}")
        )
    compaction = document["compaction"]
    if compaction:
        sizes = f", {format_count(compaction['tokens_before'])} tokens before"
        shown = sizes if compaction["tokens_before"] else ""
        trigger = format_one_line(compaction["trigger"] or "unknown", 20)
        rows.append(("compaction", f"{format_minute(compaction['time'])} UTC, {trigger}{shown}"))
        if compaction["compared"] != "no":
            rows.append(("", f"the summary {format_outcome(compaction)}"))
            rows.append(("restored", format_deliveries(compaction)))
    waiting = document["waiting"]
    if waiting:
        facts = pluralize(len(waiting["facts"]), "fact")
        rows.append(("waiting", f"{facts}, for the next prompt or tool batch"))
    if document["service"]:
        rows.append(("service", document["service"]["words"]))
        if document["service"].get("failures"):
            rows.append(("", format_one_line(document["service"]["failure"], 200)))
    return rows
