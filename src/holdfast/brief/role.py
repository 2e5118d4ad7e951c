"""A role: which sections a reader sees, in which order, under which words, with which shares.

Values only, and which of them an agent's type asks for.
"""

from holdfast.brief.lines import SizeLimits
from holdfast.brief.sections import SECTIONS, SELECTED_SECTIONS
from holdfast.records import NamedTuple


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
    size: SizeLimits | None = None  # what sections may quote, whatever the budget


def list_parts(table: str, **headings: str) -> tuple[RolePart, ...]:
    """Sections, each with its share where it has one; under their usual headings, or under another,
    which may say it shorter and longer (`|`)."""
    return tuple(
        _list_part(*entry.split(), heading=headings.get(entry.split()[0], ""))
        for entry in table.split(",")
    )


def _list_part(section: str, share: str = "1", *, heading: str = "") -> RolePart:
    _, short, long = SECTIONS[section]
    if heading:
        short, _, long = heading.partition("|")
    return RolePart(section, short, long or short, float(share))


MAIN_ROLE = Role(
    "main",
    # What somebody may write without end takes no more than its share before the others had theirs.
    list_parts(
        "mode, holds 0.25, request 0.25, last_words 0.12, last_done, rules 0.6,"
        " changed 0.2, notes 0.2, git 0.25, verified 0.15, tasks 0.2, finished 0.1,"
        " summaries 0.1, outside 0.08, looked_up 0.07, usual 0.05, edited 0.04,"
        " running, plan," + ", ".join(SELECTED_SECTIONS)
    ),
    # Where it stood and the state of the work come first and are short; the rest of the room
    # belongs to what was said and done.
    stated_share=0.6,
)


def _list_roles() -> tuple[Role, ...]:
    """Those that the service gives an agent by its role; hooks deliver the main thread's."""
    orchestrator = list_parts(
        "holds 0.12, request 0.15, rules 0.12, changed 0.12, progress, waves 0.25, subagents 0.2,"
        " blockers 0.15, next_steps 0.1, decided 0.12, git 0.12, plan 0.05, finished 0.1,"
        " dead_ends 0.08, conversation, results, files, commands, values",
        waves="Open tasks by wave (one wave can run side by side):",
        subagents="Subagents and background jobs:",
        blockers="Blockers (quoted output):",
        next_steps="Next steps:",
        decided="Decisions:",
    )
    developer = list_parts(
        "holds 0.12, current_task 0.1, request 0.15, last_words 0.1, rules 0.12, changed 0.12,"
        " next_action 0.08, git 0.15, verified 0.1, errors 0.15, code 0.1, changes 0.25,"
        " dead_ends 0.08, tasks 0.1, conversation, instead, files, commands, values",
        next_action="Next action:",
        code="Code:",
        changes="Recent changes, latest first (quoted lines):",
    )
    specialist = list_parts(
        "holds 0.12, current_task 0.15, request 0.12, rules 0.12, changed 0.12, errors 0.2,"
        " verified 0.1, changes 0.2, decided 0.08, dead_ends 0.08, next_action 0.08, conversation,"
        " instead, files, commands, values",
        errors="Open errors:|Open errors, those of this task first (quoted output):",
        changes="Changes, for this task first (quoted lines):",
        decided="Decided, on this task first:",
        dead_ends="Failed or refused, on this task first:",
        next_action="Next action:",
    )
    validator = list_parts(
        "holds 0.12, request 0.15, rules 0.15, changed 0.12, claims 0.25, tests 0.12, errors 0.15,"
        " unchecked 0.15, checks 0.2, git 0.12, tasks 0.1, dead_ends 0.08, conversation, files,"
        " commands, values",
        claims="Claimed done:",
        unchecked="Changed, and no check ran after it:",
        checks="Checks with their last verdict, latest first:",
        tasks="Still open:",
    )
    return (
        MAIN_ROLE,
        Role("orchestrator", orchestrator, 0.85),
        Role("developer", developer, 0.7),
        Role("specialist", specialist, 0.6, focus=6.0),
        Role("validator", validator, 0.85),
    )


ROLES = {role.name: role for role in _list_roles()}
# The words in an agent's type that say its role.
_AGENT_WORDS = {
    "orchestrator": "orchestrator coordinator conductor lead techlead manager supervisor planner"
    " dispatcher",
    "developer": "developer dev engineer coder programmer implementer implementor builder backend"
    " frontend fullstack refactorer",
    "validator": "validator reviewer review tester test tests testing qa verifier checker auditor"
    " critic",
}
# A subagent of any other kind has one thing to do.
DEFAULT_SUBAGENT_ROLE = "specialist"


class UnknownRole(ValueError):
    """No role has this name; says which there are."""


def find_role(name: str) -> Role:
    if name not in ROLES:
        raise UnknownRole(f"unknown role {name!r}; known roles are {', '.join(sorted(ROLES))}")
    return ROLES[name]


def find_role_for_agent(agent_type: str) -> Role:
    """The role in which an agent of this type reads; "" is the main thread."""
    if not agent_type:
        return MAIN_ROLE
    plain = "".join(c if c.isalnum() else "-" for c in agent_type.lower()).strip("-")
    words = {plain, plain.replace("-", ""), *plain.split("-")}
    found = (name for name, said in _AGENT_WORDS.items() if words.intersection(said.split()))
    return ROLES.get(plain) or ROLES[next(found, DEFAULT_SUBAGENT_ROLE)]
