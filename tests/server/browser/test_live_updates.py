"""The page lives: it follows what happens, asks for a token, and outlives its service."""

from __future__ import annotations

from pathlib import Path

import httpx
from playwright.sync_api import Browser, expect
from typer.testing import CliRunner

from holdfast.cli.token import token as token_commands
from support.live_service import LiveService

from .conftest import Window, opened
from .dashboard_data import PROJECT, Scene, filled


def test_a_message_arrives_without_a_reload_and_leaves_the_reader_in_place(
    window: Window, scene: Scene
) -> None:
    scene.send("First news", "/srv/news", payload={"x": "1"})
    page = window.open("#/messages")
    window.live()
    page.evaluate("window.here = true")
    old = page.locator(".letter", has_text="First news")
    old.get_by_text("Read by").click()
    expect(old.locator(".readers")).to_contain_text("Nobody yet")
    page.get_by_label("Project").focus()
    scene.send("Second news", "/srv/news", payload={"x": "2"})
    expect(page.locator(".letter").first).to_contain_text("Second news")
    assert page.evaluate("window.here") is True, "no reload"
    assert page.evaluate("document.activeElement.id") == "project", "the focus stays"
    expect(old.locator("details[open]")).to_have_count(1)
    expect(old.locator(".readers")).to_contain_text("Nobody yet")


def test_who_was_given_a_message_and_who_understood_it_is_followed(
    window: Window, scene: Scene
) -> None:
    sent = scene.send("Read this", "/srv/followed", to_agent_id="rev-1")
    page = window.open("#/messages")
    window.live()
    page.evaluate("window.here = true")
    one = page.locator(".letter", has_text="Read this")
    one.get_by_text("Read by").click()
    expect(one.locator(".readers")).to_contain_text("Nobody yet")
    given = {"agent_id": "rev-1", "project": "/srv/followed"}
    httpx.post(f"{scene.url}/api/messages/deliver", json=given, timeout=30)
    expect(one.locator(".readers")).to_contain_text("rev-1 received it")
    expect(one.locator(".readers")).not_to_contain_text("acknowledged")
    said = {"agent_id": "rev-1"}
    httpx.post(f"{scene.url}/api/messages/{sent['id']}/ack", json=said, timeout=30)
    expect(one.locator(".readers")).to_contain_text("acknowledged")
    assert page.evaluate("window.here") is True, "no reload"


def test_a_session_that_goes_on_is_drawn_again(window: Window, scene: Scene) -> None:
    scene.save("going-on", "At first", 10, "/srv/going")
    page = window.open("#/")
    window.live()
    expect(page.get_by_role("link", name="At first")).to_be_visible()
    scene.save("going-on", "Later on", 20, "/srv/going")
    expect(page.get_by_role("link", name="Later on")).to_be_visible()
    expect(page.get_by_role("link", name="At first")).to_have_count(0)
    window.open("#/sessions/going-on")
    page.get_by_label("Filter by text").fill("routes")
    expect(page.locator(".facts > .fact")).to_have_count(1)
    before = window.drawn()
    scene.save("going-on", "Latest", 30, "/srv/going")
    window.until_drawn(before)
    expect(page.get_by_role("heading", level=1)).to_have_text("Latest")
    expect(page.get_by_label("Filter by text")).to_have_value("routes")
    assert page.evaluate("document.activeElement.id") == "fact-words"
    expect(page.get_by_text("No compactions yet.")).to_be_visible()
    made = {"epoch": 0, "time": "2026-01-01T00:03:00Z", "trigger": "auto", "tokens_before": 150000}
    body = {"session": {}, "offset": 1, "state": {}, "compactions": [made]}
    path = f"{scene.url}/api/sessions/going-on/state"
    assert httpx.post(path, json=body, timeout=30).status_code == 200
    expect(page.locator("table.compactions tbody tr")).to_contain_text(["Compaction 1"])


def test_another_projects_news_draw_nothing(window: Window, scene: Scene) -> None:
    window.open(f"#/messages/{scene.project()}")
    window.live()
    before = window.drawn()
    scene.send("Elsewhere", "/srv/news")
    scene.send("Here", PROJECT)
    expect(window.page.locator(".letter").first).to_contain_text("Here")
    assert window.drawn() == before + 1


def token_for(home: Path, *options: str) -> str:
    made = CliRunner(env={"HOLDFAST_HOME": str(home)}).invoke(
        token_commands, ["create", "person", "--scope", "read", *options]
    )
    return made.stdout.splitlines()[0]


def test_where_a_token_is_needed_the_page_asks_for_it(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    scene = filled(home)
    service = LiveService("", home, "--require-token")
    service.start()
    try:
        with opened(browser, service.url) as window:
            page = window.open(f"#/sessions/{scene.auth}")
            expect(page.get_by_role("heading", level=1)).to_have_text("Token required")
            expect(page.locator("#live")).to_have_text("Disconnected")
            good = token_for(home, "--project", PROJECT)
            page.get_by_label("Token").fill("hf_wrong_token")
            page.keyboard.press("Enter")
            expect(page.get_by_role("alert")).to_contain_text("Invalid, expired or revoked token")
            page.get_by_label("Token").fill(good)
            page.get_by_role("button", name="Continue").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Auth")
            window.live()
            window.open("#/")
            expect(page.locator("tbody tr")).to_have_count(1)
            page.reload()
            expect(page.locator("tbody tr")).to_have_count(1)
            window.open(f"#/sessions/{scene.sample}")
            expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
            stored = page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]")
            assert stored == [1, 0, ""]
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Token required")
            assert page.evaluate("sessionStorage.length") == 0
            # A refusal is noted by the browser; nothing else is.
            assert all("401" in said or "404" in said for said in window.complaints)
            assert not any("token=" in asked or "hf_" in asked for asked in window.asked)
    finally:
        service.kill()


def test_the_page_outlives_its_service(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    scene = filled(home)
    service = LiveService("", home)
    service.start()
    scene.url = service.url
    try:
        with opened(browser, service.url) as window:
            page = window.open("#/")
            window.live()
            service.kill()
            expect(page.locator("#live")).to_have_text("Connecting")
            expect(page.get_by_role("link", name="Auth")).to_be_visible()
            page.get_by_role("link", name="Auth").click()
            expect(page.get_by_text("The server does not respond.")).to_be_visible()
            expect(page.get_by_role("button", name="Try again")).to_be_visible()
            service.start()
            # Nobody has to press it: what was missed is asked for when the service is back.
            expect(page.get_by_role("heading", level=1)).to_have_text("Auth")
    finally:
        service.kill()


def test_an_empty_service_says_how_to_begin(browser: Browser, tmp_path: Path) -> None:
    service = LiveService("", tmp_path / "home")
    service.start()
    try:
        with opened(browser, service.url) as window:
            for place, words in (
                ("#/", "No sessions yet."),
                ("#/tasks", "No projects yet."),
                ("#/messages", "No messages yet."),
                ("#/search", "Search for a rule"),
            ):
                page = window.open(place)
                expect(page.get_by_text(words)).to_be_visible()
            window.live()
            body = {"session": {"project": "/p", "title": "The first"}, "offset": 1, "state": {}}
            page = window.open("#/")
            httpx.post(f"{service.url}/api/sessions/one/state", json=body, timeout=30)
            expect(page.get_by_role("link", name="The first")).to_be_visible()
            assert window.complaints == []
    finally:
        service.kill()
