"""What compaction has cost: over all sessions, in a session's life, and each one up close."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import AliasPath, BeforeValidator, Field

from holdfast.brief.contradictions import find_contradictions
from holdfast.compaction.prices import DEFAULT_PRICES, BadPrices, estimate_dollars, load_prices
from holdfast.compaction.report import CompactionReport, build_report, is_observed
from holdfast.events import Origin
from holdfast.records import NamedTuple
from holdfast.server.api_request import ReadRequest
from holdfast.server.backend import ScopedStore, read_state
from holdfast.server.problems import NotFound
from holdfast.server.routes.sessions import (
    MAX_FIRST_PROMPT_CHARS,
    CheckpointResponse,
    ProjectIdQuery,
    SessionId,
    SessionResponse,
    require_session,
    session_response,
)
from holdfast.server.routing import Limit, Offset, StrictRoute, TextQuery, next_offset_after
from holdfast.server.schemas import ResponseModel
from holdfast.session.update import load_state_before
from holdfast.state import EMPTY_STATE, State
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Compaction, Delivery, Session
from holdfast.store.sql_store import Store
from holdfast.sync.project_id import make_project_id

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["sessions"])

MAX_COMPACTIONS = 500  # and deliveries
# Of all sessions by one answer, the latest first: each costs the reading of a checkpoint and the
# making of a brief, 16 ms, once. The page asks again for the rest.
MAX_NEW = 40
MAX_REMEMBERED = 10_000  # outcomes of compactions
# Of those that no hook compared, the latest: each costs the reading of a checkpoint.
MAX_COMPARED = 40
# In place of a fact that is not kept any more.
_GONE = Fact("", "", "", "", Origin("", 0, 0, ""))

Epoch = Annotated[int, Path(ge=0, le=2**31)]
Length = Annotated[int, BeforeValidator(len)]


class ContextUsagePoint(ResponseModel):
    time: str
    context: int = Field(description="Tokens in the context")
    epoch: int = Field(description="Number of earlier compactions")
    step: int


class CompactionOutcome(ResponseModel):
    kept: int | None = Field(
        default=None, description="Facts kept by its summary; null if not compared"
    )
    lost: int | None = None
    back: int | None = Field(default=None, description="Number of lost facts that were restored")
    would_restore: int | None = Field(
        default=None, description="Where no hook ran: lost facts that a brief would have restored"
    )


class DescribedCompaction(CompactionOutcome):
    epoch: int = Field(description="The epoch it ended: 0 for the first compaction")
    time: str
    trigger: str
    tokens_before: int | None


class TimelineCompaction(DescribedCompaction):
    tokens_after: int | None
    again: int = Field(description="Look-ups repeated in the following epoch")


class OverviewCompaction(DescribedCompaction):
    session_id: str
    project_id: str
    name: str = Field(description="The session's title, or how it began")
    dollars: float | None = Field(description="Estimated; null if the model's price is unknown")


class Overview(ResponseModel):
    compactions: list[OverviewCompaction] = Field(description="Oldest first, the latest 500")
    more: bool = Field(description="There are earlier ones, which are not listed")
    pending: int = Field(description="Not compared yet, without figures: ask again")


class TimelineDelivery(ResponseModel):
    epoch: int
    time: str
    what: str = Field(validation_alias="kind")
    channel: str
    characters: Length = Field(validation_alias="text")
    facts: Length


class Timeline(ResponseModel):
    session: SessionResponse
    model: str
    points: list[ContextUsagePoint]
    compactions: list[TimelineCompaction] = Field(description="Oldest first")
    checkpoints: list[CheckpointResponse] = Field(description="Oldest first")
    deliveries: list[TimelineDelivery] = Field(description="Oldest first")
    kinds: dict[str, int] = Field(description="Open facts by kind")


class FactOutcome(ResponseModel):
    id: str
    kind: str
    text: str
    detail: str
    gone: bool = Field(description="Only its id is still known")
    back: str = Field(description="What restored it: brief, gap, or both; empty if nothing did")
    would_restore: bool = Field(description="No hook ran; a brief would have restored it")


class ContradictionResponse(ResponseModel):
    kind: str = Field(description="task, check, git, file, value or rule")
    said: str = Field(description="In the words of the summary")
    known: str = Field(description="What the record has instead")
    fact: str = Field(description="Its id; empty where no fact says it")
    row: str = Field(
        validation_alias=AliasPath("at", "row"),
        description="The row of the transcript; empty where there is none",
    )


class DeliveryDetail(ResponseModel):
    what: str = Field(description="brief, gap; steering went to the summariser")
    channel: str
    time: str
    text: str
    facts: list[FactOutcome]


class RepeatedLookup(ResponseModel):
    what: str
    subject: str
    seen: int = Field(description="Epoch of the first look-up")
    count: int = Field(validation_alias="times")
    time: str


class CompactionDetail(ResponseModel):
    session: SessionResponse
    compaction: TimelineCompaction
    compactions: int = Field(description="Number of compactions in this session")
    compared: Literal["recorded", "afterwards", "no"] = Field(
        description="Whether the hooks compared it at the time, or the checkpoint was used later"
    )
    summary: str
    kept: list[FactOutcome]
    lost: list[FactOutcome]
    given: list[DeliveryDetail]
    would_give: str = Field(
        description="Where no hook ran: the brief that would have been given; else empty"
    )
    again: list[RepeatedLookup]
    contradictions: list[ContradictionResponse] = Field(
        description="What the summary says that the record contradicts"
    )


class ConversationMessage(ResponseModel):
    speaker: str = Field(
        description="user, agent, summary (of an earlier compaction), or what was done: ran,"
        " failed, edited and others"
    )
    text: str
    time: str
    row: str


class Conversation(ResponseModel):
    messages: list[ConversationMessage] = Field(description="In their order, the latest page first")
    next_offset: int | None = Field(description="Of the page before this one")


class _SessionHistory(NamedTuple):
    session: Session
    state: State
    compactions: Sequence[Compaction]  # the first one first
    deliveries: Sequence[Delivery]
    facts: Sequence[Fact]


@router.get("/overview")
def get_overview(request: ReadRequest, project_id: TextQuery = "") -> Overview:
    """Every compaction with what its summary lost and what came back."""
    prices = _load_prices()
    with request.scoped_store(project_id=project_id) as scoped_store:
        store = scoped_store.store
        found = scoped_store.compactions("", MAX_COMPACTIONS + 1)
        sessions: dict[str, tuple[Session, str]] = {}
        made = []
        known = request.app_state.compaction_outcomes
        new = pending = 0
        for one in found[:MAX_COMPACTIONS]:
            if one.session_id not in sessions:
                session = store.session(one.session_id)
                if session is None:
                    continue
                sessions[one.session_id] = (session, _name_session(store, session))
            session, name = sessions[one.session_id]
            key = (session.project, one.session_id, one.epoch, session.updated, is_observed(one))
            if key not in known and new < MAX_NEW:
                if len(known) >= MAX_REMEMBERED:
                    known.clear()
                known[key] = _work_out(store, one)
                new += 1
            pending += key not in known
            outcome, model = known.get(key, (CompactionOutcome(), ""))
            made.append(
                OverviewCompaction(
                    **_describe(one, outcome),
                    session_id=one.session_id,
                    project_id=make_project_id(session.project),
                    name=name,
                    dollars=estimate_dollars(model, one.tokens_before, len(one.summary), prices),
                )
            )
    return Overview(compactions=made[::-1], more=len(found) > MAX_COMPACTIONS, pending=pending)


@router.get("/sessions/{session_id}/life")
def get_timeline(
    request: ReadRequest, session_id: SessionId, project_id: ProjectIdQuery = ""
) -> Timeline:
    """Context usage over time, with compactions, checkpoints and deliveries as markers."""
    with request.scoped_store(project_id=project_id) as scoped_store:
        past = _load_history(scoped_store, session_id)
        checkpoints = scoped_store.store.checkpoints(session_id)
        unjudged = [one.epoch for one in past.compactions if not is_observed(one)]
        worth = set(unjudged[-MAX_COMPARED:])
        answers = []
        for one in past.compactions:
            compared = one.epoch in worth
            before = load_state_before(scoped_store.store, one) if compared else EMPTY_STATE
            report = build_report(one, before, past.facts, past.deliveries, past.state)
            answers.append(_summarize_compaction(one, report))
    return Timeline(
        session=session_response(past.session, past.facts),
        model=past.state.usage.model,
        points=[ContextUsagePoint.model_validate(one) for one in past.state.usage_history.values()],
        compactions=answers,
        checkpoints=[CheckpointResponse.model_validate(made) for made in reversed(checkpoints)],
        deliveries=[TimelineDelivery.model_validate(given) for given in past.deliveries],
        kinds=dict(Counter(fact.kind for fact in past.facts if fact.status == OPEN)),
    )


@router.get("/sessions/{session_id}/compactions/{epoch}")
def get_compaction(
    request: ReadRequest, session_id: SessionId, epoch: Epoch, project_id: ProjectIdQuery = ""
) -> CompactionDetail:
    """What the summary kept and lost, what was restored, and which look-ups were repeated."""
    with request.scoped_store(project_id=project_id) as scoped_store:
        past = _load_history(scoped_store, session_id)
        found = next((one for one in past.compactions if one.epoch == epoch), None)
        if found is None:
            raise NotFound("No such compaction")
        before = load_state_before(scoped_store.store, found)
    close = build_report(found, before, past.facts, past.deliveries, past.state)
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
        again=[RepeatedLookup.model_validate(one) for one in close.repeated_lookups],
        contradictions=[
            ContradictionResponse.model_validate(one)
            # Without the disk: what a client posts must not ask which files are here.
            for one in find_contradictions(before, found.summary)
        ],
    )


@router.get("/sessions/{session_id}/compactions/{epoch}/conversation")
def get_conversation(
    request: ReadRequest,
    session_id: SessionId,
    epoch: Epoch,
    limit: Limit = 50,
    offset: Offset = 0,
    project_id: ProjectIdQuery = "",
) -> Conversation:
    """What the agent had in front of it before a compaction, from the one before that on. As the
    store has it: whether the client still has its file makes no difference."""
    with request.scoped_store(project_id=project_id) as scoped_store:
        require_session(scoped_store.session(session_id))
        times = {one.epoch: one.time for one in scoped_store.compactions(session_id, -1)}
        if epoch not in times:
            raise NotFound("No such compaction")
        found = scoped_store.store.messages(
            *(session_id, limit),
            after=times.get(epoch - 1, ""),
            until=times[epoch],
            offset=offset,
        )
    return Conversation(
        messages=[
            ConversationMessage.model_validate(one)
            for one in found
            # Its own summary has the same time as the compaction.
            if one.speaker != "summary" or one.time < times[epoch]
        ],
        next_offset=next_offset_after(found, limit, offset),
    )


def _work_out(store: Store, one: Compaction) -> tuple[CompactionOutcome, str]:
    """With the model. It stays so until its session goes on."""
    before = load_state_before(store, one)
    deliveries = store.deliveries(one.session_id, MAX_COMPACTIONS)
    report = build_report(one, before, store.facts(one.session_id), deliveries)
    return count_outcome(report), before.usage.model


def _name_session(store: Store, session: Session) -> str:
    if session.title:
        return session.title
    first = next((fact.text for fact in store.facts(session.id, kind="request")), "")
    return first[:MAX_FIRST_PROMPT_CHARS]


def _load_prices() -> Mapping[str, tuple[float, float]]:
    try:
        return load_prices(os.environ)
    except BadPrices:
        return DEFAULT_PRICES  # `holdfast audit` says what is wrong with the file


def _load_history(scoped_store: ScopedStore, session_id: str) -> _SessionHistory:
    session = require_session(scoped_store.session(session_id))
    saved = scoped_store.store.load(session_id)
    return _SessionHistory(
        session,
        (read_state(saved.state) if saved else None) or EMPTY_STATE,
        list(reversed(scoped_store.compactions(session_id, MAX_COMPACTIONS))),
        list(reversed(scoped_store.store.deliveries(session_id, MAX_COMPACTIONS))),
        scoped_store.store.facts(session_id),
    )


def count_outcome(report: CompactionReport) -> CompactionOutcome:
    would_restore = len(report.would_restore) if report.would_deliver else None
    if report.comparison == "no":
        return CompactionOutcome(would_restore=would_restore)
    return CompactionOutcome(
        kept=len(report.kept),
        lost=len(report.lost),
        back=len(report.restored),
        would_restore=would_restore,
    )


def _summarize_compaction(one: Compaction, close: CompactionReport) -> TimelineCompaction:
    return TimelineCompaction(
        **_describe(one, count_outcome(close)),
        tokens_after=one.tokens_after,
        again=len(close.repeated_lookups),
    )


def _describe(one: Compaction, outcome: CompactionOutcome) -> dict[str, Any]:
    fields = ("epoch", "time", "trigger", "tokens_before")
    return {**outcome.model_dump(), **{field: getattr(one, field) for field in fields}}


def _fact_outcomes(names: Sequence[str], close: CompactionReport) -> list[FactOutcome]:
    return [
        FactOutcome(
            id=name,
            kind=fact.kind,
            text=fact.text,
            detail=fact.detail,
            gone=fact is _GONE,
            back=close.restored.get(name, ""),
            would_restore=name in close.would_restore,
        )
        for name, fact in ((name, close.facts.get(name, _GONE)) for name in names)
    ]
