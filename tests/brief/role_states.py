"""States of the recorded sample, and what a role makes of one, for tests of what readers see."""

import functools
from pathlib import Path

from holdfast.brief.compose import compose
from holdfast.brief.role import find_role
from holdfast.session.follow import follow_transcript
from holdfast.session.replay import scan_boundaries
from holdfast.state import State
from support.demonstration import SESSION_FILE


@functools.cache
def sample_before_compaction() -> State:
    (boundary,) = scan_boundaries(SESSION_FILE)
    return follow_transcript(SESSION_FILE, until=boundary.start, final=True).state


@functools.cache
def recorded_before_last_compaction(name: str) -> State:
    """A session that `realclient.record_sample` recorded."""
    path = str(Path(__file__).parent / "recorded" / f"{name}.jsonl")
    return follow_transcript(path, until=scan_boundaries(path)[-1].start, final=True).state


def read_by(name: str, state: State, max_chars: int = 4000) -> str:
    return compose(state, max_chars, role=find_role(name)).text


def under(heading: str, text: str) -> list[str]:
    """The entries that follow a heading, up to the next line that is none."""
    lines = text.split("\n")
    entries: list[str] = []
    for line in lines[lines.index(heading) + 1 :]:
        if not line.startswith(("- ", "  ")):
            break
        entries.append(line)
    return entries
