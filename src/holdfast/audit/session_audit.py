"""The audit of sessions: every compaction of one, from the transcript and its copies, and all of a
folder in worker processes.

Folds each transcript once and asks `compaction.report` what its compactions kept and lost, as every
other view does. Reads files and writes none.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

import orjson

from holdfast import clients
from holdfast.brief.gap import MIN_WORD_SHARE, MIN_WORDS, TextCoverage
from holdfast.brief.statements import users_sentences
from holdfast.compaction.report import CompactionReport, build_report
from holdfast.events import Compacted, Event, SummaryGiven, UsageMeasured
from holdfast.fastpath.project import locate_project
from holdfast.files import file_size
from holdfast.redact import redact
from holdfast.session.follow import INITIAL, follow_transcript
from holdfast.session.replay import Boundary, read_source_row, scan_boundaries
from holdfast.state import State
from holdfast.state.lookups import list_repeated
from holdfast.state.prose import subject_words
from holdfast.store import protocol as store
from holdfast.text import truncate
from holdfast.transcript.reader import TranscriptError
from holdfast.workers import choose_jobs, run_each

# A longer pause before an automatic compaction is not the compaction.
MAX_WAIT_SECONDS = 600.0
MAX_LOST = 60
MAX_QUOTE_CHARS = 320
SAID = "said"  # beside the kinds of facts: every sentence of the user
# Below this a second process costs more than it brings.
MIN_POOL_BYTES = 16_000_000

Progress = Callable[[int], object]  # bytes done


@dataclass(frozen=True, slots=True)
class Count:
    """How many things were known at a compaction, and how many are still told after it."""

    known: int = 0
    in_summary: int = 0
    with_brief: int = 0  # in the summary or in Holdfast's brief

    def __add__(self, other: Count) -> Count:
        return Count(
            self.known + other.known,
            self.in_summary + other.in_summary,
            self.with_brief + other.with_brief,
        )

    @property
    def shares(self) -> tuple[float, float] | None:
        if not self.known:
            return None
        return self.in_summary / self.known, self.with_brief / self.known


NOTHING = Count()


@dataclass(frozen=True, slots=True)
class Lost:
    """A fact or a sentence of the user that the summary does not tell."""

    kind: str
    text: str
    detail: str
    kept: bool  # in Holdfast's brief


@dataclass(slots=True)
class Compaction:
    row: str
    time: str
    trigger: str
    model: str = ""
    tokens_before: int | None = None
    tokens_after: int | None = None
    seconds: float | None = None
    seconds_estimated: bool = False
    summary_chars: int = 0
    brief_chars: int = 0
    facts: dict[str, Count] = field(default_factory=dict)  # what matters, by kind
    also_known: int = 0
    said: Count = NOTHING  # sentences of the user
    lost: tuple[Lost, ...] = ()
    repeats: tuple[str, ...] = ()  # look-ups made again before the next compaction

    @property
    def counted(self) -> Count:
        return sum(self.facts.values(), NOTHING)


@dataclass(slots=True)
class Session:
    session_id: str
    path: str
    size: int  # bytes on disk, of all copies
    client: str = ""
    project: str = ""
    title: str = ""
    started: str = ""
    updated: str = ""
    compactions: list[Compaction] = field(default_factory=list)
    error: str = ""


def audit_session(session_id: str, paths: list[str]) -> Session:
    """Everything there is to say about one session. Never raises for what a file holds."""
    session = Session(session_id, paths[0], total_bytes(paths), clients.of_name(paths[0]).name)
    seen: set[str] = set()
    try:
        for path in sorted(paths, key=lambda one: (-total_bytes([one]), one)):
            marks = [m for m in scan_boundaries(path) if m.row not in seen]
            if marks or not session.updated:
                _fold_copy(session, path, marks)
            seen.update(mark.row for mark in marks)
    except (TranscriptError, OSError, EOFError, zlib.error) as error:
        session.error = str(error) or type(error).__name__
    return session


def _skip(_misread: Exception) -> None:
    """What is misread is left out, as hooks and ingest do: the rest of the report is right."""


def _fold_copy(session: Session, path: str, marks: list[Boundary]) -> None:
    """The compactions that this copy holds and no earlier one did."""
    followed = INITIAL
    found: list[_Listener] = []
    for mark in [*marks, None]:
        followed = follow_transcript(
            path,
            followed,
            on_event=found[-1].hear if found else None,
            until=mark.start if mark is not None else None,
            on_error=_skip,
            final=True,
        )
        if mark is not None:
            found.append(_Listener(path, mark, followed.state))
    session.compactions += [one.describe(session.session_id, followed.state) for one in found]
    place = followed.state.session
    if place.updated >= session.updated:
        folder = place.folders[0] if place.folders else place.cwd
        session.project = locate_project(folder)[0] if folder else ""
        session.title = format_quote(place.title)
        session.started, session.updated = place.started, place.updated


class _Listener:
    """One compaction: the state before it, and what the rows after it say of it."""

    def __init__(self, path: str, mark: Boundary, before: State) -> None:
        self._path, self._mark, self._before = path, mark, before
        self._compacted: Compacted | None = None
        self._summary = ""
        self._first_context: int | None = None

    def hear(self, event: Event) -> None:
        # A rewound transcript is folded again from its start.
        if event.at.start < self._mark.start:
            return
        if isinstance(event, Compacted) and self._compacted is None:
            self._compacted = event
        elif isinstance(event, SummaryGiven) and not event.at.agent and not self._summary:
            self._summary = event.text
        elif isinstance(event, UsageMeasured) and self._first_context is None and event.context:
            self._first_context = event.context

    def describe(self, session_id: str, end: State) -> Compaction:
        """`end` is the state at the end of the session, for what only later rows can tell."""
        seen, before = self._compacted, self._before
        made = Compaction(
            self._mark.row,
            seen.at.time if seen else "",
            seen.trigger if seen else "",
            before.usage.model,
            tokens_before=seen.tokens_before if seen else None,
            tokens_after=(seen.tokens_after if seen else None) or self._first_context,
            summary_chars=len(self._summary),
        )
        self._add_duration(made)
        epoch = before.position.epoch
        made.repeats = tuple(
            format_quote(f"{one.what} {one.subject}")
            for one in list_repeated(end.lookups, epoch + 1)
        )
        left = self._text_left()
        stored = store.Compaction(session_id, epoch, made.time, made.trigger, summary=left)
        report = build_report(stored, before, (), ())
        back = report.would_restore
        if report.would_deliver is not None:
            made.brief_chars = len(report.would_deliver.text)
            made.facts = count_by_kind(report)
            made.also_known = len(report.also_known)
            made.said, unsaid = _compare_sentences(before, left, report.would_deliver.text)
            lost = [
                Lost(f.kind, format_quote(f.text), format_quote(f.detail), f.id in back)
                for f in report.lost_facts[:MAX_LOST]
            ]
            made.lost = (*lost, *unsaid[:MAX_LOST])
        return made

    def _text_left(self) -> str:
        """The summary, and the messages of the user that the client kept word for word."""
        kept = frozenset(self._compacted.kept) if self._compacted else frozenset()
        said = [one.text for one in self._before.requests.values() if one.at.row in kept]
        return "\n".join([self._summary, *said]) if self._summary else ""

    def _add_duration(self, made: Compaction) -> None:
        row = read_source_row(self._path, self._mark.row, self._mark.start)
        data = orjson.loads(row) if row else {}
        probe = clients.of_session(self._before.session.client).row_probe
        made.seconds = probe.compaction_seconds(data) if isinstance(data, dict) else None
        if made.seconds is None and made.trigger == "auto":
            # Nothing else happens between the last row and the boundary of an automatic one.
            waited = seconds_between(self._before.session.updated, made.time)
            if waited is not None and 0 < waited <= MAX_WAIT_SECONDS:
                made.seconds, made.seconds_estimated = waited, True


def count_by_kind(report: CompactionReport) -> dict[str, Count]:
    """What mattered, by kind: how much the summary contains, and with the brief."""
    told = {name: Count(1, 1, 1) for name in report.kept}
    told |= {name: Count(1, 0, int(name in report.would_restore)) for name in report.lost}
    counts: dict[str, Count] = {}
    for name, count in told.items():
        kind = report.facts[name].kind
        counts[kind] = counts.get(kind, NOTHING) + count
    return counts


def _compare_sentences(before: State, left: str, brief: str) -> tuple[Count, list[Lost]]:
    """The user's sentences that the summary contains, and with the brief; and those it lost."""
    in_summary, in_brief = TextCoverage(left), TextCoverage(brief)
    count, lost = Count(), []
    for _, sentence in users_sentences(before):
        if len(subject_words(sentence)) < MIN_WORDS:
            continue  # "go on" would be found in any text
        told = in_summary.covers_sentence(sentence, MIN_WORD_SHARE)
        kept = told or in_brief.covers_sentence(sentence, MIN_WORD_SHARE)
        count += Count(1, int(told), int(kept))
        if not told:
            lost.append(Lost(SAID, format_quote(sentence), "", kept))
    return count, lost


