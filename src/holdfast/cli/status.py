"""`holdfast status`: what is saved of this session or of all, and what the last compaction did.

`holdfast` alone, too: what is going on here, and the next thing to do. Must not change anything;
the overview does not fail where a store is missing or unreadable, it says so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

import holdfast
from holdfast.cli import output, store_access
from holdfast.cli.screen import Screen
from holdfast.clock import format_minute
from holdfast.fastpath.session_dir import SessionDir
from holdfast.own_copy import format_call, spell_calls
from holdfast.paths import data_dir
from holdfast.records import NamedTuple
from holdfast.text import pluralize

if TYPE_CHECKING:
    from holdfast.state import State
    from holdfast.store.protocol import Delivery, Session
    from holdfast.store.sqlite.store import SqliteStore


MAX_GUARDS = 8  # rules that are shown
MAX_COUNTED = 10_000


class StoredSessions(NamedTuple):
    """What the store has: of this machine, and of the folder in which this runs."""

    total: int = 0
    here_id: str = ""  # the session that `holdfast status` shows
    here: str = ""  # in words
    problem: str = ""  # why it cannot be read

    @property
    def words(self) -> str:
        if self.problem or not self.total:
            return self.problem or f"{store_access.EmptyStore().what}."
        count = pluralize(self.total, "session")
        return f"{count} saved" + (
            f". Here: {self.here}" if self.here else ", none of this project."
        )


def show_overview() -> None:
    hint = _check_hooks_quickly()
    try:
        stored = _read_stored_sessions()
    except store_access.list_foreseeable() as error:
        stored = StoredSessions(problem=str(error))
    out = Screen()
    out.print(Text(f"Holdfast {holdfast.__version__}", style="bold"))
    out.say(spell_calls(hint) or "The hooks are installed.")
    out.say(stored.words)
    out.print()
    steps = [(format_call() + rest, purpose) for rest, purpose in _list_next_steps(hint, stored)]
    out.steps(steps, min_width=23)


def _check_hooks_quickly() -> str:
    """What is wrong with the hooks, from reading the settings alone."""
    from holdfast.cli.doctor import detect_environment
    from holdfast.doctor.check_hooks import describe_hook_problem

    return describe_hook_problem(detect_environment(quick=True))


def _read_stored_sessions() -> StoredSessions:
    if not store_access.store_exists():
        return StoredSessions()
    with store_access.open_user_store() as store:
        total = len(store.sessions(limit=MAX_COUNTED))
        try:
            session = store_access.resolve_session(store, "")
        except output.CliError:
            return StoredSessions(total)
    title = output.format_one_line(session.title, 60)
    words = f"{session.id[:8]}, last active {format_minute(session.updated or session.started)}"
    return StoredSessions(total, session.id, f"{words}: {title}" if title else words)


def _list_next_steps(hint: str, stored: StoredSessions) -> list[tuple[str, str]]:
    """What follows `holdfast`, and what for; the next thing to do comes first."""
    steps = []
    if stored.problem or (hint and "holdfast install" not in hint):
        steps.append((" doctor", "find out what is wrong"))
    elif hint:
        if not stored.total:
            steps.append((" try", "a demo on a recorded session; changes nothing"))
        steps.append((" install", "add the hooks to Claude Code's settings"))
    if stored.here:
        steps.append((" status", "what is saved of this session"))
    elif stored.total:
        steps.append((" status --all", "the sessions of other projects"))
    elif not stored.problem:
        steps.append((" audit", "what compaction has cost you so far"))
    return [*steps, (" --help", "all commands")]


def status(
    session: store_access.SessionArgument = "",
    all_: bool = False,
    compactions: bool = False,
    project: str = "",
    limit: output.Count = 50,
    as_json: output.JsonOption = False,
) -> None:
    """Show what is saved of this session, or of all, and what the last compaction did.

    --all: List all stored sessions, latest first.
    --compactions: List the compactions of all sessions, latest first: what each summary kept and
        lost, and what was restored.
    --project FOLDER: With a list: only of this project.
    --limit N: With a list: maximum rows.

    Example: `holdfast status --all`
    """
    if all_ and compactions:
        raise typer.BadParameter("use either --all or --compactions", param_hint="--all")
    if session and (all_ or compactions):
        name = "--all" if all_ else "--compactions"
        raise typer.BadParameter("lists all sessions; pass none", param_hint=name)
    if project and not (all_ or compactions):
        raise typer.BadParameter("needs --all or --compactions", param_hint="--project")
    if all_:
        from holdfast.cli.views.session import show_sessions

        with store_access.open_user_store([]) as store:
            show_sessions(store, project, limit, as_json)
    elif compactions:
        from holdfast.cli.views.compaction import show_compactions

        with store_access.open_user_store([]) as store:
            show_compactions(store, project, limit, as_json)
    else:
        _show_session(session, as_json)


def _show_session(session: str, as_json: bool) -> None:
    around = {"hint": _check_hooks_quickly(), "service": _read_sync_status()}
    stored = StoredSessions() if session else _read_stored_sessions()
    out = Screen()
    if session or stored.here_id:
        with store_access.open_user_store() as store:
            document = _status_to_json(
                store, store_access.find_session(store, session or stored.here_id)
            )
        if as_json:
            output.print_json(document | around)
            return
        out.rows(_list_rows(document | around))
        if around["hint"]:
            out.say(around["hint"], "dim")
    elif as_json:
        output.print_json({"session": None, "sessions": stored.total, **around})
    else:  # the state of this machine, where no session of this folder is stored
        rows = [("hooks", around["hint"] or "installed"), ("sessions", stored.words)]
        out.rows([*rows, ("data", data_dir()), *_list_service_rows(around["service"])])
        if stored.total:
            out.say("`holdfast status --all` lists them.", "dim")


def _read_sync_status() -> Any:
    """How syncing to the team's server is going; None where there is none."""
    from holdfast.sync.connection import UnsafeConnectionFile, format_sync_status, read_sync_status

    try:
        told = read_sync_status(data_dir())
    except UnsafeConnectionFile as error:
        return {"words": str(error)}
    if told is None:
        return None
    document = told._asdict()
    for name in ("rejected", "messages_rejected"):
        document[name] = [one._asdict() for one in document[name]]
    return {**document, "words": format_sync_status(told, time.time())}


