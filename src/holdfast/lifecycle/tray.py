"""The tray of a session: small files that let the light hooks work without the database.

    brief            the brief that the next compaction will need, with how much it knows
    compacting       made by PreCompact, until PostCompact: a summary is to come
    summary          that summary, once it is known
    restored         the brief chosen against it, ready for SessionStart
    gap              text waiting for the next prompt or tool batch
    low-agent        that context is low, for the next prompt or tool batch
    low-user         the same for the user's eyes, at the next prompt
    tell-user        what is wrong in the settings, likewise
    status           what the status line shows: epoch, tokens, open tasks, when it was saved
    window           the size of the model's window, as the status line was told
    messages/        of other agents, for the next prompt or tool batch: see `letterbox`
    spool            JSON lines noted by light hooks, for the next heavy one to keep
    delivered.<n>    latches: who made the file may speak, everyone else stays silent
    gap.<pid>        claimed by that process, which is about to print it; likewise for lines
    owed.<pid>       the brief that that process is about to print

A claim is settled when the text has been printed. Where its process died before, the text waits
again.

Owns their names and formats, and the data folder's place. Imported by the lightest hooks:
nothing but `os` and `time`, no `typing`, no `json`. Every file is for the user alone;
`holdfast.files` writes them. Nothing here redacts: whoever writes text here has done so.
"""

from __future__ import annotations

import os
import time

