"""The store, whichever engine is behind it: each method one transaction.

A numbered suite (`tests/support/store_conformance`) holds both engines to what is promised here. A
store keeps what it is given: it does not fold, rank, redact or read the clock.

Owns no statement: those are in `queries`, with all that only reads, and `archives`. How an engine's
transaction is made and how it writes sessions and texts with their index is its own
(`SessionWriter`); so is search.
"""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from holdfast.records import TYPE_CHECKING, Any
from holdfast.state.facts import Fact
from holdfast.store import archives, protocol, queries, search_query
from holdfast.store.packed_state import pack_state
from holdfast.store.queries import Owner, Statements, StoreReader
from holdfast.store.schema import SESSION_TABLES

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

# Epochs before the current one of which every checkpoint is kept.
WHOLE_EPOCHS = 2
# Deleted together: not every SQLite takes ten thousand names in one statement.
BATCH_CHECKPOINTS = 500


class SessionWriter(ABC):
    """Writes inside one transaction."""

    run: Statements

    @abstractmethod
    def insert_session(self, session: protocol.Session) -> Owner:
        """One that is not there yet."""

    def find(self, session: protocol.Session) -> protocol.FoundSession:
        """The session of that id in its project. One without a project finds it now, and where
        none is said, the first of that id is meant. For who is bound to no project, as a user in
        an own store, a session may also have gone on in another project."""
        run = self.run
        rows = run.query(
            f"SELECT {queries.SESSION_COLUMNS}, t.generation, t.byte_offset,"
            f" {', '.join(run.owner_values)} FROM sessions s"
            f" LEFT JOIN states t ON {run.session_join.format('t')} WHERE s.id = :id"
            " AND (CAST(:project AS TEXT) IN ('', s.project) OR s.project = ''"
            f" OR {run.sees_all})"
            " ORDER BY s.project = :project DESC, s.project = '' DESC, s.seq LIMIT 1",
            id=session.id,
            project=session.project,
        )
        if not rows:
            return protocol.FoundSession()
        fields = len(protocol.Session._fields)
        generation, offset, *owner = rows[0][fields:]
        revision = None if generation is None else (generation, offset)
        of = dict(zip(run.owner_columns, owner, strict=True))
        return protocol.FoundSession(protocol.Session(*rows[0][:fields]), of, revision)

    def upsert(self, session: protocol.Session, found: protocol.FoundSession) -> Owner:
        """With what is newly known about it: an empty field never replaces a known one; a start
        only moves back, an update only forward."""
        given = protocol.Session(*map(search_query.replace_surrogates, session))
        known, run = found.known, self.run
        if known is None:
            return self.insert_session(given)
        owner: Owner = found.owner
        merged = _merge_session(known, given)
        if merged != known:
            changed = ", ".join(f"{field} = :new_{field}" for field in protocol.Session._fields)
            values = {f"new_{field}": value for field, value in merged._asdict().items()}
            run.execute(
                f"UPDATE {run.sessions_table} SET {changed} WHERE {run.where_session}",
                **owner,
                **values,
            )
        # It may have gone on in another project, and takes its rows along.
        if "project" in owner and merged.project != known.project:
            for table in SESSION_TABLES:
                run.execute(
                    f"UPDATE {table} SET project = :to WHERE {queries.where_owner(owner)}",
                    **owner,
                    to=merged.project,
                )
            owner = {**owner, "project": merged.project}
        return owner

    @abstractmethod
    def write_texts(self, owner: Owner, facts: list[Any], messages: list[Any], whole: bool) -> None:
        """As `Store.prepare_texts` answers them; with `whole` the other facts go."""

    def upsert_session(self, session: protocol.Session) -> Owner:
        return self.upsert(session, self.find(session))

    def delivery_columns(self, owner: Owner) -> dict[str, Any]:
        """Columns of a delivery that one engine alone has."""
        del owner
        return {}

    def begin_change(self, owner: Owner) -> None:
        """Before a session is changed otherwise than by `upsert`: others look for what is new."""
        del owner

    def reserve_checkpoint(self, number: int) -> None:
        """This id was taken without asking for one: those that are given now come after it."""
        del number

    def delete_session(self, owner: Owner, dropped: dict[str, int]) -> None:
        for table in SESSION_TABLES:
            statement = f"DELETE FROM {table} WHERE {queries.where_owner(owner)}"
            dropped[table] += self.run.execute(statement, **owner)
        statement = f"DELETE FROM {self.run.sessions_table} WHERE {self.run.where_session}"
        dropped["sessions"] += self.run.execute(statement, **owner)


