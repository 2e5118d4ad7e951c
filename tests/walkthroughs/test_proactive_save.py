"""Walkthrough 2: the context fills, and the state is safe long before the client compacts."""

from __future__ import annotations

import json
import queue
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from support.claude import SMALL_WINDOW, ScriptedApi, Turn, bash, text, tool, wait_until

from .user import Json, User, write_files

pytestmark = pytest.mark.client

# What is used of the 67,000 tokens at which a client with this window compacts, and the
# threshold that is crossed by it.
LEVELS = {48_000: 30, 61_000: 15, 65_500: 5}


@contextmanager
def listening(user: User) -> Iterator[queue.Queue[Json]]:
    """`curl -N .../api/events`: the first that is told of a save."""
    heard: queue.Queue[Json] = queue.Queue()
    ready = threading.Event()

    def listen() -> None:
        with httpx.stream("GET", f"{user.service.url}/api/events", timeout=60) as stream:
            for line in stream.iter_lines():
                ready.set()
                if line.startswith("data: "):
                    heard.put(json.loads(line[6:]))
                    return

    listener = threading.Thread(target=listen)
    listener.start()
    assert ready.wait(30)
    try:
        yield heard
    finally:
        listener.join(30)


def test_proactive_save(tmp_path: Path) -> None:
    with ScriptedApi() as api, User(tmp_path, api, SMALL_WINDOW) as user:
        turns = []
        with listening(user) as heard, user.client.session() as live:
            api.say(
                write_files(user, ["parser.py"]),
                tool("TaskCreate", subject="Read the large file", description="in pieces"),
                text("Begun.").filling(40_000),
            )
            turns.append(live.ask("Parse the large file. Never load it whole."))
            session = live.session_id
            for number, (used, level) in enumerate(LEVELS.items()):
                # Both fill as much: a context that shrank in between is warned of again.
                read = bash(f"head -c {number}000 /dev/zero | od").filling(used)
                api.say(read, text("On.").filling(used))
                turns.append(live.ask(f"Read piece {number}"))
                # In the background; the next turn must not overtake it.
                kept(user, session, f"left:{level}")
            turns.append(live.ask("How much is left?"))
            # The machine goes down: nobody gets to say goodbye.
            live.kill()
            assert heard.get(timeout=30) == {
                "project": str(user.client.project),
                "session": session,
            }
        assert [turn.compactions for turn in turns] == [[]] * len(turns)
        check_snapshots(user, session)
        check_what_the_user_sees(user, session, turns)
        check_the_last_is_named(user, session)
        back = user.restore(session, agent_id="orchestrator", max_tokens=2000)
        assert "Never load it whole." in back["additionalContext"]
        assert "Read the large file" in back["additionalContext"]
        assert "parser.py" in back["additionalContext"]
        assert back["source"]["kind"] == "state"
        assert back["tokens"] <= 2000


def kept(user: User, session: str, cause: str) -> None:
    """Wait for a checkpoint."""

    def there() -> bool:
        found = user.get(f"/api/sessions/{session}/checkpoints")["checkpoints"]
        return cause in [one["cause"] for one in found]

    wait_until(there)


def check_snapshots(user: User, session: str) -> None:
    found = user.snapshots(session)
    summaries = [one["role_context"]["context_summary"] for one in reversed(found)]
    assert {one["role_context"]["trigger"] for one in found} == {"proactive"}
    for level in LEVELS.values():
        (told,) = [words for words in summaries if f"with {level} % of the context left" in words]
        assert "1 open task, 1 changed file" in told
    tokens = [one["role_context"]["context_tokens"] for one in reversed(found)]
    assert tokens == sorted(tokens)
    assert tokens[-1] >= 65_500
    latest = found[0]["role_context"]
    assert [task["name"] for task in latest["active_tasks"]] == ["Read the large file"]


def check_what_the_user_sees(user: User, session: str, turns: list[Turn]) -> None:
    shown = [words for turn in turns for words in turn.shown_to_the_user]
    assert len(shown) == 1, shown
    (line,) = shown
    assert "of the context is left before it is compacted" in line
    assert "The state is saved." in line
    status = user.holdfast("status", session).stdout
    assert "tokens in use, after 0 compactions" in status


def check_the_last_is_named(user: User, session: str) -> None:
    """Percents and tokens are two series, saved by hooks beside the agent: either may be last."""

    def named() -> bool:
        last = user.get(f"/api/sessions/{session}/checkpoints")["checkpoints"][0]["cause"]
        return f", {last}\n" in re.sub(r" +\n", "\n", user.holdfast("status", session).stdout)

    wait_until(named)
