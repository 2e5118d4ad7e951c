"""Commands that are imported when they are called, and groups of them, after Click's lazy loading.

Owns how a command is listed without its module and loaded with it. Must not know any command:
command_tree.py lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import copy
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from shutil import get_terminal_size
from typing import Any, ClassVar

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from holdfast.records import NamedTuple


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


class _Fitted:
    """Help that fits the terminal and speaks no Python."""

    rich_markup_mode: Any

    def get_params(self, ctx: Any) -> list[Any]:
        """Typer shows `<bool>` after a switch, which takes no value, and `<str>` after an
        argument."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
            if param.param_type_name == "argument":
                param.type = copy(param.type)
                param.type.get_metavar = lambda *_, **__: ""
        return params

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Without panels where the terminal is narrow: their columns would cut the options' names.

        And code without Rich's black box, which on a light terminal hides more than it shows; Typer
        takes neither a theme nor our console, for which `| head` is not an error.
        """
        from rich.console import Console
        from rich.default_styles import DEFAULT_STYLES
        from rich.style import Style

        from holdfast.cli.screen import NARROW_WIDTH, Screen

        Console.on_broken_pipe = Screen.on_broken_pipe  # type: ignore[method-assign, assignment]
        DEFAULT_STYLES["markdown.code"] = Style(bold=True, color="cyan")
        width = get_terminal_size().columns
        if width < NARROW_WIDTH:
            self.rich_markup_mode = None
            formatter.width = width - 1
            formatter.write_dl = partial(formatter.write_dl, col_max=width // 2)
        super().format_help(ctx, formatter)  # type: ignore[misc]


# In a command's docstring: `--limit N: Maximum number of results.`, or `FILE: A transcript.`
_ENTRY = re.compile(r"^(?:(--[\w-]+)(?:/(--[\w-]+)|, (-\w))?(?: (\S+))?|([A-Z|]+)): ", re.M)


class Command(_Fitted, TyperCommand):
    """A command whose docstring is its help: what it does, then its arguments and options.

    An option's line names it, and what its value is called; lines that go on are indented.
    """

    def __init__(self, *args: Any, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        paragraphs = []
        for paragraph in (self.help or "").split("\n\n"):
            if _ENTRY.match(paragraph):
                self._describe(paragraph)
            else:
                paragraphs.append(paragraph)
        self.help = "\n\n".join(paragraphs)

    def _describe(self, paragraph: str) -> None:
        found = list(_ENTRY.finditer(paragraph))
        ends = [*(entry.start() for entry in found[1:]), len(paragraph)]
        for entry, end in zip(found, ends, strict=True):
            option, off, short, value, argument = entry.groups()
            param: Any = self._find(option, argument)
            param.help = " ".join(paragraph[entry.end() : end].split())
            param.metavar = argument or value or param.metavar
            if option:
                param.opts, param.secondary_opts = (
                    [option, *filter(None, [short])],
                    [off] * bool(off),
                )

    def _find(self, option: str | None, argument: str | None) -> Any:
        """`--from` is `from_`, since Python has its own."""
        for param in self.params:
            if param.param_type_name == "argument":
                if argument in (param.metavar, (param.name or "").upper()):
                    return param
            elif option and (param.name or "").rstrip("_") == option[2:].replace("-", "_"):
                return param
        raise AssertionError(f"{self.name} has no parameter for {option or argument}")


class Group(_Fitted, TyperGroup):
    pass


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
