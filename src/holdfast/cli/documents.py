"""`holdfast session note`, `handoff`, `resume` and `tasks`: what is written down of a session.

A note is something to keep, by the user or the agent, word for word; a handoff is a page for the
next session.
"""

import os
from typing import Annotated, Any

import typer
from rich.text import Text

from holdfast.brief.hook_texts import is_unfinished
from holdfast.cli import output, store_access
from holdfast.cli.screen import Screen
from holdfast.clock import format_minute, format_now
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import File
from holdfast.paths import data_dir
from holdfast.redact import redact
from holdfast.session import documents, notes_file
from holdfast.session.context import get_agent_session_id
from holdfast.session.notes_file import MAX_PAGE_BYTES
from holdfast.state.notes import MAX_NOTE_CHARS, NoteLine
from holdfast.state.task_summary import encode_summary, format_summary
from holdfast.store.protocol import Session
from holdfast.store.sqlite.store import SqliteStore

NOTE_KINDS = {"decision": "decision", "rule": "rule", "dead-end": "dead_end", "next": "next_step"}


def note(
    text: Annotated[list[str] | None, typer.Argument()] = None,
    kind: str = "",
    session: store_access.SessionOption = "",
    show: bool = False,
    as_json: output.JsonOption = False,
) -> None:
    """Add a note to a session. It is restored verbatim after every compaction.

    TEXT: Text of the note.
    --kind KIND: decision, rule, dead-end or next.
    --show: Show the session's notes.

    Example: `holdfast session note --kind decision "Cents as integers, because floats lost one"`
    """
    words = " ".join(" ".join(text or ()).split())
    if not words and not show:
        raise typer.BadParameter("pass a text, or use --show", param_hint="TEXT")
    name = kind.strip().lower().replace("_", "-").removesuffix("-step")
    if name and name not in NOTE_KINDS:
        raise typer.BadParameter(
            f"{kind!r} is not one of {', '.join(NOTE_KINDS)}", param_hint="--kind"
        )
    if len(words) > MAX_NOTE_CHARS:
        raise typer.BadParameter(
            f"the note has {len(words)} characters; at most {MAX_NOTE_CHARS} are kept",
            param_hint="TEXT",
        )
    running = "" if session else get_agent_session_id(os.environ)
    if running:  # a running session can be noted for before the store knows it
        session_id = running
    else:
        with store_access.open_user_store() as store:
            session_id = store_access.resolve_session(store, session).id
    if words:
        _save_note(session_id, NOTE_KINDS.get(name, "note"), words, as_json)
    if show:
        _print_notes(session_id, as_json)


def _save_note(session_id: str, kind: str, words: str, as_json: bool) -> None:
    running = get_agent_session_id(os.environ)
    by = "agent" if running or os.environ.get("CLAUDECODE") else "user"
    said = redact(words)
    folder = SessionDir(data_dir(), session_id)
    with output.explain_os_error("Cannot save the note", "See `holdfast doctor`."):
        notes_file.append_note(folder, NoteLine(kind, said, by, format_now()))
    if store_access.store_exists():  # the hooks publish it too, but a person looks at once
        with store_access.open_user_store() as store:
            if session := store.session(session_id):
                documents.publish_notes(*store_access.load_session_view(store, session))
    if as_json:
        output.print_json({"session": session_id, "kind": kind, "by": by, "text": said})
        return
    # In these words the transcript's reader knows a note that the agent took.
    output.print_line(f'Noted as {kind.replace("_", " ")}: "{said}"')
    if not running:
        output.print_line(f"For session {session_id[:8]}.")


def _print_notes(session_id: str, as_json: bool) -> None:
    ctx, view = store_access.open_session_view(session_id, find=store_access.find_session)
    file = documents.notes_path(ctx, view.session)
    path, page = file.path, file.text(MAX_PAGE_BYTES)
    if as_json:
        notes = [note._asdict() | {"at": note.at.time} for note in view.display.notes.values()]
        output.print_json({"session": session_id, "path": path, "notes": notes, "page": page})
        return
    Screen().verbatim(path, "dim")
    output.print_line(page.rstrip("\n") or "No notes yet.")


