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

FILES = 90  # ranked files whose symbols are looked at; beyond them need is rare
SYMBOLS = 24  # symbols of a file that are looked at, the most promising first

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
SYMBOL_FEATURES = (
    "bias",
    "recent",
    "fresh",
    "typed",
    "typed_often",
    "seen_often",
    "said",
    "said_recently",
    "asked",
    "user",
    "file_changed",
    "file_recent",
    "file_crowd",
    "spread",
    "long",
    "constant",
    "test_name",
    "old",
)
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
    path: str
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
    found = []
    for file in state.files.values():
        if file.standing == CANCELLED:
            continue
        age = now - file.step
        path = shorten(file.path, state.place.folders)
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
        found.append(FileCandidate(file, path, features))
    return found


def symbol_candidates(state: State, files: list[FileCandidate]) -> list[SymbolCandidate]:
    """The most promising symbols of these files, each under every file it stands in."""
    now = state.moment.step
    spread: dict[str, int] = {}
    for file in state.files.values():
        for symbol in file.symbols:
            spread[symbol] = spread.get(symbol, 0) + 1
    found = []
    terms = state.terms
    for candidate in files:
        file = candidate.file
        ordered = sorted(
            file.symbols.items(),
            key=lambda item: (
                item[1][0] * 2
                + min(item[1][1], 4)
                + 3.0 / (1 + (now - item[1][2]) / 15)
                + (2.0 if item[0] in terms else 0.0)
            ),
            reverse=True,
        )
        crowd = math.log1p(len(file.symbols)) / 4
        file_age = now - file.step
        for symbol, (typed, seen, last, first) in ordered[:SYMBOLS]:
            said, asked, by_user, said_step = terms.get(symbol, (0, 0, 0, -1000))
            age = now - last
            features = (
                1.0,
                _near(age, 8),
                _near(age, 60),
                float(typed > 0),
                math.log1p(typed),
                math.log1p(seen),
                math.log1p(said),
                _near(now - said_step, 20) if said_step >= 0 else 0.0,
                math.log1p(asked),
                float(by_user > 0),
                float(file.changed > 0),
                _near(file_age, 20),
                crowd,
                math.log1p(spread[symbol]),
                len(symbol) / 20,
                float(symbol.isupper()),
                float(symbol.lower().startswith("test")),
                _near(now - first, 60),
            )
            found.append(SymbolCandidate(symbol, candidate.path, features))
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