def _status_to_json(store: SqliteStore, session: Session) -> dict[str, Any]:
    from holdfast.cli.views.compaction import report_to_json
    from holdfast.compaction.report import load_report

    checkpoints = store.checkpoints(session.id)
    compactions = store.compactions(session.id, 1)
    deliveries = store.deliveries(session.id)
    latest = [
        {"id": one.id, "cause": one.cause, "time": one.time, "epoch": one.epoch}
        for one in checkpoints[:1]
    ]
    reports = [report_to_json(load_report(store, one, deliveries)) for one in compactions]
    return {
        "session": session._asdict(),
        "saved": _read_saved(store, session, deliveries),
        "checkpoints": len(checkpoints),
        "checkpoint": latest[0] if latest else None,
        "compaction": reports[0] if reports else None,
        "waiting": _read_pending_gap(session),
        "handoff": next((one.time for one in deliveries if one.kind == "handoff"), None),
    }


def _read_saved(
    store: SqliteStore, session: Session, deliveries: Sequence[Delivery]
) -> dict[str, Any] | None:
    """What the saved state says; None where none was saved."""
    from holdfast.session.follow import from_saved
    from holdfast.session.guard_file import list_guards
    from holdfast.state import UnreadableState

    saved = store.load(session.id)
    if saved is None:
        return None
    try:
        followed = from_saved(saved.state, saved.position)
    except UnreadableState as error:
        raise output.CliError(
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
        "open": _count_open_kinds(state),
        "guards": list_guards(state, deliveries),
    }


