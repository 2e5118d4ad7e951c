"""The documentation builds as a site, its links lead somewhere, and its pictures are real runs."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tools.docs_site import build_navigation
from tools.pictures import record, run

from holdfast.brief.hook_texts import compose_restore_brief
from holdfast.samples import SESSION_FILE
from support.transcripts import load_last_summary

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PICTURES = sorted((DOCS / "pictures").glob("*.svg"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# `holdfast` with its words, in a code span or at the start of a line of code.
CALL = re.compile(r"(?:`|^[ $]*|\$\()holdfast((?: [\w./:~<\"'-]+)+)", re.M)
LOADED = re.compile(r"""(?:src|data)=["'](?:https?:)?//|<link[^>]+href=["']https?:|@import""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_site_under_its_reader(site: Path) -> None:
    groups = build_navigation((DOCS / "README.md").read_text(encoding="utf-8"))
    names = [name for group in groups for name in group]
    assert names[:4] == ["Home", "Guide", "Bots and agents", "Teams"]
    assert names[4:6] == ["Reference", "How it is measured"]
    built = {page.stem for page in site.glob("*.html")}
    assert built >= {page.stem for page in DOCS.glob("*.md") if page.stem != "README"}


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.glob("*.html"))
    assert len(pages) > 20
    assert [page.name for page in pages if LOADED.search(page.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for target in _links(page):
        path, _, anchor = target.partition("#")
        found = (page.parent / path) if path else page
        if not found.exists() or (anchor and anchor not in _anchors(found)):
            broken.append(target)
    assert broken == []


def _links(page: Path) -> Iterator[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", text)):
        if not re.match(r"[a-z]+:", target):
            yield target


def _anchors(page: Path) -> set[str]:
    """As they are made of headings: small letters and hyphens, without marks."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.M)
    plain = [re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings]
    return {re.sub(r"\s", "-", heading.strip()) for heading in plain}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_is_whole_and_loads_nothing(picture: Path) -> None:
    drawn = picture.read_text(encoding="utf-8")
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")
    assert "/home/" not in drawn


@pytest.fixture(scope="module")
def commands() -> dict[str, str]:
    """Each command by its name, with its part of docs/cli.md, which names its options."""
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    known = {
        part.partition("\n")[0].removeprefix("holdfast").strip(): part
        for part in page.split("\n## ")
        if part.startswith("holdfast")
    }
    for short in ("brief", "state", "plugin path"):  # what programs outside call
        known[short] = known[f"dev {short}"]
    return known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_a_page_names_exist_with_their_options(
    page: Path, commands: dict[str, str]
) -> None:
    words_of_calls = [call.split() for call in CALL.findall(page.read_text(encoding="utf-8"))]
    for words in words_of_calls:
        named = " ".join(words)
        command = max(
            (name for name in commands if f"{named} ".startswith(f"{name} ")), key=len, default=""
        )
        rest = named.removeprefix(command).split()
        is_group = not command or any(name.startswith(f"{command} ") for name in commands)
        assert not (is_group and rest) or rest[0].startswith("-"), f"holdfast {named}"
        for option in re.findall(r"--[a-z-]+", named):
            assert f"`{option}" in commands[command], f"holdfast {named}"


def test_the_recording_of_try_shows_what_try_says() -> None:
    printed = run(["try"])
    verdict = next(line for line in printed.splitlines() if "The summary kept" in line)
    verdict = re.sub(r"\x1b\[[0-9;]*m", "", verdict).strip()
    drawn = record("holdfast try", printed)
    committed = (DOCS / "pictures" / "try.svg").read_text(encoding="utf-8")
    for picture in (drawn, committed):
        words = " ".join(ElementTree.fromstring(picture).itertext()).replace("\xa0", " ")
        assert verdict in words, "run `make pictures`"


def test_the_readme_quotes_the_sample_as_it_is() -> None:
    """Whatever stands between two marks of a cut is in the summary or in the brief."""
    state, summary = load_last_summary(SESSION_FILE)
    brief = compose_restore_brief(state, state.session.updated, left=summary).text
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Before and after")[2]
    quoted = re.findall(r"```text\n(.*?)```", section, flags=re.S)[:2]
    assert len(quoted) == 2
    for text, whole in zip(quoted, (summary, brief), strict=True):
        for part in re.split(r"…|\n(?=\S)", text):
            assert _plain(part) in _plain(whole)
    assert '"E4 is the thermocouple losing contact' in quoted[1]


def _plain(text: str) -> str:
    return " ".join(text.replace("\n- ", "\n").removeprefix("- ").split()).rstrip('"').strip()
