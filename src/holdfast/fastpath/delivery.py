"""What is delivered to the agent: what is fresh enough, by whom, in which order, in how much room.

The one owner of that decision, for the fast path and for `compaction.handlers` alike. A text is
claimed before it is printed and settled after: a hook can be killed at any moment, so nothing
counts as delivered before it was printed, and of many hooks one prints it. Knows no client: the
caller says how much its client takes, and which rows of its transcript say nothing.
"""

from __future__ import annotations

from holdfast.fastpath import pending_texts
from holdfast.fastpath.pending_texts import KINDS, PendingKind, PrebuiltText
from holdfast.fastpath.session_dir import MODULE_LATCH, SessionDir, append_line, delivered_latch
from holdfast.files import file_size, read_from, where_possible
from holdfast.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MESSAGES = "messages"  # of other agents: see `inbox`
PENDING_DURING_WORK = frozenset(
    (MESSAGES, *(kind.name for kind in KINDS.values() if kind.during_work))
)
TOLD_TO_USER = (
    pending_texts.LOW_USER,
    pending_texts.ADVICE,
    pending_texts.SETTINGS_PROBLEM,
)
PENDING_AT_PROMPT = PENDING_DURING_WORK.union(TOLD_TO_USER)
MAX_SCAN_BYTES = 512 * 1024  # bytes that a transcript may have grown by and still be looked through


class DeliveredItem(NamedTuple):
    """One part of what is delivered, as the store will know it."""

    kind: str
    text: str
    epoch: int = 0
    fact_ids: str = ""


class ClaimedText:
    """A text that this process alone may print, and what is to be noted once it has."""

    def __init__(self, session_dir: SessionDir, channel: str) -> None:
        self.text = ""  # for the agent
        self.message = ""  # for the user's eyes
        self.question = ""  # for the client's own dialog, before a tool runs
        self.items: list[DeliveredItem] = []  # what the text is made of
        self._session_dir = session_dir
        self._channel = channel
        self._claims: list[str] = []  # kinds
        self._told: list[str] = []  # statements that are told once

    def add_claimed(self, kind: PendingKind, found: PrebuiltText) -> None:
        self._claims.append(kind.name)
        if kind.recorded_as:
            self.add_item(DeliveredItem(kind.recorded_as, found.text, found.epoch, found.fact_ids))
        else:
            self.append(found.text)

    def add_item(self, item: DeliveredItem) -> None:
        self.items.append(item)
        self.append(item.text)

    def append(self, line: str) -> None:
        self.text = f"{self.text}\n{line}" if self.text and line else self.text or line

    def claim_line(self, kind: str) -> str:
        line = self._session_dir.pending.claim_text(kind)
        self._claims.append(kind)
        return line

    def add_told(self, item: DeliveredItem, statements: list[str]) -> None:
        """`statements` are claimed, and part of the item's text."""
        self.add_item(item)
        self._told += statements

    def settle(self) -> None:
        """It was printed."""
        for item in self.items:
            record_delivery(self._session_dir, self._channel, item)
        for kind in self._claims:
            self._session_dir.pending.settle(kind)
        if self._told:
            self._session_dir.pending.record_told(self._told)


def record_delivery(session_dir: SessionDir, channel: str, item: DeliveredItem) -> None:
    """A text was handed over; the full path tells the store."""
    facts, text = item.fact_ids, item.text
    append_line(session_dir, item.kind, epoch=item.epoch, channel=channel, facts=facts, text=text)


def is_fresh(
    prepared: PrebuiltText, transcript: str, says_nothing: Callable[[bytes], bool]
) -> bool:
    """Whether the transcript tells nothing that the brief does not know."""
    grown = file_size(transcript) - prepared.offset
    if grown == 0:
        return True
    if not 0 < grown <= MAX_SCAN_BYTES:
        return False
    # The client appends a few rows of its own book-keeping after PreCompact.
    rows = read_from(transcript, prepared.offset, grown)
    return len(rows) == grown and says_nothing(rows)


def find_fresh_brief(
    session_dir: SessionDir, transcript: str, says_nothing: Callable[[bytes], bool]
) -> PrebuiltText | None:
    """The brief to deliver after a compaction; None where it has to be made again."""
    prepared = session_dir.read_restored_brief() or session_dir.read_brief()
    if prepared is None or not is_fresh(prepared, transcript, says_nothing):
        return None
    return prepared


def is_restore_due(session_dir: SessionDir, transcript: str, mark: bytes) -> bool:
    """Whether the transcript shows a compaction after which nothing was restored.

    `mark` stands in its row; what was read of the file before says where to look.
    """
    known = session_dir.read_brief()
    if known is not None and known.epoch and not session_dir.is_delivered(known.epoch - 1):
        return True
    size = file_size(transcript)
    start = known.offset if known is not None and known.offset <= size else 0
    return mark in read_from(transcript, start, size - start)


