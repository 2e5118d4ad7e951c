"""`holdfast status`: what is saved of this session, and what its last compaction did."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, console, one_line, size, when

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.state import State
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite import SqliteStore


def status(
    session: Annotated[
        str,
        typer.Argument(
            metavar="SESSION",
            help="The beginning of its id. Default: the session this runs in, else the latest of "
            "this folder's project.",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Show what is saved of a session, and what the last compaction kept, lost and got back.

    Example: `holdfast status`
    """
    from holdfast.cli.opening import foreseen, opened_store, session_named
    from holdfast.cli.past import anything_stored

    hint, service = _hint(), _service()
    if not session and not anything_stored():
        nothing = "Nothing is saved yet: the first session with the hooks begins it."
        empty = {"session": None, "hint": hint, "service": service}
        answer(empty) if as_json else _tell(nothing, hint, service)
        return
    with opened_store() as store, foreseen():
        try:
            found = session_named(store, session) if session else current_session(store)
        except Trouble:
            if service and not as_json:
                _tell("", "", service)
            raise
        document = _document(store, found)
    document["hint"] = hint
    document["service"] = service
    if as_json:
        answer(document)
        return
    _show(document)


def _tell(words: str, hint: str, service: dict[str, Any] | None) -> None:
    """What there is to say where there is no session to show."""
    from rich.text import Text

    out = console()
    if words:
        out.print(words)
    if service:
        out.print(Text(f"service: {service['words']}"), soft_wrap=True)
    if hint:
        out.print(Text(hint, style="dim"), soft_wrap=True)


def _hint() -> str:
    """Whether the hooks are all right, from reading the settings alone."""
    from holdfast.cli.around import surroundings
    from holdfast.doctor.wiring import hint

    return hint(surroundings(quick=True))


def _service() -> dict[str, Any] | None:
    """How carrying to the team's service stands; None where there is none."""
    import time

    from holdfast.lifecycle.carrying.service import Unsafe
    from holdfast.lifecycle.carrying.standing import in_words, standing
    from holdfast.lifecycle.places import data_folder

    try:
        told = standing(data_folder(), os.environ)
    except Unsafe as error:
        return {"words": str(error)}
    if told is None:
        return None
    lists = {
        name: [one._asdict() for one in found]
        for name, found in (("refused", told.refused), ("messages_refused", told.messages_refused))
    }
    return {**told._asdict(), **lists, "words": in_words(told, time.time())}


def current_session(store: SqliteStore) -> Session:
    from holdfast.lifecycle.project import place_of

    running = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    known = store.session(running) if running else None
    if known is not None:
        return known
    project, worktree = place_of(os.path.realpath(os.getcwd()))
    here = store.sessions(project=project, limit=50)
    mine = [one for one in here if one.worktree == worktree]
    if mine or here:
        return (mine or list(here))[0]
    raise Trouble(
        f"No session of {project} is known",
        "`holdfast sessions` lists those of other projects; name one of them.",
    )


