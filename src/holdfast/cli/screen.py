"""The terminal: Rich's console with the few ways in which our commands print.

Words of others pass `replace_control_chars`, nothing is read as markup, and a line is wrapped on a
terminal alone: a pipe or a file gets it whole. Must not read the store or a transcript.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.cli.output import replace_control_chars
from holdfast.text import pluralize

# The width where the output is a pipe or a file.
PLAIN_WIDTH = 120
# Below this a table leaves out what can be asked for otherwise, so that its words have room.
NARROW_WIDTH = 72
# Below this a column beside the words would leave them a word or two.
WIDE_WIDTH = 100
# Words get a column of their own beside a label where it is at least this wide.
MIN_COLUMN_WIDTH = 36


class Screen(Console):
    """Standard output, or standard error."""

    def __init__(self, *, stderr: bool = False) -> None:
        stream = sys.stderr if stderr else sys.stdout
        width = None if stream.isatty() else PLAIN_WIDTH
        super().__init__(stderr=stderr, highlight=False, markup=False, width=width)

    def on_broken_pipe(self) -> None:
        """Rich would exit with 1; a reader that went away (`| head`) is not an error."""
        raise BrokenPipeError

    def verbatim(self, words: str | Text, style: str = "") -> None:
        """As it is, however long: a path can be copied, and a program reads one line."""
        self.print(_clean(words, style), soft_wrap=True)

    def say(
        self, words: str | Text, style: str = "", label: str = "", label_style: str = ""
    ) -> None:
        """A sentence: wrapped between words on a terminal, in one line where a program reads it."""
        text = Text.assemble((label, label_style), _clean(words, style or "default"))
        self.print(text, soft_wrap=not self.is_terminal)

    def note(self, words: str) -> None:
        self.print(
            Text.assemble(("Note: ", "bold yellow"), _clean(words, "default")), soft_wrap=True
        )

    def indented(
        self, words: str | Text, style: str = "", indent: int = 2, first: str = ""
    ) -> None:
        """Words under a heading, wrapped where the terminal ends, without trailing blanks.

        `first` goes into the indent of the first line.
        """
        for line in _clean(words, style).wrap(self, max(10, self.width - indent)):
            line.rstrip()
            lead = (f"{first:<{indent}}", "cyan" if first else "")
            self.print(Text.assemble(lead, line), soft_wrap=True)
            first = ""

    def beside(
        self, label: Text, words: str | Text, indent: int, below: int, style: str = ""
    ) -> None:
        """Words beside a label, wrapped in a column `indent` from the left.

        Where that column would be narrow they go below the label, `below` deep. In one line where a
        program reads it.
        """
        words = _clean(words, style)
        if not self.is_terminal:
            label.pad_right(max(0, indent - label.cell_len))
            self.print(label + words, soft_wrap=True)
        elif self.width - indent >= MIN_COLUMN_WIDTH:
            grid = Table.grid()
            grid.add_column(width=indent)
            grid.add_column(overflow="fold")
            grid.add_row(label, words)
            self.print(grid)
        else:
            if label:
                label.rstrip()
                self.print(label, soft_wrap=True)
            self.indented(words, indent=below)

    def rows(self, rows: Iterable[tuple[str, str | Text]]) -> None:
        """Labels, and beside each what it is."""
        table = make_table(header=False)
        table.add_column(style="dim", no_wrap=True)
        table.add_column(ratio=1, overflow="fold")
        for label, words in rows:
            table.add_row(label, _clean(words, ""))
        self.print(table)

    def steps(self, steps: Sequence[tuple[str, str]], min_width: int = 0) -> None:
        """Commands to go on with, and what for, under each other."""
        width = max(min_width, *(len(command) + 2 for command, _ in steps))
        for command, purpose in steps:
            self.beside(Text(f"  {command}", "cyan"), purpose, 2 + width, 6)

    def cut(self, shown: int, word: str) -> None:
        """Says that a list goes on behind its limit."""
        self.say(f"The latest {pluralize(shown, word)}; --limit N shows more.", "dim")


def _clean(words: str | Text, style: str) -> Text:
    if isinstance(words, Text):
        return words
    return Text(replace_control_chars(words).expandtabs(4), style)


def make_table(*headings: str, header: bool = True, **options: Any) -> Table:
    """A table without lines; the words of a heading that begins with ">" are on the right."""
    look = {"box": None, "pad_edge": False, "padding": (0, 2, 0, 0), "header_style": "dim"}
    table = Table(**{**look, "show_header": header, **options})
    for heading in headings:
        right = heading.startswith(">")
        table.add_column(heading.removeprefix(">"), justify="right" if right else "left")
    return table


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


@contextmanager
def progress_bar(label: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], object]]:
    """A bar on a terminal, and nothing of it elsewhere; what it gives takes what was done."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    out = Screen(stderr=True)
    if quiet or not out.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn(f"[bold]{label}[/bold]"), BarColumn(), TaskProgressColumn(), Remaining())
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("", total=total or None)
        yield lambda done: progress.update(task, advance=done)
