"""`holdfast` alone: what is going on here, and the next thing to do.

Must not change anything, nor fail where a store is missing or unreadable: it says so.
"""

from __future__ import annotations

from typing import NamedTuple

from rich.text import Text

import holdfast
from holdfast.cli.output import (
    CliError,
    format_one_line,
    make_console,
    pluralize,
    print_steps,
    print_words,
)
from holdfast.cli.store_access import (
    EmptyStore,
    open_user_store,
    resolve_session,
    store_exists,
    translate_errors,
)
from holdfast.clock import format_minute
from holdfast.own_copy import format_call, spell_calls

MAX_COUNTED = 10_000


class StoredSessions(NamedTuple):
    """What the store has: of this machine, and of the folder in which this runs."""

    total: int = 0
    here_id: str = ""  # the session that `holdfast status` shows
    here: str = ""  # in words
    problem: str = ""  # why it cannot be read


def show_overview() -> None:
    from holdfast.cli.doctor import detect_environment
    from holdfast.doctor.check_hooks import describe_hook_problem

    hint = describe_hook_problem(detect_environment(quick=True))
    try:
        stored = read_stored_sessions()
    except CliError as error:
        stored = StoredSessions(problem=error.what)
    out = make_console()
    out.print(Text(f"Holdfast {holdfast.__version__}", style="bold"))
    print_words(spell_calls(hint) or "The hooks are installed.")
    print_words(describe_stored(stored))
    out.print()
    steps = [(format_call() + rest, purpose) for rest, purpose in _list_next_steps(hint, stored)]
    print_steps(steps, min_width=23)


def read_stored_sessions() -> StoredSessions:
    if not store_exists():
        return StoredSessions()
    with open_user_store() as store, translate_errors():
        total = len(store.sessions(limit=MAX_COUNTED))
        try:
            session = resolve_session(store, "")
        except CliError:
            return StoredSessions(total)
    title = format_one_line(session.title, 60)
    words = f"{session.id[:8]}, last active {format_minute(session.updated or session.started)}"
    return StoredSessions(total, session.id, f"{words}: {title}" if title else words)


def describe_stored(stored: StoredSessions) -> str:
    if stored.problem:
        return stored.problem
    if not stored.total:
        return f"{EmptyStore().what}."
    count = pluralize(stored.total, "session")
    if stored.here:
        return f"{count} saved. Here: {stored.here}"
    return f"{count} saved, none of this project."


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
    steps.append((" --help", "all commands"))
    return steps
