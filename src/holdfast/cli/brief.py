"""`holdfast brief SESSION|FILE`: the text that an agent is given, for a reader and a budget; and
`holdfast state FILE`: all that is known of a session, straight from its transcript.

Owns telling a transcript from a stored session, bringing its state to the present, and which role
reads it. Writes nothing. With `--compactions --json` it answers programs, one line of JSON each.
"""

import os
from typing import Annotated, Any

import typer
from rich.text import Text

from holdfast.brief.compose import Brief, compose
from holdfast.brief.hook_texts import DEFAULT_BRIEF_CHARS, format_title
from holdfast.brief.role import MAIN_ROLE, Role, UnknownRole, find_role
from holdfast.cli import output, store_access
from holdfast.cli.screen import Screen
from holdfast.cli.views.conversation import require_transcript
from holdfast.cli.views.fact import count_by_status, fact_to_json, print_kind
from holdfast.clock import format_minute
from holdfast.paths import data_dir
from holdfast.records import NamedTuple
from holdfast.session.context import SessionRef, build_context
from holdfast.session.documents import overlay_documents
from holdfast.session.follow import INITIAL, FollowState, follow_transcript
from holdfast.session.replay import iterate_compactions, scan_boundaries
from holdfast.session.update import load_stored
from holdfast.state import State, list_facts
from holdfast.state.model import KINDS
from holdfast.store.protocol import Session
from holdfast.text import compute_max_chars, estimate_tokens, pluralize

# A title takes no more of a brief than this: a small one is all content.
MAX_TITLE_SHARE = 0.15


class SessionInput(NamedTuple):
    path: str  # the transcript, which may be gone
    saved: FollowState | None = None  # what the store has; None for a file
    session_id: str = ""
    folder: str = ""  # where the session runs


def brief(
    subject: Annotated[str, typer.Argument(metavar="SESSION|FILE")],
    role: str = "",
    budget: output.OptionalNatural = None,
    max_chars: Annotated[list[int] | None, typer.Option(min=0)] = None,
    compactions: bool = False,
    trace: bool = False,
    as_json: output.JsonOption = False,
) -> None:
    """Show the brief of a session: what its agent is given after a compaction.

    SESSION|FILE: A transcript file (.jsonl or .gz), or a session id or prefix.
    --role ROLE: Role of the reader: main, orchestrator, developer, specialist, validator.
        Default: main, to whom the hooks give briefs.
    --budget TOKENS: Maximum length in tokens.
    --max-chars N: Maximum length in characters; repeatable with --compactions. Default: 9500, as
        delivered by the hooks.
    --compactions: One brief per compaction, from what was known right before it.
    --trace: With --compactions --json: every line with the rows it comes from.

    Example: `holdfast dev brief session.jsonl --role validator --budget 1000`
    """
    if trace and not compactions:
        raise typer.BadParameter("needs --compactions", param_hint="--trace")
    if budget is not None and max_chars:
        raise typer.BadParameter("use either --budget or --max-chars", param_hint="--budget")
    sizes = max_chars or [DEFAULT_BRIEF_CHARS if budget is None else compute_max_chars(budget)]
    if len(sizes) > 1 and not compactions:
        raise typer.BadParameter("more than one size needs --compactions", param_hint="--max-chars")
    about = _resolve_input(subject)
    if compactions:
        _show_brief_per_compaction(about, role, sizes, as_json, trace)
    else:
        _show_brief_now(about, role, sizes[0], as_json)


def _resolve_input(given: str) -> SessionInput:
    """A file when it looks like one or there is one, else a session of the store."""
    if os.path.exists(given) or os.sep in given or given.endswith((".jsonl", ".gz")):
        return SessionInput(given)
    if not store_access.store_exists():
        raise output.CliError(
            f"No file {given!r}. {store_access.EmptyStore().what}",
            store_access.EmptyStore().next_step,
        )
    with store_access.open_user_store() as store:
        session = store_access.find_session(store, given)
        ref = SessionRef(session.id, session.transcript, session.cwd)
        # Nothing saved yet: read the transcript alone, and write nothing.
        known = INITIAL if store.load(session.id) is None else load_stored(store, ref).followed
    return SessionInput(session.transcript, known, session.id, session.worktree or session.cwd)


def _show_brief_now(about: SessionInput, role: str, max_chars: int, as_json: bool) -> None:
    state = _load_current_state(about, as_json)
    reader = _find_reader(role)
    # With the title with which briefs are delivered, where the brief is long enough for it.
    title = format_title(state, "")
    title = title if len(title) <= MAX_TITLE_SHARE * max_chars else ""
    made = compose(state, max_chars, title=title, role=reader)
    if as_json:
        output.print_json(
            {
                "session_id": state.session.session_id or about.session_id,
                "role": reader.name,
                "max_chars": max_chars,
                "characters": len(made.text),
                "tokens": estimate_tokens(len(made.text)),
                "facts": list(made.fact_ids),
                "text": made.text,
            }
        )
    elif not made.text:
        Screen(stderr=True).note("nothing fits")
    elif not made.fact_ids and "\n" not in made.text.strip():
        # A title alone would look as if there were something.
        Screen(stderr=True).note("nothing is known yet")
    else:
        Screen().say(made.text)


def _load_current_state(about: SessionInput, as_json: bool) -> State:
    """Folded to the end of the transcript; as it was saved where the transcript is gone."""
    if about.saved is None:
        followed = follow_transcript(about.path, final=True)
        if not as_json:  # programs read an empty brief
            store_access.require_transcript_rows(about.path, followed)
        return followed.state
    if about.path and os.path.exists(about.path):
        state = follow_transcript(about.path, about.saved).state
    elif about.saved == INITIAL:
        raise output.CliError(f"Nothing is known of session {about.session_id[:8]}")
    else:
        gone = f"{about.path or 'its transcript'} no longer exists; showing the last saved state"
        Screen(stderr=True).note(gone)
        state = about.saved.state
    # With the session's notes and the summaries of its finished tasks, as the hooks show it.
    ctx = build_context(data_dir(), SessionRef(about.session_id, about.path, about.folder))
    return overlay_documents(ctx, Session(about.session_id, worktree=about.folder), state)