def _document(store: SqliteStore, session: Session) -> dict[str, Any]:
    from holdfast.cli.past import (
        by_kind,
        compaction_document,
        deliveries_of,
        facts_named,
    )

    checkpoints = store.checkpoints(session.id)
    compactions = store.compactions(session.id, 1)
    deliveries = store.deliveries(session.id)
    document: dict[str, Any] = {
        "session": session._asdict(),
        "saved": _saved(store, session),
        "checkpoints": len(checkpoints),
        "checkpoint": None,
        "compaction": None,
        "waiting": _waiting(session),
        "handoff": next((d.time for d in deliveries if d.what == "handoff"), None),
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
        latest_one = compactions[0]
        lost = facts_named(store, session.id, latest_one.lost)
        document["compaction"] = compaction_document(
            latest_one, deliveries_of(latest_one, deliveries)
        ) | {"lost_by_kind": by_kind(lost)}
    return document


def _saved(store: SqliteStore, session: Session) -> dict[str, Any] | None:
    """What the saved state says; None where none was saved."""
    from holdfast.lifecycle.track import from_saved
    from holdfast.state import UnreadableState

    saved = store.load(session.id)
    if saved is None:
        return None
    try:
        tracked = from_saved(saved.state, saved.position)
    except UnreadableState as error:
        raise Trouble(
            f"The saved state is of another version ({error})", "The next hook reads it anew."
        ) from error
    state = tracked.state
    try:
        behind = os.path.getsize(session.transcript) - tracked.cursor.offset
    except OSError:
        behind = 0  # the transcript is gone: all there is, is here
    return {
        "epoch": state.moment.epoch,
        "context_tokens": state.usage.context or None,
        "model": state.usage.model,
        "updated": state.place.updated,
        "read_bytes": tracked.cursor.offset,
        "unread_bytes": max(0, behind),
        "open": _open(state),
    }


def _open(state: State) -> dict[str, int]:
    return {
        "rule": _standing(state.rules),
        "task": _standing(state.tasks),
        "error": _standing(state.errors),
        "failing_test": sum(run.result == "failed" for run in state.tests.values()),
        "dead_end": _standing(state.dead_ends),
    }


def _standing(records: Mapping[str, Any]) -> int:
    from holdfast.state.facts import OPEN

    return sum(record.standing == OPEN for record in records.values())


def _waiting(session: Session) -> dict[str, Any] | None:
    """The gap that the next prompt or tool batch will bring; read, not claimed."""
    from holdfast.files import read
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.tray import Tray, decode

    tray = Tray(data_folder(), session.id)
    raw = read(f"{tray.folder}/gap")
    gap = decode(raw) if raw is not None else None
    if gap is None:
        return None
    facts = [name for name in gap.facts.split(",") if name]
    return {"epoch": gap.epoch, "time": gap.time, "characters": len(gap.text), "facts": facts}


def _show(document: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    session = document["session"]
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    state = "ended " + when(session["ended"]) if session["ended"] else "may go on"
    about = f"  {one_line(session['title'], 60)}" if session["title"] else ""
    table.add_row("session", Text(session["id"][:8], style="cyan") + Text(f"{about} ({state})"))
    branch = f" on {session['branch']}" if session["branch"] else ""
    table.add_row("project", Text(one_line(f"{session['worktree'] or '-'}{branch}", 200)))
    for name, words in _rows(document):
        table.add_row(name, Text(words))
    out.print(table)
    if document["hint"]:
        out.print(Text(document["hint"], style="dim"), soft_wrap=True)


def _rows(document: dict[str, Any]) -> list[tuple[str, str]]:
    from holdfast.cli.past import counted, tokens, told

    rows = []
    saved = document["saved"]
    if saved is None:
        rows.append(("saved", "nothing yet"))
    else:
        behind = saved["unread_bytes"]
        unread = f"; {size(behind)} written since are not read yet" if behind else ""
        rows.append(("saved", f"up to {when(saved['updated'])} UTC{unread}"))
        used = saved["context_tokens"]
        context = f"{used:,} tokens in use" if used else "not known yet"
        rows.append(("context", f"{context}, after {counted(saved['epoch'], 'compaction')}"))
        counts = saved["open"]
        said = [counted(count, name) for name, count in counts.items() if count]
        rows.append(("open", ", ".join(said) or "nothing"))
    checkpoint = document["checkpoint"]
    if checkpoint:
        rows.append(("checkpoint", f"{when(checkpoint['time'])} UTC, {checkpoint['cause']}"))
    compaction = document["compaction"]
    if compaction:
        sizes = f", {tokens(compaction['tokens_before'])} tokens before"
        shown = sizes if compaction["tokens_before"] else ""
        trigger = one_line(compaction["trigger"] or "unknown", 20)
        rows.append(("compaction", f"{when(compaction['time'])} UTC, {trigger}{shown}"))
        if compaction["kept"] is None:
            rows.append(("", "it was not seen by the hooks"))
        else:
            kinds = compaction["lost_by_kind"]
            by_kind = ", ".join(counted(n, kind) for kind, n in kinds.items())
            lost = f"the summary kept {compaction['kept']}, lost {compaction['lost']}"
            rows.append(("", lost + (f": {by_kind}" if by_kind else "")))
            rows.append(("delivered", told(compaction["delivered"])))
    waiting = document["waiting"]
    if waiting:
        facts = counted(len(waiting["facts"]), "fact")
        rows.append(("waiting", f"{facts}, for the next prompt or tool batch"))
    if document["service"]:
        rows.append(("service", document["service"]["words"]))
        if document["service"].get("failures"):
            rows.append(("", one_line(document["service"]["failure"], 200)))
    return rows
