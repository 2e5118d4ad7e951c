"""A session's life over time, and each compaction of it up close."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Path, Request

from holdfast.lifecycle.inherit import state_before
from holdfast.server.closeup import CloseUp, close_up
from holdfast.server.models import (
    CompactionUpClose,
    GivenBack,
    Life,
    LifeCompaction,
    LifeDelivery,
    LifePoint,
    LookedUp,
    NamedFact,
)
from holdfast.server.problems import NotFound
from holdfast.server.routes.sessions import (
    OfProject,
    SessionId,
    checkpoint_answer,
    known_session,
    session_answer,
)
from holdfast.server.sight import Sight
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit
from holdfast.state import EMPTY, State, UnreadableState, from_document
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Compaction, Delivery, Session

router = APIRouter(prefix="/api/sessions", route_class=StrictRoute, tags=["sessions"])

MOST = 500  # of one session, compactions and deliveries
# Of those that no hook compared, the latest: each costs the reading of a checkpoint.
COMPARED = 12

Epoch = Annotated[int, Path(ge=0, le=2**31)]


class _Past(NamedTuple):
    session: Session
    state: State
    compactions: Sequence[Compaction]  # the first one first
    deliveries: Sequence[Delivery]
    facts: Sequence[Fact]


@router.get("/{session_id}/life")
def life(request: Request, session_id: SessionId, project_id: OfProject = "") -> Life:
    """How full the context was over time, with compactions, checkpoints and what was handed
    over as marks."""
    with Visit(request).sight(project_id=project_id) as sight:
        past = _past(sight, session_id)
        checkpoints = sight.checkpoints(session_id)
        unjudged = [one.epoch for one in past.compactions if not one.kept and not one.lost]
        worth = set(unjudged[-COMPARED:])
        told = [
            _counted(one, _close(sight, past, one, compare=one.epoch in worth))
            for one in past.compactions
        ]
    return Life(
        session=session_answer(past.session, past.facts),
        model=past.state.usage.model,
        points=[LifePoint(**point._asdict()) for point in past.state.life.values()],
        compactions=told,
        checkpoints=[checkpoint_answer(made) for made in reversed(checkpoints)],
        deliveries=[
            LifeDelivery(
                epoch=given.epoch,
                time=given.time,
                what=given.what,
                road=given.road,
                characters=len(given.text),
                facts=len(given.facts),
            )
            for given in past.deliveries
        ],
        kinds=dict(Counter(fact.kind for fact in past.facts if fact.standing == OPEN)),
    )


@router.get("/{session_id}/compactions/{epoch}")
def compaction(
    request: Request, session_id: SessionId, epoch: Epoch, project_id: OfProject = ""
) -> CompactionUpClose:
    """What the summary kept, what it lost, what was given back, and what was looked up again."""
    with Visit(request).sight(project_id=project_id) as sight:
        past = _past(sight, session_id)
        found = next((one for one in past.compactions if one.epoch == epoch), None)
        if found is None:
            raise NotFound("No such compaction")
        close = _close(sight, past, found, compare=True)
    return CompactionUpClose(
        session=session_answer(past.session, past.facts),
        compaction=_counted(found, close),
        compactions=len(past.compactions),
        compared=close.compared,
        summary=found.summary,
        kept=_named(close.kept, close),
        lost=_named(close.lost, close),
        given=[
            GivenBack(
                what=given.what,
                road=given.road,
                time=given.time,
                text=given.text,
                facts=_named(given.facts, close),
            )
            for given in close.given
        ],
        again=[
            LookedUp(
                what=one.what,
                subject=one.subject,
                seen=one.seen,
                count=one.times,
                time=one.time,
            )
            for one in close.again
        ],
    )


def _past(sight: Sight, session_id: str) -> _Past:
    session = known_session(sight.session(session_id))
    saved = sight.load(session_id)
    state = EMPTY
    if saved is not None:
        try:
            state = from_document(saved.state)
        except UnreadableState:
            state = EMPTY  # another version's: its owner folds it again
    return _Past(
        session,
        state,
        list(reversed(sight.compactions(session_id, MOST))),
        list(reversed(sight.deliveries(session_id, MOST))),
        sight.facts(session_id),
    )


def _close(sight: Sight, past: _Past, one: Compaction, *, compare: bool) -> CloseUp:
    before = state_before(sight.store, one) if compare else EMPTY
    return close_up(one, before, past.state, past.facts, past.deliveries)


def _counted(one: Compaction, close: CloseUp) -> LifeCompaction:
    compared = close.compared != "no"
    return LifeCompaction(
        epoch=one.epoch,
        time=one.time,
        trigger=one.trigger,
        tokens_before=one.tokens_before,
        tokens_after=one.tokens_after,
        kept=len(close.kept) if compared else None,
        lost=len(close.lost) if compared else None,
        back=len(close.back) if compared else None,
        again=len(close.again),
    )


def _named(names: Sequence[str], close: CloseUp) -> list[NamedFact]:
    found = []
    for name in names:
        fact = close.facts.get(name)
        found.append(
            NamedFact(
                id=name,
                kind=fact.kind if fact else "",
                text=fact.text if fact else "",
                detail=fact.detail if fact else "",
                gone=fact is None,
                back=close.back.get(name, ""),
            )
        )
    return found