def claim_brief(
    session_dir: SessionDir, brief: PrebuiltText, channel: str, seconds: float
) -> ClaimedText | None:
    """None: another delivers it, or has done so."""
    with where_possible:  # no space: it is printed all the same
        session_dir.pending.put_claimed(pending_texts.LATE_BRIEF, brief)
    if not session_dir.latch(delivered_latch(brief.epoch), seconds):
        session_dir.pending.settle(pending_texts.LATE_BRIEF)
        return None
    session_dir.pending.forget_told()
    claimed = ClaimedText(session_dir, channel)
    claimed.add_claimed(KINDS[pending_texts.LATE_BRIEF], brief)
    return claimed


def claim_for_request(
    session_dir: SessionDir, brief: PrebuiltText, channel: str, seconds: float
) -> ClaimedText | None:
    """For one request to the model, which does not keep it: it waits for a hook whose words stay.

    None: another has done so.
    """
    with where_possible:  # no space: it stands in this request alone
        session_dir.pending.drop(pending_texts.REQUEST_BRIEF)  # of an earlier compaction
        session_dir.pending.put(pending_texts.REQUEST_BRIEF, brief)
    if not session_dir.latch(delivered_latch(brief.epoch), seconds):
        return None
    claimed = ClaimedText(session_dir, channel)
    claimed.add_item(DeliveredItem("brief", brief.text, brief.epoch, brief.fact_ids))
    return claimed


def repeat_for_request(session_dir: SessionDir, channel: str) -> ClaimedText | None:
    """The brief that still waits to be said where it stays."""
    brief = session_dir.pending.read_prebuilt(pending_texts.REQUEST_BRIEF)
    if brief is None:
        return None
    claimed = ClaimedText(session_dir, channel)
    claimed.append(brief.text)
    return claimed


def claim_for_module(session_dir: SessionDir, epoch: int, seconds: float) -> bool:
    """Whether the native module delivers in this epoch; then the hooks stay silent."""
    name = delivered_latch(epoch)
    if session_dir.latch(name, seconds):
        try:
            session_dir.write(name, MODULE_LATCH)
        except OSError:
            session_dir.unlatch(name)  # no space to say whose it is: the classic hooks deliver
            return False
        return True
    # We started this compaction and it was aborted: we keep the latch.
    return session_dir.is_held_by_module(epoch)


def claim_handoff(
    session_dir: SessionDir, cwd: str, session_id: str, client: int, channel: str, seconds: float
) -> ClaimedText | None:
    """What an earlier session of this folder left, for one that starts."""
    from holdfast.fastpath import handoff_offers  # at a start only: every prompt comes through here

    offer = handoff_offers.offer_handoff(session_dir.data_dir, cwd, session_id, client, seconds)
    if offer is None:
        return None
    claimed = ClaimedText(session_dir, channel)
    claimed.add_item(DeliveredItem("handoff", offer.text))
    return claimed


def is_pending_during_work(session_dir: SessionDir) -> bool:
    return bool(PENDING_DURING_WORK & session_dir.pending.list_waiting())


def claim_pending(
    session_dir: SessionDir, channel: str, room: int, *, to_user: bool, warn: bool
) -> ClaimedText | None:
    """What waits, as far as there is room: a brief that came late, the gap, warnings, messages.

    `to_user`: what this hook prints is shown to the user. `warn`: nobody compacts just now.
    """
    waiting = session_dir.pending.list_waiting()
    if not waiting & PENDING_AT_PROMPT:
        return None
    claimed = ClaimedText(session_dir, channel)
    for kind in KINDS.values():
        if kind.name in waiting and kind.during_work and (warn or kind.while_compacting):
            _claim_kind(session_dir, claimed, kind, room)
    # Who compacts now need not be told that it is time to.
    if not warn:
        return claimed
    if MESSAGES in waiting:
        _claim_messages(session_dir, claimed, room - len(claimed.text) - 1)
    # What a background hook says is not shown to the user: the next prompt's is.
    for name in TOLD_TO_USER if to_user else ():
        if not claimed.message and name in waiting:
            claimed.message = claimed.claim_line(name)
    return claimed


def _claim_kind(
    session_dir: SessionDir, claimed: ClaimedText, kind: PendingKind, room: int
) -> None:
    if kind.max_chars and len(claimed.text) >= room - kind.max_chars:
        return
    if not kind.recorded_as and kind.max_chars:
        claimed.append(claimed.claim_line(kind.name))
        return
    # With a brief that came late the gap may not fit: it comes with what happens next.
    if kind.name == pending_texts.GAP and claimed.text:
        return
    found = session_dir.pending.claim_prebuilt(kind.name)
    if found is None:
        return
    prepared = session_dir.read_brief()
    late = kind.name == pending_texts.LATE_BRIEF
    if late and prepared is not None and prepared.epoch > found.epoch + 1:
        session_dir.pending.settle(kind.name)  # of an earlier compaction
        return
    claimed.add_claimed(kind, found)


def _claim_messages(session_dir: SessionDir, claimed: ClaimedText, room: int) -> None:
    """What other agents wrote, as far as there is room; each once."""
    from holdfast.fastpath import inbox

    messages = inbox.claim_messages(session_dir.path, room)
    if not messages:
        return
    prepared = session_dir.read_brief()
    epoch = prepared.epoch if prepared is not None else 0
    claimed.items += [DeliveredItem(f"message:{one.id}", one.text, epoch) for one in messages]
    claimed.append("\n".join([inbox.HEADING, *(one.text for one in messages)]))
