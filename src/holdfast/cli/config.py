"""`holdfast config`: the effective settings and where each comes from; setting and unsetting one.

Owns what is shown and the edit of our own settings file, which keeps everything else in it byte
for byte. Must not know what a setting means: `holdfast.settings.table` does.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.output import (
    NARROW_WIDTH,
    CliError,
    JsonOption,
    make_console,
    print_indented,
    print_json,
    replace_control_chars,
)
from holdfast.fastpath.project import locate_project
from holdfast.files import is_usable, make_parents
from holdfast.paths import data_dir

if TYPE_CHECKING:
    from holdfast.settings.json_edit import Node
    from holdfast.settings.loader import Settings
    from holdfast.settings.table import Setting


config = typer.Typer(
    name="config",
    invoke_without_command=True,
    help="Show the effective settings and where each comes from; `set` and `unset` change one.\n\n"
    "Example: `holdfast config`",
)

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="Name of the setting.")]
ProjectOption = Annotated[
    bool,
    typer.Option(
        "--project",
        help="Write to the project's file (.holdfast/settings.json) instead of your own.",
    ),
]
HereOption = Annotated[
    bool, typer.Option("--here", help="Write to your own file, but only for the current project.")
]


@config.callback()
def show(context: typer.Context, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is not None:
        return
    chosen = _effective()
    if as_json:
        print_json(_document(chosen))
    else:
        _show(chosen)


@config.command("set")
def set_value(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Write lists as a,b,c or as JSON.")],
    project: ProjectOption = False,
    here: HereOption = False,
) -> None:
    """Set a value.

    Example: `holdfast config set brief_chars 8000`
    """

    from holdfast.settings.table import InvalidValue, parse_value

    setting = _named(key, project)
    folder = _folder(project, here)
    try:
        chosen = parse_value(setting, value)
    except InvalidValue as error:
        raise CliError(
            f"{error}, not {value!r}", "`holdfast config` shows what is in effect."
        ) from (error)
    path = _path(project)
    if project:
        _require_plain(path)
    _edit(path, setting.name, list(chosen) if isinstance(chosen, tuple) else chosen, folder)
    _print_value(setting, path)


@config.command()
def unset(key: KeyArgument, project: ProjectOption = False, here: HereOption = False) -> None:
    """Remove a value, so that the default applies again.

    Example: `holdfast config unset brief_chars`
    """
    setting = _named(key, project)
    path = _path(project)
    if project:
        _require_plain(path)
    if not os.path.exists(path) or not _edit(path, setting.name, None, _folder(project, here)):
        raise CliError(
            f"{setting.name} is not set in {path}", "`holdfast config` shows where it is."
        )
    _print_value(setting, path)


def _effective() -> Settings:
    from holdfast.session.context import load_settings

    return load_settings(os.environ, data_dir(), os.path.realpath(os.getcwd()))


def _named(key: str, project: bool) -> Setting:
    from difflib import get_close_matches

    from holdfast.settings.table import SETTINGS_BY_NAME

    name = key.strip().lower().replace("-", "_")
    if name not in SETTINGS_BY_NAME:
        near = get_close_matches(name, SETTINGS_BY_NAME, 1)
        hint = f"Did you mean {near[0]}?" if near else "`holdfast config` lists them."
        raise CliError(f"Unknown setting {key!r}", hint)
    setting = SETTINGS_BY_NAME[name]
    if project and not setting.project_may_set:
        raise CliError(
            f"{name} can only be set by the user, not by a project",
            "--here sets it for this project in your own file.",
        )
    return setting


def _folder(project: bool, here: bool) -> str:
    """The folder under which a value for this project stands in the user's file; "" for none."""
    if project and here:
        raise typer.BadParameter("use either --project or --here")
    return locate_project(os.path.realpath(os.getcwd()))[0] if here else ""


def _path(project: bool) -> str:
    from holdfast.cli.install import find_project_root
    from holdfast.settings.loader import list_project_files, list_user_files

    if project:
        return list_project_files([find_project_root(os.path.realpath(os.getcwd()))])[0]
    places = list_user_files(os.environ, data_dir())
    # The one that is read; a second file in the first place would hide it.
    return next((path for path in places if os.path.exists(path)), places[0])


