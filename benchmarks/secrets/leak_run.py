"""Lives made-up sessions: hooks as the client runs them, commands, and the service.

Owns: which moments a session has, and what is searched afterwards.
"""

import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.secrets.leak_scan import read_texts
from benchmarks.secrets.plant_sites import ROW_SITES, PlantSite, Rows
from benchmarks.secrets.secret_kinds import Kind, Planted, list_kinds
from support.hook_process import Caller
from support.in_process_service import Service, running

PER_SESSION = 150
SUMMARY = "Summary of the work so far."


class LeakReport(NamedTuple):
    planted: int
    kinds: int
    places: int
    texts: int
    size: int
    leaks: list[tuple[str, str, str, str]]  # kind, place, where it was seen, the part of it


class PlantedSecret(NamedTuple):
    kind: str
    place: str
    planted: Planted


class SecretSource:
    """Hands out secrets, each for one place."""

    def __init__(self, count: int, seed: int) -> None:
        self.rng = random.Random(seed)
        self.left = count
        self.sown: list[PlantedSecret] = []
        self._kinds = list_kinds()
        self._bare = [kind for kind in self._kinds if kind.bare]
        self._turn = 0

    def sow(self, place: str, *, bare: bool = False) -> str:
        """The text to put there; what is not bare stands among other words."""
        self.left -= 1
        if bare:
            kind: Kind = self.rng.choice(self._bare)
            planted = kind.make(self.rng)
            planted = planted._replace(text=planted.parts[0])
        else:
            kind = self._kinds[self._turn % len(self._kinds)]
            self._turn += 1
            planted = kind.make(self.rng)
        self.sown.append(PlantedSecret(kind.name, place, planted))
        return planted.text


def run_sessions(count: int, seed: int) -> LeakReport:
    field = SecretSource(count, seed)
    leaks: list[tuple[str, str, str, str]] = []
    texts = size = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        number = 0
        while field.left > 0:
            begun = len(field.sown)
            root = Path(folder) / str(number)
            root.mkdir()
            seen = _live(root, field) if number % 4 < 3 else _serve(root, field)
            number += 1
            # The transcript is the client's own, and stays as it is.
            (root / "session.jsonl").unlink(missing_ok=True)
            seen += read_texts(root)
            texts += len(seen)
            size += sum(len(text) for _, text in seen)
            leaks += _leaks(field.sown[begun:], seen)
    kinds = len({one.kind for one in field.sown})
    places = len({one.place for one in field.sown})
    return LeakReport(len(field.sown), kinds, places, texts, size, leaks)


def _leaks(
    sown: list[PlantedSecret], seen: list[tuple[str, str]]
) -> list[tuple[str, str, str, str]]:
    everything = "\n".join(text for _, text in seen)
    small = everything.lower()
    found = []
    for one in sown:
        for part in one.planted.parts:
            if part in everything or part.lower() in small:
                where = next((w for w, text in seen if part.lower() in text.lower()), "?")
                found.append((one.kind, one.place, where, part))
                break
    return found


def _live(root: Path, field: SecretSource) -> list[tuple[str, str]]:
    """A session from its first prompt to its end, with a compaction; what it handed over."""
    session = str(uuid.uuid4())
    caller = Caller(root, session)
    rows = Rows(session, str(root))
    rows.user("Add a discount to the cart. Always run the tests before you commit.")
    rows.agent({"type": "text", "text": "I will begin with the cart."})
    places = list(ROW_SITES)
    until = max(0, field.left - PER_SESSION)
    while field.left > until:
        place: PlantSite = places[len(field.sown) % len(places)]
        place.put(rows, field.sow(place.name, bare=place.bare))
    seen: list[tuple[str, str]] = []

    def hook(event: str, **more: object) -> None:
        ran = caller.call(event, **more)
        seen.append((f"{event} printed", ran.out))
        if ran.out.startswith("{"):
            seen.append((f"{event} printed, read", ran.context))
        seen.append((f"{event} said", ran.err))

    def write() -> None:
        lines = "".join(json.dumps(row) + "\n" for row in rows.rows)
        caller.transcript.write_text(lines)

    write()
    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt=field.sow("prompt, at its hook"))
    args = field.sow("arguments of a command, at its hook")
    hook("UserPromptExpansion", command_name="fix", command_args=args, prompt=f"/fix {args}")
    hook("Stop", last_assistant_message=f"Done so far.\n{field.sow('last words, at the hook')}")
    hook("PreCompact", trigger="auto")
    told = f"<summary>{SUMMARY}\n{field.sow('summary, as it is written')}</summary>"
    hook("SubagentStop", agent_id="a2", agent_type="", last_assistant_message=told)
    boundary = {"trigger": "auto", "preTokens": 150_000}
    rows.add("system", subtype="compact_boundary", content="compacted", compactMetadata=boundary)
    summary = f"{SUMMARY}\n{field.sow('summary, in a row')}"
    rows.user(summary, isCompactSummary=True)
    write()
    hook("SessionStart", source="compact")
    hook("PostCompact", trigger="auto", compact_summary=f"{SUMMARY}\n{field.sow('summary, told')}")
    hook("UserPromptSubmit", prompt="go on")
    _command(caller, seen, "session", "note", "--session", session, "decision", field.sow("note"))
    transcript = str(caller.transcript)
    _command(caller, seen, "brief", transcript)
    _command(caller, seen, "state", transcript, "--json")
    _command(caller, seen, "session", "handoff", session)
    for words in ("password", "discount", "redacted"):
        _command(caller, seen, "search", words)
    hook("SessionEnd", reason="exit")
    hook("SessionStart", source="startup", session_id=str(uuid.uuid4()))
    _wait_for_hooks(str(caller.data))
    return seen


