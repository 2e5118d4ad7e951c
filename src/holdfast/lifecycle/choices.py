"""What the user chose, for whoever stands in a folder: the settings, and the plugin's part of them.

Owns which folders a project's settings are looked for in; `holdfast.settings` owns the rest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.lifecycle.project import place_of
from holdfast.settings.reading import Settings, read_settings


class Choices(NamedTuple):
    compaction: str = "augment"  # or "instant": no summary, no model request; or "off"
    right_moment: bool = False  # compact between tasks, once context is past the threshold
    right_moment_percent: int = 60
    other_projects: bool = False  # recall may look beyond the project


def project_folders(cwd: str) -> list[str]:
    """The worktree, then the project it belongs to: where a project keeps files for us."""
    project, worktree = place_of(cwd) if cwd else ("", "")
    return list(dict.fromkeys(folder for folder in (worktree, project) if folder))


def settings_for(environ: Mapping[str, str], data: str, cwd: str) -> Settings:
    return read_settings(environ, data, project_folders(cwd))


def choices(data: str, cwd: str = "") -> Choices:
    """For the native module and recall, which have the environment of the client."""
    chosen = settings_for(os.environ, data, cwd)
    return Choices(
        chosen.choice("compaction"),
        chosen.flag("right_moment"),
        chosen.number("right_moment_percent"),
        chosen.flag("other_projects"),
    )
