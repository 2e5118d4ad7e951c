"""The audit of sessions: every compaction of one, from the transcript and its copies, and all of a
folder in worker processes.

Folds the transcript once with the product's own code, and measures need and look-ups with the
survival benchmark's. Reads files and writes none.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import orjson

from holdfast import clients
from holdfast.audit.consequences import ConsequenceFinder, format_quote
from holdfast.audit.results import Compaction, FactCount, Lookups, Lost, Need, Repeat, Session
from holdfast.brief.coverage import MIN_WORD_SHARE, MIN_WORDS, TextCoverage, covers_fact
from holdfast.brief.gap import list_open_facts
from holdfast.brief.hook_texts import compose_restore_brief
from holdfast.brief.statements import users_sentences
from holdfast.events import Compacted, Event, SummaryGiven, UsageMeasured
from holdfast.fastpath.project import locate_project
from holdfast.measure.entities import Entity
from holdfast.measure.knowledge import SessionText
from holdfast.measure.need import LOOKUP_WINDOW, lookup_key
from holdfast.measure.prepared_boundary import prepare_boundary
from holdfast.measure.scoring import score_brief
from holdfast.measure.session_files import Call, find_boundaries, is_boundary, load_session
from holdfast.redact import redact
from holdfast.session.follow import INITIAL, follow_transcript
from holdfast.session.transcript_scan import Boundary, read_source_row, scan_boundaries
from holdfast.state import State
from holdfast.state.facts import OPEN, Fact
from holdfast.state.model import list_facts as all_facts
from holdfast.state.prose import subject_words
from holdfast.transcript.reader import TranscriptError
from holdfast.workers import worker_pool

# Need is measured with every row of a session in memory, at some six times its size on disk.
MAX_MEASURED_BYTES = 200_000_000
GZIP_RATIO = 6  # how much a packed transcript grows, roughly
# A longer pause before an automatic compaction is not the compaction.
MAX_WAIT_SECONDS = 600.0
MAX_LOST = 60
# No summary repeats a plan of pages nearly word for word, so it would always count as lost.
# The request and whatever else the user typed are counted sentence by sentence, as said.
IGNORED_KINDS = frozenset({"", "plan", "request"})
SAID = "said"  # beside the kinds of facts: every sentence of the user
REFUSED = "refused"  # beside dead ends: calls that the user turned down
# "Keep in mind that manual commits can differ" tells something; it demands nothing for later.
REMARK_PATTERN = re.compile(r"\b(?:keep in mind|remember|note) that\b", re.I)
MAX_REPEATS = LOOKUP_WINDOW
WORD_PATTERN = re.compile(r"[A-Za-z]{3}")


def audit_session(session_id: str, paths: list[str]) -> Session:
    """Everything there is to say about one session. Never raises for what a file holds."""
    session = Session(session_id, paths[0], sum(map(_size, paths)))
    try:
        briefs = _fold_all(session, sorted(paths, key=lambda p: (-_size(p), p)))
        if session.compactions:
            _measure(session, paths, briefs)
    except (TranscriptError, OSError, EOFError, zlib.error) as error:
        session.error = str(error) or type(error).__name__
    return session


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _fold_all(session: Session, paths: list[str]) -> dict[str, str]:
    """Each compaction once, from the first copy that holds it; the brief before each."""
    briefs: dict[str, str] = {}
    for path in paths:
        marks = [m for m in scan_boundaries(path, loads=orjson.loads) if m.row not in briefs]
        if marks:
            _fold_one(session, path, marks, briefs)
    return briefs


def _fold_one(session: Session, path: str, marks: list[Boundary], briefs: dict[str, str]) -> None:
    followed = INITIAL
    heard: list[_CompactionAudit] = []
    for mark in [*marks, None]:
        until = mark.start if mark is not None else None
        followed = follow_transcript(
            path,
            followed,
            loads=orjson.loads,
            on_event=heard[-1].apply if heard else None,
            until=until,
            final=True,
        )
        if mark is not None:
            heard.append(_CompactionAudit(path, mark, followed.state))
    for hearing in heard:
        session.compactions.append(hearing.compaction(followed.state))
        briefs[hearing.row] = hearing.brief
    place = followed.state.session
    if place.updated >= session.updated:
        folder = place.folders[0] if place.folders else place.cwd
        session.project = locate_project(folder)[0] if folder else ""
        session.title = format_quote(place.title)
        session.started, session.updated = place.started, place.updated


class _CompactionAudit:
    """One compaction: the state before it, and what is heard after it."""

    def __init__(self, path: str, mark: Boundary, state: State) -> None:
        self._path, self._mark, self._state = path, mark, state
        self.row = mark.row
        self._brief: str | None = None
        self._compacted: Compacted | None = None
        self._summary = ""
        self._first_context: int | None = None
        self._aftermath: ConsequenceFinder | None = None

    def apply(self, event: Event) -> None:
        if event.at.start < self._mark.start:
            return
        if isinstance(event, Compacted) and self._compacted is None:
            self._compacted = event
        elif isinstance(event, SummaryGiven) and not event.at.agent and not self._summary:
            self._summary = event.text
        elif isinstance(event, UsageMeasured) and self._first_context is None and event.context:
            self._first_context = event.context
        if self._aftermath is None and self._summary:
            self._aftermath = ConsequenceFinder(self._state, self._mark.start, _Judge(self))
        if self._aftermath is not None:
            self._aftermath.apply(event)

    @property
    def brief(self) -> str:
        """What would have been delivered: chosen against the summary, as the hooks do it."""
        if self._brief is None:
            state = self._state
            made = compose_restore_brief(state, state.session.updated, summary=self._summary)
            self._brief = made.text
        return self._brief

    def compaction(self, end: State) -> Compaction:
        """`end` is the state at the end of the session, for what only later rows can tell."""
        seen = self._compacted
        made = Compaction(
            self._mark.row,
            seen.at.time if seen else "",
            seen.trigger if seen else "",
            tokens_before=seen.tokens_before if seen else None,
            tokens_after=(seen.tokens_after if seen else None) or self._first_context,
            summary_chars=len(self._summary),
            brief_chars=len(self.brief),
        )
        self._time(made)
        if self._summary:
            self._facts(made, _list_later_successes(self._state, end))
            if self._aftermath is not None:
                made.consequences = self._aftermath.found()
        return made

    def _time(self, made: Compaction) -> None:
        row = read_source_row(self._path, self._mark.row, self._mark.start, loads=orjson.loads)
        data = orjson.loads(row) if row else {}
        probe = clients.of_session(self._state.session.client).row_probe
        made.seconds = probe.compaction_seconds(data) if isinstance(data, dict) else None
        if made.seconds is None and made.trigger == "auto":
            # Nothing else happens between the last row and the boundary of an automatic one.
            waited = seconds_between(self._state.session.updated, made.time)
            if waited is not None and 0 < waited <= MAX_WAIT_SECONDS:
                made.seconds, made.seconds_estimated = waited, True

    def _facts(self, made: Compaction, succeeded: frozenset[str]) -> None:
        judge = _Judge(self)
        counts: dict[str, list[int]] = {}
        lost = []
        for fact in list_open_facts(self._state):
            kind = self._kind(fact)
            if kind in IGNORED_KINDS or fact.id in succeeded:
                continue
            in_summary, kept = judge.of(fact)
            known = counts.setdefault(kind, [0, 0, 0])
            known[0] += 1
            known[1] += in_summary
            known[2] += kept
            if not in_summary:
                lost.append(Lost(kind, format_quote(fact.text), format_quote(fact.detail), kept))
        counts[SAID], unsaid = judge.sentences()
        made.facts = {kind: FactCount(*numbers) for kind, numbers in counts.items() if numbers[0]}
        made.lost = (*lost[:MAX_LOST], *unsaid[:MAX_LOST])

    def _kind(self, fact: Fact) -> str:
        """Under which heading it counts; "" for what is no loss. A remark stands among the
        words of the user already."""
        if fact.kind == "rule" and REMARK_PATTERN.search(fact.text):
            return ""
        if fact.kind == "dead_end":
            source = {f"x{one.number}": one.source for one in self._state.dead_ends.values()}
            return REFUSED if source.get(fact.id) == "refused" else fact.kind
        return fact.kind

    @property
    def state(self) -> State:
        return self._state

    @property
    def summary(self) -> str:
        return self._summary

    @property
    def kept(self) -> frozenset[str]:
        return frozenset(self._compacted.kept) if self._compacted else frozenset()


def _list_later_successes(state: State, end: State) -> frozenset[str]:
    """Ids of dead ends that were none: the same command worked later, or the user allowed it.

    Those that say nothing about how they failed are left out too. A table of dead ends is bounded
    and loses solved ones first: one that is missing at the end counts as solved.
    """
    still = {key for key, one in end.dead_ends.items() if one.status == OPEN}
    return frozenset(
        f"x{one.number}"
        for key, one in state.dead_ends.items()
        if key not in still or (one.source == "command" and not WORD_PATTERN.search(one.failure))
    )


class _Judge:
    """Whether the summary tells a fact, and whether the brief or the summary does."""

    def __init__(self, hearing: _CompactionAudit) -> None:
        self._kept = hearing.kept
        self._summary = TextCoverage(hearing.summary)
        self._brief = TextCoverage(hearing.brief)
        self._state = hearing.state
        self._facts = {fact.id: fact for fact in all_facts(hearing.state)}
        self._rows = {f"q{r.number}": r.at.row for r in hearing.state.requests.values()}

    def __call__(self, name: str) -> tuple[bool, bool]:
        fact = self._facts.get(name)
        return self.of(fact) if fact is not None else (False, False)

    def sentences(self) -> tuple[list[int], list[Lost]]:
        """How many sentences of the user stood, how many the summary tells, and with the brief;
        and those that it does not tell."""
        counts = [0, 0, 0]
        lost = []
        for request, sentence in users_sentences(self._state):
            if len(subject_words(sentence)) < MIN_WORDS:
                continue  # "go on" stands everywhere and nowhere
            in_summary = self._rows.get(request, "") in self._kept
            in_summary = in_summary or self._summary.covers_sentence(sentence, MIN_WORD_SHARE)
            kept = in_summary or self._brief.covers_sentence(sentence, MIN_WORD_SHARE)
            counts[0] += 1
            counts[1] += in_summary
            counts[2] += kept
            if not in_summary:
                lost.append(Lost(SAID, format_quote(sentence), "", kept))
        return counts, lost

    def of(self, fact: Fact) -> tuple[bool, bool]:
        # What stands in a message that the client kept word for word was not lost either.
        in_summary = fact.at.row in self._kept or covers_fact(self._summary, fact)
        return in_summary, in_summary or covers_fact(self._brief, fact)


def _measure(session: Session, paths: list[str], briefs: dict[str, str]) -> None:
    """Look-ups and need, from the raw rows, as the benchmark defines them."""
    grown = sum(_size(p) * (GZIP_RATIO if p.endswith(".gz") else 1) for p in paths)
    if grown > MAX_MEASURED_BYTES:
        session.too_large = True
        return
    merged = load_session([Path(p) for p in paths])
    text = SessionText(merged)
    session.rare = _clean(text.rare_kinds())
    by_uuid = {made.uuid: made for made in session.compactions}
    marks = [i for i, row in enumerate(merged.rows) if is_boundary(row)]
    for number, index in enumerate(marks):
        end = marks[number + 1] if number + 1 < len(marks) else len(merged.rows)
        made = by_uuid.get(str(merged.rows[index].get("uuid", "")))
        if made is not None:
            made.lookups = _lookups(text, index, end)
    for boundary in find_boundaries(merged.rows):
        made = by_uuid.get(boundary.uuid)
        if made is None or made.need is not None:
            continue
        ready = prepare_boundary(text, boundary, tuple(paths))
        if ready is not None:
            outcome = score_brief(briefs[made.uuid], ready, None)
            made.need = Need(
                tuple(map(_cleaned, ready.need.entities)),
                _clean(ready.need.in_summary),
                _clean(outcome.grounded),
            )


def _cleaned(entity: Entity) -> Entity:
    return Entity(entity.kind, redact(entity.value))


def _clean(entities: Iterable[Entity]) -> frozenset[Entity]:
    return frozenset(map(_cleaned, entities))


def _lookups(text: SessionText, index: int, end: int) -> Lookups:
    before = [c for c in text.reading.calls if c.row < index]
    after = [c for c in text.reading.calls if index < c.row < end][:LOOKUP_WINDOW]
    known: set[tuple[str, ...]] = set()
    again_before = []
    for call in before:
        key = lookup_key(call, text)
        again_before.append(key is not None and key in known)
        if key is not None:
            known.add(key)
    repeats = [c for c in after if (key := lookup_key(c, text)) is not None and key in known]
    last = again_before[-LOOKUP_WINDOW:]
    return Lookups(
        after=len(after),
        repeats=tuple(_repeat(call, text) for call in repeats[:MAX_REPEATS]),
        before=len(last),
        repeats_before=sum(last),
    )


def _repeat(call: Call, text: SessionText) -> Repeat:
    asked = lookup_key(call, text) or (call.tool,)
    said = " ".join(_relative(asked[1:], text.roots))
    return Repeat(format_quote(f"{call.tool} {redact(said)}"), len(call.result or ""))


def _relative(parts: Iterable[str], roots: list[str]) -> Iterable[str]:
    for part in parts:
        for root in roots:
            part = part.removeprefix(root + "/")
        if part:
            yield part


# Times as clients write them: ISO 8601 text, and the seconds between two of them.
#
# Must not read the clock.


def parse_time(text: str) -> datetime | None:
    """A time, or None where the text is none; without a zone it is taken for UTC."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def seconds_between(earlier: str, later: str) -> float | None:
    first, last = parse_time(earlier), parse_time(later)
    return (last - first).total_seconds() if first is not None and last is not None else None


