"""`holdfast show SESSION`: what a session was about, what is known of it, and its conversation.

Owns the order and the looks. The messages come from `conversation`. Must not write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from holdfast.cli.conversation import load_messages, print_messages
from holdfast.cli.input_args import SessionInput
from holdfast.cli.output import (
    CliError,
    format_one_line,
    make_console,
    pluralize,
    print_json,
    replace_control_chars,
)
from holdfast.clock import format_minute
from holdfast.state.facts import KINDS, count_kind

if TYPE_CHECKING:
    from holdfast.session.digest import DigestEntry
    from holdfast.store.protocol import Compaction, Session
    from holdfast.store.sqlite.store import SqliteStore

# The end of a conversation tells where it stands; the rest is asked for.
MAX_MESSAGES_SHOWN = 30


def show_session(
    store: SqliteStore, session: Session, first: str, last: str, full: bool, as_json: bool
) -> None:
    counts: dict[str, dict[str, int]] = {}
    for fact in store.facts(session.id):
        of_kind = counts.setdefault(fact.kind, {})
        of_kind[fact.status] = of_kind.get(fact.status, 0) + 1
    compactions = list(reversed(store.compactions(session.id)))
    subject = SessionInput(session.transcript, session_id=session.id)
    messages: list[DigestEntry] = []
    missing = ""
    try:
        messages = load_messages(subject, first, last)
    except CliError as error:
        if first or last:
            raise
        missing = error.what
    if as_json:
        print_json(
            {
                "session": session._asdict(),
                "counts": counts,
                "compactions": [one._asdict() for one in compactions],
                "checkpoints": [one._asdict() for one in reversed(store.checkpoints(session.id))],
                "messages": [one._asdict() for one in messages],
            }
        )
        return

    out = make_console()
    if not (first or last):
        _print_head(session, compactions, counts)
        out.print()
    if missing:
        out.print(Text(f"{missing}.", style="yellow"))
    else:
        _print_conversation(messages, full or bool(first or last))
    if compactions and not (first or last):
        more = f"`holdfast show {session.id[:8]} --compactions` tells what each compaction lost."
        out.print(Text(f"\n{more}", style="dim"))


def show_file(subject: SessionInput, first: str, last: str, full: bool, as_json: bool) -> None:
    """A transcript that need not be stored: its conversation is all there is to show."""
    messages = load_messages(subject, first, last)
    if as_json:
        print_json({"path": subject.path, "messages": [one._asdict() for one in messages]})
        return
    _print_conversation(messages, full or bool(first or last))


def _print_conversation(messages: list[DigestEntry], whole: bool) -> None:
    out = make_console()
    shown = messages if whole else messages[-MAX_MESSAGES_SHOWN:]
    if earlier := len(messages) - len(shown):
        out.print(Text(f"… {pluralize(earlier, 'earlier message')}; --full shows all", style="dim"))
    print_messages(shown)
    if not messages:
        out.print("No messages.")


def _print_head(
    session: Session, compactions: list[Compaction], counts: dict[str, dict[str, int]]
) -> None:
    out = make_console()
    title = format_one_line(session.title, 120)
    out.print(Text(session.id, style="cyan"))
    if title:
        out.print(Text(title, style="bold"))
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for label, value in _list_rows(session, compactions, counts):
        table.add_row(label, Text(replace_control_chars(value)))
    out.print(table)


def _list_rows(
    session: Session, compactions: list[Compaction], counts: dict[str, dict[str, int]]
) -> list[tuple[str, str]]:
    branch = f" on {session.branch}" if session.branch else ""
    rows = [("project", f"{session.worktree or session.project or '-'}{branch}")]
    rows.append(
        ("time", f"{format_minute(session.started)} to {format_minute(session.updated)} UTC")
    )
    for one in compactions:
        tokens = f", {one.tokens_before:,} tokens" if one.tokens_before else ""
        word = f"{one.trigger or 'unknown trigger'}{tokens}"
        rows.append((f"compaction {one.epoch + 1}", f"{word}, {format_minute(one.time)} UTC"))
    known = [count_kind(sum(counts[kind].values()), kind) for kind in KINDS if kind in counts]
    rows.append(("known", ", ".join(known) or "nothing yet"))
    if session.transcript:
        rows.append(("file", session.transcript))
    return rows
