"""A rule and a fact, told before a compaction, as every client's test of recall plants them.

The rule is broken by a call; the fact is printed once and stands in neither summary nor brief.
"""

from __future__ import annotations

from pathlib import Path

from end_to_end.opencode.opencode_stage import wait_until
from holdfast.fastpath.guards import GUARD_OPENING
from holdfast.fastpath.recall import RECALL_OPENING
from holdfast.fastpath.session_dir import GUARDS_FILE, INDEX_FILE, NEW_PROMPT_FILE

__all__ = [
    "ASKED",
    "FACT",
    "GUARD_OPENING",
    "PRINT_FACT",
    "PUSH",
    "RECALL_OPENING",
    "RULE",
    "keep_the_brief_short",
    "wait_for_guards",
    "wait_for_index",
]

RULE = "Never push to main."
PUSH = "git push origin main"
FACT = "backups of the staging cluster belong to Ines Pereira in Lisbon"
PRINT_FACT = f"echo '{FACT}'; seq 1000 1009"
ASKED = "Who looks after the backups of the staging cluster?"


def keep_the_brief_short(data: Path) -> None:
    data.mkdir(parents=True, exist_ok=True)
    (data / "settings.json").write_text('{"brief_chars": 1000, "gap_chars": 500}')


def wait_for_guards(data: Path) -> None:
    """The rules are read behind the client's back, and again after each prompt."""
    wait_until(lambda: list(data.glob(f"sessions/*/{GUARDS_FILE}")))
    wait_until(lambda: not list(data.glob(f"sessions/*/{NEW_PROMPT_FILE}")))


def wait_for_index(data: Path) -> None:
    wait_until(lambda: list(data.glob(f"sessions/*/{INDEX_FILE}")))
