"""Survival as a control: entities used after the cut, by the definitions of docs/survival.md.

Owns the way from texts to the existing judge (`benchmarks.measure`, which shares nothing with what
it judges either) and back to plain figures.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

import benchmarks.measure
import benchmarks.survival
from benchmarks.measure.entities import Entity, idf_table, weight
from benchmarks.measure.prepared_boundary import PreparedSession, prepare_session
from benchmarks.measure.scoring import score_brief

FORESIGHT = "foresight"


def judge_hash() -> str:
    """Changes with the judge's code."""
    digest = hashlib.sha256()
    for package in (benchmarks.measure, benchmarks.survival):
        for path in sorted(Path(str(package.__file__)).parent.glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def prepare(path: Path, cache: str) -> PreparedSession:
    folder = Path(cache) / "survival" if cache else None
    if folder is not None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return prepare_session([str(path)], str(folder) if folder else None)


def score_texts(session: PreparedSession, texts: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Of every usable compaction, what each text grounds: as positions in the need.

    `texts` is by boundary and then by "name@size".
    """
    found: dict[str, Any] = {}
    for one in session.boundaries:
        needed = list(one.need.entities)
        place = {entity: n for n, entity in enumerate(needed)}
        outcomes = {}
        for name, text in texts.get(one.uuid, {}).items():
            outcome = score_brief(text, one, int(name.rpartition("@")[2]))
            outcomes[name] = {
                "grounded": sorted(place[e] for e in outcome.grounded),
                "stale": outcome.stale_items,
            }
        found[one.uuid] = {
            "need": [[e.kind, e.value] for e in needed],
            "in_summary": sorted(place[e] for e in one.need.in_summary),
            "outcomes": outcomes,
        }
    return {"rare": sorted([e.kind, e.value] for e in session.rare), "boundaries": found}


@dataclass(frozen=True, slots=True)
class SurvivalWeights:
    """Weights of need at one compaction: all, in the summary, and in summary or brief."""

    boundary: str
    session: str
    repo: str
    summary: float
    by_name: dict[str, float]
    stale: dict[str, list[str]]


def weigh_survival(found: list[tuple[str, str, dict[str, Any]]]) -> list[SurvivalWeights]:
    """From (session, repository, scores) of all sessions: weights need every session."""
    rare = [[Entity(*e) for e in scored["rare"]] for _, _, scored in found]
    idfs = idf_table(rare, len(rare))
    result = []
    seen: set[str] = set()
    for session, repo, scored in found:
        for boundary, one in scored["boundaries"].items():
            if boundary in seen:  # a forked session carries those of the one it came from
                continue
            seen.add(boundary)
            weights = [weight(Entity(*e), idfs) for e in one["need"]]
            total = fsum(weights)
            in_summary = set(one["in_summary"])

            def share(
                held: set[int], weights: list[float] = weights, total: float = total
            ) -> float:
                return fsum(weights[n] for n in sorted(held)) / total if total else 0.0

            result.append(
                SurvivalWeights(
                    boundary,
                    session,
                    repo,
                    share(in_summary),
                    {
                        name: share(in_summary | set(outcome["grounded"]))
                        for name, outcome in one["outcomes"].items()
                    },
                    {name: outcome["stale"] for name, outcome in one["outcomes"].items()},
                )
            )
    return result
