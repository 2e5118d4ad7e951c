"""compaction-conformance-kit: what a brief of a share of the transcript holds of what it planted.

The kit makes the sessions and probes the text; the brief is made of the same words as of any
session, and none of the kit's label names stands in the product for it.
"""

import statistics
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from holdfast.brief.compose import compose
from holdfast.events import AgentSaid, Event, Origin, UserSaid
from holdfast.state import State
from holdfast.state.fold import fold_all

SURVIVAL_SHARES = (0.1, 0.2, 0.3)
STALE_SHARES = (0.6, 0.9)
SEEDS = (1, 2, 3, 4, 5, 6)


class KitScore(NamedTuple):
    share: float
    survival: float  # of the planted statements of the randomized corpus
    resolved: int  # updates told, and the old value not
    stale: int  # old values that still stand somewhere in the text
    in_force: int  # ... and stand in it as in force
    conflicts: int


def score(share: float, seeds: Sequence[int] = SEEDS) -> KitScore:
    random_session = import_module("compaction_kit.corpus").build_random_session
    probe_all = import_module("compaction_kit.runner")._probe_all
    semantic = import_module("compaction_kit.semantic_corpus")

    kept: list[float] = []
    resolved = stale = in_force = conflicts = 0
    for seed in seeds:
        session, canaries = random_session(seed)
        found = probe_all(canaries, brief_of(session, share))
        kept.append(statistics.mean(map(bool, found.values())))
        for builder in (semantic.build_semantic_session, semantic.build_semantic_heldout_session):
            session, canaries, meta = builder(seed)
            text = brief_of(session, share)
            force = _in_force(session)
            for canary in canaries:
                if canary.id not in meta["conflicts"]:
                    continue
                conflicts += 1
                old = [token.lower() in text.lower() for token in canary.superseded_tokens]
                new = all(token.lower() in text.lower() for token in canary.required_tokens)
                stale += any(old)
                resolved += new and not any(old)
                in_force += any(token.lower() in force for token in canary.superseded_tokens)
    return KitScore(share, statistics.mean(kept), resolved, stale, in_force, conflicts)


def brief_of(session: Any, share: float) -> str:
    size = sum(len(f"[{turn.role}] {turn.text}") + 1 for turn in session.turns)
    return compose(read_turns(session), int(size * share)).text


def read_turns(session: Any) -> State:
    events: list[Event] = []
    for number, turn in enumerate(session.turns, 1):
        at = Origin(f"row-{number}", number * 1000, number * 1000 + 999, "2026-01-01T00:00:00Z")
        if turn.role == "user":
            events.append(UserSaid(at, turn.text, "prompt", ""))
        elif turn.role == "assistant":
            events.append(AgentSaid(at, turn.text))
    return fold_all(events)


def _in_force(session: Any) -> str:
    from holdfast.state.demand_sentences import HOLD, MARKED, RULE
    from holdfast.state.rules import list_demands

    demands = list_demands(read_turns(session).rules, HOLD, RULE, MARKED)
    return "\n".join(one.rule.text for one in demands).lower()


def main() -> None:
    print("share  survival  resolved  stale  in force  of")
    for share in (*SURVIVAL_SHARES, *STALE_SHARES):
        one = score(share)
        print(
            f"{share:5.0%} {one.survival:8.1%} {one.resolved:9} {one.stale:6} {one.in_force:9}"
            f" {one.conflicts:3}"
        )


if __name__ == "__main__":
    main()