def _find_reader(role: str) -> Role:
    try:
        return find_role(role or MAIN_ROLE.name)
    except UnknownRole as error:
        raise typer.BadParameter(str(error), param_hint="--role") from error


def _show_brief_per_compaction(
    about: SessionInput, role: str, sizes: list[int], as_json: bool, trace: bool
) -> None:
    reader = _find_reader(role)
    path = require_transcript(about.path, about.session_id)
    number = 0
    for number, cut in enumerate(iterate_compactions(path), 1):
        for max_chars in sizes:
            made = compose(cut.state, max_chars, role=reader)
            if as_json:
                output.print_json_line(
                    {
                        "session_id": cut.session_id,
                        "boundary_uuid": cut.boundary,
                        "max_chars": max_chars,
                        "text": made.text,
                        **({"lines": _trace_statements(cut.state, made)} if trace else {}),
                    }
                )
            else:
                head = f"Before compaction {number} ({cut.boundary[:8]}), {max_chars} characters"
                output.print_line(f"{head}:\n\n{made.text}\n")
    if not number and not as_json:
        Screen(stderr=True).note(f"{path} was never compacted")


def _trace_statements(state: State, made: Brief) -> list[dict[str, object]]:
    """Every statement of a brief with the row that it comes from."""
    rows = {fact.id: fact.at.row for fact in list_facts(state)}
    return [
        {
            "kind": one.kind,
            "text": one.text,
            "fact": one.fact,
            "rows": [rows[one.fact]] if rows.get(one.fact) else [],
            **({"about": one.about} if one.about else {}),
        }
        for one in made.entries
    ]


# Of one kind, when all kinds are shown; `--kind` shows everything of one.
MAX_ROWS_SHOWN = 12
# What `--json` gives of the usage.
_USAGE_KEYS = ("model", "context", "output", "time", "requested")


def state(
    file: str,
    compaction: output.OptionalCount = None,
    kind: str = "",
    as_json: output.JsonOption = False,
) -> None:
    """Show the state of a transcript: rules, tasks, tests, errors, dead ends, files and more.

    FILE: A transcript, .jsonl or .gz.
    --compaction N: The state right before the Nth compaction.
    --kind KIND: Only this kind of fact: rule, task, test, error and so on.

    Example: `holdfast dev state session.jsonl --compaction 1 --kind rule`
    """
    if kind and kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is not one of {', '.join(KINDS)}", param_hint="--kind")
    until = None
    if compaction is not None:
        found = scan_boundaries(file)
        if compaction > len(found):
            raise output.CliError(
                f"{file} has {pluralize(len(found), 'compaction')}",
                f"Use a number from 1 to {len(found)}." if found else "Omit --compaction.",
            )
        until = found[compaction - 1].start
    followed = follow_transcript(file, until=until, final=True)
    if not as_json:  # programs read how many rows there were
        store_access.require_transcript_rows(file, followed)
    known = [fact for fact in list_facts(followed.state) if not kind or fact.kind == kind]
    if as_json:
        facts = {"counts": count_by_status(known), "facts": [fact_to_json(one) for one in known]}
        output.print_json(_head_to_json(file, compaction, followed) | facts)
        return
    out = Screen()
    _print_head(out, file, compaction, followed)
    for name in KINDS:
        if of_kind := [fact for fact in known if fact.kind == name]:
            print_kind(out, name, of_kind, None if kind else MAX_ROWS_SHOWN)
    if not known:
        out.say("\nNothing is known" + (f" of kind {kind}." if kind else " yet."))


def _head_to_json(file: str, compaction: int | None, followed: FollowState) -> dict[str, Any]:
    cursor, usage = followed.cursor, followed.state.usage
    return {
        "file": file,
        "compaction": compaction,
        "session": followed.state.session._asdict(),
        "moment": followed.state.position._asdict(),
        "usage": {name: getattr(usage, name) for name in _USAGE_KEYS},
        "read": {
            "rows": cursor.rows,
            "bytes": cursor.position,
            "bad_lines": cursor.bad,
            "oversized_lines": cursor.oversized,
            "unknown_rows": (followed.parser_state or {}).get("unknown", 0),
        },
    }


def _print_head(out: Screen, file: str, compaction: int | None, followed: FollowState) -> None:
    place, moment, usage = followed.state.session, followed.state.position, followed.state.usage
    title = Text(place.title or place.session_id or file, style="bold")
    if compaction is not None:
        title.append(f"  right before compaction {compaction}", style="yellow")
    out.print(title)
    cursor = followed.cursor
    where = [
        place.cwd and f"{place.cwd}" + (f" on {place.branch}" if place.branch else ""),
        place.client,
        f"{format_minute(place.started)} to {format_minute(place.updated)} UTC"
        if place.started
        else "",
    ]
    counts = [
        pluralize(moment.turn, "prompt"),
        pluralize(moment.step, "tool call"),
        pluralize(moment.epoch, "compaction"),
        f"{pluralize(cursor.rows, 'row')}, {output.format_bytes(cursor.position)}",
        f"context {usage.context:,} tokens" if usage.context else "",
        pluralize(cursor.bad, "bad line") if cursor.bad else "",
    ]
    for parts in (where, counts):
        out.say(output.format_one_line(" · ".join(filter(None, parts)), 200), "dim")
