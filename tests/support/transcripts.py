"""Where the tests of the engine find transcripts, and how they read them."""

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.events import Event, Rewound
from holdfast.redact import redact
from holdfast.session.follow import INITIAL, FollowState, follow_transcript, from_saved, to_saved
from holdfast.session.replay import iterate_compactions
from holdfast.state import State, encode_state
from holdfast.transcript.reader import TranscriptReader
from support.demonstration import SESSION_FILE

SAMPLE = Path(SESSION_FILE)


def corpus() -> list[Path]:
    folder = os.environ.get("HOLDFAST_CORPUS", "")
    return sorted(Path(folder).glob("*.jsonl.gz")) if folder else []


def of_corpus(prefix: str) -> str:
    """The one session whose id begins so."""
    (found,) = [path for path in corpus() if path.name.startswith(prefix)]
    return str(found)


def row_starts(path: str) -> list[int]:
    """The byte at which each line begins, by its number in the file; then the file's end."""
    starts, at = [], 0
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        for line in file:
            starts.append(at)
            at += len(line)
    return [*starts, at]


def restored(followed: FollowState) -> FollowState:
    """What another process would load."""
    state, position = json.loads(json.dumps(to_saved(followed)))
    return from_saved(state, position)


def in_pieces(path: str, cuts: list[int]) -> FollowState:
    """Caught up in several runs, each of which loads what the one before saved."""
    followed = INITIAL
    for cut in cuts:
        followed = restored(follow_transcript(path, followed, until=cut))
    return follow_transcript(path, followed, final=True)


def random_cuts(path: str, seed: int, count: int) -> list[int]:
    starts = row_starts(path)
    return sorted(random.Random(seed).choices(starts, k=count))


def events_of(path: str) -> list[Event]:
    """All events of a transcript that was never rewound."""
    adapter = ClaudeCodeAdapter()
    found: list[Event] = []
    with TranscriptReader(path, final=True) as reader:
        for row in reader.rows():
            found += adapter.events(row)
    assert not any(isinstance(event, Rewound) for event in found)
    return found


def printed(state: State) -> Any:
    """A copy of a state that shares nothing with it."""
    return json.loads(json.dumps(encode_state(state)))


def load_last_summary(path: str) -> tuple[State, str]:
    """The state before the last compaction, and the client's summary of it."""
    *_, last = iterate_compactions(path)
    rows = map(json.loads, Path(path).read_text("utf-8").splitlines())
    *_, summary = (row["message"]["content"] for row in rows if row.get("isCompactSummary"))
    return last.state, redact(summary if isinstance(summary, str) else summary[0]["text"])
