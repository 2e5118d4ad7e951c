"""How the command line speaks: tables for people, JSON for programs, one line for trouble.

Imports no state and, where it can, no Rich: every start imports this module, and `--version` and
completion need neither. How a fact is told is `fact_words`.

Owns the console, the wording of errors and the rendering that several commands share. Must
not read the store or a transcript.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

# Where nobody looks (a pipe, a file) there is no terminal to ask for its width.
PLAIN_WIDTH = 120
# Below this a table leaves out what can be asked for otherwise, so that its words have room.
NARROW_WIDTH = 72
# Words get a column of their own beside a label where it is at least this wide.
MIN_COLUMN_WIDTH = 36

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class CliError(Exception):
    """Something foreseeable went wrong: what, and what to do next."""

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step


def make_console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(stderr=stderr, highlight=False, width=width)


def print_indented(words: str | Text, style: str = "", indent: int = 2, first: str = "") -> None:
    """Words under a heading, wrapped where the terminal ends, without trailing blanks.

    `first` stands in the indent of the first line.
    """
    from rich.text import Text

    out = make_console()
    if isinstance(words, str):
        words = Text(replace_control_chars(words).expandtabs(4), style)
    for line in words.wrap(out, max(10, out.width - indent)):
        line.rstrip()
        lead = (f"{first:<{indent}}", "cyan" if first else "")
        out.print(Text.assemble(lead, line), soft_wrap=True)
        first = ""


def print_words(words: str, style: str = "") -> None:
    """A sentence: wrapped between words on a terminal, in one line where a program reads it."""
    from rich.text import Text

    out = make_console()
    out.print(Text(replace_control_chars(words), style), soft_wrap=not out.is_terminal)


def print_labelled(label: Text, words: Text, indent: int, below: int) -> None:
    """Words beside a label, wrapped in a column `indent` from the left.

    Where that column would be narrow they stand below the label, `below` deep. In one line where a
    program reads it.
    """
    from rich.text import Text

    out = make_console()
    label.pad_right(max(0, indent - label.cell_len))
    if not out.is_terminal:
        out.print(label + words, soft_wrap=True)
        return
    beside = out.width - indent >= MIN_COLUMN_WIDTH
    depth = indent if beside else below
    lines = list(words.wrap(out, max(10, out.width - depth)))
    for line in (label, *lines):
        line.rstrip()
    if beside and lines:
        label.pad_right(max(0, indent - label.cell_len))
        label += lines.pop(0)
    if label:
        out.print(label, soft_wrap=True)
    for line in lines:
        out.print(Text(" " * depth) + line, soft_wrap=True)


def print_steps(steps: Sequence[tuple[str, str]], min_width: int = 0) -> None:
    """Commands to go on with, and what for, under each other."""
    from rich.text import Text

    width = max(min_width, *(len(command) + 2 for command, _ in steps))
    for command, purpose in steps:
        print_labelled(Text(f"  {command}", "cyan"), Text(purpose), 2 + width, 6)


def drop_columns(table: Table, *columns: str | int) -> None:
    """Leave columns out of a table, by their headings or places: there is no room for them."""
    places = [
        place
        for place, column in enumerate(table.columns)
        if place in columns or column.header in columns
    ]
    for place in reversed(places):
        del table.columns[place]
    for place, column in enumerate(table.columns):
        column._index = place  # Rich measures by it, and gives the last column no padding


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def print_json_line(document: Any) -> None:
    """One line of JSON, at once: the reader may rely on what it says."""
    typer.echo(json.dumps(document, ensure_ascii=False))
    sys.stdout.flush()


def print_error(trouble: CliError, as_json: bool) -> None:
    if as_json:
        print_json({"error": trouble.what, "next": trouble.next_step})
        return
    from rich.text import Text

    from holdfast.own_copy import spell_calls

    line = Text("Error: ", style="bold red")
    line.append(
        replace_control_chars(spell_calls(f"{trouble.what}. {trouble.next_step}".strip())),
        style="default",
    )
    out = make_console(stderr=True)
    out.print(line, soft_wrap=not out.is_terminal)


def replace_control_chars(text: str) -> str:
    """What came from a transcript must not steer the terminal that shows it."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def format_one_line(text: str, limit: int) -> str:
    """The text on one line, cut with a mark when it is longer than `limit`."""
    flat = " ".join(replace_control_chars(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def format_bytes(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def print_cut(shown: int, word: str) -> None:
    """Says that a list goes on behind its limit."""
    print_words(f"The latest {pluralize(shown, word)}; --limit N shows more.", "dim")


def format_count(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def pluralize(count: int, word: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{count:,} {word.replace('_', ' ')}" + ("" if count == 1 else "s")


# The yes that every deleting command needs: typed at a terminal, or given with `--yes`.
#
# A command shows what would go before it asks. Must not delete anything itself.

YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Delete without asking; required in scripts.")
]


def confirm_deletion(yes: bool, *, as_json: bool) -> None:
    """Returns when the user said yes; ends the command otherwise."""
    if yes:
        return
    if as_json or not _can_ask():
        raise CliError(
            "Nothing was deleted: not confirmed",
            "Check with --dry-run, then pass --yes.",
        )
    if not typer.confirm("Delete this permanently?", default=False):
        make_console().print("Nothing was deleted.")
        raise typer.Exit(1)


def _can_ask() -> bool:
    return all(
        stream is not None and not stream.closed and stream.isatty()
        for stream in (sys.stdin, sys.stdout)
    )
