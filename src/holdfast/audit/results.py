"""What an audit finds, session by session: plain values that cross process borders.

Owns the shapes only. Every text in a record has passed the redactor.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.measure.entities import Entity


@dataclass(frozen=True, slots=True)
class FactCount:
    """Facts of one kind that stood at a compaction, and who still told them after it."""

    known: int
    in_summary: int
    with_brief: int  # in the summary or the brief


@dataclass(frozen=True, slots=True)
class Lost:
    """A fact that stood and that the summary does not tell."""

    kind: str
    text: str
    detail: str  # how it failed, what is red
    kept: bool  # in Holdfast's brief


@dataclass(frozen=True, slots=True)
class Repeat:
    """A look-up made again right after a compaction."""

    what: str
    chars: int  # of what it brought back


@dataclass(frozen=True, slots=True)
class Lookups:
    """Calls around a compaction, and those among them that asked what had been asked before."""

    after: int = 0
    repeats: tuple[Repeat, ...] = ()
    before: int = 0
    repeats_before: int = 0


@dataclass(frozen=True, slots=True)
class Consequence:
    """Something that happened after a compaction and should not have."""

    kind: str  # "said_again" | "reminded" | "retried" | "redone"
    known: str  # what was known before
    then: str  # what happened after
    time: str
    in_summary: bool  # whether the summary told it all the same
    kept: bool  # whether Holdfast's brief tells it


@dataclass(frozen=True, slots=True)
class Need:
    """What the agent used next, as the survival benchmark measures it."""

    entities: tuple[Entity, ...]
    in_summary: frozenset[Entity]
    grounded: frozenset[Entity]  # in the brief


@dataclass(slots=True)
class Compaction:
    uuid: str
    time: str
    trigger: str
    tokens_before: int | None = None
    tokens_after: int | None = None
    seconds: float | None = None
    seconds_estimated: bool = False
    summary_chars: int = 0
    brief_chars: int = 0
    facts: dict[str, FactCount] = field(default_factory=dict)
    lost: tuple[Lost, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    lookups: Lookups = Lookups()
    need: Need | None = None

    @property
    def said_shares(self) -> tuple[float, float] | None:
        """Of what the user had said, how much the summary tells, and with the brief."""
        said = self.facts.get("said")
        if said is None or not said.known:
            return None
        return said.in_summary / said.known, said.with_brief / said.known


@dataclass(slots=True)
class Session:
    session_id: str
    path: str
    size: int  # bytes on disk, of all copies
    project: str = ""
    title: str = ""
    started: str = ""
    updated: str = ""
    compactions: list[Compaction] = field(default_factory=list)
    rare: frozenset[Entity] = frozenset()
    too_large: bool = False  # to measure the need; everything else is there
    error: str = ""