def _require_plain(path: str) -> None:
    """A repository can bring links along: we write none of the files they lead to."""
    if not is_usable(path, os.path.dirname(os.path.dirname(path))):
        raise CliError(
            f"{path} is a link or not a regular file: it was not written",
            "Check what the project put there.",
        )


def _edit(path: str, name: str, value: Any, folder: str) -> bool:
    """Put a value in, or with None take it out; False where there was nothing to take out."""

    from holdfast.settings import atomic_file, json_edit
    from holdfast.settings.loader import PROJECTS_KEY

    try:
        before = atomic_file.read(path)
        text = (before or b"").decode("utf-8")
        if not text.strip():
            text = "{}\n"
        root = json_edit.scan(text)
        if root.kind != "object":
            raise CliError(f"{path} must contain a single object, {{ ... }}", "Fix or remove it.")
        style = json_edit.style_of(text, root)
        for depth, step in enumerate((PROJECTS_KEY, folder) if folder else ()):
            below = root.get(step)
            if below is None:
                if value is None:
                    return False
                text = json_edit.add_member(text, root, step, {}, style)
                below = _node(json_edit.scan(text), (PROJECTS_KEY, folder)[: depth + 1])
            if below.kind != "object":
                raise CliError(f"{path}: {step} must be an object", "Fix the file first.")
            root = below
        there = root.get(name)
        if value is None:
            if there is None:
                return False
            text = json_edit.remove_member(text, root, name)
        elif there is None:
            text = json_edit.add_member(text, root, name, value, style)
        else:
            text = json_edit.replace(text, there, value, style)
        make_parents(path)
        atomic_file.replace(path, text.encode("utf-8"), before)
    except json_edit.JsonSyntaxError as fault:
        raise CliError(f"{path} is not valid JSON: {fault}", "Fix the file first.") from fault
    except UnicodeDecodeError as error:
        raise CliError(f"{path} is not UTF-8 text", "Fix the file first.") from error
    except atomic_file.FileChanged as error:
        raise CliError(f"{path} was changed by another program", "Try again.") from error
    except OSError as error:
        raise CliError(f"{error.filename or path}: {error.strerror or error}") from error
    return True


def _node(root: Node, steps: tuple[str, ...]) -> Node:
    for step in steps:
        below = root.get(step)
        assert below is not None  # it was just put there
        root = below
    return root


def _print_value(setting: Setting, path: str) -> None:
    now = _effective().values[setting.name]
    where = "" if now.origin == path else f", from {now.origin or 'the default'}"
    typer.echo(
        replace_control_chars(f"{setting.name} is {_format_value(now.value)} now{where}. ({path})")
    )


def _document(chosen: Settings) -> dict[str, Any]:
    from holdfast.settings.table import SETTINGS

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
            for row in SETTINGS
        ],
        "problems": list(chosen.problems),
        "files": {"user": _path(False), "project": _path(True)},
    }


def _show(chosen: Settings) -> None:
    from holdfast.settings.loader import DEFAULT
    from holdfast.settings.table import SETTINGS

    out = make_console()
    narrow = out.width < NARROW_WIDTH
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("setting", "value", "from", "meaning"):
        table.add_column(heading, overflow="fold")
    for row in SETTINGS:
        now = chosen.values[row.name]
        style = "" if now.source == DEFAULT else "bold"
        shown = Text(replace_control_chars(_format_value(now.value)), style=style)
        source = Text(now.source, style="dim")
        if narrow:  # columns would break names and words: one below the other
            out.print(Text(f"{row.name} = ").append(shown).append(" ").append(source))
            print_indented(row.description, "dim")
        else:
            table.add_row(row.name, shown, source, row.description)
    if not narrow:
        out.print(table)
    out.print(Text(f"Your settings file: {_path(False)}", style="dim"), soft_wrap=True)
    for problem in chosen.problems:
        out.print(Text(f"Error: {replace_control_chars(problem)}", style="red"), soft_wrap=True)


def _format_value(value: Any) -> str:
    if isinstance(value, bool | dict):
        return json.dumps(value)
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
