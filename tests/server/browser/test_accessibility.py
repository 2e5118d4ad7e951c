"""Readable without a mouse, without eyes, in the dark and on a telephone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from .conftest import Window, opened
from .dashboard_data import Scene

VIEWS = {
    "sessions": "#/",
    "session": "#/sessions/{sample}",
    "large": "#/sessions/{many}",
    "compaction": "#/sessions/{sample}/compactions/0",
    "tasks": "#/tasks/{project}",
    "messages": "#/messages",
    "search": "#/search?q=walrus",
    "missing": "#/nowhere",
}
NAMED = {"link", "button", "textbox", "searchbox", "combobox", "slider", "DisclosureTriangle"}


DOUBLED = """() => { const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
  return ids.filter((id, at) => ids.indexOf(id) !== at) }"""


def address(scene: Scene, view: str) -> str:
    return VIEWS[view].format(sample=scene.sample, many=scene.many, project=scene.project())


def accessible(page: Page) -> list[dict[str, Any]]:
    """What a screen reader is told."""
    session = page.context.new_cdp_session(page)
    tree = session.send("Accessibility.getFullAXTree")
    session.detach()
    return [node for node in tree["nodes"] if not node.get("ignored")]


def said(node: dict[str, Any], what: str) -> str:
    return str(node.get(what, {}).get("value", ""))


def test_every_view_has_landmarks_one_heading_and_names_for_all_that_can_be_used(
    window: Window, scene: Scene
) -> None:
    for view in VIEWS:
        page = window.open(address(scene, view))
        nodes = accessible(page)
        roles = [said(node, "role") for node in nodes]
        assert roles.count("main") == roles.count("banner") == roles.count("contentinfo") == 1
        assert "navigation" in roles
        nameless = [
            (said(node, "role"), node.get("backendDOMNodeId"))
            for node in nodes
            if said(node, "role") in NAMED and not said(node, "name").strip()
        ]
        assert nameless == [], view
        levels = page.locator("h1, h2, h3, h4").evaluate_all(
            "all => all.map(one => Number(one.tagName[1]))"
        )
        assert levels[0] == 1, view
        assert levels.count(1) == 1, view
        assert all(b <= a + 1 for a, b in pairwise(levels)), (view, levels)
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.evaluate(DOUBLED) == [], view


def test_the_chart_is_told_in_words_and_its_compactions_are_links(
    window: Window, scene: Scene
) -> None:
    page = window.open(f"#/sessions/{scene.sample}")
    nodes = accessible(page)
    links = [said(node, "name") for node in nodes if said(node, "role") == "link"]
    assert any(name.startswith("Compaction 1, ") and "tokens" in name for name in links)
    figures = [said(node, "name") for node in nodes if said(node, "role") == "figure"]
    assert figures[0].startswith("From ")
    slider = page.get_by_role("slider", name="Point in the session")
    slider.focus()
    last = slider.get_attribute("aria-valuetext") or ""
    page.keyboard.press("Home")
    first = slider.get_attribute("aria-valuetext") or ""
    assert "before the first compaction" in first
    assert "after compaction 1" in last
    expect(page.locator("output.readout")).to_have_text(first)


def focused(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(
        """() => { const one = document.activeElement; const style = getComputedStyle(one);
        return {words: (one.getAttribute('aria-label') ?? one.textContent).trim(), tag: one.tagName,
        outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
        seen: one.getBoundingClientRect().top >= 0} }"""
    )
    return found


def test_by_keyboard_alone_from_the_top_of_the_page_to_a_compaction(
    window: Window, scene: Scene
) -> None:
    page = window.open("#/")
    page.keyboard.press("Tab")
    skip = focused(page)
    assert skip["words"] == "Skip to content"
    assert skip["seen"]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.url.endswith("#/"), "the address still says which view is shown"
    session = f"main · {scene.sample[:8]}"
    visited = []
    for _ in range(40):
        page.keyboard.press("Tab")
        visited.append(focused(page))
        row = page.evaluate("document.activeElement.closest('tr')?.textContent ?? ''")
        if scene.sample[:8] in row and visited[-1]["tag"] == "A":
            break
    assert all(one["outline"] for one in visited), session
    before = window.drawn()
    page.keyboard.press("Enter")
    window.until_drawn(before)
    assert page.evaluate("document.activeElement.tagName") == "H1", "a new page begins at its top"
    for _ in range(40):
        page.keyboard.press("Tab")
        if focused(page)["words"].startswith("Compaction 1,"):
            break
    before = window.drawn()
    page.keyboard.press("Enter")
    window.until_drawn(before)
    expect(page.get_by_role("heading", level=1)).to_have_text("Compaction 1 of 1")
    assert page.evaluate("document.activeElement.tagName") == "H1"


CONTRAST = """() => {
  const parse = (text) => { const c = document.createElement('canvas').getContext('2d');
    c.fillStyle = text; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data] };
  const light = ([r, g, b]) => { const f = (v) => { v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 };
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b) };
  const behind = (one) => { for (; one; one = one.parentElement) {
    const c = parse(getComputedStyle(one).backgroundColor); if (c[3] === 255) return c }
    return parse('white') };
  const found = [];
  for (const one of document.querySelectorAll('body *')) {
    if (one.closest('svg') || !one.checkVisibility()) continue;
    if (one.classList.contains('unseen') || one.closest('.skip')) continue;
    if (![...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const [a, b] = [light(parse(getComputedStyle(one).color)), light(behind(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${one.tagName}.${one.className} ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
}"""


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_all_words_stand_out_from_what_is_behind_them(
    browser: Browser, scene: Scene, colours: str
) -> None:
    with opened(browser, scene.url, color_scheme=colours) as window:
        grounds = set()
        for view in VIEWS:
            page = window.open(address(scene, view))
            assert page.evaluate(CONTRAST) == [], (view, colours)
            grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        bright = {"light": "rgb(250, 249, 246)", "dark": "rgb(17, 21, 28)"}
        assert grounds == {bright[colours]}


def test_the_theme_can_be_chosen_and_is_kept(window: Window) -> None:
    page = window.open()
    ground = "getComputedStyle(document.body).backgroundColor"
    button = page.get_by_role("button", name="Theme: system")
    button.click()
    page.get_by_role("button", name="Theme: light").click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate(ground) == "rgb(17, 21, 28)"
    page.reload()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate(ground) == "rgb(17, 21, 28)"


def test_nothing_is_wider_than_a_telephone(browser: Browser, scene: Scene) -> None:
    with opened(browser, scene.url, viewport={"width": 380, "height": 800}) as window:
        for view in VIEWS:
            page = window.open(address(scene, view))
            assert page.evaluate("document.documentElement.scrollWidth") <= 380, view
        page = window.open(address(scene, "session"))
        box = page.locator(".plot svg").bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 380
