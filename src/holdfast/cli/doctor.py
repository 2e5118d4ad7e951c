"""`holdfast doctor`: says in plain words whether it works, and repairs what is safe to repair.

Owns how findings are shown. What is looked at is in `holdfast.doctor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import JsonOption, answer, console, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.doctor.finding import Finding

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}
_WIDTH = 14  # of the widest check's name, and a space


def doctor(
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Repair what is safe to repair: our own hook entries, data folder, database "
            "(set aside, never deleted) and left-over marks.",
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the details of what is fine, too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check that Holdfast works here: client, hooks, store, last compactions, other tools.

    Every hook is run for real, on a sample session in a temporary folder. Ends with 0 when all
    is fine or only warned about, with 1 when something is broken.

    Example: `holdfast doctor --fix`
    """
    import holdfast
    from holdfast.cli.around import surroundings
    from holdfast.doctor.checkup import checkup
    from holdfast.doctor.finding import FAIL, worst
    from holdfast.doctor.repair import repair

    around = surroundings()
    findings = checkup(around)
    fixed: list[str] = []
    if fix:
        fixed = repair(findings, around)
        if fixed:
            findings = checkup(around)
    level = worst(findings)
    if as_json:
        answer(
            {
                "ok": level != FAIL,
                "level": level,
                "version": holdfast.__version__,
                "fixed": fixed,
                "findings": [_document(finding) for finding in findings],
            }
        )
    else:
        _show(findings, fixed, verbose)
    if level == FAIL:
        raise typer.Exit(1)


def _document(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.check,
        "level": finding.level,
        "seen": finding.seen,
        "next": finding.next_step,
        "details": list(finding.details),
        "fixable": bool(finding.repair),
    }


def _show(findings: Sequence[Finding], fixed: Sequence[str], verbose: bool) -> None:
    from rich.text import Text

    from holdfast.doctor.finding import FAIL, OK, WARN

    out = console()
    for line in fixed:
        out.print(Text("fixed ", style="green") + Text(printable(line)), soft_wrap=True)
    if fixed:
        out.print()
    for finding in findings:
        head = Text(f"{finding.level:<5} ", style=_STYLES[finding.level])
        head.append(f"{finding.check:<{_WIDTH}}", style="bold")
        head.append(printable(finding.seen), style="default")
        out.print(head, soft_wrap=True)
        rest = []
        if verbose or finding.level != OK:
            rest += [Text(printable(line), style="dim") for line in finding.details]
        if finding.next_step:
            rest.append(Text(f"-> {printable(finding.next_step)}", style="cyan"))
        for words in rest:
            out.print(Text(" " * (6 + _WIDTH)) + words, soft_wrap=True)
    broken = sum(finding.level == FAIL for finding in findings)
    warned = sum(finding.level == WARN for finding in findings)
    out.print()
    if broken:
        out.print(Text(f"{broken} broken, {warned} warned about.", style="bold red"))
    elif warned:
        out.print(Text(f"It works; {warned} warned about.", style="yellow"))
    else:
        out.print(Text("All is well.", style="green"))