def handoff(
    session: store_access.SessionArgument = "", to: str = "", as_json: output.JsonOption = False
) -> None:
    """Write the handoff page of a session: a Markdown file to read, edit and continue from.

    An edited page is never overwritten; the new one is written next to it.

    --to FILE: File to write. Default: a file in the data folder.

    Example: `holdfast session handoff --to HANDOFF.md`
    """
    ctx, view = store_access.open_session_view(session)
    found = view.session
    chosen = File(os.path.abspath(to)) if to else documents.handoff_path(ctx, found)
    page = documents.make_handoff_page(ctx, view)
    with output.explain_os_error(f"Cannot write {chosen.path}", "Choose another --to."):
        written = handoff_offers.write_page(chosen, page, found.id)
    edited = chosen.path if written != chosen.path else None
    if as_json:
        output.print_json({"session": found.id, "path": written, "edited": edited})
        return
    Screen().verbatim(written)
    if edited:
        Screen().verbatim(f"{edited} was edited by hand and is left unchanged.")


def resume(session: store_access.SessionArgument = "", as_json: output.JsonOption = False) -> None:
    """Show the handoff of an earlier session and mark it as resumed.

    Without a session: the one offered in this folder. An edited page is shown as is.

    Example: `holdfast session resume 0276a600`
    """
    here, running = store_access.find_current_project(), get_agent_session_id(os.environ)
    with store_access.open_user_store() as store:
        found = (
            store_access.find_session(store, session)
            if session
            else _find_offered(store, here, running)
        )
        ctx, view = store_access.load_session_view(store, found)
    page = documents.load_handoff_page(ctx, view)
    # Looking at another folder's is reading, not going on with it.
    taken = documents.accept_handoff(
        ctx.session_dir.data_dir, found, page, here, running, ctx.now.text
    )
    finished = not is_unfinished(view.followed.state, documents.list_carried(ctx, view))
    if as_json:
        done = {"session": found.id, "taken_up": taken, "finished": finished}
        output.print_json(done | page._asdict())
        return
    output.print_line(page.text.rstrip("\n"))
    if finished:
        output.print_line("\nThis session left nothing open.")


def _find_offered(store: SqliteStore, here: tuple[str, str], running: str) -> Session:
    """The one that a new session here would be offered."""
    found = documents.find_waiting_session(store, data_dir(), here, running)
    if found is None:
        raise output.CliError(
            f"No unfinished session to resume in {here[1]}",
            "`holdfast status --all` lists all sessions; pass one to see its handoff.",
        )
    return found


def tasks(session: store_access.SessionArgument = "", as_json: output.JsonOption = False) -> None:
    """List the tasks of a session, with summaries of the finished ones.

    Example: `holdfast session tasks 0276a600`
    """
    nothing: dict[str, Any] = {"session": None, "tasks": [], "summaries": []}
    ctx, view = store_access.open_session_view(session, None if session else nothing)
    summaries = documents.load_summaries(ctx.session_dir).summaries
    rows: list[dict[str, Any]] = [
        {
            "id": task.task,
            "subject": task.subject,
            "status": task.status,
            "client_status": task.client_status,
            "time": task.at.time,
        }
        for task in view.display.tasks.values()
    ]
    if as_json:
        told = [encode_summary(one) | {"line": format_summary(one)} for one in summaries]
        output.print_json({"session": view.session.id, "tasks": rows, "summaries": told})
        return
    known = {one.task: one for one in summaries}
    for row in rows:
        word = row["client_status"].replace("_", " ") if row["status"] == "open" else row["status"]
        _print_task(row["id"], word, row["subject"], row["time"], known.pop(row["id"], None))
    for one in known.values():  # no longer in the list, still worth knowing
        _print_task(one.task, "done", one.subject, "", one)
    if not rows and not summaries:
        Screen().say("No tasks in this session.")


def _print_task(task: str, word: str, subject: str, time: str, summary: Any) -> None:
    out = Screen()
    style = {"done": "green", "pending": "yellow", "in progress": "yellow"}.get(word, "dim")
    label = Text.assemble((f"#{task:<4} ", "cyan"), (f"{word:<12} ", style))
    words = Text(output.format_one_line(subject, 140))
    out.beside(label, words.append(f"  {format_minute(time)}" if time else "", style="dim"), 19, 6)
    if summary is None:
        return
    parts = {
        "turns": [f"{summary.start_turn} to {summary.end_turn}"],
        "files": summary.files,
        "ran": summary.commands,
        "outcome": summary.outcomes,
        "resolved": summary.errors,
    }
    for name, values in parts.items():
        if values:
            out.beside(Text(f"      {name:<9} ", "dim"), "; ".join(values), 16, 8)
