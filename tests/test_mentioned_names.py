"""Modules, tests and pages that a comment, a docstring or a page names are there."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "holdfast"
PACKAGES = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name[:1] != "_"}

FOLDERS = ("src", "tests", "tools", "benchmarks")
SOURCES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]

IN_BACKTICKS = re.compile(r"`([^`\n]+)`")
BEHIND_A_BACKTICK = re.compile(r"`(?=([^`\n]+)`)")  # whichever of two backticks opens a quotation
# A file of ours, whole or from the package's folder on; a module as it is imported.
FILE = re.compile(
    r"(?:src/holdfast|tests|tools|benchmarks|docs|plugin|[a-z_]+)(?:/[\w.-]+)*\.(?:py|md)\b"
)
MODULE = re.compile(r"(?:holdfast\.)?([a-z_]+)((?:\.[A-Za-z_]\w*)+)(?<!\.json)")


def comments(path: Path) -> Iterator[str]:
    """The comments and docstrings of a module."""
    text = path.read_text()
    yield from (
        doc
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and (doc := ast.get_docstring(node))
    )
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def file_exists(name: str, beside: Path) -> bool:
    places = (ROOT, PACKAGE, ROOT / "docs", ROOT / "src", beside, ROOT / "tests")
    return any((place / name).exists() for place in places)


@cache
def read(path: Path) -> str:
    return path.read_text()


@cache
def module_exists(package: str, rest: str) -> bool:
    """Whether the dotted name leads to a module, or to something that its module mentions."""
    place = PACKAGE / package
    for word in rest.strip(".").split("."):
        if (place / f"{word}.py").exists() or (place / word).is_dir():
            place = place / word
            continue
        text = (
            place.with_suffix(".py") if place.with_suffix(".py").exists() else place / "__init__.py"
        )
        return bool(re.search(rf"\b{re.escape(word)}\b", read(text)))
    return True


def missing(text: str, beside: Path, quotations: re.Pattern[str] = IN_BACKTICKS) -> Iterator[str]:
    for quoted in quotations.findall(text):
        if file := FILE.fullmatch(quoted.partition("::")[0]):
            first, _, rest = file[0].partition("/")
            ours = first in (*PACKAGES, *FOLDERS[1:], "docs") or rest.startswith("holdfast/")
            if rest and ours and not file_exists(file[0], beside):
                yield quoted
        elif (module := MODULE.fullmatch(quoted)) and module[1] in PACKAGES:
            yield from [] if module_exists(module[1], module[2]) else [quoted]


def test_names_in_comments_exist() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        # To find the comments takes longer than to look at everything between backticks.
        if next(missing(path.read_text(), path.parent, BEHIND_A_BACKTICK), "")
        for text in comments(path)
        for name in missing(text, path.parent)
    ]
    assert found == []


def test_names_on_pages_exist() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in PAGES
        for name in missing(path.read_text(), path.parent)
    ]
    assert found == []
