"""How the texts begin that Holdfast itself puts into a conversation.

Owned here, below the code that writes them, so that every client knows them from the user's words
when it reads them back. Must not hold the texts themselves. Likewise the answer to a note.
"""

from holdfast.fastpath.guards import GUARD_OPENING
from holdfast.fastpath.recall import RECALL_OPENING

STATE_OPENING = "Holdfast: the state of this session"
AUGMENT_OPENING = "Holdfast: what the summary above leaves out"
GAP_OPENING = "Holdfast: known before the last compaction"
COMMANDS_OPENING = "Holdfast: commands and skills in force"
TAG_OPENING = "<holdfast>"  # around a text inside a message of the user's

HOLDFAST_OPENINGS = (
    STATE_OPENING,
    AUGMENT_OPENING,
    GAP_OPENING,
    COMMANDS_OPENING,
    RECALL_OPENING,
    GUARD_OPENING,
    TAG_OPENING,
)

_NOTED = "Noted as "  # how `holdfast.recall.notes_and_handoff` answers a note


def parse_noted(answer: str) -> tuple[str, str] | None:
    """Kind and words of a note that was taken, from the answer, which is redacted and checked."""
    if not answer.startswith(_NOTED):
        return None
    kind, _, said = answer[len(_NOTED) :].partition(': "')
    said = said.partition("\n")[0].rstrip().removesuffix('"')
    return (kind.replace(" ", "_"), said) if said else None


def is_note_call(tool: str, command: str) -> bool:
    """Whether a call is our `note`: the recall server's tool, or the plugin's command."""
    if tool.endswith("__note"):
        return "holdfast" in tool
    words = command.split(None, 5)
    if words[:1] == ["/bin/sh"]:  # as the plugin's skill says it
        words = words[1:]
    program = words[0].strip("\"'").rpartition("/")[2] if words else ""
    return program in ("holdfast", "holdfast-run") and "note" in words[1:3]
