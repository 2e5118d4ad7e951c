"""Commands that are imported when they are called, and groups of them, after Click's lazy loading.

Owns how a command is listed without its module and loaded with it. Must not know any command:
command_tree.py lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from shutil import get_terminal_size
from typing import Any, ClassVar, NamedTuple

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from holdfast.cli.output import NARROW_WIDTH


class LazyCommand(NamedTuple):
    """Where a command is, and its line in the list of commands."""

    target: str  # module:attribute, below holdfast.cli; a function or a Typer app
    summary: str
    panel: str | None = None  # the part of the list it is in
    hidden: bool = False  # callable, and not in the list


class CommandGroup(NamedTuple):
    """Commands under one name."""

    summary: str
    example: str
    commands: Mapping[str, LazyCommand | CommandGroup]
    panel: str | None = None


class Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _hide_python_types(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _fit_help(self, formatter)
        super().format_help(ctx, formatter)


class Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _hide_python_types(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _fit_help(self, formatter)
        super().format_help(ctx, formatter)


class LazyGroup(Group):
    """Lists `tree` by its summaries; imports a command when it is called or completed."""

    tree: ClassVar[Mapping[str, LazyCommand | CommandGroup]] = {}

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        # What help, completion and suggestions need of a command, without its module.
        for name, entry in self.tree.items():
            self.commands[name] = (
                load_command(name, entry)
                if isinstance(entry, CommandGroup)
                else TyperCommand(
                    name,
                    help=entry.summary,
                    short_help=entry.summary,
                    rich_help_panel=entry.panel,
                    hidden=entry.hidden,
                )
            )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.tree and not ctx.resilient_parsing and args[0][:1] != "-":
            ctx.fail(self._describe_unknown(args[0]))
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and load_command(name, self.tree[name]), rest

    def _describe_unknown(self, name: str) -> str:
        """With the commands that may be meant, also those that are in a group."""
        known: dict[str, list[str]] = {}
        for path in _list_paths(self.tree):
            known.setdefault(path.rsplit(" ", 1)[-1], []).append(path)
        near = [path for close in get_close_matches(name, known) for path in known[close]]
        hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
        return f"No such command {name!r}.{hint}"


def _list_paths(tree: Mapping[str, LazyCommand | CommandGroup]) -> Iterator[str]:
    for name, entry in tree.items():
        if isinstance(entry, CommandGroup):
            yield name
            yield from (f"{name} {path}" for path in _list_paths(entry.commands))
        elif not entry.hidden:
            yield name


def load_subcommands(group: Any) -> dict[str, Any]:
    """All commands of a group that are in its list, loaded; none for a command that is no group."""
    if isinstance(group, LazyGroup):
        return {
            name: load_command(name, entry)
            for name, entry in group.tree.items()
            if isinstance(entry, CommandGroup) or not entry.hidden
        }
    return dict(getattr(group, "commands", {}))


def load_command(name: str, entry: LazyCommand | CommandGroup) -> Any:
    """The command itself, as Click knows it. Imports its module; a group's when it is called."""
    if isinstance(entry, CommandGroup):
        of_group = type("NamedGroup", (LazyGroup,), {"tree": entry.commands})
        return of_group(
            name=name,
            help=f"{entry.summary}\n\nExample: `{entry.example}`",
            short_help=entry.summary,
            rich_markup_mode="markdown",
            rich_help_panel=entry.panel,
            no_args_is_help=True,
        )
    module, attribute = entry.target.split(":")
    target = getattr(import_module(f"holdfast.cli.{module}"), attribute)
    app = typer.Typer(rich_markup_mode="markdown")
    if isinstance(target, typer.Typer):
        for info in target.registered_commands:
            info.cls = Command
        app.add_typer(target, name=name, cls=Group)
    else:
        app.command(name, cls=Command)(target)
    return typer.main.get_group(app).commands[name]


def _hide_python_types(params: list[Any]) -> list[Any]:
    """Typer shows `<bool>` after a switch, which takes no value, and `<str>` after an argument."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
        if param.param_type_name == "argument":
            param.display_type_rich = lambda **_: None
    return params


def _fit_help(command: Any, formatter: Any) -> None:
    """Without panels where the terminal is narrow: their columns would cut the options' names.

    And code without Rich's black box, which on a light terminal hides more than it shows; Typer
    takes no theme.
    """
    from rich.default_styles import DEFAULT_STYLES
    from rich.style import Style

    DEFAULT_STYLES["markdown.code"] = Style(bold=True, color="cyan")
    width = get_terminal_size().columns
    if width < NARROW_WIDTH:
        command.rich_markup_mode = None
        formatter.width = width - 1
        formatter.write_dl = partial(formatter.write_dl, col_max=width // 2)
