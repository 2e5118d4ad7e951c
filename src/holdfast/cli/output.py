"""What every command answers with: errors in one line, JSON for programs, words on one line.

Imports no state and no Rich: every start imports this module, and `--version` and completion need
neither. What is drawn on a terminal is `screen`.
"""

import errno
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from holdfast.text import truncate_line

# A home that cannot be written: what to do about it, wherever it is met.
READ_ONLY_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS)
GRANT_ACCESS = "Grant write access, or choose another data folder with --home."

Natural = Annotated[int, typer.Option(min=0)]
Count = Annotated[int, typer.Option(min=1)]
OptionalNatural = Annotated[int | None, typer.Option(min=0)]
OptionalCount = Annotated[int | None, typer.Option(min=1)]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class CliError(Exception):
    """Something foreseeable went wrong: what, and what to do next.

    With an `answer`, for programs, it is not an error: there is nothing to show.
    """

    def __init__(self, what: str, next_step: str = "", answer: object = None) -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step
        self.answer = answer


@contextmanager
def explain_os_error(what: str, next_step: str = "") -> Iterator[None]:
    """What the system refuses is foreseeable: said with the system's own reason."""
    try:
        yield
    except OSError as error:
        raise CliError(f"{what}: {error.strerror or error}", next_step) from error


def print_line(text: str) -> None:
    """As it is, for a reader that may be a program."""
    typer.echo(replace_control_chars(text))


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def print_json_line(document: Any) -> None:
    """One line of JSON, at once: the reader may rely on what it says."""
    typer.echo(json.dumps(document, ensure_ascii=False))
    sys.stdout.flush()


def print_error(trouble: CliError, as_json: bool) -> int:
    """Says it and gives the exit code."""
    is_answer = trouble.answer is not None
    if as_json:
        print_json(
            trouble.answer if is_answer else {"error": trouble.what, "next": trouble.next_step}
        )
        return int(not is_answer)
    from holdfast.cli.screen import Screen
    from holdfast.own_copy import spell_calls

    words = spell_calls(f"{trouble.what}. {trouble.next_step}".strip())
    if is_answer:
        Screen().say(words)
    else:
        Screen(stderr=True).say(words, label="Error: ", label_style="bold red")
    return int(not is_answer)


def replace_control_chars(text: str) -> str:
    """What came from a transcript must not steer the terminal that shows it."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def format_one_line(text: str, limit: int) -> str:
    """The text on one line, cut with a mark when it is longer than `limit`."""
    return truncate_line(replace_control_chars(text), limit)


def format_bytes(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def format_count(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


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
        typer.echo("Nothing was deleted.")
        raise typer.Exit(1)


def _can_ask() -> bool:
    return all(
        stream is not None and not stream.closed and stream.isatty()
        for stream in (sys.stdin, sys.stdout)
    )
