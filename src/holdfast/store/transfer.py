"""Copies everything from one store into another, with nothing lost: session by session.

Each session is read at one moment and written in one transaction. What the target knows already
stays as it is where it knows more; copying twice changes nothing the second time.
"""

from collections.abc import Iterator, Sequence

from holdfast.records import Any, NamedTuple
from holdfast.state.facts import Fact
from holdfast.store import archives, queries
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.queries import SESSION_COLUMNS
from holdfast.store.schema import SESSION_TABLES
from holdfast.store.sql_store import SessionWriter, Store

# A row by its columns, as it is kept.
KeptRow = dict[str, Any]


class SessionExport(NamedTuple):
    """Everything in the order in which it was first written."""

    session: Session
    state: SavedState | None
    packed: bytes
    checkpoints: list[KeptRow]
    facts: list[Fact]
    messages: list[Message]
    compactions: list[Compaction]
    deliveries: list[Delivery]
    archives: list[KeptRow]


def export_session(
    run: queries.Statements, owner: queries.Owner, session: Session
) -> SessionExport:
    """All that is kept of a session, inside a transaction that sees it at one moment."""

    def rows(table: str, columns: str, order: str = "seq") -> Sequence[queries.Row]:
        """All that the session has in a table, which `columns` call by its letter."""
        letter = columns.partition(".")[0]
        return run.query(
            f"SELECT {columns} FROM {table} {letter} WHERE {queries.where_owner(owner, letter)}"
            f" ORDER BY {letter}.{order}",
            **owner,
        )

    def as_kept(table: str, order: str = "seq") -> list[KeptRow]:
        names = tuple(SESSION_TABLES[table].columns)
        columns = ", ".join(f"t.{name}" for name in names)
        return [dict(zip(names, row, strict=True)) for row in rows(table, columns, order)]

    states = rows("states", queries.STATE_COLUMNS, "generation")
    return SessionExport(
        session,
        queries.state_from_row(session, states[0]) if states else None,
        states[0][-1] if states else b"",
        as_kept("checkpoints", "id"),
        [queries.fact_from_row(row) for row in rows("facts", queries.FACT_COLUMNS)],
        [Message(*row) for row in rows("messages", queries.MESSAGE_COLUMNS)],
        [
            queries.compaction_from_row(session.id, row)
            for row in rows("compactions", queries.COMPACTION_COLUMNS, "epoch")
        ],
        [
            queries.delivery_from_row(session.id, row)
            for row in rows("deliveries", queries.DELIVERY_COLUMNS)
        ],
        as_kept("archives"),
    )


def _insert_checkpoint(writer: SessionWriter, owner: queries.Owner, kept: KeptRow) -> None:
    """Where it is not there yet. An id that a person noted down goes on to name the same
    checkpoint, where it is free."""
    run, values = writer.run, {**owner, **kept}
    if run.query(
        f"SELECT 1 FROM checkpoints WHERE {queries.where_owner(owner)}"
        " AND generation = :generation AND byte_offset = :byte_offset AND time = :time"
        " AND state = :state LIMIT 1",
        **values,
    ):
        return
    if run.query("SELECT 1 FROM checkpoints WHERE id = :id", id=kept["id"]):
        del values["id"]
    queries.insert(run, "checkpoints", values)
    writer.reserve_checkpoint(kept["id"])


def copy_sessions(source: Store, target: Store) -> int:
    """How many sessions were moved."""
    count = 0
    for whole in export_sessions(source):
        import_session(target, whole)
        count += 1
    return count


def export_sessions(store: Store) -> Iterator[SessionExport]:
    with store.reading() as run:
        owners = ", ".join(run.owner_values)
        columns = f"SELECT s.project, s.id, {owners} FROM sessions s ORDER BY s.seq"
        keys = run.query(columns)
    for project, session_id, *owner_values in keys:
        with store.reading_at_once(project, session_id) as run:
            owner = dict(zip(run.owner_columns, owner_values, strict=True))
            rows = run.query(
                f"SELECT {SESSION_COLUMNS} FROM sessions s WHERE {run.where_session}",
                **owner,
            )
            found = [export_session(run, owner, Session(*row)) for row in rows]
        yield from found


def import_session(store: Store, whole: SessionExport) -> None:
    session, state = whole.session, whole.state
    facts, messages = store.prepare_texts(whole.facts, whole.messages)
    # Of others with the same id nothing is seen; without a project it may find its own now.
    only = [session.project, ""]
    with store.writing(session.id, session.project, only=only) as writer:
        found = writer.find(session)
        knows_more = state is not None and found.is_newer_than(state)
        owner = writer.upsert(session, found)
        if state is not None and not knows_more:
            queries.upsert_state(writer.run, owner, state, whole.packed)
        writer.write_texts(owner, [] if knows_more else facts, messages, False)
        for compaction in whole.compactions:
            queries.merge_compaction(writer.run, owner, compaction)
        for delivery in whole.deliveries:
            queries.add_delivery(writer.run, owner, delivery, **writer.delivery_columns(owner))
        for checkpoint in whole.checkpoints:
            _insert_checkpoint(writer, owner, checkpoint)
        for archive in whole.archives:
            if not archives.has_range(writer.run, owner, archive):
                queries.insert(writer.run, "archives", {**owner, **archive})
