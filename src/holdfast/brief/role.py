"""A role: which sections a reader sees, in which order, under which words, with which shares.

Values only. The default role stands here as a value, because the brief of every compaction is
made with it and must not wait for a file; the others are files under `roles/`, which
`session.role_lookup` finds and `parse_role` reads.
"""

from holdfast.brief.lines import SizeLimits
from holdfast.brief.sections import SECTIONS, SELECTED_SECTIONS
from holdfast.records import Any, NamedTuple


class RolePart(NamedTuple):
    """A section's place in a role."""

    section: str
    short_heading: str = ""  # its heading in a small brief, "" for none
    long_heading: str = ""  # and in a larger one
    share: float = 1.0  # of the whole budget, at most; chosen sections have none of their own

    def heading(self, tight: bool) -> str:
        return self.short_heading if tight else self.long_heading


class Role(NamedTuple):
    name: str
    parts: tuple[RolePart, ...]
    stated_share: float = 0.5  # of the budget, for all stated sections together
    focus: float = 1.0  # how much more what lies around the current task is worth
    about: str = ""
    size: SizeLimits | None = None  # what sections may quote, whatever the budget


def default_part(section: str, share: float = 1.0) -> RolePart:
    """A section under its usual heading."""
    _, short, long = SECTIONS[section]
    return RolePart(section, short, long, share)


def list_parts(table: str) -> tuple[RolePart, ...]:
    """Sections under their usual headings, each with its share where it has one."""
    entries = (entry.split() for entry in table.split(","))
    return tuple(default_part(name, *map(float, share)) for name, *share in entries)


MAIN_ROLE = Role(
    "main",
    # What somebody may write without end takes no more than its share before the others had theirs.
    list_parts(
        "mode, holds 0.25, request 0.25, document, last_words 0.12, last_done, rules 0.6,"
        " changed 0.2, notes 0.2, git 0.25, verified 0.15, tasks 0.2, finished 0.1,"
        " summaries 0.1, outside 0.08, looked_up 0.07, usual 0.05, running, plan,"
        + ", ".join(SELECTED_SECTIONS)
    ),
    # Where it stood and the state of the work come first and are short; the rest of the room
    # belongs to what was said and done.
    stated_share=0.6,
    about="The main thread: where it stood, the state of the work, then what was said and done.",
)


MAX_HEADING_CHARS = 200
MAX_FOCUS = 100.0
_KEYS = {"about", "stated", "focus", "sections"}
_PART_KEYS = {"section", "share", "heading"}


class RoleError(ValueError):
    """A role file says something that cannot be followed."""


def parse_role(name: str, document: Any) -> Role:
    """A role file's JSON as a role; raises RoleError in words that its author can act on.

    {"about": "one line on the reader", "stated": 0.7, "focus": 1, "sections": ["request",
     {"section": "rules", "share": 0.1, "heading": ["Rules:", "Rules the user gave:"]}]}
    """
    if not isinstance(document, dict):
        raise RoleError("a role must be a JSON object")
    _reject_unknown_keys(document, _KEYS, "the role")
    listed = document.get("sections")
    if not isinstance(listed, list) or not listed:
        raise RoleError('"sections" must be a list of at least one section')
    parts = tuple(_parse_part(number, entry) for number, entry in enumerate(listed, 1))
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
        _read_number(document, "stated", 0.5, 1.0, "the role"),
        _read_number(document, "focus", 1.0, MAX_FOCUS, "the role"),
        " ".join(about.split())[:300],
    )


def _parse_part(number: int, entry: Any) -> RolePart:
    where = f"section {number}"
    if isinstance(entry, str):
        entry = {"section": entry}
    if not isinstance(entry, dict):
        raise RoleError(f"{where} must be a name or an object with a name")
    _reject_unknown_keys(entry, _PART_KEYS, where)
    name = entry.get("section")
    if name not in SECTIONS:
        raise RoleError(
            f"{where}: unknown name {name!r}; known names are {', '.join(sorted(SECTIONS))}"
        )
    if name in SELECTED_SECTIONS and "share" in entry:
        raise RoleError(
            f"{where}, {name!r}, is ranked together with others and cannot have its own share"
        )
    usual = default_part(name, _read_number(entry, "share", 1.0, 1.0, where))
    if "heading" not in entry:
        return usual
    short, wide = _parse_headings(entry["heading"], where)
    if name in SELECTED_SECTIONS and not (short and wide):
        raise RoleError(f"{where}, {name!r}, needs a heading")
    return usual._replace(short_heading=short, long_heading=wide)


def _parse_headings(given: Any, where: str) -> tuple[str, str]:
    pair = [given, given] if isinstance(given, str) else given
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(h, str) for h in pair):
        raise RoleError(f'the "heading" of {where} must be a string, or a short and a long one')
    if any(len(h) > MAX_HEADING_CHARS or not h.isprintable() for h in pair):
        raise RoleError(
            f'the "heading" of {where} must be one line of at most {MAX_HEADING_CHARS} characters'
        )
    return pair[0], pair[1]


def _read_number(
    document: dict[str, Any], key: str, usual: float, most: float, where: str
) -> float:
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
