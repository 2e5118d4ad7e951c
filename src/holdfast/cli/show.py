"""`holdfast search` finds facts and words of all stored sessions; `holdfast show` opens a session,
a fact, a message or a compaction, made for reading.

Owns what a name means. What is shown of a transcript has passed the redactor. Must not write.
"""

from __future__ import annotations

import json
import os
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from holdfast import clients
from holdfast.cli import output, store_access
from holdfast.cli.screen import NARROW_WIDTH, Screen
from holdfast.clock import format_minute
from holdfast.fastpath.project import locate_project

if TYPE_CHECKING:
    from holdfast.session.archive import ArchiveMatch
    from holdfast.state.facts import Fact
    from holdfast.store.protocol import Hit, Session
    from holdfast.store.sqlite.store import SqliteStore


MAX_ABOUT_CHARS = 300  # of an edit of a file, or of words about it
# Sessions looked through, latest first, for a fact or row that is named without its session.
MAX_RECENT_SESSIONS = 20


def show(
    name: Annotated[str, typer.Argument(metavar="ID")] = "",
    compactions: bool = False,
    compaction: output.OptionalCount = None,
    from_: str = "",
    to: str = "",
    before_compaction: bool = False,
    full: bool = False,
    as_json: output.JsonOption = False,
) -> None:
    """Show a session, a fact, a message or a compaction, made for reading.

    A fact id without a session is looked up in the current project first.

    ID: A session, a fact (t3 or SESSION:t3), a message (SESSION:ROW) or a transcript file. Id
        prefixes are enough; at least six characters for a message. Default: the current session.
    --compactions: The session's compactions, with what each one lost.
    --compaction N: Its compaction N: what was known before, what the summary kept, what was
        restored.
    --from ROW: Messages from this row, line, time or compaction (c1) on.
    --to ROW: Messages up to here (same formats).
    --before-compaction: The conversation as it was before the last compaction, on a terminal whole
        and in the pager ($PAGER).
    --full: Leave nothing out.

    Example: `holdfast show 0276a600 --compaction 1`
    """
    asked = [compactions, compaction is not None, before_compaction, bool(from_ or to)]
    if sum(asked) > 1:
        raise typer.BadParameter(
            "use one of --compactions, --compaction, --before-compaction and --from/--to"
        )
    is_file = bool(name) and (os.path.isfile(name) or name.endswith((".jsonl", ".gz")))
    if is_file and (compactions or compaction is not None or before_compaction):
        raise output.CliError(
            f"{name} is a file; this shows what is stored",
            "`holdfast session ingest` stores it, then pass the session's id.",
        )
    if is_file:
        _show_file(name, from_, to, full, as_json)
        return
    with store_access.open_user_store(None if name else {"session": None}) as store:
        if compactions:
            from holdfast.cli.views.compaction import show_chain

            show_chain(store, store_access.resolve_session(store, name), full, as_json)
        elif compaction is not None:
            from holdfast.cli.views.compaction import show_compaction

            show_compaction(
                store, store_access.resolve_session(store, name), compaction, full, as_json
            )
        elif before_compaction:
            _show_before_compaction(store, store_access.resolve_session(store, name), full, as_json)
        elif from_ or to:
            _show_range(store_access.resolve_session(store, name), from_, to, as_json)
        else:
            _show_named(store, name, full, as_json)


def _show_file(path: str, first: str, last: str, full: bool, as_json: bool) -> None:
    """A transcript that need not be stored: its conversation is all there is to show."""
    from holdfast.cli.views.conversation import load_messages, print_conversation

    messages = load_messages(path, "", first, last)
    if not messages and not (first or last or as_json):
        raise output.CliError(f"No messages in {path}", "Pass a client's *.jsonl transcript.")
    if as_json:
        output.print_json({"path": path, "messages": [one._asdict() for one in messages]})
    else:
        print_conversation(messages, full or bool(first or last))


