"""The directory of a session: small files that let the fast hooks work without the database.

    brief            the brief that the next compaction will need, with how much it knows
    compacting       made by PreCompact, until PostCompact: a summary is to come
    summary          that summary, once it is known
    restored         the brief chosen against it, ready for SessionStart
    standing         the brief that stands in every request until the next compaction
    gap              text waiting for the next prompt or tool batch
    keep             a brief that stands in single requests, until a hook says it whose words stay
    request          which compaction the last request came after, where requests are looked at
    starting         how the session has just started, where its first prompt's hook sees to that
    low-agent        that context is low, for the next prompt or tool batch
    low-user         the same for the user's eyes, at the next prompt
    tell-user        what is wrong in the settings, likewise
    status           what the status line shows: epoch, tokens, open tasks, when it was saved
    window           the size of the model's window, as the status line was told
    messages/        of other agents, for the next prompt or tool batch: see `inbox`
    spool            JSON lines appended by fast hooks, for the next full one to save
    delivered.<n>    latches: who made the file may speak, everyone else stays silent
    gap.<pid>        claimed by that process, which is about to print it; likewise for lines
    owed.<pid>       the brief that that process is about to print

A claim is settled when the text has been printed. Where its process died before, the text waits
again.

Owns their names and formats. Imported by the fast hooks:
nothing but `os` and `time`, no `typing`, no `json`. Every file is for the user alone;
`holdfast.files` writes them. Nothing here redacts: the caller has done so.
"""

from __future__ import annotations

import os
import time

from holdfast.files import (
    append,
    create_exclusive,
    exists,
    file_age,
    list_names,
    make_private_dir,
    move,
    read,
    remove,
    write_atomic,
)
from holdfast.system import is_process_running

FILE_HEADER = "holdfast 1"
# A latch this old belongs to a compaction that our fold never saw the end of.
LATCH_STALE_SECONDS = 120.0
# Another process may still be writing into a spool that was just turned over.
SPOOL_GRACE_SECONDS = 60.0
# What the fast hooks could leave behind if nothing ever drained it.
MAX_SPOOL_BYTES = 4_000_000
MAX_LATCHES = 50
STATUS_FILE = "status"
WINDOW_FILE = "window"
# Longer than any background hook may take.
WORK_LOCK_SECONDS = 90.0
# A claim is settled within milliseconds; this old, its process id belongs to somebody else.
CLAIM_STALE_SECONDS = 60.0
UNPRINTED_BRIEF = "owed"
# What the native module writes into a latch that it holds.
MODULE_LATCH = b"native\n"
COMPACTING_FILE = "compacting"
SUMMARY_FILE = "summary"
RESTORED_FILE = "restored"
STANDING_FILE = "standing"
UNKEPT_BRIEF = "keep"
REQUEST_FILE = "request"
STARTING = "starting"
CLAIMABLE_FILES = frozenset(
    ("gap", UNPRINTED_BRIEF, UNKEPT_BRIEF, STARTING, "low-agent", "low-user", "tell-user")
)

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def safe_name(name: str) -> str:
    """A file name for any text: itself where it is plain, else made plain and told apart."""
    if name and len(name) <= 80 and _SAFE.issuperset(name):
        return name
    plain = "".join(c if c in _SAFE else "-" for c in name[-60:])
    return f"{plain}-{checksum(name):016x}"


