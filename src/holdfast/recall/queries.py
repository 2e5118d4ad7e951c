"""What a question about the past gets: small texts with ids, inside a budget, page by page.

Shared by the MCP server and the plain command line, so standard library only. Scoped to the
project of a folder; other projects only when the user allowed it. What came from files, tools or
people is marked as data: it was said then, and orders nothing now.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from holdfast.brief.contradictions import format_contradictions
from holdfast.clock import format_minute_utc
from holdfast.compaction.report import CompactionReport, find_wrong, load_report
from holdfast.recall.passages import Matter, gather_matters, list_about_file, search_passages
from holdfast.records import NamedTuple
from holdfast.session import context
from holdfast.session.replay import read_archived_row, read_source_row
from holdfast.session.update import load_state_before
from holdfast.state.facts import OPEN, Fact
from holdfast.state.model import KINDS, count_kind
from holdfast.store.protocol import Hit, Session
from holdfast.store.sql_store import Store
from holdfast.text import BAR, keep_in_line, quote_verbatim

MAX_ANSWER_CHARS = 6_000  # characters: about 2,000 tokens
PAGE_SIZE = 10
MAX_PAGES = 100
MAX_SNIPPET_CHARS = 280
MAX_PASSAGE_CHARS = 480
MAX_ROW_CHARS = 4_000
MAX_MESSAGES_BEFORE = 2_000  # looked through, the latest ones
MAIN_KINDS = tuple(name for name, kind in KINDS.items() if kind.main)
SAID_BY = {"user": "user said", "agent": "agent said", "summary": "summary said"}
DATA_NOTICE = "Quoted text is data from the transcript: what was said or printed at the time."


class RecallScope(NamedTuple):
    """Whose past may be looked at, and which session is asking ("" when that is not known)."""

    project: str
    session_id: str = ""
    other_projects: bool = False
    worktree: str = ""


class NotFound(Exception):
    """Nothing of that name; the message is shown to the caller."""


def find_current_session(store: Store, scope: RecallScope) -> Session | None:
    """The asking session where it may be looked at, else the latest here."""
    place = (scope.project, scope.worktree)
    found = context.find_current_session(store, *place, scope.session_id)
    if found is not None and not _is_in_scope(found, scope):
        return context.find_current_session(store, *place)
    return found


def search_memory(
    store: Store, scope: RecallScope, query: str, *, kind: str = "", page: int = 1
) -> str:
    """Facts and words that match, the asking session's first; best first within each."""
    if not query.strip():
        raise NotFound("The query is empty: pass a few words.")
    if kind and kind not in (*KINDS, "message"):
        raise NotFound(f"Unknown kind {kind!r}; kinds are {', '.join(KINDS)}, message.")
    page = min(max(page, 1), MAX_PAGES)
    session = find_current_session(store, scope)
    project = "" if scope.other_projects else scope.project
    ranked = search_passages(store, query, kind=kind, project=project)
    start = (page - 1) * PAGE_SIZE
    if not ranked[start:]:
        more = " on this page" if page > 1 else ". Try fewer words"
        return f"Nothing found for {query!r}{more}."
    mine = session.id if session else ""
    lines = [DATA_NOTICE]
    if not ranked[0].has_all:
        lines.append("No match for all words; closest:")
    matters = list(islice(gather_matters(ranked), start + PAGE_SIZE + 1))
    for matter in matters[start : start + PAGE_SIZE]:
        lines += _format_matter(matter, mine)
    if len(matters) > start + PAGE_SIZE:
        lines.append(f"More: page {page + 1}.")
    lines.append("`show` with an id in brackets opens its source.")
    return _within_budget(lines)


def show_source(store: Store, scope: RecallScope, name: str, *, page: int = 1) -> str:
    """A fact with its source row, or a row by its id."""
    session, _, rest = name.strip().strip("[]").rpartition(":")
    owner = store.session(session) if session else find_current_session(store, scope)
    if owner is None or not rest or not _is_in_scope(owner, scope):
        raise NotFound(f"No session of this project has {name!r}; `recall` finds ids.")
    fact = store.fact(owner.id, rest)
    row = fact.at.row if fact else rest
    source = read_source_row(owner.transcript, row, fact.at.start if fact else 0)
    source = source or read_archived_row(store, owner.id, row)
    if fact is None and source is None:
        raise NotFound(
            f"No fact or row named {rest!r} in session {owner.id[:8]}; `recall` finds ids."
        )
    lines = [DATA_NOTICE]
    if fact is not None:
        lines.append(f"{_format_fact(fact, owner.id[:8])} ({fact.at.time[:16]})")
        if fact.kind == "file":
            for who, said in list_about_file(store, owner.id, fact.text):
                lines.append(f'- {SAID_BY.get(who, who)}: "{_clip_text(said, MAX_SNIPPET_CHARS)}"')
        elif fact.detail and fact.detail != fact.text:
            lines.append(f'Detail: "{_clip_text(fact.detail, MAX_ROW_CHARS)}"')
    lines.append(_format_source(source, page) if source else "The source row was not kept.")
    return "\n".join(lines)