def _show_before_compaction(store: SqliteStore, found: Session, full: bool, as_json: bool) -> None:
    """From the compaction before it on: what the agent had in front of it."""
    count = len(store.compactions(found.id))
    if not count:
        what = f"Session {found.id[:8]} was not compacted"
        raise output.CliError(what, "`holdfast show` shows all of it.")
    _show_range(
        found, f"c{count - 1}" if count > 1 else "", f"c{count}", as_json, whole=full, paged=True
    )


def _show_range(
    found: Session, first: str, last: str, as_json: bool, *, whole: bool = True, paged: bool = False
) -> None:
    from holdfast.cli.views.conversation import load_messages, print_conversation

    messages = load_messages(found.transcript, found.id, first, last)
    if as_json:
        output.print_json({"session": found.id, "messages": [one._asdict() for one in messages]})
    else:
        print_conversation(messages, whole, paged=paged)


def _show_named(store: SqliteStore, name: str, full: bool, as_json: bool) -> None:
    """A session, or a fact or a row of one."""
    from holdfast.state.model import is_fact_id

    session, _, inner = name.rpartition(":")
    if session:
        candidates = [store_access.find_session(store, session)]
    else:
        whole = store_access.resolve_session(store, "") if not name else None
        if whole is None and not is_fact_id(name):
            whole = store.session(name)
        if whole is not None:
            _show_session(store, whole, full, as_json)
            return
        candidates = _list_recent(store)
        if not candidates:
            raise store_access.EmptyStore
    for candidate in candidates:
        fact = store.fact(candidate.id, inner)
        if fact is not None:
            _show_fact(store, candidate, fact, full, as_json)
            return
    for candidate in candidates:
        row = _read_row(candidate, inner, 0, store)
        if row is not None:
            _show_row(candidate, inner, row, full, as_json)
            return
    where = f"in session {candidates[0].id[:8]}" if session else "in the latest sessions"
    raise output.CliError(
        f"No {'' if session else 'session, '}fact or message named {inner!r} {where}",
        "`holdfast search` finds ids by text, `holdfast status --all` lists sessions.",
    )


def _list_recent(store: SqliteStore) -> list[Session]:
    here = list(store.sessions(project=locate_project(os.getcwd())[0], limit=MAX_RECENT_SESSIONS))
    known = {session.id for session in here}
    return here + [one for one in store.sessions(limit=MAX_RECENT_SESSIONS) if one.id not in known]


def _show_session(store: SqliteStore, session: Session, full: bool, as_json: bool) -> None:
    """What it was about, what is known of it, and its conversation."""
    from holdfast.cli.store_access import list_foreseeable
    from holdfast.cli.views.conversation import load_messages, print_conversation
    from holdfast.cli.views.fact import count_by_status
    from holdfast.cli.views.session import print_head

    counts = count_by_status(store.facts(session.id))
    compactions = store.compactions(session.id)[::-1]
    messages, missing = [], ""
    try:
        messages = load_messages(session.transcript, session.id)
    except list_foreseeable() as error:
        missing = str(error)
    if as_json:
        output.print_json(
            {
                "session": session._asdict(),
                "counts": counts,
                "compactions": [one._asdict() for one in compactions],
                "checkpoints": [one._asdict() for one in store.checkpoints(session.id)[::-1]],
                "messages": [one._asdict() for one in messages],
            }
        )
        return
    out = Screen()
    print_head(session, compactions, counts)
    out.print()
    if missing:
        out.say(f"{missing}.", "yellow")
    else:
        print_conversation(messages, full)
    if compactions:
        step = f"`holdfast show {session.id[:8]} --compactions`"
        out.say(f"\n{step} shows what each compaction lost.", "dim")


def _read_row(session: Session, row: str, start: int, store: SqliteStore) -> bytes | None:
    """From the transcript; where it no longer has the row, from what was archived of it."""
    from holdfast.session.replay import read_archived_row, read_source_row

    found = read_source_row(session.transcript, row, start) if session.transcript else None
    return read_archived_row(store, session.id, row) if found is None else found