def checksum(text: str) -> int:
    """FNV-1a, 64 bits: stable between processes, and no import."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "surrogatepass"):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def delivered_latch(epoch: int) -> str:
    """Whoever holds it delivers the brief of the compaction that ends this epoch."""
    return f"delivered.{epoch}"


class PrebuiltText:
    """A text made from the transcript up to some row, and the facts that it tells."""

    __slots__ = ("epoch", "fact_ids", "generation", "offset", "text", "time")

    def __init__(
        self, epoch: int, generation: int, offset: int, time: str, facts: str, text: str
    ) -> None:
        self.epoch = epoch
        self.generation = generation
        self.offset = offset  # how far the transcript was read
        self.time = time
        self.fact_ids = facts  # ids of what it tells, with commas between
        self.text = text

    def encode(self) -> bytes:
        words = (
            FILE_HEADER,
            self.epoch,
            self.generation,
            self.offset,
            self.time or "-",
            self.fact_ids,
        )
        return (" ".join(map(str, words)) + "\n" + self.text).encode("utf-8", "replace")


def decode_prebuilt(data: bytes) -> PrebuiltText | None:
    """None for anything that is not such a file: an older version's, or a damaged one."""
    header, newline, text = data.decode("utf-8", "replace").partition("\n")
    words = header.split(" ")
    if not newline or len(words) != 7 or " ".join(words[:2]) != FILE_HEADER:
        return None
    if not all(word.isdecimal() and len(word) < 19 for word in words[2:5]):
        return None
    return PrebuiltText(int(words[2]), int(words[3]), int(words[4]), words[5], words[6], text)