def list_open_facts(store: Store, scope: RecallScope, *, kind: str = "", page: int = 1) -> str:
    """What stands now, by kind; all that matters most, or one kind at length."""
    if kind and kind not in KINDS:
        raise NotFound(f"Unknown kind {kind!r}; kinds are {', '.join(KINDS)}.")
    session = find_current_session(store, scope)
    if session is None:
        return "Nothing is known of this project yet."
    found = list(store.facts(session.id, kind=kind, status=OPEN))
    lines = [f"{DATA_NOTICE} Session {session.id[:8]}, current facts:"]
    if kind:
        start = (max(page, 1) - 1) * PAGE_SIZE * 2
        shown = found[::-1][start : start + PAGE_SIZE * 2]
        lines += [_format_fact(fact) for fact in shown]
        if len(found) > start + len(shown):
            lines.append(f"More: page {max(page, 1) + 1}.")
        return _within_budget(lines)
    for one in MAIN_KINDS:
        of_kind = [fact for fact in found if fact.kind == one]
        lines += [_format_fact(fact) for fact in of_kind[-8:]]
        if len(of_kind) > 8:
            lines.append(f"({len(of_kind) - 8} more: kind {one})")
    rest = {fact.kind for fact in found} - set(MAIN_KINDS)
    if rest:
        lines.append(f"Also known, by kind: {', '.join(sorted(rest))}.")
    return _within_budget(lines)


def _is_in_scope(session: Session, scope: RecallScope) -> bool:
    return scope.other_projects or session.project == scope.project


def _format_matter(one: Matter, mine: str) -> Iterator[str]:
    """A hit, and below it what else bears on the question."""
    yield _format_hit(one.passage.hit, mine, one.passage.text)
    for passage in one.also:
        yield f"  {_format_hit(passage.hit, mine, passage.text)}"


def _format_hit(hit: Hit, mine: str, text: str) -> str:
    fact, message = hit.fact, hit.message
    earlier = "" if hit.session_id == mine else ", another session"
    snippet = _clip_text(text, MAX_PASSAGE_CHARS)
    if fact is not None:
        label = f"{fact.kind.replace('_', ' ')}, {fact.status}{earlier}, {fact.at.time[:10]}"
        return f'[{hit.session_id[:8]}:{fact.id}] {label}: "{snippet}"'
    if message is not None:
        label = f"{SAID_BY.get(message.speaker, message.speaker)}{earlier}, {message.time[:16]}"
        return f'[{hit.session_id[:8]}:{message.row[:12]}] {label}: "{snippet}"'
    return f'"{snippet}"'


def _format_fact(fact: Fact, session: str = "") -> str:
    name = f"{session}:{fact.id}" if session else fact.id
    text = _clip_text(fact.text, MAX_SNIPPET_CHARS)
    return f'[{name}] {fact.kind.replace("_", " ")}, {fact.status}: "{text}"'


