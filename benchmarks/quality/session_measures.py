"""One session measured: every brief of every compaction in it, by every measure.

Owns the order of work inside a worker process. What depends on the product is remembered by the
product's tree, what does not by the judge's own code.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality import must_know, said, survival_control, trivial_briefs, truth_rules
from benchmarks.quality.evidence import collect_evidence
from benchmarks.quality.hook_deliveries import run_hooks
from benchmarks.quality.product_command import Product, ProductFailed, is_unchanged, run_briefs
from benchmarks.quality.result_cache import ResultCache, code_hash
from benchmarks.quality.stated_lines import parse_stated, parse_trace
from benchmarks.quality.transcripts import (
    Row,
    Transcript,
    find_boundaries,
    fingerprint,
    main_chain,
    read_rows,
)
from benchmarks.survival.candidate import Case
from benchmarks.survival.prior_art import orchestration_brief, preservation_block
from benchmarks.survival.reference_maps import foresight_map, prototype_map

OWN = "Holdfast"
TURNS, WORDS, COVER = "turns", "words", "cover"
TRIVIAL = (TURNS, WORDS, COVER)
# The designs of two of the documents that this product came from, given a correct reader.
BLOCK, DCM = "preservation block", "Claude-DCM"
MAP = "prototype map"
# Ceilings, at no size: everything quoted; for Survival, the map that knows what comes.
ALL_SAID, ALL_DONE = "all said", "and tools"

Texts = dict[str, dict[str, str]]  # boundary: "name@size": text


@dataclass(frozen=True, slots=True)
class Job:
    transcript: Transcript
    gold: tuple[must_know.Gold, ...]
    product: Product
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    measures: frozenset[str]
    rivals: bool
    designs: bool
    hooks: bool  # whether truth also runs the installed hooks, for steering and gap
    gold_hash: str
    cache: str


@dataclass(frozen=True, slots=True)
class Truth:
    """How many stated lines of one text fail, by rule."""

    boundary: str
    lines: int
    failed: int
    rules: dict[str, int]
    unchecked: tuple[str, ...]
    shown: tuple[str, ...]


@dataclass(slots=True)
class Measured:
    """What came of one session. Keys of `told` and `kept` are "name@size"."""

    session: str
    repo: str
    told: dict[str, list[must_know.MustKnowScore]] = field(default_factory=dict)
    kept: dict[str, list[said.SaidScore]] = field(default_factory=dict)
    survival: dict[str, Any] = field(default_factory=dict)
    truths: dict[str, list[Truth]] = field(default_factory=dict)
    traces: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def measure(job: Job) -> Measured:
    done = Measured(job.transcript.session, job.transcript.repo)
    memory = ResultCache(job.cache)
    mark = fingerprint(job.transcript.path)
    wants_texts = bool(job.gold) or bool({"survival", "truth"} & job.measures)
    texts: Texts = {}
    if wants_texts:
        _merge(texts, _own_texts(job, memory, mark, job.transcript.path, done))
        if job.rivals:
            _merge(texts, _rival_texts(job, memory, mark))
    if "must-know" in job.measures:
        for gold in job.gold:
            for name, text in texts.get(gold.boundary, {}).items():
                if not name.startswith(survival_control.FORESIGHT):
                    done.told.setdefault(name, []).append(must_know.score_must_know(gold, text))
        if job.designs and job.gold:
            hashes = code_hash("must_know", "trivial_briefs", "transcripts")
            key = ("ceilings", mark, hashes, [g.boundary for g in job.gold], job.gold_hash)
            for name, every in memory.recall(key, lambda: _ceilings(job)).items():
                done.told[name] = [must_know.MustKnowScore(**told) for told in every]
    if "survival" in job.measures:
        done.survival = _survival(job, memory, mark, texts)
    if "said" in job.measures:
        for seed in job.seeds:
            _said(job, memory, mark, seed, done)
    if "truth" in job.measures:
        _truth(job, memory, mark, texts, done)
    return done


def _truth(job: Job, memory: ResultCache, mark: str, texts: Texts, done: Measured) -> None:
    """The product's own briefs at the largest size, and what its hooks hand over."""
    rows = read_rows(job.transcript.path)
    valid = partial(is_unchanged, job.product)
    for cut in find_boundaries(rows):
        boundary = str(rows[cut].get("uuid"))
        own = texts.get(boundary, {}).get(f"{OWN}@{job.sizes[-1]}")
        shown = {OWN: own} if own else {}
        if job.hooks:
            key = ("delivered", mark, code_hash("hook_deliveries"), *_product_key(job), boundary)
            try:
                shown |= memory.recall(key, partial(run_hooks, job.product, rows, cut), valid)
            except ProductFailed as error:
                done.failures.append(str(error))
        if not shown:
            continue
        proof = collect_evidence(rows[:cut])
        for name, text in shown.items():
            trace = done.traces.get((boundary, name))
            lines = parse_trace(trace) if trace else parse_stated(text)
            checked = truth_rules.check_lines(lines, proof)
            done.truths.setdefault(name, []).append(
                Truth(
                    boundary,
                    checked.lines,
                    checked.failed_lines,
                    dict(Counter(rule for rule, _ in {(f.rule, f.line) for f in checked.failures})),
                    checked.unchecked,
                    tuple(f"{f.rule}: {f.line} << {f.why}" for f in checked.failures),
                )
            )