from holdfast.files import (
    age,
    append,
    create,
    exists,
    make_folder,
    move,
    names,
    read,
    remove,
    replace,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MARK = "holdfast 1"
# A latch this old belongs to a compaction that our fold never saw the end of.
STALE_SECONDS = 120.0
# Another process may still be writing into a spool that was just turned over.
SPOOL_SECONDS = 60.0
# What the light hooks could leave behind if nothing ever drained it.
SPOOL_BYTES = 4_000_000
LATCHES = 50
# In the data folder, only where the user has patterns of their own: see `lifecycle.patterns`.
PATTERNS = "patterns.json"
STATUS = "status"
WINDOW = "window"
# Longer than any background hook may take.
WORKING_SECONDS = 90.0
# A claim is settled within milliseconds; this old, its process id belongs to somebody else.
CLAIM_SECONDS = 60.0
OWED = "owed"
# What the native module writes into a latch that it holds.
MODULES = b"native\n"
COMPACTING = "compacting"
SUMMARY = "summary"
RESTORED = "restored"
CLAIMED = frozenset(("gap", OWED, "low-agent", "low-user", "tell-user"))

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def data_folder(environ: Mapping[str, str]) -> str:
    """Where everything of ours is; "" when the environment names no home at all."""
    chosen = environ.get("HOLDFAST_HOME", "")
    if chosen:
        return chosen
    shared = environ.get("XDG_DATA_HOME", "")
    if shared.startswith("/"):  # a relative one is to be ignored, says the XDG specification
        return shared + "/holdfast"
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return home + "/.local/share/holdfast" if home else ""


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


class Prepared:
    """A text for the client, and what it stands for."""

    __slots__ = ("epoch", "facts", "generation", "offset", "text", "time")

    def __init__(
        self, epoch: int, generation: int, offset: int, time: str, facts: str, text: str
    ) -> None:
        self.epoch = epoch
        self.generation = generation
        self.offset = offset  # how far the transcript was read
        self.time = time
        self.facts = facts  # ids of what it tells, with commas between
        self.text = text

    def encode(self) -> bytes:
        words = (MARK, self.epoch, self.generation, self.offset, self.time or "-", self.facts)
        return (" ".join(map(str, words)) + "\n" + self.text).encode("utf-8", "replace")


def decode(data: bytes) -> Prepared | None:
    """None for anything that is not such a file: an older version's, or a damaged one."""
    header, newline, text = data.decode("utf-8", "replace").partition("\n")
    words = header.split(" ")
    if not newline or len(words) != 7 or " ".join(words[:2]) != MARK:
        return None
    if not all(word.isdecimal() and len(word) < 19 for word in words[2:5]):
        return None
    return Prepared(int(words[2]), int(words[3]), int(words[4]), words[5], words[6], text)


class Tray:
    __slots__ = ("data", "folder")

    def __init__(self, data: str, session_id: str) -> None:
        self.data = data
        self.folder = f"{data}/sessions/{safe_name(session_id)}"

    def prepared(self) -> Prepared | None:
        data = read(f"{self.folder}/brief")
        return None if data is None else decode(data)

    def prepare(self, brief: Prepared) -> None:
        self.write("brief", brief.encode())

    def begin_compaction(self) -> None:
        """Whatever an earlier compaction left behind must not pass for this one's."""
        self.end_compaction()
        self.write(COMPACTING, b"")

    def end_compaction(self) -> None:
        for name in (COMPACTING, SUMMARY, RESTORED):
            remove(f"{self.folder}/{name}")

    def is_compacting(self) -> bool:
        return exists(f"{self.folder}/{COMPACTING}")

    def keep_summary(self, summary: Prepared) -> bool:
        """False when another one is there: which of the two is the compaction's, nobody knows."""
        there = self.summary()
        if there is not None and there.text != summary.text:
            remove(f"{self.folder}/{RESTORED}")
            summary = Prepared(there.epoch, there.generation, there.offset, there.time, "", "")
        self.write(SUMMARY, summary.encode())
        return bool(summary.text)

    def summary(self) -> Prepared | None:
        data = read(f"{self.folder}/{SUMMARY}")
        return None if data is None else decode(data)

    def keep_restored(self, brief: Prepared) -> None:
        self.write(RESTORED, brief.encode())

    def restored(self) -> Prepared | None:
        """The brief that was chosen against the summary of the compaction under way."""
        data = read(f"{self.folder}/{RESTORED}")
        return None if data is None else decode(data)

    def gap_waits(self) -> bool:
        return self.waits("gap")

    def queue_gap(self, gap: Prepared) -> None:
        self.write("gap", gap.encode())

    def drop_gap(self) -> None:
        self.drop("gap")

    def claim_gap(self) -> Prepared | None:
        data = self.claim("gap")
        return None if data is None else decode(data)

    def claim_brief(self, brief: Prepared, seconds: float) -> bool:
        """True for the one that may print it, and settles `OWED` then.

        Should we die before that, the next hook has it from the file written here.
        """
        for name in names(self.folder):
            if name.startswith(OWED) and self._is_abandoned(name):
                remove(f"{self.folder}/{name}")  # of an earlier compaction
        try:  # noqa: SIM105  contextlib costs 3 ms
            self.write(f"{OWED}.{os.getpid()}", brief.encode())
        except OSError:
            pass  # no space: it is printed all the same
        if self.latch(f"delivered.{brief.epoch}", seconds):
            return True
        self.settle(OWED)
        return False

    def claim_owed(self) -> Prepared | None:
        """A brief that was claimed and never printed, if it is still the present's."""
        data = self.claim(OWED)
        owed = None if data is None else decode(data)
        prepared = self.prepared()
        if owed is not None and prepared is not None and prepared.epoch > owed.epoch + 1:
            self.settle(OWED)
            return None
        return owed

    def waiting(self) -> set[str]:
        """The names of what waits, to be asked once per hook."""
        found = names(self.folder)
        return {name.partition(".")[0] if self._is_abandoned(name) else name for name in found}

    def waits(self, name: str) -> bool:
        return name in self.waiting()

    def claim(self, name: str) -> bytes | None:
        """A waiting text, for exactly one of all that ask: a rename has one winner.

        To be settled once it has been printed; until then it would wait again if we died.
        """
        mine = f"{self.folder}/{name}.{os.getpid()}"
        for found in (name, *(n for n in names(self.folder) if n.startswith(f"{name}."))):
            if found != name and not self._is_abandoned(found):
                continue
            try:
                move(f"{self.folder}/{found}", mine)
            except OSError:
                continue
            return read(mine)
        return None

    def settle(self, name: str) -> None:
        """What we claimed was printed."""
        remove(f"{self.folder}/{name}.{os.getpid()}")

    def take(self, name: str) -> str:
        """A waiting line, for exactly one of all that ask; to be settled like any claim."""
        return (self.claim(name) or b"").decode("utf-8", "replace")

    def drop(self, name: str) -> None:
        remove(f"{self.folder}/{name}")
        for found in names(self.folder):
            if found.startswith(f"{name}.") and found[len(name) + 1 :].isdecimal():
                remove(f"{self.folder}/{found}")

    def _is_abandoned(self, found: str) -> bool:
        """Whether this is the claim of a process that is gone."""
        name, _, process = found.partition(".")
        if name not in CLAIMED or not process.isdecimal() or len(process) > 9:
            return False
        if not is_running(int(process)):
            return True
        try:
            claimed = os.stat(f"{self.folder}/{found}").st_ctime
        except OSError:
            return False
        return abs(time.time() - claimed) > CLAIM_SECONDS

    def latch(self, name: str, seconds: float) -> bool:
        """True for the first to ask, and again for one who asks when the first is long past.

        Where no file can be made (no space, no permission) everyone is the first: to say it
        twice is better than never.
        """
        for number in range(LATCHES):
            path = f"{self.folder}/{name}" + (f".{number}" if number else "")
            try:
                make_folder(self.folder)
                create(path)
                return True
            except FileExistsError:
                if _is_recent(path, seconds, STALE_SECONDS):
                    return False
            except OSError:
                return True
        return False

    def latched(self, name: str) -> bool:
        return exists(f"{self.folder}/{name}")

    def is_modules(self, name: str) -> bool:
        """Whether the plugin's native module holds this latch: see `lifecycle.native`."""
        return read(f"{self.folder}/{name}") == MODULES

    def note(self, line: str) -> None:
        """One JSON line for the next heavy hook, in one write, so that lines never mix."""
        make_folder(self.folder)
        data = line.encode("utf-8", "replace") + b"\n"
        append(f"{self.folder}/spool", data, most=SPOOL_BYTES)

    def drain(self, seconds: float, *, forget: bool = True) -> list[str]:
        """The lines noted so far; some may be given again by the next call.

        A turned-over spool stays for a minute: a light hook that had it open when it was
        renamed may write after it was read. `forget=False` keeps all: nobody could keep them.
        """
        try:  # noqa: SIM105  contextlib costs 3 ms
            move(f"{self.folder}/spool", f"{self.folder}/spool.{os.getpid()}-{int(seconds)}")
        except OSError:
            pass  # nothing was noted since
        lines: list[str] = []
        for name in sorted(names(self.folder)):
            if name.startswith("spool."):
                path = f"{self.folder}/{name}"
                lines += (read(path) or b"").decode("utf-8", "replace").split("\n")
                if forget and age(path, seconds) > SPOOL_SECONDS:
                    remove(path)
        return [line for line in lines if line]

    def write(self, name: str, data: bytes) -> None:
        make_folder(self.folder)
        replace(f"{self.folder}/{name}", data)

    def begin_work(self, seconds: float) -> bool:
        """False while another process reads this session's transcript: it will read on."""
        path = f"{self.folder}/working"
        try:
            make_folder(self.folder)
            create(path)
        except FileExistsError:
            if _is_recent(path, seconds, WORKING_SECONDS):
                return False
            self.write("working", b"")  # its owner was killed: ours now
        except OSError:
            return True
        return True

    def end_work(self) -> None:
        remove(f"{self.folder}/working")

    def discard(self) -> None:
        """Everything of this session; for whoever forgets it in the store."""
        from holdfast.lifecycle import letterbox

        letterbox.discard(self.folder)
        for name in names(self.folder):
            remove(f"{self.folder}/{name}")
        try:  # noqa: SIM105  as above
            os.rmdir(self.folder)
        except OSError:
            pass  # never made, or somebody just put something into it

    def tidy(self, epoch: int) -> None:
        """Drop the latches of epochs long past."""
        for name in names(self.folder):
            what, _, number = name.partition(".")
            number = number.partition(".")[0]
            past = number.isdecimal() and int(number) < epoch - 3
            if what in ("delivered", "verified", "low") and past:
                remove(f"{self.folder}/{name}")


def _is_recent(path: str, seconds: float, limit: float) -> bool:
    """Not long past, and not of a future that a clock which was set back left behind."""
    return abs(age(path, seconds)) < limit


def is_running(process: int) -> bool:
    if process <= 0:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # there, and not ours
    return True