class SessionDir:
    __slots__ = ("data_dir", "path")

    def __init__(self, data: str, session_id: str) -> None:
        self.data_dir = data
        self.path = f"{data}/sessions/{safe_name(session_id)}"

    def read_brief(self) -> PrebuiltText | None:
        data = read(f"{self.path}/brief")
        return None if data is None else decode_prebuilt(data)

    def write_brief(self, brief: PrebuiltText) -> None:
        self.write("brief", brief.encode())

    def begin_compaction(self) -> None:
        """Whatever an earlier compaction left behind must not pass for this one's."""
        self.end_compaction()
        self.write(COMPACTING_FILE, b"")

    def end_compaction(self) -> None:
        for name in (COMPACTING_FILE, SUMMARY_FILE, RESTORED_FILE):
            remove(f"{self.path}/{name}")

    def is_compacting(self) -> bool:
        return exists(f"{self.path}/{COMPACTING_FILE}")

    def save_summary(self, summary: PrebuiltText) -> bool:
        """False when another one is there: which of the two is the compaction's is unknown."""
        there = self.read_summary()
        if there is not None and there.text != summary.text:
            remove(f"{self.path}/{RESTORED_FILE}")
            summary = PrebuiltText(there.epoch, there.generation, there.offset, there.time, "", "")
        self.write(SUMMARY_FILE, summary.encode())
        return bool(summary.text)

    def read_summary(self) -> PrebuiltText | None:
        data = read(f"{self.path}/{SUMMARY_FILE}")
        return None if data is None else decode_prebuilt(data)

    def save_restored_brief(self, brief: PrebuiltText) -> None:
        self.write(RESTORED_FILE, brief.encode())

    def read_restored_brief(self) -> PrebuiltText | None:
        """The brief that was chosen against the summary of the compaction under way."""
        data = read(f"{self.path}/{RESTORED_FILE}")
        return None if data is None else decode_prebuilt(data)

    def save_standing_brief(self, compaction: str, text: str) -> None:
        self.write(STANDING_FILE, f"{compaction}\n{text}".encode("utf-8", "replace"))

    def read_standing_brief(self, compaction: str) -> str | None:
        """None where it was made for another compaction, or never."""
        data = read(f"{self.path}/{STANDING_FILE}")
        known, newline, text = (data or b"").decode("utf-8", "replace").partition("\n")
        return text if newline and known == compaction else None

    def write_unkept_brief(self, brief: PrebuiltText) -> None:
        self.delete_file(UNKEPT_BRIEF)  # of an earlier compaction
        self.write(UNKEPT_BRIEF, brief.encode())

    def read_unkept_brief(self) -> PrebuiltText | None:
        """The brief that no hook has said yet whose words stay in the conversation."""
        for name in list_names(self.path):
            if name == UNKEPT_BRIEF or (
                name.startswith(f"{UNKEPT_BRIEF}.") and self._is_abandoned(name)
            ):
                data = read(f"{self.path}/{name}")
                return None if data is None else decode_prebuilt(data)
        return None

    def claim_unkept_brief(self) -> PrebuiltText | None:
        data = self.claim(UNKEPT_BRIEF)
        return None if data is None else decode_prebuilt(data)

    def save_answered_request(self, key: str) -> None:
        self.write(REQUEST_FILE, key.encode("utf-8", "replace"))

    def read_answered_request(self) -> str:
        """The compaction whose requests need nothing more than the brief that waits, if any."""
        return (read(f"{self.path}/{REQUEST_FILE}") or b"").decode("utf-8", "replace")

    def begin_session(self, source: str) -> None:
        self.write(STARTING, source.encode("utf-8", "replace"))

    def claim_start(self) -> str:
        """How the session began, for the first hook that asks; "" for every other."""
        source = self.claim_text(STARTING)
        if source:
            self.release_claim(STARTING)
        return source

    def has_gap(self) -> bool:
        return self.is_waiting("gap")

    def write_gap(self, gap: PrebuiltText) -> None:
        self.write("gap", gap.encode())

    def delete_gap(self) -> None:
        self.delete_file("gap")

    def claim_gap(self) -> PrebuiltText | None:
        data = self.claim("gap")
        return None if data is None else decode_prebuilt(data)

    def claim_brief(self, brief: PrebuiltText, seconds: float) -> bool:
        """True for the one that may print it, and settles `UNPRINTED_BRIEF` then.

        Should we die before that, the next hook has it from the file written here.
        """
        for name in list_names(self.path):
            if name.startswith(UNPRINTED_BRIEF) and self._is_abandoned(name):
                remove(f"{self.path}/{name}")  # of an earlier compaction
        try:  # noqa: SIM105  contextlib costs 3 ms
            self.write(f"{UNPRINTED_BRIEF}.{os.getpid()}", brief.encode())
        except OSError:
            pass  # no space: it is printed all the same
        if self.latch(delivered_latch(brief.epoch), seconds):
            return True
        self.release_claim(UNPRINTED_BRIEF)
        return False

    def claim_unprinted_brief(self) -> PrebuiltText | None:
        """A brief that was claimed and never printed, if it is still the present's."""
        data = self.claim(UNPRINTED_BRIEF)
        owed = None if data is None else decode_prebuilt(data)
        prepared = self.read_brief()
        if owed is not None and prepared is not None and prepared.epoch > owed.epoch + 1:
            self.release_claim(UNPRINTED_BRIEF)
            return None
        return owed

    def list_waiting(self) -> set[str]:
        """The names of what waits, to be asked once per hook."""
        found = list_names(self.path)
        return {name.partition(".")[0] if self._is_abandoned(name) else name for name in found}

    def is_waiting(self, name: str) -> bool:
        return name in self.list_waiting()

    def claim(self, name: str) -> bytes | None:
        """A waiting text, for exactly one of all that ask: a rename has one winner.

        To be settled once it has been printed; until then it would wait again if we died.
        """
        mine = f"{self.path}/{name}.{os.getpid()}"
        for found in (name, *(n for n in list_names(self.path) if n.startswith(f"{name}."))):
            if found != name and not self._is_abandoned(found):
                continue
            try:
                move(f"{self.path}/{found}", mine)
            except OSError:
                continue
            return read(mine)
        return None

    def release_claim(self, name: str) -> None:
        """What we claimed was printed."""
        remove(f"{self.path}/{name}.{os.getpid()}")

    def claim_text(self, name: str) -> str:
        """A waiting line, for exactly one of all that ask; to be settled like any claim."""
        return (self.claim(name) or b"").decode("utf-8", "replace")

    def delete_file(self, name: str) -> None:
        remove(f"{self.path}/{name}")
        for found in list_names(self.path):
            if found.startswith(f"{name}.") and found[len(name) + 1 :].isdecimal():
                remove(f"{self.path}/{found}")

    def _is_abandoned(self, found: str) -> bool:
        """Whether this is the claim of a process that is gone."""
        name, _, process = found.partition(".")
        if name not in CLAIMABLE_FILES or not process.isdecimal() or len(process) > 9:
            return False
        if not is_process_running(int(process)):
            return True
        try:
            claimed = os.stat(f"{self.path}/{found}").st_ctime
        except OSError:
            return False
        return abs(time.time() - claimed) > CLAIM_STALE_SECONDS

    def latch(self, name: str, seconds: float) -> bool:
        """True for the first to ask, and again for one who asks when the first is long past.

        Where no file can be made (no space, no permission) everyone is the first: to say it
        twice is better than never.
        """
        for number in range(MAX_LATCHES):
            path = f"{self.path}/{name}" + (f".{number}" if number else "")
            try:
                make_private_dir(self.path)
                create_exclusive(path)
                return True
            except FileExistsError:
                if _is_recent(path, seconds, LATCH_STALE_SECONDS):
                    return False
            except OSError:
                return True
        return False

    def latched(self, name: str) -> bool:
        return exists(f"{self.path}/{name}")

    def is_delivered(self, epoch: int) -> bool:
        """Whether somebody holds the latch: the brief was delivered, or is about to be."""
        return self.latched(delivered_latch(epoch))

    def is_held_by_module(self, epoch: int) -> bool:
        """Whether the plugin's native module holds the latch: see `fastpath.delivery`."""
        return read(f"{self.path}/{delivered_latch(epoch)}") == MODULE_LATCH

    def append_spool(self, line: str) -> None:
        """One JSON line for the next full hook, in one write, so that lines never mix."""
        make_private_dir(self.path)
        data = line.encode("utf-8", "replace") + b"\n"
        append(f"{self.path}/spool", data, most=MAX_SPOOL_BYTES)

    def drain_spool(self, seconds: float, *, forget: bool = True) -> list[str]:
        """The lines noted so far; some may be given again by the next call.

        A turned-over spool stays for a minute: a fast hook that had it open when it was
        renamed may write after it was read. `forget=False` keeps all: no store could.
        """
        try:  # noqa: SIM105  contextlib costs 3 ms
            move(f"{self.path}/spool", f"{self.path}/spool.{os.getpid()}-{int(seconds)}")
        except OSError:
            pass  # nothing was noted since
        lines: list[str] = []
        for name in sorted(list_names(self.path)):
            if name.startswith("spool."):
                path = f"{self.path}/{name}"
                lines += (read(path) or b"").decode("utf-8", "replace").split("\n")
                if forget and file_age(path, seconds) > SPOOL_GRACE_SECONDS:
                    remove(path)
        return [line for line in lines if line]

    def write(self, name: str, data: bytes) -> None:
        make_private_dir(self.path)
        write_atomic(f"{self.path}/{name}", data)

    def begin_work(self, seconds: float) -> bool:
        """False while another process reads this session's transcript: it will read on."""
        path = f"{self.path}/working"
        try:
            make_private_dir(self.path)
            create_exclusive(path)
        except FileExistsError:
            if _is_recent(path, seconds, WORK_LOCK_SECONDS):
                return False
            self.write("working", b"")  # its owner was killed: ours now
        except OSError:
            return True
        return True

    def end_work(self) -> None:
        remove(f"{self.path}/working")

    def delete_all(self) -> None:
        """Everything of this session, when it is deleted from the store."""
        from holdfast.fastpath import inbox

        inbox.delete_inbox(self.path)
        for name in list_names(self.path):
            remove(f"{self.path}/{name}")
        try:  # noqa: SIM105  as above
            os.rmdir(self.path)
        except OSError:
            pass  # never made, or somebody just put something into it

    def delete_old_latches(self, epoch: int) -> None:
        """Drop the latches of epochs long past."""
        for name in list_names(self.path):
            what, _, number = name.partition(".")
            number = number.partition(".")[0]
            past = number.isdecimal() and int(number) < epoch - 3
            if what in ("delivered", "verified", "low") and past:
                remove(f"{self.path}/{name}")


def _is_recent(path: str, seconds: float, limit: float) -> bool:
    """Not long past, and not of a future that a clock which was set back left behind."""
    return abs(file_age(path, seconds)) < limit
