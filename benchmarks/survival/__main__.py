"""`python -m benchmarks.survival DIR`: the product's brief and the field, for people who tune one.

Owns nothing but arguments. `make survival` prints the tables.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import orjson
from rich.console import Console

from benchmarks.measure.session_files import find_transcripts
from benchmarks.survival.candidate import Candidate
from benchmarks.survival.candidates import (
    CANDIDATES,
    FORESIGHT,
    SUMMARY_BEST,
    SUMMARY_CUT,
    find_candidate,
)
from benchmarks.survival.chart import survival_chart
from benchmarks.survival.holdfast_brief import HOLDFAST
from benchmarks.survival.report import (
    missing_table,
    score_table,
    stand_alone_table,
    state_table,
    to_json,
)
from benchmarks.survival.runner import BUDGETS, Run, run


def parse_candidate(spec: str) -> Candidate:
    """A contestant from `name=module:function` or `module:function`."""
    name, _, place = spec.rpartition("=")
    module, _, function = place.partition(":")
    return Candidate(name or function, getattr(importlib.import_module(module), function))


def main(arguments: list[str] | None = None) -> int:
    given = _arguments(arguments)
    if not Path(given.folder).is_dir() or not find_transcripts(Path(given.folder)):
        print(f"No *.jsonl or *.jsonl.gz below {given.folder}.", file=sys.stderr)
        return 2
    own = [parse_candidate(s) for s in given.add] or [HOLDFAST]
    chosen = [find_candidate(n) for n in given.only] if given.only is not None else list(CANDIDATES)
    budgets = tuple(given.budget) if given.budget else BUDGETS
    result = run(
        given.folder,
        [*own, *chosen],
        budgets=budgets,
        jobs=given.jobs,
        cache=given.cache,
        strict=given.strict,
    )
    if not result.boundaries:
        print(f"No compaction below {given.folder} can be measured.", file=sys.stderr)
        return 1
    console = Console(width=None if sys.stdout.isatty() else 150)
    console.print(score_table(result))
    if given.state:
        console.print(state_table(result, budgets[-1]))
    if given.only is None:
        against = [SUMMARY_CUT.name, SUMMARY_BEST.name]
        console.print(stand_alone_table(result, result.candidates[0], against))
    if given.missing:
        for budget in budgets:
            console.print(missing_table(result, given.missing, budget))
    if given.json:
        Path(given.json).write_bytes(orjson.dumps(to_json(result), option=orjson.OPT_INDENT_2))
    if given.chart:
        Path(given.chart).write_text(_chart(result, own[0].name), encoding="utf-8")
    return 0


def _chart(result: Run, own: str) -> str:
    return survival_chart(result, own, FORESIGHT.name, (SUMMARY_CUT.name, SUMMARY_BEST.name))


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.survival", description=__doc__)
    add = parser.add_argument
    add("folder", help="transcripts (*.jsonl, *.jsonl.gz) stand below")
    add("--add", action="append", default=[], metavar="[NAME=]MODULE:FUNCTION")
    add("--only", action="append", metavar="NAME", help="of the built-in field; repeatable")
    add("--cache", help="keep what is known about each boundary here; as private as transcripts")
    add("--jobs", type=int)
    add("--budget", type=int, action="append", help="in tokens; repeatable")
    add("--missing", metavar="NAME", help="what this contestant did not bring")
    add("--state", action="store_true", help="the state score by its parts")
    add("--strict", action="store_true", help="only labels the definition names")
    add("--json", metavar="FILE")
    add("--chart", metavar="FILE")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
