"""A thread that was reverted goes on in a new file, and a fork points into another thread's."""

from __future__ import annotations

import json
import os
from pathlib import Path

from holdfast import clients
from holdfast.clients.codex.rollout_files import list_chain
from holdfast.session.follow import follow_transcript, from_saved, to_saved

from .rollout_writer import RolloutSession

FORK = "01a1e57e-ffff-7000-8000-000000000002"


def requests(path: str) -> list[str]:
    state = follow_transcript(path).state
    return [request.text for request in state.requests.values()]


def test_a_revert_to_before_an_earlier_revert(tmp_path: Path) -> None:
    session = RolloutSession(tmp_path)
    session.prompt("one")
    session.prompt("two")
    before_two = session._before_prompt
    session.rewind("two, better")
    session.prompt("three")
    session.rewind("three, better")
    assert requests(session.path) == ["one", "two, better", "three, better"]
    session._before_prompt = before_two
    session.rewind("two, best")
    assert len(list_chain(session.path)) == 4
    assert requests(session.path) == ["one", "two, best"]


def test_a_session_that_was_followed_before_the_revert_goes_on(tmp_path: Path) -> None:
    session = RolloutSession(tmp_path)
    session.prompt("Build the parser.")
    session.prompt("Delete everything.")
    followed = follow_transcript(session.path)
    session.rewind("Keep everything.")
    saved = json.loads(json.dumps(to_saved(followed)))
    now = follow_transcript(session.path, from_saved(*saved))
    asked = [request.text for request in now.state.requests.values()]
    assert asked == ["Build the parser.", "Keep everything."]
    assert now.revision > followed.revision


def test_a_fork_knows_what_was_said_up_to_it_and_not_what_came_after(tmp_path: Path) -> None:
    parent = RolloutSession(tmp_path)
    parent.prompt("Build the parser.")
    end = os.path.getsize(parent.path)
    parent.prompt("In the parent alone.")
    fork = RolloutSession(tmp_path, FORK)
    rows = Path(fork.path).read_text().splitlines()
    meta = json.loads(rows[0])
    meta["payload"]["history_base"] = {"thread_id": parent.thread, "end_byte_offset": end}
    Path(fork.path).write_text(json.dumps(meta, separators=(",", ":")) + "\n")
    fork.prompt("In the fork.")
    assert requests(fork.path) == ["Build the parser.", "In the fork."]
    assert follow_transcript(fork.path).state.session.session_id == FORK


def test_a_file_whose_base_is_gone_tells_what_it_has(tmp_path: Path) -> None:
    session = RolloutSession(tmp_path)
    session.prompt("one")
    first = session.path
    session.rewind("one, better")
    os.unlink(first)
    assert requests(session.path) == ["one, better"]


def test_an_earlier_file_of_a_session_that_went_on_has_nothing_new(tmp_path: Path) -> None:
    session = RolloutSession(tmp_path)
    session.prompt("one")
    session.prompt("two")
    first = session.path
    session.rewind("two, better")
    followed = follow_transcript(session.path)
    with clients.get("codex").open_transcript(first, followed.cursor) as source:
        assert (source.reset, list(source.rows())) == ("", [])
        assert source.cursor == followed.cursor
