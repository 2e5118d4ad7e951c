"""No fact is made of a text before its secrets are out."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from holdfast import events as ev
from holdfast.events import Origin
from holdfast.state import encode_state, fold_all
from holdfast.state.redaction_gate import redact_events
from redact.planted import PEM_KINDS, private_key

AT = Origin("00000000-0000-4000-8000-000000000000", 0, 10, "2026-11-15T10:00:00.000Z")
WORD = "winter_" + "bluebird83"
FILES = (
    f"DB_PASSWORD={WORD}\n",
    f"db:\n  password: {WORD}\n",
    f'[db]\npassword = "{WORD}"\n',
    f"DATABASE_URL=postgres://app:{WORD}@db.acme.dev/app\n",
    f"host=db user=app password={WORD} dbname=app\n",
    f'DB_PASSWORD = "{WORD}"\n',
    f"\x1b[32mDB_PASSWORD\x1b[0m=\x1b[1m{WORD}\x1b[0m\n",
)


def _edit(text: str) -> ev.FileTouched:
    lines = tuple("+" + line for line in text.splitlines())
    return ev.FileTouched(AT, "/p/h0.env", "changed", True, text, "x", (ev.Hunk(1, lines),))


MAKERS: dict[str, Callable[[str], ev.Event]] = {
    "read": lambda t: ev.FileTouched(AT, "/p/h0.env", "read", True, t),
    "written": lambda t: ev.FileTouched(AT, "/p/h0.env", "created", True, t),
    "edited": _edit,
    "printed": lambda t: ev.CommandRan(AT, "cat h0.env", t, True, 0),
    "run": lambda t: ev.CommandRan(AT, f"cat <<E > h0.env\n{t}E", "", True, 0),
    "found": lambda t: ev.Searched(AT, "PASS", "h0.env", f"/p/h0.env:1:{t}", True),
    "said": lambda t: ev.UserSaid(AT, f"put this into h0.env:\n{t}"),
    "told": lambda t: ev.AgentSaid(AT, f"The file says:\n{t}"),
    "returned": lambda t: ev.SubagentEnded(AT, "a1", True, t),
    "planned": lambda t: ev.PlanSet(AT, t, "", "proposed"),
    "noted": lambda t: ev.NoteTaken(AT, "decision", t),
    "task": lambda t: ev.TaskCreated(AT, "1", t.strip(), t),
    "todo": lambda t: ev.TodosSet(AT, (ev.Todo(t.strip(), "pending"),)),
    "tasks": lambda t: ev.TasksListed(AT, (ev.TaskChanged(AT, "1", "pending", t.strip()),)),
    "path": lambda t: ev.FileTouched(AT, f"/p/{t.splitlines()[-1]}", "read", True, "x"),
}


def document(*events: ev.Event) -> str:
    return json.dumps(encode_state(fold_all(redact_events(events))))


@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_a_password_becomes_nothing_that_is_kept(
    maker: Callable[[str], ev.Event], text: str
) -> None:
    kept = document(maker(text))
    assert WORD not in kept
    assert "bluebird" not in kept


def test_what_stands_beside_a_password_is_kept() -> None:
    kept = document(MAKERS["written"](f"DB_PASSWORD={WORD}\nDB_POOL_SIZE=5\n"))
    assert "DB_PASSWORD" in kept
    assert "DB_POOL_SIZE" in kept


@pytest.mark.parametrize("kind", PEM_KINDS)
def test_no_line_of_a_private_key_stays_in_a_diff(kind: str) -> None:
    key = private_key(random.Random(4), kind).split("\n")
    whole = ev.Hunk(1, tuple("+" + line for line in key))
    middle = ev.Hunk(9, (*(" " + line for line in key[3:8]), "+" + key[8]))
    for hunk in (whole, middle):
        event = ev.FileTouched(AT, "/p/key.pem", "changed", True, "x", "", (hunk,))
        heard: Any = redact_events([event])[0]
        shown = "\n".join(heard.hunks[0].lines)
        assert not [line for line in key[1:-1] if len(line) > 30 and line in shown]
        assert len(heard.hunks[0].lines) == len(hunk.lines)


def test_the_answer_to_a_question_about_a_password_is_one() -> None:
    said = ev.UserSaid(AT, WORD, "answer", "What is the staging password?")
    assert redact_events([said])[0] == said._replace(text="[redacted:password]")
    other = ev.UserSaid(AT, "the blue one", "answer", "Which password form do you mean?")
    assert redact_events([other]) == [other]


def test_colours_are_gone_before_anything_is_kept() -> None:
    ran = ev.CommandRan(
        AT, "make", "\x1b[31mFAILED\x1b[0m test_a\x1b]8;;file:///x\x07here", False, 1
    )
    assert redact_events([ran]) == [ran._replace(output="FAILED test_ahere")]


def test_events_without_secrets_stay_as_they_are() -> None:
    events = [maker("port: 8080\n") for maker in MAKERS.values()]
    heard = redact_events(events)
    assert [e for e in heard if type(e) is not ev.FileTouched] == [
        e for e in events if type(e) is not ev.FileTouched
    ]
