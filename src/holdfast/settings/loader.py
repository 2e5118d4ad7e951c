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

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat

from holdfast.files import read
from holdfast.records import Any, NamedTuple
from holdfast.settings import table

SETTINGS_FILE_NAME = "settings.json"
PROJECT_DIR_NAME = ".holdfast"
ENVIRONMENT_PREFIX = "HOLDFAST_"
# In the user's file: names and values for single projects, by their folder; and there the names of
# settings that this project may choose itself.
PROJECTS_KEY, ALLOW_KEY = "projects", "allow"
MAX_FILE_BYTES = 1024 * 1024
MAX_NAME_CHARS = 60  # characters of an unknown name that are shown
DEFAULT, USER, PROJECT, ENVIRONMENT = "default", "user", "project", "environment"


class SettingValue(NamedTuple):
    value: Any
    source: str = DEFAULT
    origin: str = ""  # the file, or the variable


class Settings:
    """The effective values, each by its kind: a name that is not in the table is a KeyError."""

    __slots__ = ("problems", "values")

    def __init__(
        self, values: Mapping[str, SettingValue] | None = None, problems: Sequence[str] = ()
    ) -> None:
        self.values = {row.name: SettingValue(row.default) for row in table.SETTINGS} | dict(
            values or {}
        )
        self.problems = tuple(problems)

    def number(self, name: str) -> int:
        found: int = self.values[name].value
        return found

    def flag(self, name: str) -> bool:
        found: bool = self.values[name].value
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


DEFAULT_SETTINGS = Settings()


class SettingsFile(NamedTuple):
    path: str
    source: str
    content: bytes


def user_config_dir(environ: Mapping[str, str]) -> str:
    """Where the user's settings are; "" when the environment names no home at all."""
    shared = environ.get("XDG_CONFIG_HOME", "")
    if shared.startswith("/"):
        return shared + "/holdfast"
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return home + "/.config/holdfast" if home else ""


def list_user_files(environ: Mapping[str, str], data: str) -> list[str]:
    """The first that is there counts; a new one is made in the first place."""
    folders = [folder for folder in (user_config_dir(environ), data) if folder]
    return [f"{folder}/{SETTINGS_FILE_NAME}" for folder in folders]


def list_project_files(folders: Sequence[str]) -> list[str]:
    return [f"{folder.rstrip('/')}/{PROJECT_DIR_NAME}/{SETTINGS_FILE_NAME}" for folder in folders]


def read_settings(environ: Mapping[str, str], data: str, folders: Sequence[str] = ()) -> Settings:
    """`folders` are the worktree and the project, in which the first settings file counts."""
    files = _read_first(USER, list_user_files(environ, data), repeat(""))
    files += _read_first(PROJECT, list_project_files(folders), folders)
    return merge_settings(files, environ, folders)


def merge_settings(
    files: Sequence[SettingsFile], environ: Mapping[str, str], folders: Sequence[str] = ()
) -> Settings:
    """Pure: the weakest file first; the environment wins."""
    values: dict[str, SettingValue] = {}
    problems: list[str] = []
    last: list[tuple[SettingsFile, str, Any]] = []
    allowed: list[str] = []
    for file in files:
        members = dict(_read_members(file, problems))
        if file.source == USER and PROJECTS_KEY in members:
            chosen_here = _for_project(file, members.pop(PROJECTS_KEY), folders, problems)
            for name, value in chosen_here:
                if name == ALLOW_KEY:
                    allowed += value if isinstance(value, list) else []
                else:
                    last.append((file, name, value))
        for name, value in members.items():
            _choose_value(values, problems, file, name, value, allowed)
    for file, name, value in last:
        _choose_value(values, problems, file, name, value)
    for setting in table.SETTINGS:
        variable = ENVIRONMENT_PREFIX + setting.name.upper()
        if variable in environ:
            try:
                chosen = table.parse_value(setting, environ[variable])
                values[setting.name] = SettingValue(chosen, ENVIRONMENT, variable)
            except table.InvalidValue as error:
                problems.append(f"{variable}: {error}; {_format_instead(values, setting)} is used")
    return Settings(values, problems) if values or problems else DEFAULT_SETTINGS


def _choose_value(
    values: dict[str, SettingValue],
    problems: list[str],
    file: SettingsFile,
    name: str,
    value: Any,
    allowed: Sequence[str] = (),
) -> None:
    setting = table.SETTINGS_BY_NAME.get(name)
    wrong = ""
    if setting is None:
        wrong = f"unknown setting {_quote_name(name)}"
    elif file.source == PROJECT and setting.owner == table.ALLOWED and name not in allowed:
        wrong = f"{name} is ignored: `holdfast config allow {name}` lets this project set it"
    elif file.source == PROJECT and setting.owner not in (table.BOTH, table.ALLOWED):
        wrong = f"{name} is ignored: only the user can set it, not a project"
    else:
        try:
            chosen = table.validate_value(setting, value)
            values[name] = SettingValue(chosen, file.source, file.path)
        except table.InvalidValue as error:
            wrong = f"{error}; {_format_instead(values, setting)} is used"
    if wrong:
        problems.append(f"{_quote_place(file)}: {wrong}")


def _for_project(
    file: SettingsFile, listed: Any, folders: Sequence[str], problems: list[str]
) -> list[tuple[str, Any]]:
    """What the user chose for these folders alone, the worktree's word after the project's."""
    if not isinstance(listed, dict) or not all(isinstance(one, dict) for one in listed.values()):
        problems.append(f"{file.path}: {PROJECTS_KEY} must map folders to settings")
        return []
    return [
        pair
        for folder in reversed(folders)
        for pair in listed.get(folder.rstrip("/") or "/", {}).items()
    ]


def _quote_place(file: SettingsFile) -> str:
    """Without control characters: a stranger may have named the folders."""
    return repr(file.path)[1:-1]


def _quote_name(name: str) -> str:
    """In quotation marks, short and in one line: a stranger may have chosen the words."""
    return repr(name if len(name) <= MAX_NAME_CHARS else name[:MAX_NAME_CHARS] + "…")


def _format_instead(values: Mapping[str, SettingValue], setting: table.Setting) -> str:
    known = values.get(setting.name)
    return json.dumps(setting.default if known is None else known.value)


def _read_members(file: SettingsFile, problems: list[str]) -> list[tuple[str, Any]]:
    try:
        document = json.loads(file.content.decode("utf-8-sig")) if file.content.strip() else {}
    except (ValueError, RecursionError) as error:
        problems.append(f"{_quote_place(file)} is not valid JSON ({error}); ignored")
        return []
    if not isinstance(document, dict):
        problems.append(f"{_quote_place(file)} must contain a single object, {{ ... }}; ignored")
        return []
    return list(document.items())


def _read_first(source: str, paths: Sequence[str], folders: Iterable[str]) -> list[SettingsFile]:
    """The first that is there; within a folder links are not followed: the file would be another
    one than the project's."""
    for path, folder in zip(paths, folders, strict=False):
        content = read(path, within=folder, most=MAX_FILE_BYTES)
        if content is not None:
            return [SettingsFile(path, source, content)]
    return []
