"""`holdfast doctor`: says in plain words whether it works, and repairs what is safe to repair.

Owns how findings are shown. What is looked at is in `holdfast.doctor`.
"""

import os
import time
from collections.abc import Sequence
from typing import Any

import typer
from rich.text import Text

import holdfast
from holdfast.cli.output import JsonOption, print_json, replace_control_chars
from holdfast.cli.screen import Screen
from holdfast.doctor.environment import FAIL, OK, WARN, Environment, Finding, worst_level
from holdfast.fastpath.project import locate_project
from holdfast.own_copy import spell_calls
from holdfast.paths import data_dir
from holdfast.text import pluralize

_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}
_WIDTH = 14  # of the widest check's name, and a space


def doctor(fix: bool = False, verbose: bool = False, as_json: JsonOption = False) -> None:
    """Check that Holdfast works: client, hooks, store, recent compactions, other tools.

    Runs every hook on a sample session in a temporary folder. Exits with 0 if there are no errors
    (warnings are allowed), with 1 otherwise.

    --fix: Repair what is safe to repair: Holdfast's hook entries, data folder, database (moved
        aside, never deleted).
    --verbose, -v: Also show details of passing checks.

    Example: `holdfast doctor --fix`
    """
    from holdfast.doctor.checks import repair, run_checks

    around = detect_environment()
    findings = run_checks(around)
    fixed: list[str] = []
    if fix:
        fixed = repair(findings, around)
        if fixed:
            findings = run_checks(around)
    level = worst_level(findings)
    if as_json:
        document: dict[str, Any] = {"ok": level != FAIL, "level": level}
        document |= {"version": holdfast.__version__, "fixed": fixed}
        print_json(document | {"findings": [_finding_to_json(one) for one in findings]})
    else:
        _print_findings(findings, fixed, verbose)
    if level == FAIL:
        raise typer.Exit(1)


def _finding_to_json(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.check,
        "level": finding.level,
        "seen": finding.message,
        "next": finding.next_step,
        "details": list(finding.details),
        "fixable": bool(finding.repair),
    }


def _print_findings(findings: Sequence[Finding], fixed: Sequence[str], verbose: bool) -> None:
    out = Screen()
    for line in fixed:
        out.verbatim(Text.assemble(("fixed ", "green"), replace_control_chars(line)))
    if fixed:
        out.print()
    for finding in findings:
        head = Text.assemble((f"{finding.level:<5} ", _STYLES[finding.level]))
        head.append(finding.check, style="bold")
        out.beside(head, finding.message, 6 + _WIDTH, 6)
        for line in finding.details if verbose or finding.level != OK else ():
            out.beside(Text(), line, 6 + _WIDTH, 6, "dim")
        if finding.next_step:
            out.beside(Text(), f"-> {spell_calls(finding.next_step)}", 6 + _WIDTH, 6, "cyan")
    broken = sum(finding.level == FAIL for finding in findings)
    warned = sum(finding.level == WARN for finding in findings)
    out.print()
    if broken:
        out.say(f"{pluralize(broken, 'error')}, {pluralize(warned, 'warning')}.", "bold red")
    elif warned:
        out.say(f"No errors, {pluralize(warned, 'warning')}.", "yellow")
    else:
        out.say("All checks passed.", "green")


def describe_kept() -> str:
    """When the client deletes transcripts, and how many are about to go; "" where none is known."""
    from holdfast.doctor.check_history import check_kept

    found = check_kept(detect_environment(quick=True))
    told = (f"{one.message}. {one.next_step}".strip(" .") + "." for one in found)
    return next((text[0].upper() + text[1:] for text in told), "")


def detect_environment(*, quick: bool = False) -> Environment:
    """`quick` leaves out what starts a process: which interpreter an install would choose."""
    from holdfast.cli.install import UnusableHook, choose_interpreter, find_hook_script

    try:
        script = find_hook_script()
    except UnusableHook:
        script = ""  # this copy can look and tell, but no hook can be pointed at it
    return Environment(
        environ=dict(os.environ),
        home=os.path.expanduser("~"),
        project=locate_project(os.getcwd())[1],
        data=data_dir(),
        interpreter="" if quick else choose_interpreter(),
        script=script,
        seconds=time.time(),
    )
