"""The texts that wait to be printed: one small table in the session's directory, a file per row.

    made      `<kind>`          waits for a hook that may print it
    claimed   `<kind>.<pid>`    that process is about to print it; waits again if the process died
    printed   no file           the agent or the user has it

What recall and guards say is told once between two compactions. The file `told` holds a line for
each: "?<key> <pid>" while that process is about to print it, "<key>" once it has.

`put`, `claim`, `settle` and `drop` are the only transitions. A claim is a rename, which has one
winner, and a process that is killed leaves its file behind for the next hook. A new kind of text
is one line in `KINDS`; `delivery` prints the kinds in their order.

Imported by the fast hooks: nothing but `os` and `time`. Nothing here redacts: the caller has done
so.
"""

from __future__ import annotations

import os
import time

from holdfast.files import append, list_names, make_private_dir, move, read, remove, write_atomic
from holdfast.records import NamedTuple
from holdfast.system import is_process_running

# A claim is settled within milliseconds; this old, its process id belongs to somebody else.
CLAIM_STALE_SECONDS = 60.0
FILE_HEADER = "holdfast 1"
TOLD_FILE = "told"
MAX_TOLD_BYTES = 64 * 1024


class PendingKind(NamedTuple):
    """How one kind of text is delivered."""

    name: str
    recorded_as: str = ""  # what the store calls it; "" where it is not recorded
    max_chars: int = 0  # waits for a hook with this much room; 0: always fits
    during_work: bool = True  # a tool's hook may print it; else it waits for a prompt
    while_compacting: bool = False  # also with a prompt that asks for a compaction


LATE_BRIEF = "late-brief"  # claimed by a hook that died before it had printed it
REQUEST_BRIEF = "request-brief"  # printed into single requests, which do not keep it
GAP = "gap"  # what neither summary nor brief told
RULES = ("rules-1", "rules-2", "rules-3")  # of commands in force, for which a brief had no room
MAX_RULES_CHARS = 9_000  # of each; it takes a hook of its own
LOW_AGENT, LOW_USER = "low-agent", "low-user"  # that context is low
ADVICE = "advice"  # to the user: a good moment to compact, or that compacting does not help
SETTINGS_PROBLEM = "tell-user"
SESSION_START = "starting"  # how the session began, where the first prompt's hook sees to that

# In the order in which they are printed.
KINDS = {
    kind.name: kind
    for kind in (
        PendingKind(LATE_BRIEF, recorded_as="brief", while_compacting=True),
        PendingKind(REQUEST_BRIEF, while_compacting=True),
        PendingKind(GAP, recorded_as="gap", while_compacting=True),
        *(PendingKind(name, recorded_as="rules", max_chars=MAX_RULES_CHARS) for name in RULES),
        PendingKind(LOW_AGENT, max_chars=1_000),
        PendingKind(LOW_USER, during_work=False),
        PendingKind(ADVICE, during_work=False),
        PendingKind(SETTINGS_PROBLEM, during_work=False),
        PendingKind(SESSION_START, during_work=False),
    )
}


class PrebuiltText(NamedTuple):
    """A text made from the transcript up to some row, and the facts that it tells."""

    epoch: int
    generation: int
    offset: int  # how far the transcript was read
    time: str
    fact_ids: str  # ids of what it tells, with commas between
    text: str

    def encode(self) -> bytes:
        numbers = f"{self.epoch} {self.generation} {self.offset}"
        header = f"{FILE_HEADER} {numbers} {self.time or '-'} {self.fact_ids}"
        return f"{header}\n{self.text}".encode("utf-8", "replace")


def decode_prebuilt(data: bytes | None) -> PrebuiltText | None:
    """None for anything that is not such a file: an older version's, or a damaged one."""
    header, newline, text = (data or b"").decode("utf-8", "replace").partition("\n")
    words = header.split(" ")
    if not newline or len(words) != 7 or " ".join(words[:2]) != FILE_HEADER:
        return None
    if not all(word.isdecimal() and len(word) < 19 for word in words[2:5]):
        return None
    return PrebuiltText(int(words[2]), int(words[3]), int(words[4]), words[5], words[6], text)


