"""Takes a phrase out of all that is kept of a session, and out of the index of its words.

Runs inside the caller's transaction. Facts and messages are written by their engine, which indexes
them; what else is text or packed is changed where it stands.
"""

from __future__ import annotations

import json
import zlib

from holdfast.records import TYPE_CHECKING, NamedTuple
from holdfast.store import queries
from holdfast.store.protocol import Message
from holdfast.store.queries import Owner, Row, where_owner
from holdfast.store.schema import BLOB, SESSION_TABLES, TEXT

if TYPE_CHECKING:
    from holdfast.store.sql_store import SessionWriter, Store

FORGOTTEN_PHRASE = "[forgotten]"  # in its place


def spell_forms(phrase: str) -> list[str]:
    """As it was typed and as JSON writes it."""
    escaped = (json.dumps(phrase, ensure_ascii=ascii)[1:-1] for ascii in (True, False))
    return list(dict.fromkeys((phrase, *escaped)))


class Replacement(NamedTuple):
    store: Store
    writer: SessionWriter
    owner: Owner
    phrase: str

    def run(self) -> int:
        """In how many values it stood."""
        count = self._rewrite_texts()
        for table, shape in SESSION_TABLES.items():
            keys = ["seq"] if shape.numbered else list(shape.key)
            for name, kind in shape.columns.items():
                if kind in (TEXT, BLOB) and name not in shape.key:
                    # States are large: one at a time.
                    for row in self._select(", ".join(keys) or "1", table):
                        key = {**dict(zip(keys, row, strict=False)), **self.owner}
                        count += self._update(table, name, key)
        return count

    def _apply(self, text: str) -> str:
        for form in spell_forms(self.phrase):
            text = text.replace(form, FORGOTTEN_PHRASE)
        return text

    def _select(self, columns: str, table: str) -> list[Row]:
        statement = f"SELECT {columns} FROM {table} WHERE {where_owner(self.owner)}"
        return self.writer.run.query(statement, **self.owner)

    def _rewrite_texts(self) -> int:
        rows = self._select(queries.FACT_COLUMNS, "facts f")
        said = [Message(*row) for row in self._select(queries.MESSAGE_COLUMNS, "messages m")]
        known = [
            one._replace(text=self._apply(one.text), detail=self._apply(one.detail))
            for one in map(queries.fact_from_row, rows)
            if self._apply(one.text + one.detail) != one.text + one.detail
        ]
        stale = [one for one in said if self._apply(one.text) != one.text]
        for one in stale:  # a message is known by its text
            key = {"row_id": one.row, "speaker": one.speaker, "text": one.text, **self.owner}
            self.writer.run.execute(f"DELETE FROM messages WHERE {where_owner(key)}", **key)
        fresh = [one._replace(text=self._apply(one.text)) for one in stale]
        ready = self.store.prepare_texts(known, fresh)
        self.writer.write_texts(self.owner, *ready, whole=False)
        return len(known) + len(fresh)

    def _update(self, table: str, name: str, key: Owner) -> int:
        run, where = self.writer.run, where_owner(key)
        ((held,),) = run.query(f"SELECT {name} FROM {table} WHERE {where}", **key)
        packed = not isinstance(held, str)
        text = zlib.decompress(bytes(held)).decode("utf-8", "surrogateescape") if packed else held
        after = self._apply(text)
        if after == text:
            return 0
        value = zlib.compress(after.encode("utf-8", "surrogateescape"), 1) if packed else after
        return run.execute(f"UPDATE {table} SET {name} = :value WHERE {where}", value=value, **key)
