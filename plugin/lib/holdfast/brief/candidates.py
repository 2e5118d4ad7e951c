"""What a brief could say about files, symbols, commands and identifiers, and why it might.

Turns a state into candidates with features: numbers that tell how likely the agent is to
need the thing again. Knows nothing of weights or budgets. The feature names are the contract
with `weights.py`; the learner reads them from here.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from holdfast.brief.paths import shorten
from holdfast.state.facts import CANCELLED, OPEN
from holdfast.state.files import File
from holdfast.state.model import State
from holdfast.state.symbols import faded

FILES = 90  # ranked files whose symbols are looked at; beyond them need is rare
PLACES = 6  # files that a symbol may be told under

FILE_FEATURES = (
    "bias",
    "recent",
    "fresh",
    "changed",
    "changed_recently",
    "changed_often",
    "created",
    "read",
    "read_often",
    "named",
    "only_named",
    "said",
    "test",
    "document",
    "crowd",
    "epoch_young",
)
SYMBOL_FEATURES = ("typed_fast", "typed_slow", "seen_fast", "seen_slow")
COMMAND_FEATURES = (
    "bias",
    "recent",
    "fresh",
    "often",
    "failed",
    "test",
    "check",
    "long",
    "chained",
    "commit",
    "once_old",
)
IDENTIFIER_FEATURES = (
    "bias",
    "recent",
    "fresh",
    "typed",
    "seen",
    "url",
    "port",
    "ticket",
    "commit",
    "environment",
    "link",
)


class FileCandidate(NamedTuple):
    file: File
    path: str  # as it will be shown
    features: tuple[float, ...]


class SymbolCandidate(NamedTuple):
    symbol: str
    paths: tuple[str, ...]  # files in which it stands, the likeliest first
    features: tuple[float, ...]


class Candidate(NamedTuple):
    """A command or an identifier."""

    key: str
    features: tuple[float, ...]


def _near(age: float, reach: float) -> float:
    """1 for now, falling to a half at `reach` steps ago."""
    return 1.0 / (1.0 + age / reach)


def file_candidates(state: State) -> list[FileCandidate]:
    now = state.moment.step
    said = " ".join(request.text for request in list(state.requests.values())[-4:])
    crowd = math.log1p(len(state.files)) / 5
    young = 1.0 if state.moment.epoch == 0 else 0.0
    found: dict[str, FileCandidate] = {}
    for file in state.files.values():
        if file.standing == CANCELLED:
            continue
        age = now - file.step
        path = shorten(file.path, state.place.folders)
        if path in found and found[path].file.changed > file.changed:
            continue  # one file under two working folders, as in worktrees: the busier one
        name = path.rpartition("/")[2]
        changed_age = now - file.changed_step if file.changed_step >= 0 else 1000
        lowered = path.lower()
        features = (
            1.0,
            _near(age, 8),
            _near(age, 60),
            float(file.changed > 0),
            _near(changed_age, 25) if file.changed_step >= 0 else 0.0,
            math.log1p(file.changed),
            float(file.created),
            float(file.read > 0),
            math.log1p(file.read),
            math.log1p(file.named),
            float(not file.changed and not file.read),
            float(name in said),
            float("test" in lowered or "spec" in lowered),
            float(lowered.endswith((".md", ".txt", ".rst"))),
            crowd,
            young,
        )
        found[path] = FileCandidate(file, path, features)
    return list(found.values())


def symbol_candidates(
    state: State, files: list[tuple[float, FileCandidate]]
) -> list[SymbolCandidate]:
    """The symbols that stand in these files, given with how likely each file is needed."""
    now = state.moment.step
    places: dict[str, list[tuple[float, FileCandidate]]] = {}
    for likely, candidate in files:
        for symbol in candidate.file.symbols:
            if symbol in state.symbols:
                places.setdefault(symbol, []).append((likely, candidate))
    found = []
    for symbol, where in places.items():
        paths = tuple(candidate.path for _, candidate in where[:PLACES])
        found.append(SymbolCandidate(symbol, paths, faded(state.symbols[symbol], now)))
    return found


def command_candidates(state: State) -> list[Candidate]:
    now = state.moment.step
    found = []
    for key, command in state.commands.items():
        age = now - command.step
        features = (
            1.0,
            _near(age, 8),
            _near(age, 60),
            math.log1p(command.times),
            float(not command.ok),
            float(command.check == "test"),
            float(command.check in ("lint", "build")),
            len(command.text) / 100,
            float(" && " in command.text),
            float("git commit" in command.text),
            float(command.times == 1) * (1 - _near(age, 60)),
        )
        found.append(Candidate(key, features))
    return found


def identifier_candidates(state: State) -> list[Candidate]:
    now = state.moment.step
    found = []
    for key, item in state.identifiers.items():
        if item.standing != OPEN or item.sort == "branch":
            continue
        age = now - item.step
        features = (
            1.0,
            _near(age, 8),
            _near(age, 60),
            math.log1p(item.typed),
            math.log1p(item.seen),
            float(item.sort == "url"),
            float(item.sort == "port"),
            float(item.sort == "ticket"),
            float(item.sort == "commit"),
            float(item.sort == "environment"),
            float(item.sort == "link"),
        )
        found.append(Candidate(key, features))
    return found
