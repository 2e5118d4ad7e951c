"""The context of one event or command: the session, its files, the store, the clock, the settings.

Made once by the surface, which has the environment, and handed on as one value. Nothing below a
surface reads the environment or the clock. Also says which session is meant where none is named.
"""

import os
from collections.abc import Mapping

from holdfast import clients
from holdfast.clients.client_protocol import Client, WindowConfig
from holdfast.clock import Timestamp, read_clock
from holdfast.fastpath.project import locate_project
from holdfast.fastpath.session_dir import SessionDir
from holdfast.records import NamedTuple
from holdfast.session.follow import ErrorHandler
from holdfast.settings.loader import DEFAULT_SETTINGS, Settings, read_settings, user_config_dir
from holdfast.store.protocol import Session
from holdfast.store.sql_store import Store


class EffectiveConfig(NamedTuple):
    settings: Settings = DEFAULT_SETTINGS
    compaction_config: WindowConfig = WindowConfig()
    client_config_dir: str = ""  # where the client keeps the user's commands, skills and plugins
    client_project_dir: str = ""  # where the client was started
    user_dir: str = ""  # where the user's own settings are
    is_headless: bool = False  # nobody sits before the client
    screen_columns: int = 0  # of a terminal that shows what PreCompact prints


DEFAULT_CONFIG = EffectiveConfig()


class SessionRef(NamedTuple):
    """The session that is meant, as the client names it."""

    id: str
    transcript: str
    cwd: str
    client: str = clients.DEFAULT_CLIENT


class SessionContext(NamedTuple):
    """What a handler needs. `store` is None when it cannot be used: then nothing is kept."""

    session: SessionRef
    session_dir: SessionDir
    now: Timestamp
    store: Store | None = None
    config: EffectiveConfig = DEFAULT_CONFIG
    on_error: ErrorHandler | None = None  # is given what in the transcript raised an error

    @property
    def client(self) -> Client:
        return clients.get(self.session.client)


def build_context(
    data: str, ref: SessionRef, store: Store | None = None, on_error: ErrorHandler | None = None
) -> SessionContext:
    """Of now, with the settings that hold in the session's folder. For surfaces."""
    config = load_config(os.environ, data, ref.cwd, ref.client)
    return SessionContext(ref, SessionDir(data, ref.id), read_clock(), store, config, on_error)


def list_project_dirs(cwd: str) -> list[str]:
    """The worktree, then the project it belongs to: where a project keeps files for us."""
    project, worktree = locate_project(cwd) if cwd else ("", "")
    return list(dict.fromkeys(folder for folder in (worktree, project) if folder))


def load_settings(environ: Mapping[str, str], data: str, cwd: str) -> Settings:
    return read_settings(environ, data, list_project_dirs(cwd))


def load_config(
    environ: Mapping[str, str], data: str, cwd: str, client_name: str = clients.DEFAULT_CLIENT
) -> EffectiveConfig:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    client = clients.get(client_name)
    project = client.paths.project_dir(environ, cwd)
    return EffectiveConfig(
        load_settings(environ, data, cwd),
        client.context_window.read_window_config(environ, project),
        client.paths.config_dir(environ, home),
        project,
        user_config_dir(environ) or data,
        client.paths.is_headless(environ),
        client.paths.screen_columns(environ),
    )


MAX_RECENT_SESSIONS = 50  # of a project, among which this worktree's latest is looked for


def get_agent_session_id(environ: Mapping[str, str]) -> str:
    """The session of the agent that runs this command, "" for a person at a terminal."""
    found = (clients.get(name).paths.agent_session_id(environ) for name in clients.names())
    return next(filter(None, found), "")


def find_current_session(
    store: Store, project: str, worktree: str, session_id: str = ""
) -> Session | None:
    asking = store.session(session_id) if session_id else None
    if asking is not None:
        return asking
    recent = store.sessions(project=project, limit=MAX_RECENT_SESSIONS)
    here = [session for session in recent if session.worktree == worktree]
    return next(iter(here or recent), None)