class _Rehearsed(Exception):
    """Takes a transaction back."""


class Store(StoreReader):
    """An id belongs to its project: two projects can have a session of the same id. Where a store
    sees several, a bare id means the one that was there first; one that is bound to a project
    (`scoped_to`, `projects`) sees that project's alone."""

    @abstractmethod
    def reading_at_once(self, project: str, session_id: str) -> AbstractContextManager[Statements]:
        """All of one session as it was at one moment."""

    @abstractmethod
    def writing(
        self, session_id: str = "", project: str = "", *, only: Sequence[str] | None = None
    ) -> AbstractContextManager[SessionWriter]:
        """All of what runs inside, or nothing of it; writers of the session take turns. It sees the
        projects `only`, if named."""

    @abstractmethod
    def prepare_texts(
        self, facts: Iterable[Fact], messages: Iterable[protocol.Message]
    ) -> tuple[list[Any], list[Any]]:
        """For `SessionWriter.write_texts`, before its lock is taken."""

    def pack(self, saved: protocol.SavedState, *, to_keep: bool = False) -> bytes:
        """The state of a session, or one that is `to_keep` beside it."""
        del to_keep
        return pack_state(saved.state)

    def save(
        self,
        saved: protocol.SavedState,
        facts: Iterable[Fact] = (),
        messages: Iterable[protocol.Message] = (),
        *,
        whole: bool = False,
    ) -> bool:
        """Keep the state with its changed facts and new messages, all or nothing.

        False, and nothing changed, when the store already knows more: it has a later
        `revision`, or it has a state and this one is empty. At the same `revision` the last save
        wins. The same save twice is one. An empty field of `saved.session` never replaces a
        known one; `started` keeps the earliest word and `updated` the latest.

        `whole` says that `facts` are all there are, as after a rewind: the session's other
        facts go. Messages stay, because they were said.
        """
        # Packing takes longer than writing: done before the lock is taken.
        packed = self.pack(saved)
        ready_facts, ready_messages = self.prepare_texts(facts, messages)
        with self.writing(saved.session.id, saved.session.project) as writer:
            found = writer.find(saved.session)
            if found.is_newer_than(saved):
                return False
            owner = writer.upsert(saved.session, found)
            queries.upsert_state(writer.run, owner, saved, packed)
            if ready_facts or ready_messages or whole:
                writer.write_texts(owner, ready_facts, ready_messages, whole)
        return True

    def checkpoint(
        self, saved: protocol.SavedState, cause: str, epoch: int, time: str
    ) -> protocol.Checkpoint:
        """Save the state at a moment. The same state again answers the existing checkpoint.

        `load` answers this state too, where the store did not know more. Each is a whole state, so
        of epochs long past only the last one stays.
        """
        packed = self.pack(saved, to_keep=True)
        with self.writing(saved.session.id, saved.session.project) as writer:
            found = writer.find(saved.session)
            owner = writer.upsert(saved.session, found)
            if not found.is_newer_than(saved):
                queries.upsert_state(writer.run, owner, saved, packed)
            same = queries.find_checkpoint(writer.run, owner, saved.revision, packed)
            if same is not None:
                return same
            values = {"epoch": epoch, "cause": cause, "time": time}
            values |= queries.to_state_columns(saved, packed)
            values["header"] = json.dumps(queries.load_session(writer.run, owner))
            queries.insert(writer.run, "checkpoints", {**owner, **values})
            queries.thin_checkpoints(writer.run, owner, epoch - WHOLE_EPOCHS)
            made = queries.find_checkpoint(writer.run, owner, saved.revision, packed)
            assert made is not None  # it was made in this transaction
        return made

    def end_session(self, session_id: str, time: str) -> None:
        """An empty time takes the end back: a session can be resumed."""
        with self.writing() as writer:
            owner = queries.find_owner(writer.run, session_id)
            if owner is not None and queries.load_session(writer.run, owner)[-1] != time:
                writer.begin_change(owner)
                queries.update_session(writer.run, owner, "ended", time)

    def search(
        self,
        query: str,
        *,
        session_id: str = "",
        project: str = "",
        kind: str = "",
        limit: int = 20,
        offset: int = 0,
    ) -> Sequence[protocol.Hit]:
        """Best first; open facts before closed ones. `query` is a person's words:
        never a syntax error. `kind` is a kind of fact, or "message" for words alone."""
        wanted = search_query.SearchFilter(
            search_query.replace_surrogates(session_id),
            search_query.replace_surrogates(project),
            search_query.replace_surrogates(kind),
            max(limit, 0),
            max(offset, 0),
        )
        return self.find_hits(search_query.parse_query(query), wanted)

    @abstractmethod
    def find_hits(
        self, query: search_query.SearchQuery, wanted: search_query.SearchFilter
    ) -> Sequence[protocol.Hit]: ...

    def record_compaction(self, compaction: protocol.Compaction) -> None:
        """By (session, epoch); later calls fill in what earlier ones did not know, and change
        nothing that they did. `kept` and `lost` are set together."""
        with self.writing(compaction.session_id) as writer:
            owner = writer.upsert_session(protocol.Session(compaction.session_id))
            queries.merge_compaction(writer.run, owner, compaction)

    def record_delivery(self, delivery: protocol.Delivery) -> bool:
        """False when this epoch already has one of this kind: it must not be given again."""
        with self.writing(delivery.session_id) as writer:
            owner = writer.upsert_session(protocol.Session(delivery.session_id))
            more = writer.delivery_columns(owner)
            return queries.add_delivery(writer.run, owner, delivery, **more)

    def archive(
        self, session_id: str, generation: int, start: int, end: int, rows: bytes, time: str
    ) -> None:
        """Keep raw rows of a byte range, compressed. Ranges already kept are not kept twice.

        Rows that were rewritten on the way (redacted) are not `end - start` bytes long and
        cannot be cut: such a range takes the place of the ranges it holds, and one that only
        overlaps others is kept whole, because losing rows is worse than having them twice.
        """
        with self.writing(session_id) as writer:
            owner = writer.upsert_session(protocol.Session(session_id))
            archives.save_range(writer.run, owner, generation, (start, end), rows, time)

    def archive_sizes(self) -> dict[str, int]:
        """Bytes of the archived rows, by session."""
        with self.reading() as run:
            return {name: size for _, name, size in archives.list_sizes(run)}

    def limit_archives(self, most: int, keep: str) -> list[str]:
        """Drop the rows of the sessions without news longest, until the rest is at most `most`
        bytes; never those of `keep`. Answers which lost theirs."""
        with self.reading() as run:
            held = archives.list_sizes(run)
        total = sum(size for _, _, size in held)
        dropped = []
        for owner, name, size in held:
            if total <= most:
                break
            if name == keep:
                continue
            with self.writing(name, owner.get("project", "")) as writer:
                where = queries.where_owner(owner)
                writer.run.execute(f"DELETE FROM archives WHERE {where}", **owner)
            total -= size
            dropped.append(name)
        return dropped

    def prune(
        self, *, before: str, keep: int, held: Collection[str] = (), dry_run: bool = False
    ) -> dict[str, int]:
        """Drop checkpoints that are older than `before` and also beyond the `keep` latest of
        their session, and sessions wholly older than `before`; the latest checkpoint of each
        remaining session always stays, and sessions `held` back this time lose
        nothing. Answers what was (or would be) dropped, by table."""
        dropped = dict.fromkeys((*SESSION_TABLES, "sessions"), 0)
        with self.reading() as run:
            old = queries.list_old_sessions(run, before, held)
        if dry_run:
            # The real one, rolled back: it cannot answer anything else.
            with suppress(_Rehearsed), self.writing() as writer:
                for owner, _ in old:
                    writer.delete_session(owner, dropped)
                dropped["checkpoints"] += _delete_checkpoints(writer.run, before, keep, held)
                raise _Rehearsed
            return dropped
        for owner, session_id in old:
            with self.writing(session_id, owner.get("project", "")) as writer:
                # Asked again under the lock: the session may have been resumed meanwhile.
                if queries.list_old_sessions(writer.run, before, only=owner):
                    writer.delete_session(owner, dropped)
        with self.writing() as writer:
            dropped["checkpoints"] += _delete_checkpoints(writer.run, before, keep, held)
        self.reclaim_space(sessions_deleted=bool(old))
        return dropped

    def delete_session(self, session_id: str) -> dict[str, int]:
        """Drop everything about one session. Answers what was dropped."""
        dropped = dict.fromkeys((*SESSION_TABLES, "sessions"), 0)
        with self.writing(session_id) as writer:
            owner = queries.find_owner(writer.run, session_id)
            if owner is not None:
                writer.delete_session(owner, dropped)
        if owner is not None:
            self.reclaim_space(sessions_deleted=True)
        return dropped

    def forget_phrase(self, phrase: str, session_id: str = "") -> dict[str, int]:
        """Take a phrase out of what is kept of all sessions, or of one. Answers in how many values
        of which session it stood."""
        # Imported late: no hook takes a phrase out.
        from holdfast.store.replace_text import Replacement

        found = {}
        for name in [session_id] if session_id else [one.id for one in self.sessions(limit=-1)]:
            with self.writing(name) as writer:
                owner = queries.find_owner(writer.run, name)
                if owner and (count := Replacement(self, writer, owner, phrase).run()):
                    found[name] = count
        if found:
            self.reclaim_space(sessions_deleted=True)
        return found

    @abstractmethod
    def health(self) -> dict[str, Any]:
        """What doctor wants to know: schema version, integrity, sizes, counts."""

    @abstractmethod
    def close(self) -> None: ...

    def reclaim_space(self, *, sessions_deleted: bool) -> None:
        """Give back what was freed, where that is not done by itself."""
        del sessions_deleted

    def read_archive(self, session_id: str) -> Iterator[tuple[int, int, int, bytes]]:
        """(generation, start, end, rows), in order."""
        with self.reading() as run:
            ranges = archives.list_ranges(run, session_id)
        for owner, seq in ranges:
            # One at a time: a long session's rows need not fit in memory together.
            try:
                with self.reading() as run:
                    piece = archives.load_range(run, owner, seq)
            except zlib.error as error:
                raise protocol.StoreDamaged(
                    f"{self._name} contains an unreadable archive: {error}"
                ) from error
            if piece is not None:
                yield piece

    def archived_until(self, session_id: str, generation: int) -> int:
        """Where the first gap begins: everything before this offset is kept."""
        with self.reading() as run:
            return archives.find_first_gap(run, session_id, generation)


def _merge_session(known: protocol.Session, given: protocol.Session) -> protocol.Session:
    fields = {name: value for name, value in given._asdict().items() if value}
    fields["started"] = min(filter(None, (known.started, given.started)), default="")
    fields["updated"] = max(known.updated, given.updated)
    return known._replace(**fields)


def _delete_checkpoints(run: Statements, before: str, keep: int, held: Collection[str]) -> int:
    spare = queries.list_old_checkpoints(run, before, max(keep, 1), held)
    for start in range(0, len(spare), BATCH_CHECKPOINTS):
        values, names = queries.placeholders(spare[start : start + BATCH_CHECKPOINTS])
        run.execute(f"DELETE FROM checkpoints WHERE id IN ({names})", **values)
    return len(spare)