# What a fact's status says of it, where "is" would be wrong.
_VERBS = {
    "exists": "exists",
    "works now": "works now",
    "failed": "failed",
    "ok": "succeeded",
    "invoked": "was invoked",
    **{word: f"was {word}" for word in ("deleted", "rejected", "withdrawn", "superseded")},
    **{word: f"was {word}" for word in ("cancelled", "resolved")},
}


def _show_fact(store: SqliteStore, session: Session, fact: Fact, full: bool, as_json: bool) -> None:
    from holdfast.cli.views.conversation import print_message
    from holdfast.cli.views.fact import fact_to_json, format_status
    from holdfast.state.model import KINDS, kind_name

    row = _read_row(session, fact.at.row, fact.at.start, store)
    if as_json:
        source = None if row is None else json.loads(row)
        output.print_json({"session": session.id, "fact": fact_to_json(fact), "source": source})
        return
    out = Screen()
    status = format_status(fact)
    out.print(
        Text.assemble(
            f"{kind_name(fact.kind).capitalize()} ",
            (fact.id, "cyan"),
            " of session ",
            (session.id[:8], "cyan"),
            (f" {_VERBS.get(status, f'is {status}')}:", "bold"),
        )
    )
    out.indented(fact.text)
    for line in _list_about(store, session, fact):
        if line and line != fact.text:
            out.indented(line, "dim")
    if not fact.at.row and fact.id.startswith(KINDS["note"].letter):
        show_all = f"holdfast session note --session {session.id[:8]} --show"
        out.say(f"\nA note of {format_minute(fact.at.time)} UTC. `{show_all}` shows all.")
        return
    out.print()
    if row is None:
        out.say(f"It comes from {format_minute(fact.at.time)} UTC.")
        gone = "The transcript no longer has this row, and it was not archived."
        out.say(gone, "yellow")
    else:
        print_message(row, clients.of_session(session.client), fact.at.time, full)
    _print_place(session, fact.at.row)


def _list_about(store: SqliteStore, session: Session, fact: Fact) -> list[str]:
    """What is known besides; of a file what was done to it and said of it."""
    if fact.kind != "file":
        return [fact.detail]
    from holdfast.recall.passages import list_about_file

    told = list_about_file(store, session.id, fact.text)
    return [f"{who}: {output.format_one_line(text, MAX_ABOUT_CHARS)}" for who, text in told]


def _show_row(session: Session, name: str, row: bytes, full: bool, as_json: bool) -> None:
    from holdfast.cli.views.conversation import print_message

    if as_json:
        output.print_json({"session": session.id, "row": name, "source": json.loads(row)})
        return
    print_message(row, clients.of_session(session.client), "", full)
    _print_place(session, name)


def _print_place(session: Session, row: str) -> None:
    Screen().verbatim(f"Row {row or '-'} of {session.transcript or 'an unknown transcript'}", "dim")


MAX_PASSAGE_CHARS = 480


def search(
    query: list[str],
    session: str = "",
    project: str = "",
    kind: str = "",
    archive: bool = False,
    limit: output.Count = 20,
    as_json: output.JsonOption = False,
) -> None:
    """Search facts and messages, in all sessions or one.

    Use quotes for phrases. Best match first; facts that are still valid rank higher.

    QUERY: Words to search for.
    --session ID: Only this session (id or prefix).
    --project FOLDER: Only this project.
    --kind KIND: Only this kind of fact, or `message`.
    --archive: Search the archived raw rows, including tool output. Slower.
    --limit N: Maximum number of results.

    Example: `holdfast search "rate limit" --kind decision`
    """
    from holdfast.state.model import KINDS

    if kind and kind not in (*KINDS, "message"):
        raise typer.BadParameter(
            f"{kind!r} is not one of {', '.join(KINDS)}, message", param_hint="--kind"
        )
    words, folder = " ".join(query), store_access.resolve_project(project)
    with store_access.open_user_store({"query": words, "rows" if archive else "hits": []}) as store:
        one = store_access.find_session(store, session) if session else None
        if archive:
            sessions = [one] if one else list(store.sessions(project=folder, limit=10_000))
            _search_archives(store, words, sessions, limit, as_json)
        else:
            among = {"session_id": one.id if one else "", "project": folder, "kind": kind}
            _search_facts(store, words, among, limit, as_json)