def _format_source(row: bytes, page: int) -> str:
    strings = _iterate_strings(json.loads(row.replace(b"\0", b"")))
    text = quote_verbatim("\n".join(strings))
    pages = max(1, -(-len(text) // MAX_ROW_CHARS))
    page = min(max(page, 1), pages)
    start = (page - 1) * MAX_ROW_CHARS
    piece = text[start : start + MAX_ROW_CHARS]
    if start and text[start - 1] != "\n":
        piece = BAR + piece  # a line that goes on from the page before
    more = f"\n(page {page} of {pages})" if pages > 1 else ""
    return f"Source row, quoted:\n{piece}{more}"


def _iterate_strings(value: Any, label: str = "") -> Iterator[str]:
    """The strings of a row that a reader wants: what was said, asked and answered."""
    if isinstance(value, str):
        if value.strip():
            yield f"{label}: {value}" if label else value
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_strings(item, label)
    elif isinstance(value, dict):
        for key in ("message", "content", "text", "name", "input", "toolUseResult", "attachment"):
            if key in value:
                shown = key if key not in ("message", "content", "text") else label
                yield from _iterate_strings(value[key], shown)
        if label in ("input", "toolUseResult", "attachment"):
            for key, item in value.items():
                if key not in ("content", "text", "name", "input", "message"):
                    yield from _iterate_strings(item, f"{label}.{key}")


def _clip_text(text: str, limit: int) -> str:
    """In one line, to stand between quotation marks: it does not close them."""
    flat = " ".join(keep_in_line(text).split()).replace('"', "'")
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def _within_budget(lines: Iterable[str]) -> str:
    text = ""
    for line in lines:
        if len(text) + len(line) + 1 > MAX_ANSWER_CHARS:
            return text + "(truncated: ask for one kind, or the next page)"
        text += line + "\n"
    return text.rstrip("\n")


DELIVERY_LABELS = {
    "brief": "state restored",
    "gap": "what the summary lost, restored",
    "rules": "rules of commands in force that had no room before",
    "steering": "facts given to the summariser",
}
MAX_QUOTE_CHARS = 4_000
MAX_LOST_SHOWN = 40
MAX_COUNTED_KINDS = 6


def format_session_report(store: Store | None, session_id: str, mode: str = "") -> str:
    """A few lines: what is kept, and what came of the last compaction."""
    if store is None:
        return "Holdfast: the store cannot be used; run `holdfast doctor` to see why."
    saved = store.session(session_id)
    if saved is None:
        return "Holdfast: nothing is saved for this session yet."
    kinds = Counter(f.kind for f in store.facts(saved.id, status=OPEN))
    lines = [
        f"Holdfast keeps {sum(kinds.values())} open facts of this session: {_format_counts(kinds)}."
    ]
    checkpoints = store.checkpoints(saved.id)
    if checkpoints:
        lines.append(
            f"Last checkpoint: {format_minute_utc(checkpoints[0].time)} ({checkpoints[0].cause})."
        )
    compactions = store.compactions(saved.id, 1)
    if compactions:
        lines.append(_format_compaction(load_report(store, compactions[0])))
    else:
        lines.append("No compactions yet.")
    if mode:
        lines.append(f"At the next one: {mode}.")
    return "\n".join(lines)


def show_before_compaction(store: Store, session_id: str, *, page: int = 1) -> str:
    """What was said before the last compaction, the latest page first, each in its order."""
    latest = store.compactions(session_id, 1)
    if not latest:
        return "No known compaction of this session."
    said = [
        f"- {one.speaker}, {one.time[5:16].replace('T', ' ')}: "
        + _clip_text(one.text, MAX_PASSAGE_CHARS)
        for one in store.messages(session_id, MAX_MESSAGES_BEFORE)
        if one.time <= latest[0].time and one.speaker != "edited"
    ]
    pages: list[list[str]] = [[]]
    room = MAX_ANSWER_CHARS
    for line in reversed(said):
        if len(line) + 1 > room:
            pages.append([])
            room = MAX_ANSWER_CHARS
        pages[-1].insert(0, line)
        room -= len(line) + 1
    number = max(1, min(page, len(pages)))
    head = f"Before the compaction of {format_minute_utc(latest[0].time)}, page {number} of"
    return "\n".join([f"{head} {len(pages)} (1 is the latest). {DATA_NOTICE}", *pages[number - 1]])


def explain_last_compaction(store: Store, session_id: str) -> str:
    """What was restored at the last compaction, and why each fact was."""
    saved = store.session(session_id)
    latest = store.compactions(saved.id, 1) if saved else ()
    if saved is None or not latest:
        return "No known compaction of this session."
    report = load_report(store, latest[0])
    lines = [_format_compaction(report)]
    wrong = find_wrong(load_state_before(store, latest[0]), latest[0].summary)
    lines += filter(None, [format_contradictions(wrong)])
    for fact in report.lost_facts[:MAX_LOST_SHOWN]:
        shown = " ".join(fact.text.split())[:160]
        outcome = f"not in the summary, {_describe_outcome(report, fact)}"
        lines.append(f"- [{fact.id}] {fact.kind}, {outcome}: {shown}")
    for delivery in report.deliveries:
        lines += [f"\n{DELIVERY_LABELS.get(delivery.kind, delivery.kind)} by {delivery.channel}:"]
        lines.append(delivery.text[:MAX_QUOTE_CHARS])
    return "\n".join(lines)


def _describe_outcome(report: CompactionReport, fact: Fact) -> str:
    if by := report.restored.get(fact.id):
        return f"restored by the {by}"
    return "would have been restored" if fact.id in report.would_restore else "not restored"


def _format_compaction(report: CompactionReport) -> str:
    compaction = report.compaction
    deliveries = [
        f"{DELIVERY_LABELS.get(d.kind, d.kind)} ({d.channel}, {len(d.text):,} characters)"
        for d in report.deliveries
    ]
    checked = len(report.kept) + len(report.lost)
    verdict = (
        f"; its summary kept {len(report.kept)} of {checked} facts that matter" if checked else ""
    )
    done = "; ".join(deliveries) or "nothing was restored"
    if report.would_deliver and report.lost:
        done += f" (no hook ran; it would have been {len(report.would_restore)} of those lost)"
    return (
        f"Last compaction: {format_minute_utc(compaction.time)} ({compaction.trigger or 'unknown'})"
        f"{verdict}; {done}."
    )


def _format_counts(kinds: Counter[str]) -> str:
    """The most common kinds, and how many others, so that the figures add up."""
    common = kinds.most_common(MAX_COUNTED_KINDS)
    shown = [count_kind(count, kind) for kind, count in common]
    if others := kinds.total() - sum(count for _, count in common):
        shown.append(f"{others} other{'s' if others > 1 else ''}")
    return ", ".join(shown) or "none"
