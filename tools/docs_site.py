"""What MkDocs is told beside mkdocs.yml: `make docs`.

docs/README.md owns which pages there are and for which reader; the site's navigation is read from
it. The pages for contributors stand in the repository's root and are taken in from there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
CONTRIBUTOR_PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
GROUP = re.compile(r"^(?:\*\*(?P<bold>[^*]+?)\.?\*\*|For (?P<plain>[a-z]+):)")
LINK = re.compile(r"\[([^\]]+)\]\(([^)#]+\.md)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = build_navigation((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    return config


def build_navigation(index: str) -> list[dict[str, Any]]:
    """The groups of the index with their pages, in its order and with its names."""
    groups: list[dict[str, Any]] = [{"Home": "README.md"}]
    name = ""
    for line in index.splitlines():
        if begun := GROUP.match(line):
            name = (begun["bold"] or begun["plain"]).capitalize()
        pages = [
            {title[:1].upper() + title[1:]: target.removeprefix("../")}
            for title, target in LINK.findall(line)
        ]
        if pages and name:
            groups.append({name: pages})
    return groups


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name in CONTRIBUTOR_PAGES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links as they are right on the site, where all pages stand in one folder."""
    if page.file.src_uri in CONTRIBUTOR_PAGES:
        return markdown.replace("](docs/", "](")
    return markdown.replace("](../", "](")