def _product_key(job: Job) -> tuple[object, ...]:
    return (job.product.command, job.product.tree)


def _merge(texts: Texts, more: Texts) -> None:
    for boundary, named in more.items():
        texts.setdefault(boundary, {}).update(named)


def _own_texts(job: Job, memory: ResultCache, mark: str, path: Path, done: Measured) -> Texts:
    """The product's briefs of a file; its failure is a figure too, not the end of the run."""
    texts: Texts = {}
    valid = partial(is_unchanged, job.product)
    key = ("own", mark, *_product_key(job), job.sizes)
    ask = partial(run_briefs, job.product, path, job.sizes, trace=True)
    try:
        rows = memory.recall(key, ask, valid)
    except ProductFailed as error:
        done.failures.append(str(error))
        return texts
    for row in rows:
        texts.setdefault(row["boundary_uuid"], {})[f"{OWN}@{row['max_chars']}"] = row["text"]
        if row["max_chars"] == job.sizes[-1] and isinstance(row.get("lines"), list):
            done.traces[row["boundary_uuid"], OWN] = row["lines"]
    return texts


def _rival_texts(job: Job, memory: ResultCache, mark: str) -> Texts:
    def trivial_ones() -> Texts:
        rows = main_chain(read_rows(job.transcript.path))
        return {
            str(rows[cut].get("uuid")): trivial_texts(rows[:cut], job.sizes)
            for cut in find_boundaries(rows)
        }

    made: Texts = memory.recall(
        ("trivial", mark, code_hash("trivial_briefs", "transcripts"), job.sizes), trivial_ones
    )
    if job.designs:
        key = ("designs", mark, survival_control.judge_hash(), job.sizes)
        _merge(made, memory.recall(key, lambda: _design_texts(job)))
    return made


def _design_texts(job: Job) -> Texts:
    """The seeds' designs and the maps, for every compaction that something is measured at."""
    session = survival_control.prepare(job.transcript.path, job.cache)
    future = {one.uuid: one for one in session.boundaries}
    wanted = {*future, *(gold.boundary for gold in job.gold)}
    rows = main_chain(read_rows(job.transcript.path))
    made: Texts = {}
    for cut in find_boundaries(rows):
        boundary = str(rows[cut].get("uuid"))
        if boundary not in wanted:
            continue
        case = Case(
            job.transcript.session, str(job.transcript.path), boundary, rows[:cut],
            future=future.get(boundary),
        )  # fmt: skip
        for size in job.sizes:
            made.setdefault(boundary, {}).update(
                {
                    f"{BLOCK}@{size}": preservation_block(case, size),
                    f"{DCM}@{size}": orchestration_brief(case, size),
                    f"{MAP}@{size}": prototype_map(case, size),
                }
            )
            if case.future:
                made[boundary][f"{survival_control.FORESIGHT}@{size}"] = foresight_map(case, size)
    return made


