"""`holdfast config`: the effective settings and where each comes from; setting and unsetting one.

Owns what is shown and the edit of our own settings file, which keeps everything else in it byte
for byte. Must not know what a setting means: `holdfast.settings.table` does.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, console, printable

if TYPE_CHECKING:
    from holdfast.clients.claude_code.json_edit import Node
    from holdfast.settings.reading import Settings
    from holdfast.settings.table import Setting

config = typer.Typer(
    name="config",
    invoke_without_command=True,
    help="The settings in effect and where each comes from; `set` and `unset` change one.\n\n"
    "Example: `holdfast config`",
)

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="The name of the setting.")]
ProjectOption = Annotated[
    bool,
    typer.Option(
        "--project", help="In the project's file (.holdfast/settings.json) instead of your own."
    ),
]
HereOption = Annotated[
    bool, typer.Option("--here", help="In your own file, for the project of this folder alone.")
]


@config.callback()
def show(context: typer.Context, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is not None:
        return
    chosen = _effective()
    if as_json:
        answer(_document(chosen))
    else:
        _show(chosen)


@config.command("set")
def put(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Lists as a,b,c or as JSON.")],
    project: ProjectOption = False,
    here: HereOption = False,
) -> None:
    """Choose a value.

    Example: `holdfast config set brief_chars 8000`
    """
    from holdfast.settings.table import WrongValue, spoken

    setting = _named(key, project)
    folder = _folder(project, here)
    try:
        chosen = spoken(setting, value)
    except WrongValue as error:
        raise Trouble(
            f"{error}, not {value!r}", "`holdfast config` shows what is in effect."
        ) from (error)
    path = _path(project)
    if project:
        _require_plain(path)
    _edit(path, setting.name, list(chosen) if isinstance(chosen, tuple) else chosen, folder)
    _tell(setting, path)


@config.command()
def unset(key: KeyArgument, project: ProjectOption = False, here: HereOption = False) -> None:
    """Take a choice back, so that the default holds again.

    Example: `holdfast config unset brief_chars`
    """
    setting = _named(key, project)
    path = _path(project)
    if project:
        _require_plain(path)
    if not os.path.exists(path) or not _edit(path, setting.name, None, _folder(project, here)):
        raise Trouble(
            f"{setting.name} is not set in {path}", "`holdfast config` shows where it is."
        )
    _tell(setting, path)


def _effective() -> Settings:
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.terms import settings_for

    return settings_for(os.environ, data_folder(), os.path.realpath(os.getcwd()))


def _named(key: str, project: bool) -> Setting:
    from difflib import get_close_matches

    from holdfast.settings.table import BY_NAME

    name = key.strip().lower().replace("-", "_")
    if name not in BY_NAME:
        near = get_close_matches(name, BY_NAME, 1)
        hint = f"Did you mean {near[0]}?" if near else "`holdfast config` lists them."
        raise Trouble(f"There is no setting {key!r}", hint)
    setting = BY_NAME[name]
    if project and not setting.project:
        raise Trouble(
            f"{name} is yours to choose, not a project's",
            "--here sets it for this project in your own file.",
        )
    return setting


def _folder(project: bool, here: bool) -> str:
    """The folder under which a value for this project stands in the user's file; "" for none."""
    from holdfast.lifecycle.project import place_of

    if project and here:
        raise typer.BadParameter("use either --project or --here")
    return place_of(os.path.realpath(os.getcwd()))[0] if here else ""


def _path(project: bool) -> str:
    from holdfast.cli.install import project_root
    from holdfast.lifecycle.places import data_folder
    from holdfast.settings.reading import project_files, user_files

    if project:
        return project_files([project_root(os.path.realpath(os.getcwd()))])[0]
    places = user_files(os.environ, data_folder())
    # The one that is read; a second file in the first place would hide it.
    return next((path for path in places if os.path.exists(path)), places[0])


def _require_plain(path: str) -> None:
    """A repository can bring links along: we write none of the files they lead to."""
    from holdfast.files import is_usable

    if not is_usable(path, os.path.dirname(os.path.dirname(path))):
        raise Trouble(
            f"{path} is reached by a link, or is no plain file: it is not written",
            "Look at what the project put there.",
        )


def _edit(path: str, name: str, value: Any, folder: str) -> bool:
    """Put a value in, or with None take it out; False where there was nothing to take out."""
    from holdfast.clients.claude_code import atomic_file, json_edit
    from holdfast.files import make_parents
    from holdfast.settings.reading import PROJECTS

    try:
        before = atomic_file.read(path)
        text = (before or b"").decode("utf-8")
        if not text.strip():
            text = "{}\n"
        root = json_edit.scan(text)
        if root.kind != "object":
            raise Trouble(f"{path} must hold one object, {{ ... }}", "Correct or remove it.")
        style = json_edit.style_of(text, root)
        for depth, step in enumerate((PROJECTS, folder) if folder else ()):
            below = root.get(step)
            if below is None:
                if value is None:
                    return False
                text = json_edit.add_member(text, root, step, {}, style)
                below = _node(json_edit.scan(text), (PROJECTS, folder)[: depth + 1])
            if below.kind != "object":
                raise Trouble(f"{path}: {step} must hold an object", "Correct it there first.")
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
    except json_edit.JsonFault as fault:
        raise Trouble(f"{path} is not JSON: {fault}", "Correct it there first.") from fault
    except UnicodeDecodeError as error:
        raise Trouble(f"{path} is not UTF-8 text", "Correct it there first.") from error
    except atomic_file.NotTheExpectedBytes as error:
        raise Trouble(f"{path} was changed meanwhile", "Try again.") from error
    except OSError as error:
        raise Trouble(f"{error.filename or path}: {error.strerror or error}") from error
    return True


def _node(root: Node, steps: tuple[str, ...]) -> Node:
    for step in steps:
        below = root.get(step)
        assert below is not None  # it was just put there
        root = below
    return root


def _tell(setting: Setting, path: str) -> None:
    now = _effective().values[setting.name]
    where = "" if now.place == path else f", from {now.place or 'the default'}"
    typer.echo(printable(f"{setting.name} is {_shown(now.value)} now{where}. ({path})"))


def _document(chosen: Settings) -> dict[str, Any]:
    from holdfast.settings.table import TABLE

    return {
        "settings": [
            {
                "name": row.name,
                "value": chosen.values[row.name].value,
                "source": chosen.values[row.name].source,
                "place": chosen.values[row.name].place,
                "default": row.default,
                "allowed": row.allowed,
                "about": row.about,
            }
            for row in TABLE
        ],
        "problems": list(chosen.problems),
        "files": {"user": _path(False), "project": _path(True)},
    }


def _show(chosen: Settings) -> None:
    from rich.table import Table
    from rich.text import Text

    from holdfast.settings.reading import DEFAULT
    from holdfast.settings.table import TABLE

    out = console()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("setting", "value", "from", "meaning"):
        table.add_column(heading, overflow="fold")
    for row in TABLE:
        now = chosen.values[row.name]
        style = "" if now.source == DEFAULT else "bold"
        shown = Text(printable(_shown(now.value)), style=style)
        table.add_row(row.name, shown, Text(now.source, style="dim"), row.about)
    out.print(table)
    out.print(Text(f"Your own: {_path(False)}", style="dim"), soft_wrap=True)
    for problem in chosen.problems:
        out.print(Text(f"Wrong: {printable(problem)}", style="red"), soft_wrap=True)


def _shown(value: Any) -> str:
    if isinstance(value, bool | dict):
        return json.dumps(value)
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