def _search_facts(
    store: SqliteStore, words: str, among: dict[str, str], limit: int, as_json: bool
) -> None:
    from holdfast.cli.views.fact import fact_to_json
    from holdfast.recall.passages import gather_matters, search_passages

    found = search_passages(store, words, **among)
    matters = list(islice(gather_matters(found), limit))
    if as_json:
        shown = {one.passage.text: one for one in matters}
        hits = [
            {
                "session": one.hit.session_id,
                "score": one.hit.score,
                "snippet": one.text,
                "fact": None if one.hit.fact is None else fact_to_json(one.hit.fact),
                "message": None if one.hit.message is None else one.hit.message._asdict(),
                "also": [more.text for more in told.also] if told else [],
            }
            for one in found[:limit]
            for told in (shown.get(one.text),)
        ]
        output.print_json({"query": words, "hits": hits})
        return
    from holdfast.state.model import kind_name

    out = Screen()
    if not found:
        out.say("Nothing found. Try fewer words.")
        return
    if not found[0].has_all:
        out.say("No match for all words; closest:\n", "dim")
    for number, (one, also) in enumerate(matters):
        if number:
            out.print()
        out.print(_format_heading(one.hit, out.width))
        out.indented(output.format_one_line(one.text, MAX_PASSAGE_CHARS))
        for more in also:
            fact, message = more.hit.fact, more.hit.message
            who = kind_name(fact.kind) if fact else message.speaker if message else ""
            said = output.format_one_line(more.text, MAX_PASSAGE_CHARS)
            out.indented(f"{_format_name(more.hit)}  {who}: {said}")
    out.say(f"\n`holdfast show {_format_name(found[0].hit)}` opens the first.", "dim")


def _format_name(hit: Hit) -> str:
    inner = hit.message.row[:8] if hit.message is not None else ""
    return f"{hit.session_id[:8]}:{inner if hit.fact is None else hit.fact.id}"


def _format_heading(hit: Hit, width: int) -> Text:
    """Its name, what it is, its status and, where there is room, since when."""
    from holdfast.cli.views.fact import style_status
    from holdfast.state.model import kind_name

    head = Text(_format_name(hit), style="cyan")
    time = ""
    if hit.fact is not None:
        head = Text.assemble(head, (f"  {kind_name(hit.fact.kind)}, ", "bold"))
        head.append(style_status(hit.fact))
        time = hit.fact.at.time
    elif hit.message is not None:
        head = Text.assemble(head, (f"  {hit.message.speaker}", "bold"))
        time = hit.message.time
    return head if width < NARROW_WIDTH else head.append(f"  {format_minute(time)}", style="dim")


def _search_archives(
    store: SqliteStore, words: str, sessions: list[Session], limit: int, as_json: bool
) -> None:
    from holdfast.session.archive import search_rows

    found: list[ArchiveMatch] = []
    for one in sessions:
        if left := limit - len(found):
            found += search_rows(store, one.id, words.split(), left)
    if as_json:
        output.print_json({"query": words, "rows": [one._asdict() for one in found]})
        return
    out = Screen()
    for hit in found:
        name = (f"{hit.session_id[:8]}:{hit.row[:8]}", "cyan")
        out.print(Text.assemble(name, (f"  {format_minute(hit.time)}", "dim")))
        out.indented(hit.excerpt)
    if not found:
        out.say("Nothing found in the archives.")
