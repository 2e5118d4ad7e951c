"""The sections of a brief, by name: where each comes from and the words above it.

A section takes the state and the sizes and gives lines, the weightiest first. Modules are imported
when a role asks for them.
"""

from importlib import import_module

from holdfast.brief.lines import Section
from holdfast.records import NamedTuple


class SectionEntry(NamedTuple):
    module: str  # it has a function of the section's name; "" where chosen statements stand
    short: str  # the heading in a small brief
    long: str  # and in a larger one; a role may say it in other words


# By module, its sections with their headings. What stands in brackets is said in a larger brief
# alone; behind a bar, what that says instead. The last ones are chosen together, in the room that
# is left.
_HEADINGS = {
    "current_work": {
        **dict.fromkeys("mode request last_words last_done finished plan".split(), ""),
        "holds": "On hold until the user releases it[ (verbatim)]:",
        "rules": "Rules the user gave[, in force unless words below change them (verbatim)]:",
        "changed": "Said later[ by the user], with earlier words that it may change"
        "[ (the later ones win)]:",
        "typed": "Said to the agent, in order[ (verbatim)]:",
        "notes": "Notes taken (they win over the summary):|Notes taken during the session"
        " (where the summary says otherwise, the notes are right):",
        "tasks": "Open tasks:",
        "summaries": "Finished, in short:|Finished tasks, summarised when they were done:",
        "running": "Started in the background, no end seen:",
        "outside": "Sent outside[ by these commands (look before you send again)]:",
    },
    "git_status": {"git": "", "edited": "Also edited in this session, latest first:"},
    "verification": {
        **dict.fromkeys("tests claims checks unchecked".split(), ""),
        "verified": "Checks[, latest first]:",
        "check_commands": "Checks run before:",
        "errors": "Open errors[ (quoted output)]:",
        "dead_ends": "Failed or refused[, and not done since]:",
    },
    "environment": {
        "usual": "Usual here:",
        "looked_up": "Looked up last, latest first[ (→ what it showed, cut)]:",
    },
    "other_roles": {
        **dict.fromkeys(
            "progress waves subagents blockers next_steps current_task changes code"
            " next_action".split(),
            "",
        ),
        "decided": "Decided[, by user or agent]:",
    },
    "": {
        "conversation": "Said before, in order:|Said before, oldest first (… marks cuts):",
        "plans": "From the approved plan[ (quoted)]:",
        "results": "Subagents and[ background] jobs reported[ (quoted)]:",
        "instead": "What works and what fails here:|What works here, and what does not:",
        "files": "Files[ worked on, latest first]:",
        "commands": "Commands run[ here, as typed (→ what came of it)]:",
        "values": "Exact values:",
    },
}


def _read_heading(module: str, heading: str) -> SectionEntry:
    short, _, long = heading.partition("|")
    outside = "".join(part.rpartition("]")[2] for part in short.split("["))
    return SectionEntry(module, outside, long or short.replace("[", "").replace("]", ""))


SECTIONS = {
    name: _read_heading(module, heading)
    for module, headings in _HEADINGS.items()
    for name, heading in headings.items()
}
SELECTED_SECTIONS = tuple(name for name, entry in SECTIONS.items() if not entry.module)


def find_section(name: str) -> Section:
    section: Section = getattr(import_module(f"{__name__}.{SECTIONS[name].module}"), name)
    return section