def _ceilings(job: Job) -> dict[str, list[dict[str, Any]]]:
    """What quoting could tell at most, for the annotated compactions."""
    rows = main_chain(read_rows(job.transcript.path))
    place = {str(rows[cut].get("uuid")): cut for cut in find_boundaries(rows)}
    found: dict[str, list[dict[str, Any]]] = {}
    for gold in job.gold:
        if gold.boundary not in place:
            continue
        before = rows[: place[gold.boundary]]
        for name, text in (
            (ALL_SAID, trivial_briefs.quote_everything_said(before)),
            (ALL_DONE, trivial_briefs.quote_everything_done(before)),
        ):
            # Traps are not counted: everything that was ever said stands in it.
            told = replace(
                must_know.score_must_know(gold, text), traps=0, traps_told=0, missed=(), trapped=()
            )
            found.setdefault(f"{name}@0", []).append(asdict(told))
    return found


def trivial_texts(before: list[Row], sizes: tuple[int, ...]) -> dict[str, str]:
    told = trivial_briefs.build_outline(before)
    sentences = trivial_briefs.list_sentences(before)
    made = {}
    for size in sizes:
        made[f"{TURNS}@{size}"] = trivial_briefs.turns_brief(told, size)
        made[f"{WORDS}@{size}"] = trivial_briefs.words_brief(told, size)
        made[f"{COVER}@{size}"] = trivial_briefs.cover_brief(sentences, size)
    return made


def _survival(job: Job, memory: ResultCache, mark: str, texts: Texts) -> dict[str, Any]:
    """Scored apart, since the rivals' scores stay when the product changes."""
    session = None

    def scored(mine: bool) -> dict[str, Any]:
        nonlocal session
        if session is None:
            session = survival_control.prepare(job.transcript.path, job.cache)
        chosen = {
            boundary: {
                name: text
                for name, text in named.items()
                if (name.rpartition("@")[0] == OWN) == mine
            }
            for boundary, named in texts.items()
        }
        return survival_control.score_texts(session, chosen)

    rivals = sorted({n for named in texts.values() for n in named if n.rpartition("@")[0] != OWN})
    judge = survival_control.judge_hash()
    merged = memory.recall(
        ("rivals survive", mark, judge, code_hash("trivial_briefs", "transcripts"), rivals),
        lambda: scored(False),
    )
    mine = memory.recall(
        ("own survive", mark, judge, *_product_key(job), job.sizes), lambda: scored(True)
    )
    for boundary, one in mine["boundaries"].items():
        merged["boundaries"][boundary]["outcomes"].update(one["outcomes"])
    result: dict[str, Any] = merged
    return result


def _said(job: Job, memory: ResultCache, mark: str, seed: int, done: Measured) -> None:
    planted = said.plant_statements(
        read_rows(job.transcript.path), f"said {seed} {job.transcript.session}"
    )
    if planted is None:
        return
    planting = (mark, code_hash("said", "sentences", "transcripts"), job.sizes, seed)
    key = ("said", *planting, *_product_key(job))

    def answers() -> list[dict[str, Any]]:
        with tempfile.TemporaryDirectory(prefix="quality-said-") as folder:
            path = Path(folder) / f"{job.transcript.session}.jsonl"
            said.write_transcript(planted, path)
            return run_briefs(job.product, path, job.sizes, trace=False)

    try:
        rows = memory.recall(key, answers, partial(is_unchanged, job.product))
    except ProductFailed as error:
        done.failures.append(str(error))
        return
    texts = {
        f"{OWN}@{row['max_chars']}": row["text"]
        for row in rows
        if row["boundary_uuid"] == planted.boundary
    }
    if job.rivals:
        texts |= memory.recall(
            ("said, trivial", *planting, code_hash("trivial_briefs")),
            lambda: trivial_texts(main_chain(planted.rows[: planted.cut]), job.sizes),
        )
    for name, text in texts.items():
        done.kept.setdefault(name, []).append(said.score_said(planted, text))
