"""One session measured: every brief of every compaction in it, by every measure.

Owns the order of work inside a worker process. What depends on the product is remembered by the
product's tree, what does not by the judge's own code.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.quality import control, must_know, said, trivial
from benchmarks.quality.product import Product, ProductFailed, briefs
from benchmarks.quality.remembered import Memory, judge_hash
from benchmarks.quality.transcripts import (
    Row,
    Transcript,
    boundaries,
    fingerprint,
    main_chain,
    read_rows,
)

OWN = "Holdfast"
AGAINST = "Holdfast, against the summary"
TURNS, WORDS, COVER = "turns", "words", "cover"
TRIVIAL = (TURNS, WORDS, COVER)
ALL_SAID, ALL_DONE = "all that was said", "with tool input and output"

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
    cache: str


@dataclass(slots=True)
class Measured:
    """What came of one session. Keys of `told` and `kept` are "name@size"."""

    session: str
    repo: str
    told: dict[str, list[must_know.Told]] = field(default_factory=dict)
    kept: dict[str, list[said.Kept]] = field(default_factory=dict)
    survival: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def measure(job: Job) -> Measured:
    done = Measured(job.transcript.session, job.transcript.repo)
    memory = Memory(job.cache)
    mark = fingerprint(job.transcript.path)
    wants_texts = bool(job.gold) or "survival" in job.measures
    texts: Texts = {}
    if wants_texts:
        _merge(texts, _own_texts(job, memory, mark, job.transcript.path, done))
        if job.rivals:
            _merge(texts, _rival_texts(job, memory, mark))
    if "must-know" in job.measures:
        for gold in job.gold:
            for name, text in texts.get(gold.boundary, {}).items():
                done.told.setdefault(name, []).append(must_know.score(gold, text))
    if "survival" in job.measures:
        done.survival = _survival(job, memory, mark, texts)
    if "said" in job.measures:
        for seed in job.seeds:
            _said(job, memory, mark, seed, done)
    return done


def _merge(texts: Texts, more: Texts) -> None:
    for boundary, named in more.items():
        texts.setdefault(boundary, {}).update(named)


def _own_texts(job: Job, memory: Memory, mark: str, path: Path, done: Measured) -> Texts:
    """The product's briefs of a file; its failure is a figure too, not the end of the run."""
    texts: Texts = {}
    for name, against in ((OWN, False), (AGAINST, True)):
        if against and "--against-summary" not in job.product.options:
            continue
        key = ("own", mark, job.product.command, job.product.tree, job.sizes, against)
        try:
            rows = memory.recall(
                key,
                lambda against=against: briefs(
                    job.product, path, job.sizes, against=against, trace=False
                ),
            )
        except ProductFailed as error:
            done.failures.append(str(error))
            continue
        for row in rows:
            texts.setdefault(row["boundary_uuid"], {})[f"{name}@{row['max_chars']}"] = row["text"]
    return texts


def _rival_texts(job: Job, memory: Memory, mark: str) -> Texts:
    made: Texts = memory.recall(
        ("rivals", mark, judge_hash(), job.sizes),
        lambda: _make_rivals(main_chain(read_rows(job.transcript.path)), job.sizes),
    )
    return made


def _make_rivals(rows: list[Row], sizes: tuple[int, ...]) -> Texts:
    return {
        str(rows[cut].get("uuid")): trivial_texts(rows[:cut], sizes) for cut in boundaries(rows)
    }


def trivial_texts(before: list[Row], sizes: tuple[int, ...]) -> dict[str, str]:
    told = trivial.story(before)
    sentences = trivial.sentences(before)
    made = {}
    for size in sizes:
        made[f"{TURNS}@{size}"] = trivial.turns_brief(told, size)
        made[f"{WORDS}@{size}"] = trivial.words_brief(told, size)
        made[f"{COVER}@{size}"] = trivial.cover_brief(sentences, size)
    return made


def _survival(job: Job, memory: Memory, mark: str, texts: Texts) -> dict[str, Any]:
    """Scored apart, since the rivals' scores stay when the product changes."""
    own = (OWN, AGAINST)
    session = None

    def scored(mine: bool) -> dict[str, Any]:
        nonlocal session
        if session is None:
            session = control.prepared(job.transcript.path, job.cache)
        chosen = {
            boundary: {
                name: text
                for name, text in named.items()
                if (name.rpartition("@")[0] in own) == mine
            }
            for boundary, named in texts.items()
        }
        return control.scores(session, chosen)

    names = sorted({n for named in texts.values() for n in named})
    judge = control.judge_hash()
    product = (job.product.command, job.product.tree)
    merged = memory.recall(
        ("rivals survive", mark, judge, judge_hash(), names if job.rivals else "none"),
        lambda: scored(False),
    )
    mine = memory.recall(("own survive", mark, judge, product, job.sizes), lambda: scored(True))
    for boundary, one in mine["boundaries"].items():
        merged["boundaries"][boundary]["outcomes"].update(one["outcomes"])
    result: dict[str, Any] = merged
    return result


def _said(job: Job, memory: Memory, mark: str, seed: int, done: Measured) -> None:
    planted = said.plant(read_rows(job.transcript.path), f"said {seed} {job.transcript.session}")
    if planted is None:
        return
    key = ("said", mark, judge_hash(), job.product.command, job.product.tree, job.sizes, seed)

    def answers() -> list[dict[str, Any]]:
        with tempfile.TemporaryDirectory(prefix="quality-said-") as folder:
            path = Path(folder) / f"{job.transcript.session}.jsonl"
            said.write(planted, path)
            return briefs(job.product, path, job.sizes, against=False, trace=False)

    try:
        rows = memory.recall(key, answers)
    except ProductFailed as error:
        done.failures.append(str(error))
        return
    texts = {
        f"{OWN}@{row['max_chars']}": row["text"]
        for row in rows
        if row["boundary_uuid"] == planted.boundary
    }
    if job.rivals:
        texts |= trivial_texts(main_chain(planted.rows[: planted.cut]), job.sizes)
    for name, text in texts.items():
        done.kept.setdefault(name, []).append(said.score(planted, text))
