"""Every command that a message, a help text or a page tells to run is there, with its options."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tools.docs_reference import build_page

from holdfast.cli.lazy_group import LazyGroup, load_command
from holdfast.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = [
    path
    for pattern in ("*.py", "*.js", "*.md")
    for folder in ("src", "plugin/commands", "plugin/skills")
    for path in sorted((ROOT / folder).rglob(pattern))
]
# After the name: words that could be commands and options, up to the end of the quotation.
CALL = re.compile(
    r"(?:(?<=[`\"])|(?<=\\n)|(?<=^    )|(?<=\$ )|(?<=uvx )|(?<= -- ))holdfast((?: [^\s`\"'#|{]+)+)",
    re.M,
)
ROOT_GROUP: Any = typer.main.get_command(app)
SPLIT = re.compile(r'(?<=[\w ])"\n\s+f?"')  # a string that goes on in the next line
HISTORY = "CHANGELOG.md"  # tells of commands as they were called then


@functools.cache
def load(group: Any, name: str) -> Any:
    if isinstance(group, LazyGroup):
        return load_command(name, group.tree[name]) if name in group.tree else None
    return getattr(group, "commands", {}).get(name)


def find_fault(words: list[str]) -> str:
    """The first word that no command and no option answers to."""
    command: Any = ROOT_GROUP
    options = {"--help", "-h"}
    for place, word in enumerate(words):
        word = word.rstrip(".,;:)")
        if word.startswith("-"):
            known = options | {name for param in command.params for name in param.opts}
            if word.partition("=")[0] not in known:
                return word
        elif hasattr(command, "commands"):
            if place and words[place - 1] == "--home":
                continue
            found = load(command, word) if re.fullmatch(r"[a-z_-]+", word) else None
            if found is None:
                return "" if not re.match(r"[a-z]", word) else word
            command = found
    return ""


def list_faults(path: Path) -> Iterator[str]:
    for call in CALL.finditer(SPLIT.sub("", path.read_text(encoding="utf-8"))):
        if fault := find_fault(call[1].split()):
            yield f"{path.relative_to(ROOT)}: holdfast{call[1]} ({fault})"


def test_pages_name_commands_that_exist() -> None:
    found = [fault for path in PAGES if path.name != HISTORY for fault in list_faults(path)]
    assert found == []


def test_messages_name_commands_that_exist() -> None:
    assert [fault for path in SOURCES for fault in list_faults(path)] == []


@pytest.mark.parametrize(
    ("words", "fault"),
    [("session note --kind rule TEXT", ""), ("sessions", "sessions"), ("show 0276a600:t3", ""),
     ("session nte", "nte"), ("status --everything", "--everything"), ("config set KEY 1", "")],
)  # fmt: skip
def test_a_wrong_name_is_found(words: str, fault: str) -> None:
    assert find_fault(words.split()) == fault


def test_the_reference_is_looked_through_too() -> None:
    assert len(CALL.findall(build_page())) > 30
