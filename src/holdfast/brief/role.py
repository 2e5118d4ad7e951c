"""A role: which sections a reader sees, in which order, under which words, with which shares.

Values only. The default role stands here as a value, because the brief of every compaction is
made with it and must not wait for a file; the others are files under `roles/`, which
`session.role_lookup` finds and `parse_role` reads.
"""

from typing import Any, NamedTuple

from holdfast.brief.sections import list_section_names

# Sections made of chosen statements: they share what the stated ones leave.
SELECTED_SECTIONS = ("conversation", "plans", "results", "instead", "files", "commands", "values")

# (in a small brief, in a larger one); what a role file may say in other words.
SECTION_HEADINGS = {
    "rules": ("Rules the user gave:", "Rules the user gave, still in force (verbatim):"),
    "notes": (
        "Notes taken (they win over the summary):",
        "Notes taken during the session (where the summary says otherwise, the notes are right):",
    ),
    "tasks": ("Open tasks:", "Open tasks:"),
    "summaries": ("Finished, in short:", "Finished tasks, summarised when they were done:"),
    "verified": ("Checks:", "Checks, latest first:"),
    "errors": ("Open errors:", "Open errors (quoted output):"),
    "running": ("Running in the background:", "Running in the background:"),
    "dead_ends": ("Failed or refused:", "Failed or refused, and not done since:"),
    "decided": ("Decided:", "Decided, by user or agent:"),
    "conversation": ("Said before, in order:", "Said before, oldest first (… marks cuts):"),
    "plans": ("From the approved plan:", "From the approved plan (quoted):"),
    "results": ("Subagents reported:", "Subagents reported (quoted):"),
    "instead": ("What works here:", "What works here, and what does not:"),
    "files": ("Files:", "Files worked on, latest first:"),
    "commands": ("Commands run:", "Commands that were run and worked:"),
    "values": ("Exact values:", "Exact values:"),
}


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


def default_part(section: str, share: float = 1.0) -> RolePart:
    """A section under its usual heading."""
    return RolePart(section, *SECTION_HEADINGS.get(section, ("", "")), share)


# What somebody may write without end takes no more than this before the others had their turn.
DEFAULT_SHARES = {
    "request": 0.25,
    "last_words": 0.12,
    "rules": 0.15,
    "notes": 0.2,
    "git": 0.25,
    "verified": 0.15,
    "tasks": 0.2,
    "finished": 0.1,
    "summaries": 0.1,
    "errors": 0.12,
    "dead_ends": 0.08,
}

MAIN_ROLE = Role(
    "main",
    tuple(
        default_part(section, DEFAULT_SHARES.get(section, 1.0))
        for section in (
            "request",
            "last_words",
            "last_done",
            "rules",
            "notes",
            "git",
            "verified",
            "tasks",
            "finished",
            "summaries",
            "running",
            "plan",
            *SELECTED_SECTIONS,
        )
    ),
    # Where it stood and the state of the work come first and are short; the rest of the room
    # belongs to what was said and done.
    stated_share=0.6,
    about="The main thread: where it stood, the state of the work, then what was said and done.",
)


# Role files: JSON that names a reader's sections, and what can be wrong with it.
#
# `understood` turns a document into a role or says what is wrong in words that its author can
# act on. Pure: finding and reading files is `session.role_lookup`.
#
#     {
#       "about": "one line on the reader",
#       "stated": 0.7,
#       "focus": 1,
#       "sections": [
#         "request",
#         {"section": "rules", "share": 0.1, "heading": "Rules:"},
#         {"section": "files", "heading": ["Files:", "Files worked on:"]}
#       ]
#     }

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
