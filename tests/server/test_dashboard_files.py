"""The dashboard's files: open to all, and nothing else with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from support.in_process_service import Service, running

PAGE = files("holdfast.server.dashboard") / "page"


def names() -> list[str]:
    root = Path(str(PAGE))
    return sorted(str(one.relative_to(root)) for one in root.rglob("*") if one.is_file())


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Service]:
    """Asks everybody for a token."""
    with running(str(tmp_path / "a.db"), str(tmp_path), allow_owner=False) as service:
        yield service


def test_whoever_has_no_token_yet_can_load_the_page_and_no_data(closed: Service) -> None:
    page = closed.owner.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert closed.owner.head("/").status_code == 200
    for name in names():
        if name != "index.html":
            assert closed.owner.get(f"/dashboard/{name}").status_code == 200, name
    assert closed.owner.get("/api/sessions").status_code == 401
    for start in ("/dashboard", "/dashboard/"):
        assert closed.owner.get(start).text == page.text


def test_nothing_but_its_files_is_served(closed: Service) -> None:
    for name in (
        "index.html",
        "nothing.js",
        "../__init__.py",
        "%2e%2e/__init__.py",
        "views",
        "views/",
    ):
        assert closed.owner.get(f"/dashboard/{name}").status_code in (401, 404), name
    assert closed.owner.post("/").status_code == 405


def test_other_web_pages_do_not_get_it_either(closed: Service) -> None:
    other = closed.client(Origin="https://evil.example")
    assert other.get("/").status_code == 403
    assert other.get("/dashboard/app.js").status_code == 403


def test_each_answer_has_the_policy_that_fits_it(closed: Service) -> None:
    page = closed.owner.get("/").headers
    script = closed.owner.get("/dashboard/app.js").headers
    data = closed.owner.get("/api/health").headers
    assert page["content-security-policy"] == script["content-security-policy"]
    assert data["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    for headers in (page, script, data):
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_the_files_load_nothing_from_elsewhere_and_hold_no_inline_code() -> None:
    for name in names():
        text = (PAGE / name).read_text()
        outside = re.sub(r"http://www\.w3\.org/\d+/svg", "", text)
        assert "http:" not in outside, name
        assert "https:" not in outside, name
        assert "@import" not in text
        assert "url(" not in text
        if name.endswith(".js"):
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
                assert word not in text, (name, word)
    page = (PAGE / "index.html").read_text()
    assert not re.search(r"<script(?![^>]* src=)", page)
    assert "<style" not in page
    assert not re.search(r"\s(on\w+|style)=", page)


def test_every_module_that_is_imported_is_there() -> None:
    known = set(names())
    for name in known:
        if not name.endswith(".js"):
            continue
        for target in re.findall(r'from "([^"]+)"', (PAGE / name).read_text()):
            parts = [*name.split("/")[:-1], *target.split("/")]
            while ".." in parts:
                at = parts.index("..")
                del parts[at - 1 : at + 1]
            path = "/".join(part for part in parts if part != ".")
            assert path in {*known, "kinds.js"}, (name, target)


def test_the_names_of_kinds_are_served_as_a_module(closed: Service) -> None:
    module = closed.owner.get("/dashboard/kinds.js")
    assert module.status_code == 200
    assert module.text.startswith('export const KINDS = {"request": ["Request", "Requests"]')
