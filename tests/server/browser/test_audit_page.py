"""The audit's page in a real browser: on a phone and on a desk, in the light and in the dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from audit.stories import invoices
from holdfast.audit.report_files import render_page
from holdfast.audit.session_audit import audit_all, find_transcripts
from holdfast.audit.statistics import compute_statistics

LONG = "a-repository-with-a-name-that-no-phone-shows-in-one-line-whatever-it-does"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audited") / LONG
    folder.mkdir()
    for number in range(3):
        story = invoices(f"session-{number}", day=number)
        story.read(f"src/{LONG}/{LONG}.py", "pass\n")
        story.write(folder)
    made = compute_statistics(audit_all(find_transcripts(str(folder)), jobs=1))
    target = folder.parent / "page.html"
    text = render_page(made, folder=LONG, made_on="2026-03-05")
    target.write_text(text, encoding="utf-8")
    return target


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_and_says_nothing_on_the_console(
    browser: Browser, page_file: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(page_file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    beyond = """() => [...document.querySelectorAll("main *")]
        .filter((one) => !one.closest(".scroll, svg"))
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
        .map((one) => one.outerHTML.slice(0, 80))"""
    assert page.evaluate(beyond) == []
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert (_lightness(ink) > _lightness(paper)) is (scheme == "dark")
    assert complaints == []
    context.close()


def _lightness(colour: str) -> int:
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
