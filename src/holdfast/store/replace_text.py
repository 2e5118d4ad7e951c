"""Puts a mark in the place of a phrase wherever sessions have it, and in the index of their words.

Facts and messages are rewritten by their engine, which indexes them; other and packed text is
changed in place. Runs inside the caller's transaction.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable

from holdfast.records import TYPE_CHECKING, Any, NamedTuple
from holdfast.state.facts import Fact
from holdfast.store import queries
from holdfast.store.protocol import Message
from holdfast.store.queries import Owner, Row, Statements, where_owner
from holdfast.store.schema import BLOB, SESSION_TABLES, TEXT

if TYPE_CHECKING:
    from holdfast.store.sql_store import SessionWriter

FORGOTTEN_PHRASE = "[forgotten]"  # in the place of a phrase that a user wants gone
# As `Store.prepare_texts`.
Prepare = Callable[[list[Fact], list[Message]], tuple[list[Any], list[Any]]]


class Replacement(NamedTuple):
    phrase: str
    mark: str
    owner: Owner  # of whose rows; without a column, of all sessions'

    @property
    def forms(self) -> tuple[str, ...]:
        """As it was typed and as JSON writes it."""
        escaped = (json.dumps(self.phrase, ensure_ascii=ascii)[1:-1] for ascii in (True, False))
        return tuple(dict.fromkeys((self.phrase, *escaped)))

    @property
    def of_owner(self) -> str:
        return where_owner(self.owner) or "1 = 1"

    def apply(self, text: str) -> str:
        for form in self.forms:
            text = text.replace(form, self.mark)
        return text


def replace_text(writer: SessionWriter, prepare: Prepare, wanted: Replacement) -> list[Row]:
    """Answers whose each changed value is (`Statements.owner_columns`)."""
    changed = _rewrite_facts(writer, prepare, wanted) + _rewrite_messages(writer, prepare, wanted)
    run = writer.run
    for table, shape in SESSION_TABLES.items():
        for name, kind in shape.columns.items():
            if kind == TEXT and name not in shape.key and table not in ("facts", "messages"):
                changed += _replace_in_column(run, table, name, wanted)
            elif kind == BLOB:
                keys = [*run.owner_columns, *(["seq"] if shape.numbered else shape.key)]
                changed += _replace_in_packed(run, table, name, keys, wanted)
    for form in wanted.forms:
        run.execute(
            f"UPDATE {run.sessions_table} SET title = replace(title, :form, :mark)"
            f" WHERE {run.where_session if wanted.owner else '1 = 1'}",
            **{"form": form, "mark": wanted.mark, **wanted.owner},
        )
    return changed


def _rewrite_facts(writer: SessionWriter, prepare: Prepare, wanted: Replacement) -> list[Row]:
    owners, changed = writer.run.owner_columns, []
    for row in _find_texts(writer.run, "facts f", queries.FACT_COLUMNS, ("text", "detail"), wanted):
        owner, fact = row[: len(owners)], queries.fact_from_row(row[len(owners) :])
        fact = fact._replace(text=wanted.apply(fact.text), detail=wanted.apply(fact.detail))
        facts, _ = prepare([fact], [])
        writer.write_texts(dict(zip(owners, owner, strict=True)), facts, [], False)
        changed.append(owner)
    return changed


def _rewrite_messages(writer: SessionWriter, prepare: Prepare, wanted: Replacement) -> list[Row]:
    """A message is known by its text: the one with the mark takes its place."""
    owners, changed = writer.run.owner_columns, []
    for row in _find_texts(writer.run, "messages m", queries.MESSAGE_COLUMNS, ("text",), wanted):
        owner, message = row[: len(owners)], Message(*row[len(owners) :])
        own = dict(zip(owners, owner, strict=True))
        writer.run.execute(
            f"DELETE FROM messages WHERE {where_owner(own)} AND row_id = :row"
            " AND speaker = :speaker AND text = :text",
            **own,
            row=message.row,
            speaker=message.speaker,
            text=message.text,
        )
        _, messages = prepare([], [message._replace(text=wanted.apply(message.text))])
        writer.write_texts(own, [], messages, False)
        changed.append(owner)
    return changed


def _find_texts(
    run: Statements, table: str, columns: str, names: tuple[str, ...], wanted: Replacement
) -> list[Row]:
    """The owner's columns and then these, of the rows that have the phrase under these names."""
    letter = table[-1]
    owners = ", ".join(f"{letter}.{column}" for column in run.owner_columns)
    forms = {f"form_{number}": form for number, form in enumerate(wanted.forms)}
    has = " OR ".join(
        f"replace({letter}.{name}, :{form}, '') <> {letter}.{name}"
        for name in names
        for form in forms
    )
    return run.query(
        f"SELECT {owners}, {columns} FROM {table} WHERE {wanted.of_owner} AND ({has})",
        **forms,
        **wanted.owner,
    )


def _replace_in_column(run: Statements, table: str, name: str, wanted: Replacement) -> list[Row]:
    return [
        row
        for form in wanted.forms
        for row in run.query(
            f"UPDATE {table} SET {name} = replace({name}, :form, :mark)"
            f" WHERE {wanted.of_owner} AND replace({name}, :form, '') <> {name}"
            f" RETURNING {', '.join(run.owner_columns)}",
            **{"form": form, "mark": wanted.mark, **wanted.owner},
        )
    ]


def _replace_in_packed(
    run: Statements, table: str, name: str, keys: list[str], wanted: Replacement
) -> list[Row]:
    changed = []
    chosen = f"SELECT {', '.join(keys)} FROM {table} WHERE {wanted.of_owner}"
    for row in run.query(chosen, **wanted.owner):
        key = dict(zip(keys, row, strict=True))
        where = where_owner(key)
        held = run.query(f"SELECT {name} FROM {table} WHERE {where}", **key)[0][0]
        before = after = zlib.decompress(bytes(held))
        for form in wanted.forms:
            after = after.replace(form.encode(), wanted.mark.encode())
        if after != before:
            statement = f"UPDATE {table} SET {name} = :packed WHERE {where}"
            run.execute(statement, packed=zlib.compress(after, 1), **key)
            changed.append(row[: len(run.owner_columns)])
    return changed