def format_quote(text: str) -> str:
    """On one line, without secrets, short."""
    return truncate(redact(" ".join(text[: MAX_QUOTE_CHARS * 8].split())), MAX_QUOTE_CHARS)


def seconds_between(earlier: str, later: str) -> float | None:
    """None where one of them is no time, or only one of them has a zone."""
    try:
        return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
    except (ValueError, TypeError):
        return None


def find_transcripts(*places: str) -> dict[str, list[str]]:
    """The copies of each session, by its id; files of subagents belong to their session."""
    found: dict[str, list[str]] = {}
    for place in places:
        for path in _walk_files(place):
            paths = clients.of_name(path).paths
            if path == place or paths.is_transcript(path):
                found.setdefault(paths.transcript_session_id(path), []).append(path)
    return dict(sorted(found.items()))


def _walk_files(place: str) -> Iterator[str]:
    if os.path.isfile(place):
        yield place
    for folder, below, names in os.walk(place):
        below.sort()
        for name in sorted(names):
            yield os.path.join(folder, name)


def total_bytes(paths: list[str]) -> int:
    """A file that is gone has none."""
    return sum(max(file_size(path), 0) for path in paths)


def audit_all(
    found: dict[str, list[str]], *, jobs: int = 0, progress: Progress | None = None
) -> list[Session]:
    """Audit every session. The same files give the same records, however many processes."""
    gathered: list[Session] = []
    # The largest first, so that no worker is left alone with it at the end.
    order = sorted(found.items(), key=lambda item: -total_bytes(item[1]))
    sizes = [total_bytes(paths) for _, paths in order]
    jobs = choose_jobs(jobs, sizes, min_bytes=MIN_POOL_BYTES)
    for session in run_each(_audit_copies, order, jobs):
        gathered.append(session)
        if progress is not None:
            progress(session.size)
    gathered.sort(key=lambda s: (s.started or "~", s.session_id))
    _count_once(gathered)
    return gathered


def _audit_copies(session: tuple[str, list[str]]) -> Session:
    return audit_session(*session)


def _count_once(sessions: list[Session]) -> None:
    """A fork carries the compactions of the session it came from: each counts where it was."""
    seen: set[str] = set()
    for session in sessions:
        session.compactions = [one for one in session.compactions if one.row not in seen]
        seen.update(one.row for one in session.compactions)