def _count_open_kinds(state: State) -> dict[str, int]:
    from holdfast.state.demand_sentences import HOLD, MARKED, RULE
    from holdfast.state.facts import OPEN
    from holdfast.state.rules import list_demands

    def count_open(records: Iterable[Any]) -> int:
        return sum(record.status == OPEN for record in records)

    return {
        "hold": len(list_demands(state.rules, HOLD)),
        "rule": len(list_demands(state.rules, RULE, MARKED)),
        "task": count_open(state.tasks.values()),
        "error": count_open(state.errors.values()),
        "failing_test": sum(run.result == "failed" for run in state.suite_runs.values()),
        "dead_end": count_open(state.dead_ends.values()),
    }


def _read_pending_gap(session: Session) -> dict[str, Any] | None:
    """The gap that the next prompt or tool batch will bring; read, not claimed."""
    gap = SessionDir(data_dir(), session.id).pending.read_prebuilt("gap")
    if gap is None:
        return None
    facts = [name for name in gap.fact_ids.split(",") if name]
    return {"epoch": gap.epoch, "time": gap.time, "characters": len(gap.text), "facts": facts}


def _list_rows(document: dict[str, Any]) -> Iterable[tuple[str, str | Text]]:
    session, checkpoint = document["session"], document["checkpoint"]
    state = "ended " + format_minute(session["ended"]) if session["ended"] else "may go on"
    about = f"  {output.format_one_line(session['title'], 60)}" if session["title"] else ""
    yield "session", Text.assemble((session["id"][:8], "cyan"), f"{about} ({state})")
    branch = f" on {session['branch']}" if session["branch"] else ""
    yield "project", output.format_one_line(f"{session['worktree'] or '-'}{branch}", 200)
    yield from _list_saved_rows(document["saved"])
    if checkpoint:
        yield "checkpoint", f"{format_minute(checkpoint['time'])} UTC, {checkpoint['cause']}"
    yield from _list_compaction_rows(document["compaction"])
    if waiting := document["waiting"]:
        facts = pluralize(len(waiting["facts"]), "fact")
        yield "waiting", f"{facts}, for the next prompt or tool batch"
    yield from _list_service_rows(document["service"])


def _list_saved_rows(saved: dict[str, Any] | None) -> Iterable[tuple[str, str]]:
    if saved is None:
        yield "saved", "nothing yet"
        return
    behind, used = saved["unread_bytes"], saved["context_tokens"]
    unread = f"; {output.format_bytes(behind)} written since then not read yet" if behind else ""
    yield "saved", f"up to {format_minute(saved['updated'])} UTC{unread}"
    context = f"{used:,} tokens in use" if used else "not known yet"
    yield "context", f"{context}, after {pluralize(saved['epoch'], 'compaction')}"
    counts = [
        pluralize(count, name.replace("_", " ")) for name, count in saved["open"].items() if count
    ]
    yield "open", ", ".join(counts) or "nothing"
    for place, guard in enumerate(saved["guards"][:MAX_GUARDS]):
        spoke = guard["reminded"]
        reminded = f"reminded {format_minute(spoke)} UTC" if spoke else "not broken so far"
        sentence = output.format_one_line(guard["sentence"], 80)
        yield "" if place else "guards", f"[{guard['id']}] {sentence} ({reminded})"


def _list_compaction_rows(compaction: dict[str, Any] | None) -> Iterable[tuple[str, str]]:
    from holdfast.cli.views.compaction import format_outcome, format_restored

    if not compaction:
        return
    before = compaction["tokens_before"]
    sizes = f", {before:,} tokens before" if before else ""
    trigger = output.format_one_line(compaction["trigger"] or "unknown", 20)
    yield "compaction", f"{format_minute(compaction['time'])} UTC, {trigger}{sizes}"
    if compaction["compared"] != "no":
        yield "", f"the summary {format_outcome(compaction)}"
        yield "restored", format_restored(compaction)


def _list_service_rows(service: dict[str, Any] | None) -> Iterable[tuple[str, str]]:
    if service:
        yield "service", service["words"]
        if service.get("failures"):
            yield "", output.format_one_line(service["failure"], 200)
