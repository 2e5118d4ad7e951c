"""A store with a past: sessions of projects, made by the real fold from rows written by hand."""

import json
from pathlib import Path

from holdfast.paths import store_path
from holdfast.session.context import SessionRef
from holdfast.session.update import update_session
from holdfast.store.sqlite.store import SqliteStore

RULE = "Never use float for money, always use Decimal with two places."


def rows(session: str, cwd: Path, prompts: list[str]) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    parent = None
    for number, prompt in enumerate(prompts):
        for kind, content in (
            ("user", prompt),
            ("assistant", [{"type": "text", "text": f"Answer {number} about it."}]),
        ):
            uuid = f"{session[:8]}-{number:04d}-{kind[:4]}"
            made.append(
                {
                    "type": kind,
                    "uuid": uuid,
                    "parentUuid": parent,
                    "sessionId": session,
                    "cwd": str(cwd),
                    "version": "2.1.325",
                    "timestamp": f"2026-01-01T00:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
                    "message": {"role": kind, "content": content},
                }
            )
            parent = uuid
    return made


def remember(data: Path, cwd: Path, session: str, prompts: list[str]) -> Path:
    """One session, as if its client had just written it and our hooks had read it."""
    cwd.mkdir(parents=True, exist_ok=True)
    data.mkdir(parents=True, exist_ok=True)
    transcript = data.parent / f"{session}.jsonl"
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows(session, cwd, prompts)))
    store = SqliteStore(store_path(str(data)))
    try:
        update_session(store, SessionRef(session, str(transcript), str(cwd)), seconds=300)
    finally:
        store.close()
    return transcript
