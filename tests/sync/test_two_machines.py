"""One project under different paths on two machines is one project; two projects never mix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.sync.project_id import make_project_id
from support.agent_sessions import UPDATED
from support.in_process_service import Service
from support.sync_machine import Machine, through

SHOP = "github.com/acme/shop"


def checkout(folder: Path, remote: str) -> str:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')
    return str(folder)


@pytest.fixture
def machines(service: Service, tmp_path: Path) -> tuple[Machine, Machine, str, str]:
    """Two of them with the same project, each with a token for that project alone."""
    token = service.token(SHOP)
    desk = Machine(tmp_path / "desk" / "data", through(service.client(token)))
    laptop = Machine(tmp_path / "laptop" / "data", through(service.client(token)))
    first = checkout(tmp_path / "desk" / "shop", "https://me:hunter2@github.com/acme/shop.git")
    second = checkout(tmp_path / "laptop" / "src" / "web", "git@github.com:acme/shop")
    desk.remember("at-the-desk", first)
    laptop.remember("on-the-way", second)
    for machine in (desk, laptop):
        assert machine.carry().sessions == 1
    return desk, laptop, first, second


def test_each_sees_the_others_state(
    service: Service, machines: tuple[Machine, Machine, str, str]
) -> None:
    desk, _, first, second = machines
    mine = service.caller(SHOP)
    names = {"at-the-desk", "on-the-way"}
    (project,) = mine.get("/api/projects").json()["projects"]
    assert (project["path"], project["name"], project["id"]) == (
        SHOP,
        "shop",
        make_project_id(SHOP),
    )
    found = mine.get("/api/sessions", params={"project_id": project["id"]}).json()["sessions"]
    assert {one["id"] for one in found} == names
    assert {one["worktree"] for one in found} == {first, second}
    tree = mine.get(f"/api/hierarchy/{project['id']}").json()
    assert {one["session_id"] for one in tree["requests"]} == names
    hits = mine.get("/api/search", params={"q": "authentication", "project_id": project["id"]})
    assert {one["session_id"] for one in hits.json()["hits"]} == names
    back = mine.post("/api/compact/restore", json={"session_id": "on-the-way"}).json()
    assert "Add authentication" in back["additionalContext"]
    # A new session, on either machine, is told where the project stands.
    for about in ({"cwd": first}, {"cwd": f"{second}/src"}, {"project_id": project["id"]}):
        back = mine.post("/api/compact/restore", json={"session_id": "unknown", **about}).json()
        assert "the latest of this project" in back["additionalContext"]
        assert back["source"]["id"] in names
    nothing = mine.post("/api/compact/restore", json={"session_id": "unknown"}).json()
    assert nothing["source"]["kind"] == "none"
    for folder in (first, second, f"{first}/src/deep", SHOP):
        assert mine.get("/api/projects/by-path", params={"path": folder}).json()["path"] == SHOP
    # A session that nobody knows yet is found its project by where it is.
    saved = mine.post(
        "/api/compact/save",
        json={"session_id": "new", "cwd": f"{second}/src", "context_summary": "begun"},
    ).json()
    assert saved["project_id"] == project["id"]
    desk.live("at-the-desk", first)
    sent = mine.post("/api/messages", json={"from_agent_id": "x", "topic": "t", "cwd": second})
    assert sent.json()["project_id"] == project["id"]
    assert desk.carry().fetched == 1


def test_no_credentials_leave_the_machine(machines: tuple[Machine, Machine, str, str]) -> None:
    for machine in machines[:2]:
        said = repr(machine.bodies)
        assert SHOP in said
        assert "hunter2" not in said
        assert "me:" not in said


def test_two_machines_with_unrelated_folders_of_one_name_do_not_mix(
    service: Service, tmp_path: Path
) -> None:
    folder = str(tmp_path / "app")
    for number in (1, 2):
        machine = Machine(tmp_path / f"data{number}", through(service.owner))
        machine.remember(f"s{number}", folder)
        machine.carry()
    found = service.owner.get("/api/projects").json()["projects"]
    assert len(found) == 2
    assert all(one["path"].endswith(f":{folder}") for one in found)
    for project in found:
        told = service.owner.get("/api/sessions", params={"project_id": project["id"]}).json()
        assert len(told["sessions"]) == 1
    # Which of them is meant cannot be known from the path alone.
    asked = service.owner.get("/api/projects/by-path", params={"path": folder})
    assert asked.status_code == 422
    body = {"session_id": "new", "cwd": folder, "context_summary": "x"}
    assert service.owner.post("/api/compact/save", json=body).status_code == 422
    known = {"session_id": "s1", "cwd": folder, "context_summary": "x"}
    assert service.owner.post("/api/compact/save", json=known).status_code == 201


def test_another_projects_token_finds_nothing_at_its_paths(
    service: Service, machines: tuple[Machine, Machine, str, str]
) -> None:
    stranger = service.caller("github.com/acme/other")
    for folder in (*machines[2:], SHOP):
        asked = stranger.get("/api/projects/by-path", params={"path": folder})
        assert asked.status_code == 404
    body = {"from_agent_id": "x", "topic": "t", "project": machines[2]}
    assert stranger.post("/api/messages", json=body).status_code == 403


def test_a_folder_that_is_gone_keeps_its_sessions_in_their_project(
    service: Service, machines: tuple[Machine, Machine, str, str]
) -> None:
    desk, _, first, _ = machines
    (Path(first) / ".git" / "config").unlink()
    with desk.store() as store:
        store.end_session("at-the-desk", UPDATED)
    assert desk.carry().sessions == 1
    assert service.owner.get("/api/sessions/at-the-desk").json()["project"] == SHOP


def test_the_name_that_the_user_gave_a_project_comes_before_its_remote(
    service: Service, tmp_path: Path
) -> None:
    folder = checkout(tmp_path / "app", "git@github.com:acme/shop")
    (tmp_path / "app" / ".holdfast").mkdir()
    (tmp_path / "app" / ".holdfast" / "settings.json").write_text('{"project_name": "Bank"}')
    (tmp_path / "data").mkdir()
    chosen = {"projects": {folder: {"project_name": "The shop"}}}
    (tmp_path / "data" / "settings.json").write_text(json.dumps(chosen))
    machine = Machine(tmp_path / "data", through(service.owner))
    machine.remember("a", folder)
    machine.carry()
    assert service.owner.get("/api/sessions/a").json()["project"] == "The shop"
