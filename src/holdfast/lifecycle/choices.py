"""What the user chose for the native module, from `settings.json` in the data folder.

Deliberately small: one function, to be replaced by whatever reads all settings. A file that is
absent, broken or says something else gives the defaults.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from holdfast.lifecycle.tray import read

FILE = "settings.json"
MODES = ("augment", "instant", "off")


class Choices(NamedTuple):
    compaction: str = "augment"  # or "instant": no summary, no model request; or "off"
    right_moment: bool = False  # compact between tasks, once context is past the threshold
    right_moment_percent: int = 60
    other_projects: bool = False  # recall may look beyond the project


def choices(data: str) -> Choices:
    raw = read(f"{data}/{FILE}")
    try:
        said = json.loads(raw) if raw else {}
    except ValueError:
        return Choices()
    if not isinstance(said, dict):
        return Choices()
    default = Choices()
    mode, percent = said.get("compaction"), said.get("right_moment_percent")
    return Choices(
        mode if mode in MODES else default.compaction,
        said.get("right_moment") is True,
        percent if type(percent) is int and 1 <= percent <= 99 else default.right_moment_percent,
        said.get("other_projects") is True,
    )