# Transcripts below a folder, audited session by session in worker processes.
#
# Owns which files belong together and the order of work. Reads only; a file that cannot be read
# becomes a session with an error, and the rest goes on.

# Below this a second process costs more than it brings.
MIN_POOL_BYTES = 16_000_000
MAX_JOBS = 4

Progress = Callable[[int, str], None]  # bytes done, the session they belong to


@dataclass(slots=True)
class AuditedSessions:
    """Every session below a folder, and in how many of them each rare entity stands."""

    folder: str
    sessions: list[Session] = field(default_factory=list)
    document_frequency: Counter[Entity] = field(default_factory=Counter)
    weighed: int = 0  # sessions that were counted in `spread`


def find_transcripts(*folders: str) -> dict[str, list[str]]:
    """The copies of each session, by its id; files of subagents belong to their session."""
    found: dict[str, list[str]] = {}
    for folder in folders:
        for place, below, names in os.walk(folder):
            below.sort()
            for name in sorted(names):
                path = os.path.join(place, name)
                paths = clients.of_name(path).paths
                if paths.is_transcript(path):
                    found.setdefault(paths.transcript_session_id(path), []).append(path)
    return dict(sorted(found.items()))


def total_bytes(paths: list[str]) -> int:
    total = 0
    for path in paths:
        try:
            total += os.stat(path).st_size
        except OSError:
            continue
    return total


