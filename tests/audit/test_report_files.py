"""The page: well-formed, self-contained, escaped, and readable without eyes or a pointer."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from audit.stories import RULE, SECRET, invoices
from holdfast.audit.report_files import render_page
from holdfast.audit.session_audit import audit_all, find_transcripts
from holdfast.audit.statistics import AuditStatistics, compute_statistics, remove_quotes

HOSTILE = "<script>alert('x')</script><img src=x onerror=y> \"' & </title></style>]]>"


@pytest.fixture
def made(tmp_path: Path) -> AuditStatistics:
    for number in range(3):
        invoices(f"s-{number}", number * 9).write(tmp_path)
    return compute_statistics(audit_all(find_transcripts(str(tmp_path)), jobs=1))


def rendered(made: AuditStatistics) -> str:
    return render_page(made, folder="~/.claude/projects", made_on="2026-05-01")


def tree(text: str) -> ElementTree.Element:
    """Written as XML too, so that a tag left open is seen."""
    return ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))


def test_the_page_is_well_formed_and_small(made: AuditStatistics) -> None:
    text = rendered(made)
    assert tree(text).tag == "html"
    assert len(text) < 100_000


def test_nothing_is_loaded_from_outside_and_nothing_runs(made: AuditStatistics) -> None:
    text = rendered(made)
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert "@import" not in text
    root = tree(text)
    assert not [e for e in root.iter() if e.tag in ("script", "img", "link", "iframe", "object")]
    assert not [a for e in root.iter() for a in e.attrib if a in ("src", "style") or a[:2] == "on"]
    assert [e.get("href") for e in root.iter("a")] == ["#report"]
    assert "default-src 'none'" in [
        e.get("content", "").split(";")[0] for e in root.iter("meta") if e.get("http-equiv")
    ]


def test_whatever_a_transcript_says_is_text(made: AuditStatistics) -> None:
    made.examples = [replace(one, text=HOSTILE, detail=HOSTILE) for one in made.examples]
    made.examples += [replace(made.examples[0], project=HOSTILE)]
    made.worst = [replace(one, lost=(HOSTILE[:40],), project=HOSTILE) for one in made.worst]
    made.most_repeated = [(HOSTILE, 2)]
    made.projects = [replace(one, name=HOSTILE) for one in made.projects]
    made.sessions = [replace(one, title=HOSTILE) for one in made.sessions]
    made.unreadable = [(HOSTILE, HOSTILE)]
    text = render_page(made, folder=HOSTILE, made_on=HOSTILE)
    root = tree(text)
    assert not list(root.iter("script"))
    assert not list(root.iter("img"))
    assert HOSTILE in [e.text for e in root.iter("code")]


def test_it_says_how_many_and_what_is_an_estimate(made: AuditStatistics) -> None:
    words = " ".join("".join(tree(rendered(made)).itertext()).split())
    assert "n = 3 of 3 compactions" in words
    assert "estimate" in words
    assert "simulated" in words
    assert RULE in words


def test_secrets_do_not_reach_the_page(made: AuditStatistics) -> None:
    assert SECRET not in rendered(made)


def test_without_quotes_only_figures_are_left(made: AuditStatistics) -> None:
    made.sessions = [replace(one, title="Tax for the Mallard account") for one in made.sessions]
    assert "Mallard" in rendered(made)
    text = rendered(remove_quotes(made))
    assert "Mallard" not in text
    assert tree(text).tag == "html"
    assert RULE not in text
    assert "tax.py" not in text
    assert "roundHalfUp" not in text
    assert 'id="facts"' in text


def test_a_reader_without_eyes_finds_the_way(made: AuditStatistics) -> None:
    root = tree(rendered(made))
    assert root.get("lang") == "en"
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    for section in root.iter("section"):
        assert section.get("aria-labelledby") in ids
    for table in root.iter("table"):
        assert all(cell.get("scope") for cell in table.iter("th"))
    for svg in root.iter("svg"):
        named = svg.get("role") == "img" and svg.find("title") is not None
        assert named or svg.get("aria-hidden") == "true"
    for region in (e for e in root.iter("div") if e.get("class") == "scroll"):
        assert region.get("tabindex") == "0"
        assert region.get("aria-labelledby") in ids or region.get("aria-label")
    assert [e.tag for e in root.iter() if re.fullmatch(r"h[1-3]", e.tag)][:2] == ["h1", "h2"]


def test_light_dark_and_paper_are_provided_for(made: AuditStatistics) -> None:
    text = rendered(made)
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert "color-scheme: light dark" in text


def test_a_page_about_nothing_is_still_a_page(tmp_path: Path) -> None:
    assert tree(rendered(AuditStatistics("nowhere"))).tag == "html"
