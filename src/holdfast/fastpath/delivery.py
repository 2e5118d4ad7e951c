"""What is delivered to the agent: what is fresh enough, by whom, in which order, in how much room.

The one owner of that decision, for the fast path and for `compaction.handlers` alike. A text is
claimed before it is printed and settled after: a hook can be killed at any moment, so nothing
counts as delivered before it was printed, and of many hooks one prints it. Knows no client: the
caller says how much its client takes, and which rows of its transcript say nothing.
"""

from __future__ import annotations

from holdfast.fastpath.session_dir import (
    MODULE_LATCH,
    UNKEPT_BRIEF,
    UNPRINTED_BRIEF,
    PrebuiltText,
    SessionDir,
    delivered_latch,
)
from holdfast.fastpath.spool import spool_delivery
from holdfast.files import file_size, read_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

PENDING_DURING_WORK = frozenset((UNPRINTED_BRIEF, UNKEPT_BRIEF, "gap", "low-agent", "messages"))
PENDING_AT_PROMPT = PENDING_DURING_WORK | {"low-user", "tell-user"}
MAX_WARNING_CHARS = 1_000  # room for a warning
MAX_SCAN_BYTES = 512 * 1024  # bytes that a transcript may have grown by and still be looked through


class DeliveredItem:
    """One part of what is delivered, as the store will know it."""

    __slots__ = ("epoch", "fact_ids", "kind", "text")

    def __init__(self, kind: str, text: str, epoch: int = 0, fact_ids: str = "") -> None:
        self.kind = kind
        self.text = text
        self.epoch = epoch
        self.fact_ids = fact_ids


class ClaimedText:
    """A text that this process alone may print, and what is to be noted once it has."""

    __slots__ = ("_channel", "_claims", "_session_dir", "items", "message", "text")

    def __init__(self, session_dir: SessionDir, channel: str) -> None:
        self.text = ""  # for the agent
        self.message = ""  # for the user's eyes
        self.items: list[DeliveredItem] = []  # what the text is made of
        self._session_dir = session_dir
        self._channel = channel
        self._claims: list[str] = []

    def add_prebuilt(self, kind: str, found: PrebuiltText, claim: str) -> None:
        self._claims.append(claim)
        self.items.append(DeliveredItem(kind, found.text, found.epoch, found.fact_ids))
        self.append(found.text)

    def add_recorded(self, found: PrebuiltText, claim: str) -> None:
        """A text that the store knows to be delivered."""
        self._claims.append(claim)
        self.append(found.text)

    def append(self, line: str) -> None:
        self.text = f"{self.text}\n{line}" if self.text and line else self.text or line

    def claim_line(self, name: str) -> str:
        self._claims.append(name)
        return self._session_dir.claim_text(name)

    def settle(self) -> None:
        """It was printed."""
        for item in self.items:
            record_delivery(self._session_dir, self._channel, item)
        for name in self._claims:
            self._session_dir.release_claim(name)


def record_delivery(session_dir: SessionDir, channel: str, item: DeliveredItem) -> None:
    """Note for the store that a text was handed over."""
    spool_delivery(session_dir, item.kind, channel, item.epoch, item.fact_ids, item.text)


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
    """The brief to deliver after a compaction; None where it has to be made anew."""
    prepared = session_dir.read_restored_brief() or session_dir.read_brief()
    if prepared is None or not is_fresh(prepared, transcript, says_nothing):
        return None
    return prepared


def claim_brief(
    session_dir: SessionDir, brief: PrebuiltText, channel: str, seconds: float
) -> ClaimedText | None:
    """None: another delivers it, or has done so."""
    if not session_dir.claim_brief(brief, seconds):
        return None
    claimed = ClaimedText(session_dir, channel)
    claimed.add_prebuilt("brief", brief, UNPRINTED_BRIEF)
    return claimed


def claim_for_request(
    session_dir: SessionDir, brief: PrebuiltText, channel: str, seconds: float
) -> ClaimedText | None:
    """For one request to the model, which does not keep it: it waits for a hook whose words stay.

    None: another has done so.
    """
    try:  # noqa: SIM105  contextlib costs 3 ms
        session_dir.write_unkept_brief(brief)
    except OSError:
        pass  # no space: it stands in this request alone
    if not session_dir.latch(delivered_latch(brief.epoch), seconds):
        return None
    claimed = ClaimedText(session_dir, channel)
    claimed.items.append(DeliveredItem("brief", brief.text, brief.epoch, brief.fact_ids))
    claimed.append(brief.text)
    return claimed


def repeat_for_request(session_dir: SessionDir, channel: str) -> ClaimedText | None:
    """The brief that still waits to be said where it stays."""
    brief = session_dir.read_unkept_brief()
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
            session_dir.delete_file(name)  # no space to say whose it is: the classic hooks deliver
            return False
        return True
    # A compaction that we began and that came to nothing: still ours.
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
    claimed.items.append(DeliveredItem("handoff", offer.text))
    claimed.append(offer.text)
    return claimed


def is_pending_during_work(session_dir: SessionDir) -> bool:
    return bool(PENDING_DURING_WORK & session_dir.list_waiting())


def claim_pending(
    session_dir: SessionDir, channel: str, room: int, *, to_user: bool, warn: bool
) -> ClaimedText | None:
    """What waits, as far as there is room: a brief that came late, the gap, warnings, messages.

    `to_user`: what this hook prints is shown to the user. `warn`: nobody compacts just now.
    """
    waiting = session_dir.list_waiting()
    if not waiting & PENDING_AT_PROMPT:
        return None
    claimed = ClaimedText(session_dir, channel)
    if UNPRINTED_BRIEF in waiting:
        brief = session_dir.claim_unprinted_brief()
        if brief is not None:
            claimed.add_prebuilt("brief", brief, UNPRINTED_BRIEF)
    if UNKEPT_BRIEF in waiting:
        unkept = session_dir.claim_unkept_brief()
        if unkept is not None:
            claimed.add_recorded(unkept, UNKEPT_BRIEF)
    # With a brief that came late the gap may not fit: it comes with what happens next.
    if "gap" in waiting and not claimed.text:
        gap = session_dir.claim_gap()
        if gap is not None:
            claimed.add_prebuilt("gap", gap, "gap")
    # Who compacts now need not be told that it is time to.
    if not warn:
        return claimed
    if "low-agent" in waiting and len(claimed.text) < room - MAX_WARNING_CHARS:
        claimed.append(claimed.claim_line("low-agent"))
    if "messages" in waiting:
        _claim_messages(session_dir, claimed, room - len(claimed.text) - 1)
    # What a background hook says is not shown to the user: the next prompt's is.
    for name in ("low-user", "tell-user") if to_user else ():
        if not claimed.message and name in waiting:
            claimed.message = claimed.claim_line(name)
    return claimed


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
