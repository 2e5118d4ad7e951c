"""Opening what a command needs: the store and the transcript, with trouble put into words.

Must not print; whoever calls decides what to show.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.cli.output import Trouble
from holdfast.store.protocol import (
    Session,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
    StoreUnwritable,
)
from holdfast.store.sqlite import SqliteStore
from holdfast.transcript.reader import TranscriptError, TranscriptMissing

LOOKED_AT = 10_000  # sessions, for those that a name could mean
NAMED = 3


@contextmanager
def foreseen() -> Iterator[None]:
    """Turns what can go wrong with files and the store into a line that says what to do."""
    try:
        yield
    except TranscriptMissing as error:
        raise Trouble(str(error), "Check the path.") from error
    except TranscriptError as error:
        raise Trouble(str(error)) from error
    except StoreError as error:
        raise Trouble(str(error), advice(error)) from error


def advice(error: StoreError) -> str:
    if isinstance(error, StoreBusy) and "did not answer" in str(error):
        return "Is PostgreSQL running there, and is the address right?"
    if isinstance(error, StoreBusy):
        return "Another Holdfast is writing: try again in a moment."
    if isinstance(error, StoreTooNew):
        return "A newer Holdfast has written it: update this one."
    if isinstance(error, StoreUnwritable):
        return "Make room or grant access there, or choose another folder with --home."
    if isinstance(error, StoreDamaged):
        if "`holdfast db migrate`" in str(error):
            return ""  # it says itself what helps
        return "Move the file away and run `holdfast ingest` to build it again."
    return ""


@contextmanager
def opened_store() -> Iterator[SqliteStore]:
    """The user's store, which must exist."""
    from holdfast.lifecycle.places import store_path

    path = store_path()
    if not os.path.exists(path):
        raise Trouble(
            f"Nothing is stored yet (no {path})",
            "Run `holdfast ingest` to index your transcripts.",
        )
    with foreseen():
        store = SqliteStore(path)
        try:
            yield store
        finally:
            store.close()


def writable_store_path() -> str:
    """The user's store, in a folder that is made if it is not there."""
    from holdfast.files import make_folder
    from holdfast.lifecycle.places import store_path

    path = store_path()
    try:
        make_folder(os.path.dirname(path))
    except OSError as error:
        raise Trouble(
            f"Cannot make the data folder {os.path.dirname(path)}: {error.strerror}",
            "Choose another one with --home.",
        ) from error
    return path


def session_named(store: SqliteStore, name: str) -> Session:
    """The one session whose id begins so."""
    found = store.session(name)
    if found is not None:
        return found
    like = [one.id for one in store.sessions(limit=LOOKED_AT) if one.id.startswith(name)]
    if len(like) > 1:
        some = ", ".join(like[:NAMED]) + (", …" if len(like) > NAMED else "")
        raise Trouble(f"{len(like)} sessions begin with {name!r}: {some}", "Give more of the id.")
    raise Trouble(
        f"No session has an id that begins with {name!r}", "`holdfast sessions` lists them."
    )
