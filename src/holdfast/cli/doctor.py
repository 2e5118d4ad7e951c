"""`holdfast doctor`: says in plain words whether it works, and repairs what is safe to repair.

Owns how findings are shown. What is looked at is in `holdfast.doctor`.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

import holdfast
from holdfast.cli.output import (
    JsonOption,
    make_console,
    pluralize,
    print_json,
    print_labelled,
    replace_control_chars,
)
from holdfast.own_copy import spell_calls
from holdfast.paths import data_dir

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.doctor.environment import Environment, Finding


_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}
_WIDTH = 14  # of the widest check's name, and a space


def doctor(
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Repair what is safe to repair: Holdfast's hook entries, data folder, database "
            "(moved aside, never deleted) and stale files.",
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also show details of passing checks.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check that Holdfast works: client, hooks, store, recent compactions, other tools.

    Runs every hook on a sample session in a temporary folder. Exits with 0 if there are no errors
    (warnings are allowed), with 1 otherwise.

    Example: `holdfast doctor --fix`
    """

    from holdfast.doctor.checks import repair, run_checks
    from holdfast.doctor.environment import FAIL, worst_level

    around = detect_environment()
    findings = run_checks(around)
    fixed: list[str] = []
    if fix:
        fixed = repair(findings, around)
        if fixed:
            findings = run_checks(around)
    level = worst_level(findings)
    if as_json:
        print_json(
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
        "seen": finding.message,
        "next": finding.next_step,
        "details": list(finding.details),
        "fixable": bool(finding.repair),
    }


def _show(findings: Sequence[Finding], fixed: Sequence[str], verbose: bool) -> None:
    from holdfast.doctor.environment import FAIL, OK, WARN

    out = make_console()
    for line in fixed:
        out.print(Text("fixed ", style="green") + Text(replace_control_chars(line)), soft_wrap=True)
    if fixed:
        out.print()
    for finding in findings:
        head = Text(f"{finding.level:<5} ", style=_STYLES[finding.level])
        head.append(finding.check, style="bold")
        print_labelled(head, Text(replace_control_chars(finding.message)), 6 + _WIDTH, 6)
        rest = []
        if verbose or finding.level != OK:
            rest += [Text(replace_control_chars(line), style="dim") for line in finding.details]
        if finding.next_step:
            rest.append(
                Text(f"-> {replace_control_chars(spell_calls(finding.next_step))}", style="cyan")
            )
        for words in rest:
            print_labelled(Text(), words, 6 + _WIDTH, 6)
    broken = sum(finding.level == FAIL for finding in findings)
    warned = sum(finding.level == WARN for finding in findings)
    out.print()
    if broken:
        counts = f"{pluralize(broken, 'error')}, {pluralize(warned, 'warning')}."
        out.print(Text(counts, style="bold red"))
    elif warned:
        out.print(Text(f"No errors, {pluralize(warned, 'warning')}.", style="yellow"))
    else:
        out.print(Text("All checks passed.", style="green"))


# Where a command runs, for the checks: reads the environment once and hands it on.


def detect_environment(*, quick: bool = False) -> Environment:
    """`quick` leaves out what starts a process: which interpreter an install would choose."""

    from holdfast.cli.install import (
        UnusableHook,
        choose_interpreter,
        find_hook_script,
        find_project_root,
    )
    from holdfast.doctor.environment import Environment

    try:
        script = find_hook_script()
    except UnusableHook:
        script = ""  # this copy can look and tell, but no hook can be pointed at it
    return Environment(
        environ=dict(os.environ),
        home=os.path.expanduser("~"),
        project=find_project_root(os.getcwd()),
        data=data_dir(),
        interpreter="" if quick else choose_interpreter(),
        script=script,
        seconds=time.time(),
    )
