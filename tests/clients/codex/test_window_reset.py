"""A window that was emptied without a summary: what is read of it, and the room of the brief."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import LeftInContext
from support.hook_process import Caller, Ran

from .rollout_writer import RolloutSession

CODEX = clients.get("codex")


class CodexCaller(Caller):
    def __init__(self, root: Path, rollout: RolloutSession) -> None:
        super().__init__(root, rollout.thread)
        self.rollout = rollout

    @property
    def transcript(self) -> Path:
        return Path(self.rollout.path)

    def hook(self, event: str, **fields: Any) -> Ran:
        return self.feed(f"codex:{event}", json.dumps(self.payload(event, **fields)).encode())


@pytest.fixture
def rollout(tmp_path: Path) -> RolloutSession:
    rollout = RolloutSession(tmp_path)
    for crate in range(90):
        rollout.prompt(
            f"Crate {crate} of ship {crate * 7} is sealed, weighs {crate * 31} kilos and "
            f"belongs to customer number {crate * 97} in hall {crate % 9}."
        )
        rollout.answer("Noted.")
    return rollout


def test_nothing_is_left_and_no_summary_was_made(rollout: RolloutSession) -> None:
    rollout.reset_window()
    assert CODEX.row_probe.last_compaction(rollout.path) == LeftInContext(
        "", (), was_summarised=False
    )


@pytest.mark.parametrize("summary", [None, "All is well."], ids=["sealed", "readable"])
def test_a_summary_was_made(rollout: RolloutSession, summary: str | None) -> None:
    rollout.compact(summary)
    left = CODEX.row_probe.last_compaction(rollout.path)
    assert left is not None
    assert left.was_summarised


@pytest.mark.parametrize(("is_reset", "least", "most"), [(True, 9_600, 12_000), (False, 1, 9_500)])
def test_the_brief_has_more_room_where_there_is_no_summary(
    tmp_path: Path, rollout: RolloutSession, is_reset: bool, least: int, most: int
) -> None:
    if is_reset:
        rollout.reset_window()
    else:
        rollout.compact("All is well.")
    ran = CodexCaller(tmp_path, rollout).hook("SessionStart", source="compact")
    assert (ran.code, ran.err) == (0, "")
    assert least < len(ran.context) <= most
