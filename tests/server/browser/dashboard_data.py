"""What the dashboard's tests look at: sessions in a store, and messages of agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
from tools.replay_session import replay_session

from holdfast.events import Origin
from holdfast.state import EMPTY_STATE, encode_state, list_facts
from holdfast.state.facts import Fact
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.sql_store import Store
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync.project_id import make_project_id
from support.agent_sessions import told
from support.demonstration import SESSION_FILE

HOSTILE = '<script>window.pwned=1</script><img src=x onerror="window.pwned=2">\' & {{1}}'
PROJECT = "/srv/app"
EVIL_PROJECT = "/srv/<b>evil</b>"
MANY = 1_500
AT = "2026-01-01T00:00:01Z"


class Scene:
    """Ids to go to; `url` once a service is there."""

    def __init__(self, sample: str) -> None:
        self.sample = sample
        self.auth = "session-auth"
        self.many = "session-many"
        self.evil = "session-evil"
        self.url = ""

    def get(self, path: str, **query: Any) -> Any:
        return httpx.get(f"{self.url}/api/{path}", params=query, timeout=30).json()

    def send(self, topic: str, project: str = PROJECT, **more: Any) -> dict[str, Any]:
        body = {"project": project, "from_agent_id": "agent-1", "topic": topic, **more}
        answer = httpx.post(f"{self.url}/api/messages", json=body, timeout=30)
        assert answer.status_code == 201, answer.text
        sent: dict[str, Any] = answer.json()
        return sent

    def save(self, session: str, title: str, offset: int, project: str = PROJECT) -> None:
        """A state arrives, as from another machine."""
        state = told().state
        known = [
            {"id": one.id, "kind": one.kind, "text": one.text, "status": one.status}
            for one in list_facts(state)
        ]
        body = {
            "session": {"project": project, "title": title, "updated": "2026-01-01T00:02:00Z"},
            "offset": offset,
            "state": encode_state(state),
            "facts": known,
        }
        path = f"{self.url}/api/sessions/{session}/state"
        assert httpx.post(path, json=body, timeout=30).json()["saved"] is True

    def tell(self) -> None:
        """Messages, by way of the API: only the service knows their tables."""
        first = self.send(
            "API contract", to_role="reviewer", payload={"path": "/login", "method": "POST"}
        )
        httpx.post(
            f"{self.url}/api/messages/{first['id']}/ack", json={"agent_id": "rev-7"}, timeout=30
        )
        self.send("Deploy stopped", to_agent_id="agent-2", priority=9, payload={"a": {"deep": [1]}})
        self.send(HOSTILE, EVIL_PROJECT, from_agent_id=HOSTILE, payload={HOSTILE: HOSTILE})

    def project(self, path: str = PROJECT) -> str:
        return make_project_id(path)


def filled(home: Path) -> Scene:
    home.mkdir(parents=True, exist_ok=True)
    store = SqliteStore(str(home / "holdfast.db"))
    try:
        scene = Scene(replay_session(store, Path(SESSION_FILE), home))
        _keep(store, scene.auth, PROJECT, "Auth", told().state)
        _many(store, scene.many)
        _evil(store, scene.evil)
    finally:
        store.close()
    return scene


def _keep(store: Store, name: str, project: str, title: str, state: Any, more: Any = ()) -> None:
    session = Session(
        name, "claude-code", project, project, project, "main", title,
        started=AT, updated="2026-01-01T00:01:00Z",
    )  # fmt: skip
    said = [Message("r1", "user", "please use the walrus port", AT)]
    document = SavedState(session, (0, 100), encode_state(state), {"offset": 100})
    store.save(document, [*list_facts(state), *more], said)


def _many(store: Store, name: str) -> None:
    at = Origin("r", 0, 0, AT)
    more = [Fact(f"i{n}", "identifier", f"commit {n:040x}", "open", at) for n in range(MANY)]
    _keep(store, name, "/srv/large", "Large", EMPTY_STATE, more)


def _evil(store: Store, name: str) -> None:
    story = told()
    story.task("9", HOSTILE).user(f"Never {HOSTILE}").agent(HOSTILE)
    state = story.state
    evil = [Fact("r66", "rule", HOSTILE, "open", Origin("r", 0, 0, AT), HOSTILE)]
    _keep(store, name, EVIL_PROJECT, HOSTILE, state, evil)
    store.record_compaction(
        Compaction(name, 0, AT, HOSTILE, summary=HOSTILE, kept=("r66",), lost=("r66", HOSTILE))
    )
    store.record_delivery(Delivery(name, 0, "brief", HOSTILE, AT, HOSTILE, ("r66",)))