def _wait_for_hooks(data: str) -> None:
    """What a hook leaves to a process of its own is done when no process has this data folder."""
    mark = f"HOLDFAST_HOME={data}".encode()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        there = False
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                there = there or mark in environ.read_bytes().split(b"\0")
        if not there:
            return
        time.sleep(0.05)


def _command(caller: Caller, seen: list[tuple[str, str]], *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        env={**caller.environment(), "HOME": str(caller.root), "COLUMNS": "400"},
        cwd=caller.root,
        capture_output=True,
        text=True,
        errors="replace",
    )
    name = " ".join(words[:2]) if words[0] == "session" else words[0]
    seen.append((f"holdfast {name}", done.stdout))
    # An error repeats what was typed; that is on the screen of whoever typed it.
    if name != "session note":
        seen.append((f"holdfast {name} said", done.stderr))


def _serve(root: Path, field: SecretSource) -> list[tuple[str, str]]:
    """The service, posted secrets in its fields; what it answers."""
    with running(str(root / "store.db"), str(root)) as service:
        until = max(0, field.left - PER_SESSION)
        while field.left > until:
            for post in _POSTS:
                post(service, field)
        gets = "messages agent-contexts actions sessions projects sessions/s1/facts".split()
        answers = [(f"GET {url}", service.owner.get(f"/api/{url}").text) for url in gets]
        answers += [("GET search", service.owner.get("/api/search?q=redacted").text)]
    return answers


def _message(service: Service, field: SecretSource) -> None:
    body = {
        "project": "/srv/app",
        "from_agent_id": field.sow("sender", bare=True)[:190],
        "topic": field.sow("topic of a message", bare=True)[:190],
        "payload": {"text": field.sow("message")},
    }
    service.owner.post("/api/messages", json=body)


def _context(service: Service, field: SecretSource) -> None:
    body = {
        "project": "/srv/app",
        "agent_id": "a",
        "agent_type": "developer",
        "role_context": {"goal": field.sow("goal of an agent")},
        "tools_used": [field.sow("tool of an agent", bare=True)[:190]],
    }
    service.owner.post("/api/agent-contexts", json=body)


def _action(service: Service, field: SecretSource) -> None:
    body = {
        "project": "/srv/app",
        "tool_name": field.sow("tool of an action", bare=True)[:190],
        "note": field.sow("note of an action")[:1900],
    }
    service.owner.post("/api/actions", json=body)


def _state(service: Service, field: SecretSource) -> None:
    session = {
        "project": "/srv/app",
        "title": field.sow("title of a session")[:1900],
        "branch": field.sow("branch of a session", bare=True)[:400],
        "cwd": f"/srv/{field.sow('folder of a session', bare=True)}"[:900],
    }
    fact = {"id": "n1", "kind": "note", "status": "open", "text": field.sow("fact")}
    said = {"row": "r1", "who": "user", "text": field.sow("words of a session")}
    body = {"session": session, "offset": len(field.sown), "state": {}, "facts": [fact]}
    service.owner.post("/api/sessions/s1/state", json={**body, "messages": [said]})


_POSTS: tuple[Callable[[Service, SecretSource], None], ...] = (_message, _context, _action, _state)
