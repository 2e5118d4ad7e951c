"""What the user chose for taking part in a compaction, and for recall."""

from __future__ import annotations

import os
from typing import NamedTuple

from holdfast.lifecycle.terms import settings_for


class Choices(NamedTuple):
    compaction: str = "augment"  # or "instant": no summary, no model request; or "off"
    right_moment: bool = False  # compact between tasks, once context is past the threshold
    right_moment_percent: int = 60
    other_projects: bool = False  # recall may look beyond the project


def choices(data: str, cwd: str = "") -> Choices:
    """For the native module and recall, which have the environment of the client."""
    chosen = settings_for(os.environ, data, cwd)
    return Choices(
        chosen.choice("compaction"),
        chosen.flag("right_moment"),
        chosen.number("right_moment_percent"),
        chosen.flag("other_projects"),
    )
