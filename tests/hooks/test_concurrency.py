"""Hooks of one session overlap in any order: nothing is lost, nothing is said twice."""

import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.session.follow import follow_transcript
from holdfast.state import decode_state, list_facts
from holdfast.store.sqlite.store import SqliteStore
from support.demonstration import SESSION_FILE
from support.hook_process import Caller, Ran

pytestmark = pytest.mark.slow

ROWS = Path(SESSION_FILE).read_bytes().splitlines(keepends=True)


def test_hooks_in_any_order_while_the_transcript_grows(caller: Caller) -> None:
    order = random.Random(20)
    done = threading.Event()

    def grow() -> None:
        with caller.transcript.open("ab", buffering=0) as transcript:
            for row in ROWS:
                # Sometimes half a row is all that is there when a hook looks.
                cut = order.randrange(len(row))
                transcript.write(row[:cut])
                transcript.write(row[cut:])
                done.wait(0.01)

    def hook(number: int) -> Ran:
        event = ("PostToolBatch", "Stop", "UserPromptSubmit", "PreCompact")[number % 4]
        return caller.call(event, prompt=f"prompt {number}", trigger="auto")

    caller.begin(rows=0)
    writer = threading.Thread(target=grow)
    writer.start()
    with ThreadPoolExecutor(4) as pool:
        ran = list(pool.map(hook, range(32)))
    done.set()
    writer.join()
    caller.call("Stop")
    assert {(one.code, one.err) for one in ran} == {(0, "")}
    assert caller.log() == ""
    whole = follow_transcript(str(caller.transcript)).state
    with closing(SqliteStore(str(caller.data / "holdfast.db"))) as store:
        saved = store.load(caller.session_id)
        assert saved is not None
        assert decode_state(saved.state) == whole
        assert store.health()["integrity"] == "ok"
        kept = {fact.id: fact for fact in store.facts(caller.session_id)}
        assert kept == {fact.id: fact for fact in list_facts(whole)}
        (compaction,) = store.compactions(caller.session_id)
    assert compaction.epoch == 0


def test_sessions_side_by_side_keep_to_themselves(caller: Caller) -> None:
    callers = []
    for number in range(6):
        one = Caller(caller.root / str(number), f"session-{number}")
        one.root.mkdir()
        one.env = {"HOLDFAST_HOME": str(caller.data)}
        one.begin(rows=60 + number * 10)
        callers.append(one)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda one: one.call("PreCompact", trigger="auto"), callers))
    assert caller.log() == ""
    with closing(SqliteStore(str(caller.data / "holdfast.db"))) as store:
        for one in callers:
            saved = store.load(one.session_id)
            assert saved is not None
            assert decode_state(saved.state) == follow_transcript(str(one.transcript)).state
            assert saved.session.transcript == str(one.transcript)


def test_the_end_of_a_turn_waits_for_a_hook_that_is_still_reading(caller: Caller) -> None:
    """The turn's last rows come while a tool's hook reads: no later event would read them."""
    caller.begin()
    assert caller.session_dir.begin_work(time.time())
    assert caller.call("PostToolBatch").code == 0  # leaves at once: another event will come
    assert caller.session_dir.read_brief() is None
    with ThreadPoolExecutor(1) as pool:
        stop = pool.submit(caller.call, "Stop")
        time.sleep(0.5)
        assert not stop.done()
        caller.session_dir.end_work()
        assert stop.result().code == 0
    prepared = caller.session_dir.read_brief()
    assert prepared is not None
    assert prepared.offset == caller.transcript.stat().st_size


def test_the_end_of_a_turn_waits_for_its_last_words_in_the_transcript(caller: Caller) -> None:
    caller.begin(rows=60)
    caller.call("Stop")  # all that is there is read
    row = json.dumps(
        {
            **json.loads(next(row for row in ROWS if b'"role":"assistant"' in row)),
            "uuid": "11111111-2222-4333-8444-555555555555",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "Das wär's für heute."}],
            },
        },
        ensure_ascii=False,
    )
    with ThreadPoolExecutor(1) as pool:
        stop = pool.submit(caller.call, "Stop", last_assistant_message="Das wär's für heute.")
        time.sleep(0.6)
        assert not stop.done()
        with caller.transcript.open("a") as transcript:
            transcript.write(f"{row}\n")
        assert stop.result().code == 0
    prepared = caller.session_dir.read_known()
    assert prepared is not None
    assert prepared.offset == caller.transcript.stat().st_size
    assert caller.log() == ""