def audit_folder(
    folder: str,
    found: dict[str, list[str]],
    *,
    jobs: int = 0,
    progress: Progress | None = None,
) -> AuditedSessions:
    """Audit every session. The same files give the same records, however many processes."""
    gathered = AuditedSessions(folder)
    for session in _audited(found, _jobs(jobs, found)):
        # Only counts are kept of what one session holds: memory does not grow with the folder.
        if session.rare:
            gathered.document_frequency.update(session.rare)
            gathered.weighed += 1
            session.rare = frozenset()
        gathered.sessions.append(session)
        if progress is not None:
            progress(session.size, session.session_id)
    gathered.sessions.sort(key=lambda s: (s.started or "~", s.session_id))
    _count_once(gathered.sessions)
    return gathered


def _jobs(jobs: int, found: dict[str, list[str]]) -> int:
    if jobs:
        return min(jobs, max(len(found), 1))
    if sum(map(total_bytes, found.values())) < MIN_POOL_BYTES:
        return 1
    return min(MAX_JOBS, os.cpu_count() or 1, len(found))


def _audited(found: dict[str, list[str]], jobs: int) -> Iterator[Session]:
    if jobs <= 1:
        for session_id, paths in found.items():
            yield audit_session(session_id, paths)
        return
    waiting = dict(found)
    # The largest first, so that no worker is left alone with it at the end.
    order = sorted(found.items(), key=lambda item: -total_bytes(item[1]))
    try:
        with worker_pool(jobs) as pool:
            for future in as_completed([pool.submit(audit_session, *item) for item in order]):
                session = future.result()
                waiting.pop(session.session_id, None)
                yield session
    except BrokenProcessPool:
        # A worker was killed, as when memory ran out: go on with one process, here.
        for session_id, paths in waiting.items():
            yield audit_session(session_id, paths)


def _count_once(sessions: list[Session]) -> None:
    """A fork carries the compactions of the session it came from: each counts where it was."""
    seen: set[str] = set()
    for session in sessions:
        own: list[Compaction] = []
        for compaction in session.compactions:
            if compaction.uuid not in seen:
                own.append(compaction)
                seen.add(compaction.uuid)
        session.compactions = own
