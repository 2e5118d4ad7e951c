"""A session's life over time, and each compaction of it up close."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Path, Request

from holdfast.compaction.report import CompactionReport, build_report, is_observed
from holdfast.server.problems import NotFound
from holdfast.server.request_context import RequestContext
from holdfast.server.routes.sessions import (
    ProjectIdQuery,
    SessionId,
    checkpoint_response,
    require_session,
    session_response,
)
from holdfast.server.routing import StrictRoute
from holdfast.server.schemas import (
    CompactionDetail,
    ContextUsagePoint,
    DeliveryDetail,
    FactOutcome,
    RepeatedLookup,
    Timeline,
    TimelineCompaction,
    TimelineDelivery,
)
from holdfast.server.scoped_store import ScopedStore
from holdfast.session.update import load_state_before
from holdfast.state import EMPTY_STATE, State, UnreadableState, decode_state
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Compaction, Delivery, Session

router = APIRouter(prefix="/api/sessions", route_class=StrictRoute, tags=["sessions"])

MAX_ROWS = 500  # of one session, compactions and deliveries
# Of those that no hook compared, the latest: each costs the reading of a checkpoint.
MAX_COMPARED = 12

Epoch = Annotated[int, Path(ge=0, le=2**31)]


class _SessionHistory(NamedTuple):
    session: Session
    state: State
    compactions: Sequence[Compaction]  # the first one first
    deliveries: Sequence[Delivery]
    facts: Sequence[Fact]


@router.get("/{session_id}/life")
def get_timeline(
    request: Request, session_id: SessionId, project_id: ProjectIdQuery = ""
) -> Timeline:
    """Context usage over time, with compactions, checkpoints and deliveries as markers."""
    with RequestContext(request).scoped_store(project_id=project_id) as scoped_store:
        past = _load_history(scoped_store, session_id)
        checkpoints = scoped_store.checkpoints(session_id)
        unjudged = [one.epoch for one in past.compactions if not is_observed(one)]
        worth = set(unjudged[-MAX_COMPARED:])
        answers = [
            _summarize_compaction(
                one, _build_report(scoped_store, past, one, compare=one.epoch in worth)
            )
            for one in past.compactions
        ]
    return Timeline(
        session=session_response(past.session, past.facts),
        model=past.state.usage.model,
        points=[
            ContextUsagePoint(**point._asdict()) for point in past.state.usage_history.values()
        ],
        compactions=answers,
        checkpoints=[checkpoint_response(made) for made in reversed(checkpoints)],
        deliveries=[
            TimelineDelivery(
                epoch=given.epoch,
                time=given.time,
                what=given.kind,
                channel=given.channel,
                characters=len(given.text),
                facts=len(given.facts),
            )
            for given in past.deliveries
        ],
        kinds=dict(Counter(fact.kind for fact in past.facts if fact.status == OPEN)),
    )


@router.get("/{session_id}/compactions/{epoch}")
def get_compaction(
    request: Request, session_id: SessionId, epoch: Epoch, project_id: ProjectIdQuery = ""
) -> CompactionDetail:
    """What the summary kept and lost, what was restored, and which look-ups were repeated."""
    with RequestContext(request).scoped_store(project_id=project_id) as scoped_store:
        past = _load_history(scoped_store, session_id)
        found = next((one for one in past.compactions if one.epoch == epoch), None)
        if found is None:
            raise NotFound("No such compaction")
        close = _build_report(scoped_store, past, found, compare=True)
    return CompactionDetail(
        session=session_response(past.session, past.facts),
        compaction=_summarize_compaction(found, close),
        compactions=len(past.compactions),
        compared=close.comparison,
        summary=found.summary,
        kept=_fact_outcomes(close.kept, close),
        lost=_fact_outcomes(close.lost, close),
        given=[
            DeliveryDetail(
                what=given.kind,
                channel=given.channel,
                time=given.time,
                text=given.text,
                facts=_fact_outcomes(given.facts, close),
            )
            for given in close.deliveries
        ],
        would_give=close.would_deliver.text if close.would_deliver else "",
        again=[
            RepeatedLookup(
                what=one.what,
                subject=one.subject,
                seen=one.seen,
                count=one.times,
                time=one.time,
            )
            for one in close.repeated_lookups
        ],
    )


def _load_history(scoped_store: ScopedStore, session_id: str) -> _SessionHistory:
    session = require_session(scoped_store.session(session_id))
    saved = scoped_store.load(session_id)
    state = EMPTY_STATE
    if saved is not None:
        try:
            state = decode_state(saved.state)
        except UnreadableState:
            state = EMPTY_STATE  # another version's: its owner folds it again
    return _SessionHistory(
        session,
        state,
        list(reversed(scoped_store.compactions(session_id, MAX_ROWS))),
        list(reversed(scoped_store.deliveries(session_id, MAX_ROWS))),
        scoped_store.facts(session_id),
    )


def _build_report(
    scoped_store: ScopedStore, past: _SessionHistory, one: Compaction, *, compare: bool
) -> CompactionReport:
    before = load_state_before(scoped_store._store, one) if compare else EMPTY_STATE
    return build_report(one, before, past.facts, past.deliveries, past.state)


def _summarize_compaction(one: Compaction, close: CompactionReport) -> TimelineCompaction:
    compared = close.comparison != "no"
    return TimelineCompaction(
        epoch=one.epoch,
        time=one.time,
        trigger=one.trigger,
        tokens_before=one.tokens_before,
        tokens_after=one.tokens_after,
        kept=len(close.kept) if compared else None,
        lost=len(close.lost) if compared else None,
        back=len(close.restored) if compared else None,
        would_restore=len(close.would_restore) if close.would_deliver else None,
        again=len(close.repeated_lookups),
    )


def _fact_outcomes(names: Sequence[str], close: CompactionReport) -> list[FactOutcome]:
    found = []
    for name in names:
        fact = close.facts.get(name)
        found.append(
            FactOutcome(
                id=name,
                kind=fact.kind if fact else "",
                text=fact.text if fact else "",
                detail=fact.detail if fact else "",
                gone=fact is None,
                back=close.restored.get(name, ""),
                would_restore=name in close.would_restore,
            )
        )
    return found
