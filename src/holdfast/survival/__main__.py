"""`python -m holdfast.survival DIR`: the run for people who tune a brief.

Owns nothing but arguments; the product's own command is `holdfast survival`.
"""

from __future__ import annotations

import argparse
import importlib
import sys

import orjson
from rich.console import Console

from holdfast.files import write_output
from holdfast.survival.chart import survival_chart
from holdfast.survival.contest import Contestant
from holdfast.survival.field import FIELD, FORESIGHT, SUMMARY_BEST, SUMMARY_CUT, by_name
from holdfast.survival.report import (
    as_json,
    missing_table,
    score_table,
    stand_alone_table,
    state_table,
)
from holdfast.survival.run import BUDGETS, run


def added(spec: str) -> Contestant:
    """A contestant from `name=module:function` or `module:function`."""
    name, _, place = spec.rpartition("=")
    module, _, function = place.partition(":")
    return Contestant(name or function, getattr(importlib.import_module(module), function))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m holdfast.survival", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--add", action="append", default=[], metavar="[NAME=]MODULE:FUNCTION")
    parser.add_argument("--only", action="append", metavar="NAME", help="of the built-in field")
    parser.add_argument("--field", action="store_true", help="the whole field beside --add")
    parser.add_argument("--cache", help="keep what is known about each boundary here")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--budget", type=int, action="append")
    parser.add_argument("--missing", metavar="NAME", help="what this contestant did not bring")
    parser.add_argument("--state", action="store_true", help="the state score by its parts")
    parser.add_argument("--strict", action="store_true", help="only labels the definition names")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--chart", metavar="FILE")
    given = parser.parse_args(arguments)
    everyone = given.field or (given.only is None and not given.add)
    chosen = list(FIELD) if everyone else [by_name(n) for n in given.only or []]
    own = [added(s) for s in given.add]
    budgets = tuple(given.budget) if given.budget else BUDGETS
    result = run(
        given.folder,
        [*own, *chosen],
        budgets=budgets,
        jobs=given.jobs,
        cache=given.cache,
        strict=given.strict,
    )
    console = Console(width=None if sys.stdout.isatty() else 150)
    console.print(score_table(result))
    if given.state:
        console.print(state_table(result, budgets[-1]))
    if everyone:
        against = [SUMMARY_CUT.name, SUMMARY_BEST.name]
        console.print(stand_alone_table(result, result.contestants[0], against))
    if given.missing:
        for budget in budgets:
            console.print(missing_table(result, given.missing, budget))
    if given.json:
        write_output(given.json, orjson.dumps(as_json(result), option=orjson.OPT_INDENT_2))
    if given.chart:
        ceiling = FORESIGHT.name if everyone else ""
        aside = (SUMMARY_CUT.name, SUMMARY_BEST.name)
        svg = survival_chart(result, own[0].name if own else "", ceiling, aside)
        write_output(given.chart, svg.encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