def checksum(text: str) -> int:
    """FNV-1a, 64 bits: stable between processes, and no import."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "surrogatepass"):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


class PendingTexts:
    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def put(self, kind: str, text: str | PrebuiltText) -> None:
        """Made. Raises OSError without space."""
        data = text.encode("utf-8", "replace") if isinstance(text, str) else text.encode()
        self._write_text(kind, data)

    def put_claimed(self, kind: str, text: PrebuiltText) -> None:
        """Made and claimed at once: printed by us, or by the next hook if we die before."""
        for name in list_names(self.path):
            if name.startswith(f"{kind}.") and self._is_abandoned(name):
                remove(f"{self.path}/{name}")  # of an earlier compaction
        self._write_text(f"{kind}.{os.getpid()}", text.encode())

    def claim(self, kind: str) -> bytes | None:
        """Claimed, by exactly one of all that ask. To be settled once it has been printed."""
        mine = f"{self.path}/{kind}.{os.getpid()}"
        for found in (kind, *(n for n in list_names(self.path) if n.startswith(f"{kind}."))):
            if found != kind and not self._is_abandoned(found):
                continue
            try:
                move(f"{self.path}/{found}", mine)
            except OSError:
                continue  # another hook was faster
            return read(mine)
        return None

    def claim_text(self, kind: str) -> str:
        return (self.claim(kind) or b"").decode("utf-8", "replace")

    def claim_prebuilt(self, kind: str) -> PrebuiltText | None:
        return decode_prebuilt(self.claim(kind))

    def settle(self, kind: str) -> None:
        """Printed."""
        remove(f"{self.path}/{kind}.{os.getpid()}")

    def drop(self, kind: str) -> None:
        """It is no longer true, claimed or not."""
        remove(f"{self.path}/{kind}")
        for found in list_names(self.path):
            if found.startswith(f"{kind}.") and found[len(kind) + 1 :].isdecimal():
                remove(f"{self.path}/{found}")

    def read_prebuilt(self, kind: str) -> PrebuiltText | None:
        """What waits, not claimed."""
        for name in list_names(self.path):
            if name == kind or (name.startswith(f"{kind}.") and self._is_abandoned(name)):
                return decode_prebuilt(read(f"{self.path}/{name}"))
        return None

    def list_waiting(self) -> set[str]:
        """The names of what waits, to be asked once per hook."""
        found = list_names(self.path)
        return {name.partition(".")[0] if self._is_abandoned(name) else name for name in found}

    def claim_told(self, texts: list[str]) -> list[str]:
        """Those to print: nobody has told them since the last compaction, nor is about to."""
        told, _ = self._read_told()
        wanted = {key: text for text in texts if (key := make_told_key(text)) not in told}
        if not wanted:
            return []
        mine = str(os.getpid())
        self._note_told([f"?{key} {mine}" for key in wanted])
        told, claims = self._read_told()
        return [
            text
            for key, text in wanted.items()
            if key not in told and _first_running(claims.get(key, ()), mine) == mine
        ]

    def list_told(self) -> set[str]:
        """The keys of what was told since the last compaction."""
        return self._read_told()[0]

    def record_told(self, texts: list[str]) -> None:
        """Printed where it stays until the next compaction."""
        self._note_told([make_told_key(text) for text in texts])

    def forget_told(self) -> None:
        """A compaction took it from the context."""
        remove(f"{self.path}/{TOLD_FILE}")

    def _read_told(self) -> tuple[set[str], dict[str, list[str]]]:
        told: set[str] = set()
        claims: dict[str, list[str]] = {}
        data = read(f"{self.path}/{TOLD_FILE}") or b""
        for line in data.decode("ascii", "replace").split("\n"):
            if line.startswith("?"):
                key, _, process = line[1:].partition(" ")
                claims.setdefault(key, []).append(process)
            else:
                told.add(line)
        return told, claims

    def _note_told(self, lines: list[str]) -> None:
        try:  # contextlib costs 3 ms
            make_private_dir(self.path)
            data = "".join(f"{line}\n" for line in lines).encode()
            append(f"{self.path}/{TOLD_FILE}", data, most=MAX_TOLD_BYTES)
        except OSError:
            pass  # no space: it may be told again

    def _write_text(self, name: str, data: bytes) -> None:
        make_private_dir(self.path)
        write_atomic(f"{self.path}/{name}", data)

    def _is_abandoned(self, found: str) -> bool:
        """Whether this is the claim of a process that is gone."""
        kind, _, process = found.partition(".")
        if kind not in KINDS or not process.isdecimal() or len(process) > 9:
            return False
        if not is_process_running(int(process)):
            return True
        try:
            claimed = os.stat(f"{self.path}/{found}").st_ctime
        except OSError:
            return False
        return abs(time.time() - claimed) > CLAIM_STALE_SECONDS


def make_told_key(text: str) -> str:
    return f"{checksum(text):016x}"


def _first_running(processes: list[str] | tuple[()], mine: str) -> str:
    """Of the processes that claimed, the first that can still print; `mine` where none is noted."""
    for process in processes:
        if process == mine or (process.isdecimal() and is_process_running(int(process))):
            return process
    return mine
