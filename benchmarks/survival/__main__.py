"""`python -m benchmarks.survival DIR`: the product's brief and the field, for people who tune one.

Owns nothing but arguments. `make survival` writes docs/survival.json, the chart and the page.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console

from benchmarks.survival.candidate import Candidate
from benchmarks.survival.candidates import (
    CANDIDATES,
    FORESIGHT,
    SUMMARY_BEST,
    SUMMARY_CUT,
    find_candidate,
)
from benchmarks.survival.chart import survival_chart
from benchmarks.survival.holdfast_brief import HOLDFAST, HOLDFAST_FOR_SUMMARY
from benchmarks.survival.report import (
    missing_table,
    score_table,
    stand_alone_table,
    state_table,
    to_json,
)
from benchmarks.survival.runner import BUDGETS, Run, run
from benchmarks.survival.stand_alone import (
    STAND_ALONE_TOKENS,
    SUMMARY_CANDIDATES,
    UNLIMITED_TOKENS,
    select_results,
    stand_alone_rows,
)
from holdfast.measure.session_files import find_transcripts


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
    if given.docs:
        return _write_docs(given)
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


def _write_docs(given: argparse.Namespace) -> int:
    """survival.json and survival.svg in a folder: what docs/survival.md shows."""
    folder = Path(given.docs)
    with tempfile.TemporaryDirectory(prefix="holdfast-survival-") as kept:
        # The second run is cheap when the first has left its work somewhere.
        options: dict[str, Any] = {"jobs": given.jobs, "cache": given.cache or kept}
        budgets = (*BUDGETS, STAND_ALONE_TOKENS)
        result = run(given.folder, [HOLDFAST, *CANDIDATES], budgets=budgets, **options)
        alone = run(given.folder, [HOLDFAST_FOR_SUMMARY], budgets=(UNLIMITED_TOKENS,), **options)
    document = to_json(select_results(result, BUDGETS, SUMMARY_CANDIDATES))
    for candidate in document["contestants"]:
        if candidate["name"] != HOLDFAST.name:
            del candidate["missing"]
            continue
        for kind in candidate["missing"]:
            del kind["examples"]  # they are text of the transcripts
    document["stand_alone"] = stand_alone_rows(result, alone)
    written = orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"
    (folder / "survival.json").write_bytes(written)
    svg = _chart(select_results(result, BUDGETS), HOLDFAST.name)
    (folder / "survival.svg").write_text(svg, encoding="utf-8")
    return 0


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
    add("--docs", metavar="DIR", help="write survival.json and survival.svg here, nothing else")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
