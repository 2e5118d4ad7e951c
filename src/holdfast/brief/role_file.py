"""Role files: JSON that names a reader's sections, and what can be wrong with it.

`understood` turns a document into a role or says what is wrong in words that its author can
act on. Pure: finding and reading files is `lifecycle.roles`.

    {
      "about": "one line on the reader",
      "stated": 0.7,
      "focus": 1,
      "sections": [
        "request",
        {"section": "rules", "share": 0.1, "heading": "Rules:"},
        {"section": "files", "heading": ["Files:", "Files worked on:"]}
      ]
    }
"""

from __future__ import annotations

from typing import Any

from holdfast.brief.role import SELECTED_SECTIONS, Role, RolePart, default_part
from holdfast.brief.sections import list_section_names

MAX_HEADING_CHARS = 200
MAX_FOCUS = 100.0
_KEYS = {"about", "stated", "focus", "sections"}
_PART_KEYS = {"section", "share", "heading"}


class RoleError(ValueError):
    """A role file says something that cannot be followed."""


def parse_role(name: str, document: Any) -> Role:
    if not isinstance(document, dict):
        raise RoleError("a role must be a JSON object")
    _reject_unknown_keys(document, _KEYS, "the role")
    listed = document.get("sections")
    if not isinstance(listed, list) or not listed:
        raise RoleError('"sections" must be a list of at least one section')
    parts = tuple(_part(number, entry) for number, entry in enumerate(listed, 1))
    seen: set[str] = set()
    for one in parts:
        if one.section in seen:
            raise RoleError(f"section {one.section!r} is listed twice")
        seen.add(one.section)
    about = document.get("about", "")
    if not isinstance(about, str):
        raise RoleError('"about" must be a string')
    return Role(
        name,
        parts,
        _number(document, "stated", 0.5, 1.0, "the role"),
        _number(document, "focus", 1.0, MAX_FOCUS, "the role"),
        " ".join(about.split())[:300],
    )


def _part(number: int, entry: Any) -> RolePart:
    where = f"section {number}"
    if isinstance(entry, str):
        entry = {"section": entry}
    if not isinstance(entry, dict):
        raise RoleError(f"{where} must be a name or an object with a name")
    _reject_unknown_keys(entry, _PART_KEYS, where)
    name = entry.get("section")
    if name not in (known := [*list_section_names(), *SELECTED_SECTIONS]):
        raise RoleError(
            f"{where}: unknown name {name!r}; known names are {', '.join(sorted(known))}"
        )
    if name in SELECTED_SECTIONS and "share" in entry:
        raise RoleError(
            f"{where}, {name!r}, is ranked together with others and cannot have its own share"
        )
    usual = default_part(name, _number(entry, "share", 1.0, 1.0, where))
    if "heading" not in entry:
        return usual
    short, wide = _headings(entry["heading"], where)
    if name in SELECTED_SECTIONS and not (short and wide):
        raise RoleError(f"{where}, {name!r}, needs a heading")
    return usual._replace(short_heading=short, long_heading=wide)


def _headings(given: Any, where: str) -> tuple[str, str]:
    pair = [given, given] if isinstance(given, str) else given
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(h, str) for h in pair):
        raise RoleError(f'the "heading" of {where} must be a string, or a short and a long one')
    if any(len(h) > MAX_HEADING_CHARS or not h.isprintable() for h in pair):
        raise RoleError(
            f'the "heading" of {where} must be one line of at most {MAX_HEADING_CHARS} characters'
        )
    return pair[0], pair[1]


def _number(document: dict[str, Any], key: str, usual: float, most: float, where: str) -> float:
    value = document.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise RoleError(f'"{key}" of {where} must be a number from 0 to {most:g}')
    return float(value)


def _reject_unknown_keys(document: dict[str, Any], known: set[str], where: str) -> None:
    for key in document:
        if key not in known:
            raise RoleError(
                f"{where}: unknown key {key!r}; known keys are {', '.join(sorted(known))}"
            )
