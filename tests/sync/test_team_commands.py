"""`holdfast team connect`, `send`, `carry`, `disconnect`, and what status and doctor tell of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from holdfast.paths import CONNECTION_FILE
from holdfast.server.server_settings import add_seconds
from holdfast.sync import connection, messages
from holdfast.sync.cursor_db import sync_lock
from support.live_service import SOURCE, LiveService
from support.sync_machine import Machine

pytestmark = pytest.mark.slow


class Person:
    """Types commands on a machine with a data folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.project = home / "project"
        self.project.mkdir(parents=True)
        self.machine = Machine(home / "data", lambda *_, **__: None)
        self.env: dict[str, str] = {}

    def types(self, *words: str, stdin: str = "") -> tuple[int, Any]:
        done = self._run(*words, "--json", stdin=stdin)
        return done.returncode, json.loads(done.stdout or done.stderr or "{}")

    def reads(self, *words: str) -> str:
        """What a person is shown."""
        return self._run(*words).stdout

    def _run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *words],
            cwd=self.project,
            input=stdin,
            capture_output=True,
            text=True,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "HOLDFAST_HOME": self.machine.data,
                "PYTHONPATH": str(SOURCE),
                **self.env,
            },
        )


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "me")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveService]:
    """On SQLite in a folder of its own, and for callers with a token alone."""
    running = LiveService("", tmp_path / "server", "--require-token")
    running.start()
    yield running
    running.stop()


def token(tmp_path: Path, *options: str) -> str:
    server = Person(tmp_path / "admin")
    server.machine.data = str(tmp_path / "server")
    _, made = server.types("team", "token", "create", "me", *options)
    found: str = made["token"]
    return found


def test_a_life_with_a_service(live: LiveService, person: Person, tmp_path: Path) -> None:
    words = token(tmp_path, "--scope", "read", "--scope", "write")
    data = person.machine.data
    assert person.types("team", "send", "too early")[0] == 1
    code, said = person.types("team", "connect", live.url, stdin="hf_wrong_wrong\n")
    assert code == 1
    assert "401" in json.dumps(said)
    assert connection.load_connection(data) is None

    code, said = person.types("team", "connect", f"{live.url}/", stdin=f"{words}\n")
    assert (code, said["scopes"]) == (0, ["read", "write"])
    kept = connection.load_connection(data)
    assert kept is not None
    assert (kept.url, kept.token) == (live.url, words)
    person.machine.remember("a", str(person.project))
    about = ("--role", "reviewer", "--topic", "ports", "--hours", "2")
    person.types("team", "send", "the", "port", "is", "8123", *about)
    with sync_lock(data, 60.0):
        pass  # what `send` started is through
    code, done = person.types("team", "sync")
    assert (code, done["waiting"]) == (0, False)
    asked = httpx.Client(base_url=live.url, headers={"Authorization": f"Bearer {words}"})
    with closing(asked):
        assert [one["id"] for one in asked.get("/api/sessions").json()["sessions"]] == ["a"]
        (sent,) = asked.get("/api/messages").json()["messages"]
    assert (sent["payload"], sent["to_role"]) == ({"text": "the port is 8123"}, "reviewer")
    assert sent["expires_at"] == add_seconds(sent["created_at"], 7200)
    told = person.types("status", "a")[1]["service"]
    assert (told["sessions_waiting"], told["failures"], told["rejected"]) == (0, 0, [])
    assert told["last_synced"] > 0

    live.kill()
    person.machine.remember("a", str(person.project), 200)
    code, done = person.types("team", "sync")
    assert (code, done["waiting"]) == (0, True)
    assert live.url in done["failure"]
    told = person.types("status", "a")[1]["service"]
    assert (told["failures"], told["sessions_waiting"]) == (1, 1)
    assert "1 failure in a row" in told["words"]
    assert live.url in told["failure"]

    code, left = person.types("team", "disconnect")
    assert (code, left) == (0, {"disconnected": True, "not_synced": 1})
    assert connection.load_connection(data) is None
    assert person.types("status", "a")[1]["service"] is None
    assert person.types("team", "sync")[0] == 1
    live.start()
    person.env = {"HOLDFAST_TOKEN": words}
    assert person.types("team", "connect", live.url)[0] == 0
    assert person.types("team", "sync")[1]["sessions"] == 1


def test_what_is_refused_is_told_with_its_reason(
    live: LiveService, person: Person, tmp_path: Path
) -> None:
    words = token(tmp_path, "--scope", "write", "--project", "github.com/acme/shop")
    person.env["HOLDFAST_TOKEN"] = words
    assert person.types("team", "connect", live.url)[1]["projects"] == ["github.com/acme/shop"]
    person.machine.remember("a", str(person.project))
    messages.queue_message(
        person.machine.data, {"from_agent_id": "a", "topic": "[b]t", "folder": "/x"}
    )
    session, message = person.types("team", "sync")[1]["refused"]
    assert (session["what"], session["name"]) == ("session", "a")
    assert session["reason"].startswith("the token has no access to")
    assert (message["what"], message["about"]) == ("message", "[b]t")
    assert message["reason"] == "403 This token has no access to that project"
    assert json.loads(Path(message["name"]).read_text())["reason"] == message["reason"]

    # Not of this run, and still so: most messages are sent in the background.
    shown = person.reads("team", "sync")
    assert "Synced 0 sessions." in shown
    assert "Refused: session a: the token has no access to" in shown
    assert 'Refused: message "[b]t": 403 This token has no access to that project' in shown
    assert str(Path(message["name"]).parent) in shown
    Path(message["name"]).unlink()
    assert "message" not in person.reads("team", "sync")

    messages.queue_message(
        person.machine.data, {"from_agent_id": "a", "topic": "t", "folder": "/x"}
    )
    person.types("team", "sync")
    findings = {one["check"]: one for one in person.types("doctor")[1]["findings"]}
    assert findings["service"]["level"] == "warn"
    details = " ".join(findings["service"]["details"])
    assert "a: the token has no access to" in details
    assert 'message "t": 403 This token has no access to that project' in details
    told = person.types("status", "a")[1]["service"]
    assert [one["about"] for one in told["messages_rejected"]] == ["t"]


def test_a_message_that_was_refused_in_the_background_is_told_by_carry(
    live: LiveService, person: Person, tmp_path: Path
) -> None:
    words = token(tmp_path, "--scope", "write", "--project", "github.com/acme/shop")
    assert person.types("team", "connect", live.url, stdin=f"{words}\n")[0] == 0
    person.machine.remember("a", str(person.project))
    person.types("team", "send", "hello", "--topic", "greeting")
    with sync_lock(person.machine.data, 60.0):
        pass  # what `send` started is through
    assert 'Refused: message "greeting": 403' in person.reads("team", "sync")


@pytest.mark.parametrize(
    "url",
    [
        "holdfast.example",
        "ftp://holdfast.example",
        "http://holdfast.example",
        "https://a:b@c.example",
    ],
)
def test_addresses_that_would_give_something_away_are_not_taken(person: Person, url: str) -> None:
    code, _ = person.types("team", "connect", url)
    assert code == 1
    assert not Path(person.machine.data, CONNECTION_FILE).exists()
