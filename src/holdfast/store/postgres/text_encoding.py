"""What PostgreSQL cannot hold, and the way around it: texts come back exactly as they went in.

A text column refuses U+0000, which transcripts do contain (binary output of a command). It is
written as two characters, with an escape character that is itself escaped. Everything passes
through the adapters registered here, so that no query has to remember it.
"""

from __future__ import annotations

import json
from typing import Any

from psycopg.abc import AdaptContext, Buffer
from psycopg.types.string import StrDumperUnknown, TextLoader

from holdfast.store.search_query import replace_surrogates

# A private-use character: rare in the wild, and escaped where it occurs.
ESCAPE = "\uf8f0"


def encode_text(text: str) -> str:
    """The text as a column holds it."""
    text = replace_surrogates(text)
    if "\0" in text or ESCAPE in text:
        return text.replace(ESCAPE, ESCAPE + "1").replace("\0", ESCAPE + "0")
    return text


def decode_text(text: str) -> str:
    """The text as it was given."""
    if ESCAPE in text:
        return text.replace(ESCAPE + "0", "\0").replace(ESCAPE + "1", ESCAPE)
    return text


class _Dumper(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        return encode_text(obj).encode("utf-8")


class _Loader(TextLoader):
    def load(self, data: Buffer) -> str:
        return decode_text(bytes(data).decode("utf-8"))


class JsonbText(str):
    """JSON in writing, which has been made fit for its column and is sent as it is."""

    __slots__ = ()


def register_adapters(context: AdaptContext) -> None:
    """Teach a connection our texts."""
    context.adapters.register_dumper(str, _Dumper)
    context.adapters.register_dumper(JsonbText, StrDumperUnknown)
    context.adapters.register_loader("text", _Loader)


def to_jsonb(value: Any) -> JsonbText:
    """For a JSONB column: equal when it comes back, but its keys in another order."""
    # In JSON a NUL is six characters, and JSONB refuses those as a column refuses the one.
    return JsonbText(json.dumps(_map_strings(value, encode_text), ensure_ascii=False))


def from_jsonb(value: Any) -> Any:
    return _map_strings(value, decode_text)


def _map_strings(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [_map_strings(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _map_strings(item, change) for key, item in value.items()}
    return value
