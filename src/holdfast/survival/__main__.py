"""`python -m holdfast.survival DIR`: the run for people who tune a brief.

Owns nothing but arguments; the product's own command is `holdfast survival`.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from rich.console import Console

from holdfast.survival.contest import Contestant
from holdfast.survival.field import FIELD, by_name
from holdfast.survival.report import missing_table, score_table
from holdfast.survival.run import BUDGETS, run


def _added(spec: str) -> Contestant:
    """A contestant from `name=module:function` or `module:function`."""
    name, _, place = spec.rpartition("=")
    module, _, function = place.partition(":")
    return Contestant(name or function, getattr(importlib.import_module(module), function))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m holdfast.survival", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--add", action="append", default=[], metavar="[NAME=]MODULE:FUNCTION")
    parser.add_argument("--only", action="append", metavar="NAME", help="of the built-in field")
    parser.add_argument("--cache", help="keep what is known about each boundary here")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--budget", type=int, action="append")
    parser.add_argument("--missing", metavar="NAME", help="what this contestant did not bring")
    given = parser.parse_args(arguments)
    built_in = list(FIELD) if given.only is None and not given.add else []
    chosen = built_in or [by_name(n) for n in given.only or []]
    contestants = [*chosen, *(_added(s) for s in given.add)]
    budgets = tuple(given.budget) if given.budget else BUDGETS
    result = run(given.folder, contestants, budgets=budgets, jobs=given.jobs, cache=given.cache)
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(score_table(result))
    if given.missing:
        for budget in budgets:
            console.print(missing_table(result, given.missing, budget))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
