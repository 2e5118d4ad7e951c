"""What agents say is text: nothing of it runs, loads or leads anywhere."""

from __future__ import annotations

from playwright.sync_api import expect

from .conftest import Window
from .dashboard_data import EVIL_PROJECT, HOSTILE, Scene

PLACES = {
    "sessions": "#/",
    "project": "#/projects/{project}",
    "session": "#/sessions/{evil}",
    "compaction": "#/sessions/{evil}/compactions/0",
    "tasks": "#/tasks/{project}",
    "messages": "#/messages/{project}",
    "search": "#/search?q=pwned",
    "search for it": "#/search?q=%3Cimg%20src%3Dx%20onerror%3D%22window.pwned%3D3%22%3E",
    "address": "#/sessions/%3Cimg%20src=x%20onerror=window.pwned=4%3E",
    "bad address": "#/sessions/%E0%A4%A",
}
ELEMENTS = """() => [...document.querySelectorAll('*')].filter((one) =>
  (one.tagName === 'IMG' || one.tagName === 'B' || one.tagName === 'IFRAME'
   || (one.tagName === 'SCRIPT' && !one.src)
   || [...one.attributes].some((a) => a.name.startsWith('on') || /^javascript:/i.test(a.value)))
).map((one) => one.outerHTML.slice(0, 80))"""

# What a page that were careless could do with an agent's words.
ATTEMPTS = (
    "document.body.innerHTML = '<img src=x onerror=window.pwned=5>'",
    "document.body.setAttribute('onclick', 'window.pwned=6')",
    "document.createElement('script').text = 'window.pwned=7'",
)


def test_hostile_text_is_shown_and_does_nothing(window: Window, scene: Scene) -> None:
    for place, where in PLACES.items():
        page = window.open(where.format(project=scene.project(EVIL_PROJECT), evil=scene.evil))
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert page.evaluate(ELEMENTS) == [], place
        assert page.evaluate("window.pwned") is None, place
        if "address" not in place:
            expect(page.locator("main")).to_contain_text(HOSTILE[:30])
    # Of an address that leads nowhere the browser itself makes a note.
    window.complaints = [said for said in window.complaints if "404" not in said]
    assert len(window.asked) > 20
    assert all(asked.startswith(window.url) for asked in window.asked)


def test_the_policy_is_in_force(window: Window) -> None:
    page = window.page
    answer = page.goto(window.url)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    for attempt in ATTEMPTS:
        refused = page.evaluate(
            f"() => {{ try {{ {attempt}; return '' }} catch (error) {{ return error.name }} }}"
        )
        assert refused == "TypeError", (attempt, "stopped by the browser itself")
    assert page.evaluate("window.pwned") is None
    assert any("Content Security Policy" in said or "Trusted" in said for said in window.complaints)
    window.complaints.clear()
