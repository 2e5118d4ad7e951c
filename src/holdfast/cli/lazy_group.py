"""A group whose commands are imported when they are called, after Click's lazy loading.

Owns how a command is listed without its module and loaded with it. Must not know any command:
main.py lists them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup


class LazyCommand(NamedTuple):
    """Where a command is, and its line in the list of commands."""

    target: str  # module:attribute, below holdfast.cli; a function or a Typer app
    summary: str
    panel: str  # the part of the list it is in


class Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _hide_switch_types(super().get_params(ctx))


class Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _hide_switch_types(super().get_params(ctx))


class LazyGroup(Group):
    """Lists `lazy_commands` by their summaries; imports one when it is called or completed."""

    lazy_commands: ClassVar[dict[str, LazyCommand]] = {}

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        # What help, completion and suggestions need of a command, without its module.
        for name, entry in self.lazy_commands.items():
            self.commands[name] = TyperCommand(
                name, help=entry.summary, rich_help_panel=entry.panel
            )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and load_command(name, self.lazy_commands[name]), rest


def load_subcommands(group: Any) -> dict[str, Any]:
    """All commands of a group, loaded; none for a command that is no group."""
    if isinstance(group, LazyGroup):
        return {name: load_command(name, entry) for name, entry in group.lazy_commands.items()}
    return dict(getattr(group, "commands", {}))


def load_command(name: str, entry: LazyCommand) -> Any:
    """The command itself, as Click knows it. Imports its module."""
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


def _hide_switch_types(params: list[Any]) -> list[Any]:
    """Typer shows `<bool>` after a switch, which takes no value."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params
