"""The terms of a moment: what the user chose of us, and what the client was told.

Read once per hook by the surface, which has the environment, and handed on as values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.clients.claude_code.paths import config_folder
from holdfast.clients.claude_code.window import (
    Configured,
    configured,
    documents,
    project_of,
    settings_files,
)
from holdfast.lifecycle.project import place_of
from holdfast.settings.reading import DEFAULTS, Settings, read_settings


class Terms(NamedTuple):
    settings: Settings = DEFAULTS
    client: Configured = Configured()
    client_folder: str = ""  # where the client keeps the user's commands, skills and plugins
    project: str = ""  # where the client was started


USUAL = Terms()


def project_folders(cwd: str) -> list[str]:
    """The worktree, then the project it belongs to: where a project keeps files for us."""
    project, worktree = place_of(cwd) if cwd else ("", "")
    return list(dict.fromkeys(folder for folder in (worktree, project) if folder))


def settings_for(environ: Mapping[str, str], data: str, cwd: str) -> Settings:
    return read_settings(environ, data, project_folders(cwd))


def terms_for(environ: Mapping[str, str], data: str, cwd: str) -> Terms:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    told = environ.get("CLAUDE_CONFIG_DIR", "")
    project = project_of(environ, cwd)
    return Terms(
        settings_for(environ, data, cwd),
        configured(environ, documents(settings_files(environ, project))),
        config_folder(home, told) if home or told else "",
        project,
    )
