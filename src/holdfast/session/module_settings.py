"""What the user chose for taking part in a compaction, and for recall."""

from __future__ import annotations

import os
from typing import NamedTuple

from holdfast.session.context import load_settings


class ModuleSettings(NamedTuple):
    compaction: str = "augment"  # or "instant": no summary, no model request; or "off"
    compact_between_tasks: bool = False  # compact between tasks, once context is past the threshold
    compact_between_tasks_at_percent: int = 60
    all_projects: bool = False  # recall may look beyond the project


def load_module_settings(data: str, cwd: str = "") -> ModuleSettings:
    """For the native module and recall, which have the environment of the client."""
    chosen = load_settings(os.environ, data, cwd)
    return ModuleSettings(
        chosen.choice("compaction"),
        chosen.flag("right_moment"),
        chosen.number("right_moment_percent"),
        chosen.flag("other_projects"),
    )
