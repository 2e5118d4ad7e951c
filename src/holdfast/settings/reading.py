"""Finding what was chosen: the environment, the project, the user, else the default.

    HOLDFAST_<NAME>                           in the environment
    <config folder>/settings.json             what the user chose for this project, in "projects"
    <project>/.holdfast/settings.json         for everyone who works in the project: only what
                                              the table lets a project choose
    <config folder>/settings.json             the user's own; where there is none, the one in
                                              the data folder

JSON, not TOML: the hooks have `json` loaded already, `tomllib` would cost them 5 to 10 ms more,
and the client's own settings look the same. Whatever is wrong gives the default and a line in
`problems`; nothing here raises. Must not write a file, nor read the environment by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.files import read
from holdfast.settings.table import BY_NAME, TABLE, Setting, WrongValue, checked, spoken

FILE = "settings.json"
PROJECT_FOLDER = ".holdfast"
PREFIX = "HOLDFAST_"
# In the user's file: names and values for single projects, by their folder.
PROJECTS = "projects"
LARGEST = 1024 * 1024
LONGEST_NAME = 60  # characters of a strange name that are told
DEFAULT, USER, PROJECT, ENVIRONMENT = "default", "user", "project", "environment"


class Value(NamedTuple):
    value: Any
    source: str = DEFAULT
    place: str = ""  # the file, or the variable


class Settings:
    """The effective values, each by its kind: a name that is not in the table is a KeyError."""

    __slots__ = ("problems", "values")

    def __init__(
        self, values: Mapping[str, Value] | None = None, problems: Sequence[str] = ()
    ) -> None:
        self.values = {row.name: Value(row.default) for row in TABLE} | dict(values or {})
        self.problems = tuple(problems)

    def number(self, name: str) -> int:
        found: int = self.values[name].value
        return found

    def flag(self, name: str) -> bool:
        found: bool = self.values[name].value
        return found

    def choice(self, name: str) -> str:
        found: str = self.values[name].value
        return found

    def text(self, name: str) -> str:
        found: str = self.values[name].value
        return found

    def numbers(self, name: str) -> tuple[int, ...]:
        found: tuple[int, ...] = self.values[name].value
        return found

    def words(self, name: str) -> tuple[str, ...]:
        found: tuple[str, ...] = self.values[name].value
        return found

    def patterns(self, name: str) -> dict[str, str]:
        found: dict[str, str] = self.values[name].value
        return found


DEFAULTS = Settings()


class File(NamedTuple):
    path: str
    source: str
    content: bytes


def config_folder(environ: Mapping[str, str]) -> str:
    """Where the user's settings are; "" when the environment names no home at all."""
    shared = environ.get("XDG_CONFIG_HOME", "")
    if shared.startswith("/"):
        return shared + "/holdfast"
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return home + "/.config/holdfast" if home else ""


def user_files(environ: Mapping[str, str], data: str) -> list[str]:
    """The first that is there counts; a new one is made in the first place."""
    folders = [folder for folder in (config_folder(environ), data) if folder]
    return [f"{folder}/{FILE}" for folder in folders]


def project_files(folders: Sequence[str]) -> list[str]:
    return [f"{folder.rstrip('/')}/{PROJECT_FOLDER}/{FILE}" for folder in folders]


def read_settings(environ: Mapping[str, str], data: str, folders: Sequence[str] = ()) -> Settings:
    """`folders` are the worktree and the project, in which the first settings file counts."""
    found = [_users(user_files(environ, data)), _projects(folders)]
    files = [file for file in found if file is not None]
    return combined(files, environ, folders)


def combined(
    files: Sequence[File], environ: Mapping[str, str], folders: Sequence[str] = ()
) -> Settings:
    """Pure: the weakest file first; the environment wins."""
    values: dict[str, Value] = {}
    problems: list[str] = []
    last: list[tuple[File, str, Any]] = []
    for file in files:
        members = dict(_members(file, problems))
        if file.source == USER and PROJECTS in members:
            chosen_here = _for_project(file, members.pop(PROJECTS), folders, problems)
            last += [(file, name, value) for name, value in chosen_here]
        for name, value in members.items():
            _choose(values, problems, file, name, value)
    for file, name, value in last:
        _choose(values, problems, file, name, value)
    for setting in TABLE:
        variable = PREFIX + setting.name.upper()
        if variable in environ:
            try:
                chosen = spoken(setting, environ[variable])
                values[setting.name] = Value(chosen, ENVIRONMENT, variable)
            except WrongValue as error:
                problems.append(f"{variable}: {error}; {_instead(values, setting)} is used")
    return Settings(values, problems) if values or problems else DEFAULTS


def _choose(
    values: dict[str, Value], problems: list[str], file: File, name: str, value: Any
) -> None:
    setting = BY_NAME.get(name)
    if setting is None:
        problems.append(f"{_place(file)}: there is no setting {_told(name)}")
    elif file.source == PROJECT and not setting.project:
        why = "is left out: it is yours to choose, not a project's"
        problems.append(f"{_place(file)}: {name} {why}")
    else:
        _take(values, problems, setting, value, file)


def _for_project(
    file: File, listed: Any, folders: Sequence[str], problems: list[str]
) -> list[tuple[str, Any]]:
    """What the user chose for these folders alone, the worktree's word after the project's."""
    if not isinstance(listed, dict) or not all(isinstance(one, dict) for one in listed.values()):
        problems.append(f"{file.path}: {PROJECTS} takes folders, each with its own settings")
        return []
    return [
        pair
        for folder in reversed(folders)
        for pair in listed.get(folder.rstrip("/") or "/", {}).items()
    ]


def _place(file: File) -> str:
    """Without control characters: a stranger may have named the folders."""
    return repr(file.path)[1:-1]


def _told(name: str) -> str:
    """In quotation marks, short and in one line: a stranger may have chosen the words."""
    return repr(name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…")


def _take(
    values: dict[str, Value], problems: list[str], setting: Setting, value: Any, file: File
) -> None:
    try:
        chosen = checked(setting, value)
    except WrongValue as error:
        problems.append(f"{_place(file)}: {error}; {_instead(values, setting)} is used")
        return
    values[setting.name] = Value(chosen, file.source, file.path)


def _instead(values: Mapping[str, Value], setting: Setting) -> str:
    known = values.get(setting.name)
    return json.dumps(setting.default if known is None else known.value)


def _members(file: File, problems: list[str]) -> list[tuple[str, Any]]:
    try:
        document = json.loads(file.content.decode("utf-8-sig")) if file.content.strip() else {}
    except (ValueError, RecursionError) as error:
        problems.append(f"{_place(file)} is not JSON ({error}); it is left out")
        return []
    if not isinstance(document, dict):
        problems.append(f"{_place(file)} must hold one object, {{ ... }}; it is left out")
        return []
    return list(document.items())


def _users(paths: Sequence[str]) -> File | None:
    for path in paths:
        content = read(path, most=LARGEST)
        if content is not None:
            return File(path, USER, content)
    return None


def _projects(folders: Sequence[str]) -> File | None:
    """Links are not followed: the file would be another one than the project's."""
    for folder, path in zip(folders, project_files(folders), strict=True):
        content = read(path, within=folder, most=LARGEST)
        if content is not None:
            return File(path, PROJECT, content)
    return None
