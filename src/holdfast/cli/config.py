"""`holdfast config`: the effective settings and where each comes from; setting and unsetting one.

Owns what is shown and the edit of our own settings file, which keeps all other values in their
order. Must not know what a setting means: `holdfast.settings.table` does.
"""

import json
import os
from difflib import get_close_matches
from typing import Any

import typer
from rich.text import Text

from holdfast.cli.output import CliError, JsonOption, print_json, print_line, replace_control_chars
from holdfast.cli.screen import Screen
from holdfast.fastpath.project import locate_project
from holdfast.files import is_usable, make_parents, read
from holdfast.paths import data_dir
from holdfast.session.context import load_settings
from holdfast.settings import atomic_file, loader, table

config = typer.Typer(
    name="config",
    invoke_without_command=True,
    help="Show the effective settings and where each comes from; `set` and `unset` change one.\n\n"
    "Example: `holdfast config`",
)


@config.callback()
def show(context: typer.Context, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is not None:
        return
    chosen = _load_effective()
    if as_json:
        print_json(_build_document(chosen))
    else:
        _print_settings(chosen)


@config.command("set")
def set_value(key: str, value: str, project: bool = False, here: bool = False) -> None:
    """Set a value.

    KEY: Name of the setting.
    VALUE: Write lists as a,b,c or as JSON.
    --project: Write to the project's file (.holdfast/settings.json) instead of your own.
    --here: Write to your own file, but only for the current project.

    Example: `holdfast config set brief_chars 8000`
    """
    setting = _find_setting(key, project)
    folder = _find_folder(project, here)
    try:
        chosen = table.parse_value(setting, value)
    except table.InvalidValue as error:
        raise CliError(
            f"{error}, not {value!r}", "`holdfast config` shows what is in effect."
        ) from error
    path = _find_writable(project)
    _edit_file(path, setting.name, list(chosen) if isinstance(chosen, tuple) else chosen, folder)
    _print_value(setting, path)


@config.command()
def unset(key: str, project: bool = False, here: bool = False) -> None:
    """Remove a value, so that the default applies again.

    KEY: Name of the setting.
    --project: Write to the project's file (.holdfast/settings.json) instead of your own.
    --here: Write to your own file, but only for the current project.

    Example: `holdfast config unset brief_chars`
    """
    setting = _find_setting(key, project)
    path = _find_writable(project)
    if not os.path.exists(path) or not _edit_file(
        path, setting.name, None, _find_folder(project, here)
    ):
        raise CliError(
            f"{setting.name} is not set in {path}", "`holdfast config` shows where it is."
        )
    _print_value(setting, path)


@config.command()
def allow(key: str, remove: bool = False) -> None:
    """Let the current project's `.holdfast/settings.json` choose a setting that touches its files.

    KEY: Name of the setting.
    --remove: Take it back.

    Example: `holdfast config allow notes_in_repo`
    """
    setting = _find_setting(key, False)
    if setting.owner != table.ALLOWED:
        names = ", ".join(row.name for row in table.SETTINGS if row.owner == table.ALLOWED)
        raise CliError(f"No project can be allowed to set {setting.name}", f"These can be: {names}")
    path, folder = _find_path(False), _find_folder(False, True)
    known = set(_list_allowed(path, folder))
    known = known - {setting.name} if remove else known | {setting.name}
    _edit_file(path, loader.ALLOW_KEY, sorted(known), folder)
    may = "may no longer" if remove else "may"
    print_line(f"{folder} {may} set {setting.name}. ({path})")
    _print_value(setting, path)


def _list_allowed(path: str, folder: str) -> list[str]:
    try:
        there = json.loads(read(path) or b"{}")[loader.PROJECTS_KEY][folder][loader.ALLOW_KEY]
    except (ValueError, KeyError, TypeError):
        return []
    return [name for name in there if isinstance(name, str)] if isinstance(there, list) else []


def _load_effective() -> loader.Settings:
    return load_settings(os.environ, data_dir(), os.path.realpath(os.getcwd()))


def _find_setting(key: str, project: bool) -> table.Setting:
    name = key.strip().lower().replace("-", "_")
    if name not in table.SETTINGS_BY_NAME:
        near = get_close_matches(name, table.SETTINGS_BY_NAME, 1)
        hint = f"Did you mean {near[0]}?" if near else "`holdfast config` lists them."
        raise CliError(f"Unknown setting {key!r}", hint)
    setting = table.SETTINGS_BY_NAME[name]
    if project and setting.owner == table.USERS:
        raise CliError(
            f"{name} can only be set by the user, not by a project",
            "--here sets it for this project in your own file.",
        )
    return setting


def _find_folder(project: bool, here: bool) -> str:
    """The folder under which the user's file has a value for this project; "" for none."""
    if project and here:
        raise typer.BadParameter("use either --project or --here")
    return locate_project(os.path.realpath(os.getcwd()))[0] if here else ""


def _find_path(project: bool) -> str:
    if project:
        return loader.list_project_files([locate_project(os.path.realpath(os.getcwd()))[1]])[0]
    places = loader.list_user_files(os.environ, data_dir())
    # The one that is read; a second file in the first place would hide it.
    return next((path for path in places if os.path.exists(path)), places[0])


def _find_writable(project: bool) -> str:
    """A repository can bring links along: we write none of the files they lead to."""
    path = _find_path(project)
    if project and not is_usable(path, os.path.dirname(os.path.dirname(path))):
        raise CliError(
            f"{path} is a link or not a regular file: it was not written",
            "Check what the project put there.",
        )
    return path


def add_pattern(name: str, pattern: str) -> None:
    """To the user's own `redact_patterns`, under this name and a number."""
    path, setting = _find_path(False), _find_setting("redact_patterns", False)
    document = json.loads((atomic_file.read(path) or b"").decode("utf-8").strip() or "{}")
    known = document.get(setting.name) if isinstance(document, dict) else None
    chosen = dict(known) if isinstance(known, dict) else {}
    if pattern not in chosen.values():
        chosen[f"{name}-{len(chosen) + 1}"] = pattern
        _edit_file(path, setting.name, chosen, "")


def _edit_file(path: str, name: str, value: Any, folder: str) -> bool:
    """Put a value in, or with None take it out; False where there was nothing to take out."""
    try:
        before = atomic_file.read(path)
        document = json.loads((before or b"").decode("utf-8").strip() or "{}")
        node = document
        for step in (loader.PROJECTS_KEY, folder) if folder else ():
            node = node.setdefault(step, {}) if isinstance(node, dict) else None
        if not isinstance(node, dict):
            raise CliError(f"{path} must contain objects, {{ ... }}", "Fix or remove it.")
        if value is None and name not in node:
            return False
        if value is None:
            del node[name]
        else:
            node[name] = value
        make_parents(path)
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        atomic_file.replace(path, text.encode("utf-8"), before)
    except UnicodeDecodeError as error:
        raise CliError(f"{path} is not UTF-8 text", "Fix the file first.") from error
    except ValueError as fault:
        raise CliError(f"{path} is not valid JSON: {fault}", "Fix the file first.") from fault
    except atomic_file.FileChanged as error:
        raise CliError(f"{path} was changed by another program", "Try again.") from error
    except OSError as error:
        what = f"{error.filename or path}: {error.strerror or error}"
        raise CliError(what, "Grant write access to the settings file.") from error
    return True


def _print_value(setting: table.Setting, path: str) -> None:
    now = _load_effective().values[setting.name]
    where = "" if now.origin == path else f", from {now.origin or 'the default'}"
    print_line(f"{setting.name} is {_format_value(now.value)} now{where}. ({path})")


def _build_document(chosen: loader.Settings) -> dict[str, Any]:
    return {
        "settings": [
            {
                "name": row.name,
                "value": chosen.values[row.name].value,
                "source": chosen.values[row.name].source,
                "place": chosen.values[row.name].origin,
                "default": row.default,
                "allowed": row.allowed,
                "about": row.description,
            }
            for row in table.SETTINGS
        ],
        "problems": list(chosen.problems),
        "files": {"user": _find_path(False), "project": _find_path(True)},
    }


def _print_settings(chosen: loader.Settings) -> None:
    out = Screen()
    for row in table.SETTINGS:
        now = chosen.values[row.name]
        style = "" if now.source == loader.DEFAULT else "bold"
        shown = Text(replace_control_chars(_format_value(now.value)), style=style)
        out.print(Text.assemble(f"{row.name} = ", shown, (f"  {now.source}", "dim")))
        out.indented(row.description, "dim", indent=4)
    out.verbatim(f"Your settings file: {_find_path(False)}", "dim")
    for problem in chosen.problems:
        out.verbatim(f"Error: {problem}", "red")


def _format_value(value: Any) -> str:
    if isinstance(value, bool | dict):
        return json.dumps(value)
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"
