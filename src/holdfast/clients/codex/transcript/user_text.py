"""Telling the user's own words from what Codex puts in their place.

Owns the client's markup. Rows say whose words they are (`provenance`, finished items), so this is
for texts that come without a row: prompts in payloads, kept messages of a compaction. Must not
know rows or events.
"""

from __future__ import annotations

from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS

SUMMARY_OPENING = "Another language model started to solve this problem and produced a summary"
_SUMMARY_BEGINS = "use the information in this summary to assist with your own analysis:\n"
# A text that begins so was written by the client, whatever row carries it.
_CLIENT_OPENINGS = (
    *HOLDFAST_OPENINGS,
    SUMMARY_OPENING,
    "<environment_context>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<skill>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
    "<hook_",
    "# AGENTS.md instructions",
)
# What an editor puts before the prompt; the prompt stands behind the last of these.
_EDITOR_OPENING = "# Context from my IDE setup:"
_EDITOR_PROMPT = "## My request for Codex:"


def extract_user_text(text: str) -> str:
    """What the user typed in this text; "" when all of it is the client's."""
    text = text.strip()
    if text.startswith(_EDITOR_OPENING):
        text = text.partition(_EDITOR_PROMPT)[2].strip()
    return "" if text.startswith(_CLIENT_OPENINGS) else text


def is_typed_opening(opening: str) -> bool:
    """Whether a user's message that begins so can hold words of the user."""
    return not opening.startswith(_CLIENT_OPENINGS)


def strip_summary_frame(text: str) -> str:
    """The summary itself, without the lines that the client puts before it."""
    if text.startswith(SUMMARY_OPENING):
        _, found, rest = text.partition(_SUMMARY_BEGINS)
        if found:
            return rest.strip()
    return text.strip()
