"""A session's life and a compaction up close, over the API, on either engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tools.replay_session import replay_session

from holdfast.server.routes import timeline
from holdfast.state import EMPTY_STATE, encode_state, list_facts
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from support.agent_sessions import bring, told
from support.demonstration import SESSION_FILE
from support.in_process_service import Service

RULE = "Never store tokens in plain text"


def lived(service: Service, tmp_path: Path) -> str:
    """The sample session, as if its hooks had spoken to this store."""
    with service.app_state.backend.scoped_store(None) as scoped_store:
        return replay_session(scoped_store.store, Path(SESSION_FILE), tmp_path)


def up_close(service: Service, session: str, epoch: int = 0) -> dict[str, Any]:
    answer = service.owner.get(f"/api/sessions/{session}/compactions/{epoch}")
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def test_a_life_has_its_points_in_order_and_its_drop(service: Service, tmp_path: Path) -> None:
    session = lived(service, tmp_path)
    life = service.owner.get(f"/api/sessions/{session}/life").json()
    points = life["points"]
    assert len(points) > 20
    assert [point["time"] for point in points] == sorted(point["time"] for point in points)
    before = [point["context"] for point in points if point["epoch"] == 0]
    after = [point["context"] for point in points if point["epoch"] == 1]
    assert before[-1] > 100_000 > after[0], "the drop is seen"
    assert life["session"]["id"] == session
    assert life["model"]
    assert [made["cause"] for made in life["checkpoints"]] == ["precompact:auto"]
    assert {given["what"] for given in life["deliveries"]} == {"brief", "steering"}
    assert sum(life["kinds"].values()) > 5


def test_a_compaction_is_counted_alike_in_the_life_and_up_close(
    service: Service, tmp_path: Path
) -> None:
    session = lived(service, tmp_path)
    (counted,) = service.owner.get(f"/api/sessions/{session}/life").json()["compactions"]
    close = up_close(service, session)
    assert counted == close["compaction"]
    assert counted["kept"] == len(close["kept"]) == 2
    assert counted["lost"] == len(close["lost"]) == 6
    assert counted["back"] == sum(bool(fact["back"]) for fact in close["lost"])
    assert counted["tokens_before"] > counted["tokens_after"]
    assert close["compared"] == "recorded"


def test_up_close_tells_the_facts_what_came_back_and_what_was_looked_up_again(
    service: Service, tmp_path: Path
) -> None:
    close = up_close(service, lived(service, tmp_path))
    assert close["summary"].startswith("This session is being continued")
    rules = [fact["text"] for fact in close["lost"] if fact["kind"] == "rule"]
    assert len(rules) == 3
    assert not any(fact["gone"] for fact in close["kept"] + close["lost"])
    (brief,) = [given for given in close["given"] if given["what"] == "brief"]
    named = {fact["id"] for fact in brief["facts"]}
    assert {fact["id"] for fact in close["lost"] if fact["kind"] == "rule"} <= named
    assert all(fact["back"] for fact in close["lost"] if fact["kind"] == "rule")
    assert {(one["what"], one["subject"]) for one in close["again"]} == {
        ("Read", "/home/dev/shop/tests/test_cart.py"),
        ("Read", "/home/dev/shop/shop/cart.py"),
        ("Read", "/home/dev/shop/shop/server.py"),
    }


def test_a_compaction_that_no_hook_saw_is_compared_with_its_checkpoint(service: Service) -> None:
    state = told().state
    session = Session("past", "claude-code", "/srv/app", started="2026-01-01T00:00:00Z")
    saved = SavedState(session, (0, 100), encode_state(state), {"offset": 100})
    with service.app_state.backend.scoped_store(None) as scoped_store:
        scoped_store.store.save(saved, list(list_facts(state)))
        scoped_store.store.checkpoint(saved, "compaction", 0, "2026-01-01T00:00:09Z")
        scoped_store.store.record_compaction(
            Compaction(
                "past",
                0,
                "2026-01-01T00:00:09Z",
                "auto",
                summary="Never store tokens in plain text",
            )
        )
    close = up_close(service, "past")
    assert close["compared"] == "afterwards"
    assert [fact["text"] for fact in close["kept"] if fact["kind"] == "rule"] == [RULE]
    assert "Create auth routes" in [fact["text"] for fact in close["lost"]]
    assert close["given"] == []


def test_without_a_checkpoint_nothing_is_claimed(service: Service) -> None:
    bring(service)
    close = up_close(service, "session-a")
    assert close["compared"] == "no"
    assert (close["kept"], close["lost"]) == ([], [])
    assert close["compaction"]["kept"] is None
    (counted,) = service.owner.get("/api/sessions/session-a/life").json()["compactions"]
    assert (counted["kept"], counted["lost"], counted["back"]) == (None, None, None)


def test_facts_that_are_no_longer_stored_are_told_as_gone(service: Service) -> None:
    bring(service)
    at = "2026-01-01T00:00:09Z"
    with service.app_state.backend.scoped_store(None) as scoped_store:
        scoped_store.store.record_compaction(
            Compaction("session-a", 1, at, "auto", summary="s", kept=("k99",), lost=("r1", "r77"))
        )
        scoped_store.store.record_delivery(
            Delivery("session-a", 1, "brief", "SessionStart", at, "[r77]", ("r77",))
        )
    close = up_close(service, "session-a", 1)
    assert [(fact["id"], fact["gone"]) for fact in close["kept"]] == [("k99", True)]
    assert [(fact["id"], fact["gone"], fact["back"]) for fact in close["lost"]] == [
        ("r1", False, ""),
        ("r77", True, "brief"),
    ]


def test_a_session_without_a_state_of_ours_has_an_empty_life(service: Service) -> None:
    with service.app_state.backend.scoped_store(None) as scoped_store:
        for name, document in (("old", {"version": 0}), ("new", encode_state(EMPTY_STATE))):
            scoped_store.store.save(SavedState(Session(name), (0, 1), document, {}))
    for name in ("old", "new"):
        life = service.owner.get(f"/api/sessions/{name}/life").json()
        assert life["points"] == life["compactions"] == life["checkpoints"] == []


def test_what_is_not_there_is_not_found(service: Service) -> None:
    bring(service)
    assert service.owner.get("/api/sessions/nobody/life").status_code == 404
    assert service.owner.get("/api/sessions/nobody/compactions/0").status_code == 404
    assert service.owner.get("/api/sessions/session-a/compactions/7").status_code == 404
    stranger = service.caller("/mine")
    assert stranger.get("/api/sessions/session-a/life").status_code == 404
    assert stranger.get("/api/sessions/session-a/compactions/0").status_code == 404


def test_the_overview_counts_as_a_session_does_and_keeps_to_what_a_caller_sees(
    service: Service, tmp_path: Path
) -> None:
    session = lived(service, tmp_path)
    bring(service)
    (counted,) = service.owner.get(f"/api/sessions/{session}/life").json()["compactions"]
    found = service.owner.get("/api/overview").json()["compactions"]
    (mine,) = [one for one in found if one["session_id"] == session]
    assert (
        mine.items()
        >= {
            name: counted[name]
            for name in ("epoch", "time", "kept", "lost", "back", "would_restore")
        }.items()
    )
    assert mine["name"].startswith("House rule for this repo")
    assert mine["dollars"] > 0.1
    assert service.owner.get("/api/overview").json()["compactions"] == found
    project = {"project_id": mine["project_id"]}
    assert service.owner.get("/api/overview", params=project).json()["compactions"] == [mine]
    nothing = {"compactions": [], "more": False, "pending": 0}
    assert service.caller("/mine").get("/api/overview").json() == nothing


def test_what_is_not_compared_yet_is_counted_and_is_there_when_asked_again(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(service, tmp_path)
    bring(service)
    monkeypatch.setattr(timeline, "MAX_NEW", 1)
    first = service.owner.get("/api/overview").json()
    many = len(first["compactions"])
    assert many > 1
    assert first["pending"] == many - 1
    for left in reversed(range(many - 1)):
        again = service.owner.get("/api/overview").json()
        assert again["pending"] == left
        assert len(again["compactions"]) == many


def test_a_session_without_a_title_can_be_told_by_how_it_began(
    service: Service, tmp_path: Path
) -> None:
    session = lived(service, tmp_path)
    bring(service)
    plain = service.owner.get("/api/sessions").json()["sessions"]
    assert {one["first_words"] for one in plain} == {""}
    found = service.owner.get("/api/sessions", params={"words": True}).json()["sessions"]
    words = {one["id"]: one["first_words"] for one in found}
    assert words[session].startswith("House rule for this repo")
    assert words["session-a"] == "", "it has a title"
    life = service.owner.get(f"/api/sessions/{session}/life").json()
    assert life["session"]["first_words"] == words[session]


def test_the_conversation_before_a_compaction_ends_there_and_begins_at_the_one_before(
    service: Service,
) -> None:
    session = Session("talk", "claude-code", "/srv/app", "/srv/app", "/srv/app")
    stamp = "2026-01-01T00:0{}:00Z".format
    said = [
        Message(f"r{n}", "summary" if n in (3, 6) else "user", f"word {n}", stamp(n), n, n + 1)
        for n in range(9)
    ]
    with service.app_state.backend.scoped_store(None) as scoped_store:
        scoped_store.store.save(SavedState(session, (0, 9), {"version": 0}, {}), [], said)
        for epoch, at in enumerate((3, 6)):
            scoped_store.store.record_compaction(Compaction("talk", epoch, stamp(at), "auto"))

    def read(epoch: int, **asked: int) -> tuple[list[str], int | None]:
        path = f"/api/sessions/talk/compactions/{epoch}/conversation"
        page = service.caller("/srv/app").get(path, params=asked).json()
        return [one["text"] for one in page["messages"]], page["next_offset"]

    assert read(0) == (["word 0", "word 1", "word 2"], None), "its own summary came after it"
    assert read(1) == (["word 3", "word 4", "word 5"], None), "with the summary before"
    assert read(1, limit=2) == (["word 5"], 2)
    assert read(1, limit=2, offset=2) == (["word 3", "word 4"], 4)
    assert read(1, limit=2, offset=4) == ([], None)
    missing = service.owner.get("/api/sessions/talk/compactions/7/conversation")
    assert missing.status_code == 404
    assert service.caller("/srv/b").get("/api/sessions/talk/compactions/0/conversation").is_error
