"""How the texts begin that Holdfast itself puts into a conversation.

Owned here, below whoever writes them, because every client has to tell them from the user's
words when it reads them back. Must not hold the texts themselves.
"""

from __future__ import annotations

STATE_OPENING = "Holdfast: the state of this session"
AUGMENT_OPENING = "Holdfast: what the summary above leaves out"
GAP_OPENING = "Holdfast: known before the last compaction"
COMMANDS_OPENING = "Holdfast: commands and skills in force"

HOLDFAST_OPENINGS = (STATE_OPENING, AUGMENT_OPENING, GAP_OPENING, COMMANDS_OPENING)
