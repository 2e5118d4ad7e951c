"""Finding what was chosen: the environment, the project, the user, else the default.

    HOLDFAST_<NAME>                           in the environment
    <project>/.holdfast/settings.json         for everyone who works in the project
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

from holdfast.settings.table import BY_NAME, TABLE, Setting, WrongValue, checked, spoken

FILE = "settings.json"
PROJECT_FOLDER = ".holdfast"
PREFIX = "HOLDFAST_"
LARGEST = 1024 * 1024
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
    return [f"{folder.rstrip('/')}/{PROJECT_FOLDER}/{FILE}" for folder in folders if folder]


def read_settings(environ: Mapping[str, str], data: str, folders: Sequence[str] = ()) -> Settings:
    """`folders` are the worktree and the project, in which the first settings file counts."""
    found = [_first(user_files(environ, data), USER), _first(project_files(folders), PROJECT)]
    files = [file for file in found if file is not None]
    return combined(files, environ)


def combined(files: Sequence[File], environ: Mapping[str, str]) -> Settings:
    """Pure: the weakest file first; the environment wins."""
    values: dict[str, Value] = {}
    problems: list[str] = []
    for file in files:
        for name, value in _members(file, problems):
            setting = BY_NAME.get(name)
            if setting is None:
                problems.append(f"{file.path}: there is no setting {name!r}")
            elif file.source == PROJECT and not setting.project:
                problems.append(f"{file.path}: {name} is the user's to choose, not a project's")
            else:
                _take(values, problems, setting, value, file)
    for setting in TABLE:
        variable = PREFIX + setting.name.upper()
        if variable in environ:
            try:
                chosen = spoken(setting, environ[variable])
                values[setting.name] = Value(chosen, ENVIRONMENT, variable)
            except WrongValue as error:
                problems.append(f"{variable}: {error}; {_instead(values, setting)} is used")
    return Settings(values, problems) if values or problems else DEFAULTS


def _take(
    values: dict[str, Value], problems: list[str], setting: Setting, value: Any, file: File
) -> None:
    try:
        chosen = checked(setting, value)
    except WrongValue as error:
        problems.append(f"{file.path}: {error}; {_instead(values, setting)} is used")
        return
    if setting.name == "redact_patterns" and setting.name in values:
        # A project can add to what the user wants redacted, never take away.
        chosen = {**chosen, **values[setting.name].value}
    values[setting.name] = Value(chosen, file.source, file.path)


def _instead(values: Mapping[str, Value], setting: Setting) -> str:
    known = values.get(setting.name)
    return json.dumps(setting.default if known is None else known.value)


def _members(file: File, problems: list[str]) -> list[tuple[str, Any]]:
    try:
        document = json.loads(file.content.decode("utf-8-sig")) if file.content.strip() else {}
    except (ValueError, RecursionError) as error:
        problems.append(f"{file.path} is not JSON ({error}); it is left out")
        return []
    if not isinstance(document, dict):
        problems.append(f"{file.path} must hold one object, {{ ... }}; it is left out")
        return []
    return list(document.items())


def _first(paths: Sequence[str], source: str) -> File | None:
    for path in paths:
        try:
            with open(path, "rb") as file:
                return File(path, source, file.read(LARGEST))
        except OSError:
            continue
    return None
