"""`python -m benchmarks.quality`: arguments in, tables out. `make quality` runs it."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.console import Console

from benchmarks.quality import must_know, report, survival_control
from benchmarks.quality.product_command import ROOT, ProductFailed, find_product
from benchmarks.quality.session_measures import COVER, TURNS, Job, Measured, measure
from benchmarks.quality.transcripts import find_transcripts

MEASURES = ("must-know", "said", "survival", "truth")
EPILOG = """
The annotations in --gold were written by a language model, one pass each, and checked by nobody:
compare briefs with each other rather than with the summary.

examples:
  # while tuning: one changed line of the composer is measured in about a minute
  python -m benchmarks.quality --quick
  # only must-know, and what was missed of a kind
  # (or: --show traps, said, withdrawn, stale, truth, unchecked, all)
  python -m benchmarks.quality --quick --only must-know --show state
  # another tree's product, without caching unless --source names its package
  python -m benchmarks.quality --candidate '/elsewhere/.venv/bin/holdfast' --source /elsewhere/src

$HOLDFAST_CORPUS (folders, separated by ':') and $HOLDFAST_GOLD stand for --corpus and --gold.
Answers are kept in --cache by (file, source tree): only what changed is asked again.
"""


def main(arguments: list[str] | None = None) -> int:
    given = _arguments(arguments)
    corpus = [
        Path(x) for x in given.corpus or os.environ.get("HOLDFAST_CORPUS", "").split(":") if x
    ]
    gold_folder = given.gold or os.environ.get("HOLDFAST_GOLD", "")
    if not corpus or not all(folder.is_dir() for folder in corpus):
        print(
            "Name the folders with transcripts: --corpus DIR, or $HOLDFAST_CORPUS.", file=sys.stderr
        )
        return 2
    measures = frozenset(given.only or MEASURES)
    gold = must_know.read_gold(Path(gold_folder)) if gold_folder else []
    if "must-know" in measures and not gold:
        print("Name the folder with annotations: --gold DIR, or $HOLDFAST_GOLD.", file=sys.stderr)
        return 2
    sizes = tuple(int(x) for x in given.sizes.split(","))
    try:
        own = find_product(given.candidate, given.source)
    except ProductFailed as error:
        print(f"The product does not answer: {error}", file=sys.stderr)
        return 2
    started = time.monotonic()
    gold_hash = hashlib.sha256(repr(gold).encode()).hexdigest()[:16]
    found = find_transcripts(corpus, {g.session: g.repo for g in gold})
    wanted = [t for t in found if not given.repo or given.repo in t.repo]
    by_session: dict[str, list[must_know.Gold]] = {}
    for one in gold:
        by_session.setdefault(one.session, []).append(one)
    seeds = tuple(range(given.seed, given.seed + (1 if given.quick else given.plants)))
    work = [
        Job(t, tuple(by_session.get(t.session, ())), own, sizes, seeds, measures,
            not given.alone, not given.alone and not given.quick, not given.quick, gold_hash,
            given.cache)
        for t in wanted
    ]  # fmt: skip
    done = _measured(work, given.jobs)
    survived = survival_control.weigh_survival(
        [(d.session, d.repo, d.survival) for d in done if d.survival]
    )
    made = report.build_lines(done, survived, sizes)
    grids = [report.build_table(made, () if given.alone else (TURNS, COVER))]
    if "must-know" in measures and not given.quick:
        grids.append(report.build_kind_table(done, sizes[-1]))
    if measures != {"truth"} and not given.quick:
        grids.append(report.build_repository_table(made))
    out = Console(width=None if sys.stdout.isatty() else 230)
    for grid in grids:
        print(grid.markdown()) if given.markdown else out.print(grid.drawn())
    _show(given.show, done, max(sizes))
    failures = [text for one in done for text in one.failures]
    for text in failures[:5]:
        print(f"FAILED {text}", file=sys.stderr)
    if given.json:
        Path(given.json).write_text(json.dumps(report.to_json(made, done), indent=1), "utf-8")
    print(f"{len(done)} sessions, {time.monotonic() - started:.0f} s", file=sys.stderr)
    return 1 if failures else 0


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description="Measure the text that an agent is given: must-know, Said, Survival, truth.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--corpus", action="append", metavar="DIR", help="transcripts, below; repeatable")
    add("--gold", metavar="DIR", help="must-know annotations (*.gold.json)")
    add("--sizes", default="2000,4000,6000", metavar="N,N", help="characters of a brief")
    add("--only", action="append", choices=MEASURES, help="one measure; repeatable")
    add("--quick", action="store_true", help="one planting per session, no repositories: to tune")
    add("--alone", action="store_true", help="without the other briefs: quicker still")
    add("--repo", default="", metavar="NAME", help="only repositories whose name holds this")
    add("--plants", type=int, default=2, metavar="N", help="plantings per session for Said")
    add("--seed", type=int, default=1, metavar="N", help="of the first planting")
    add("--candidate", default="", metavar="CMD", help="a command that answers as `holdfast` does")
    add("--source", default="", metavar="DIR", help="the tree that --candidate is made of")
    add("--show", default="", metavar="WHAT", help="what was missed at the largest size")
    add("--markdown", action="store_true", help="print the tables as Markdown, for docs")
    add("--json", metavar="FILE", help="write every figure")
    add("--jobs", type=int, default=2, metavar="N", help="processes")
    add("--cache", default=str(ROOT / ".quality"), metavar="DIR", help="answers kept; '' for none")
    return parser.parse_args(arguments)


def _measured(work: list[Job], jobs: int) -> list[Measured]:
    if jobs <= 1:
        return [measure(job) for job in work]
    # The largest first, so that no worker is left with one at the end.
    order = sorted(range(len(work)), key=lambda n: -work[n].transcript.path.stat().st_size)
    with ProcessPoolExecutor(jobs) as pool:
        futures = {n: pool.submit(measure, work[n]) for n in order}
        return [futures[n].result() for n in range(len(work))]


def _show(what: str, done: list[Measured], size: int) -> None:
    if not what:
        return
    for one in done:
        for told in one.told.get(f"Holdfast@{size}", []):
            told_of = told.trapped if what == "traps" else told.missed
            for text in told_of:
                if what in ("all", "traps") or text.startswith(what):
                    print(f"{one.session[:8]} {text}")
        for kept in one.kept.get(f"Holdfast@{size}", []):
            shown = {"said": kept.lost, "withdrawn": kept.status}.get(what, ())
            for text in shown:
                print(f"{one.session[:8]} {text}")
        for name, every in one.truths.items():
            for truth in every:
                shown = {"truth": truth.shown, "unchecked": truth.unchecked}.get(what, ())
                for text in shown:
                    print(f"{one.session[:8]} {name}: {text}")
        if what == "stale" and one.survival:
            for boundary in one.survival["boundaries"].values():
                outcome = boundary["outcomes"].get(f"Holdfast@{size}")
                for item in outcome["stale"] if outcome else []:
                    print(f"{one.session[:8]} {item}")


if __name__ == "__main__":
    sys.exit(main())
