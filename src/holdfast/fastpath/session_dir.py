"""The directory of a session: small files that let the fast hooks work without the database.

    brief            the brief that the next compaction will need, with how much it knows
    compacting       made by PreCompact, until PostCompact: a summary is to come
    summary          that summary, once it is known
    restored         the brief chosen against it, ready for SessionStart
    cues             what recall searches, after a compaction: see `cue_index`
    cues-work        what is being worked on, for prompts that say little
    guards           rules in force that a tool call can be checked against: see `guards`
    guards-old       a prompt came since, which may have lifted one
    standing         the brief that stands in every request until the next compaction
    request          which compaction the last request came after, where requests are looked at
    status           what the status line shows: epoch, tokens, open tasks, when it was saved,
                     how many lost facts were restored
    window           the size of the model's window, as the status line was told
    offered          the session whose handoff it was offered: see `handoff_offers`
    messages/        of other agents, for the next prompt or tool batch: see `inbox`
    spool            JSON lines appended by fast hooks, for the next full one to save
    delivered.<n>    latches: who made the file may speak, everyone else stays silent

What waits to be printed has its rows among them: see `pending_texts`. Beside the sessions'
directories, `clients/` has a file for each client that runs with our hooks, named by its process.

Owns their names and formats. Imported by the fast hooks:
nothing but `os`, no `typing`, no `json`. Every file is for the user alone;
`holdfast.files` writes them. Nothing here redacts but for the spool: the caller has done so.
"""

from __future__ import annotations

import os

from holdfast.clock import format_now
from holdfast.fastpath.pending_texts import PendingTexts, PrebuiltText, checksum, decode_prebuilt
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
    touch,
    where_possible,
    write_atomic,
)
from holdfast.paths import PATTERNS_FILE
from holdfast.system import is_process_running

MAX_PROMPT_CHARS = 20_000  # characters of a prompt that are kept; what is longer is pasted material
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
# What the native module writes into a latch that it holds.
MODULE_LATCH = b"native\n"
COMPACTING_FILE = "compacting"
SUMMARY_FILE = "summary"
RESTORED_FILE = "restored"
STANDING_FILE = "standing"
REQUEST_FILE = "request"
MAX_TRYING_SECONDS = 20 * 60  # in which a client tries again to compact
FORGOTTEN_FILE = "forgotten"
INDEX_FILE = "cues"
GUARDS_FILE = "guards"
NEW_PROMPT_FILE = "guards-old"
WORK_FILE = "cues-work"
KNOWN_FILE = "known"

_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def safe_name(name: str) -> str:
    """A file name for any text: itself where it is plain, else made plain and told apart."""
    if name and len(name) <= 80 and _SAFE.issuperset(name):
        return name
    plain = "".join(c if c in _SAFE else "-" for c in name[-60:])
    return f"{plain}-{checksum(name):016x}"


def delivered_latch(epoch: int) -> str:
    """Whoever holds it delivers the brief of the compaction that ends this epoch."""
    return f"delivered.{epoch}"


class SessionDir:
    __slots__ = ("data_dir", "path")

    def __init__(self, data: str, session_id: str) -> None:
        self.data_dir = data
        self.path = f"{data}/sessions/{safe_name(session_id)}"

    @property
    def pending(self) -> PendingTexts:
        return PendingTexts(self.path)

    def read_brief(self) -> PrebuiltText | None:
        return decode_prebuilt(read(f"{self.path}/brief"))

    def write_brief(self, brief: PrebuiltText) -> None:
        self.write("brief", brief.encode())

    def read_known(self) -> PrebuiltText | None:
        """How far the transcript was read; without a text."""
        return decode_prebuilt(read(f"{self.path}/{KNOWN_FILE}"))

    def write_known(self, known: PrebuiltText) -> None:
        self.write(KNOWN_FILE, known.encode())

    def begin_compaction(self, seconds: float = 0.0) -> int:
        """Whatever an earlier compaction left behind must not pass for this one's. The answer: how
        many began lately in a row, this one among them, of which none ended.
        """
        words = (read(f"{self.path}/{COMPACTING_FILE}") or b"").split()
        lately = len(words) == 2 and words[0].isdigit() and words[1].isdigit()
        lately = lately and 0 <= seconds - int(words[0]) <= MAX_TRYING_SECONDS
        tries = int(words[1]) + 1 if lately else 1
        self.end_compaction()
        self.write(COMPACTING_FILE, b"%d %d" % (int(words[0]) if lately else int(seconds), tries))
        return tries

    def end_compaction(self) -> None:
        for name in (COMPACTING_FILE, SUMMARY_FILE, RESTORED_FILE):
            remove(f"{self.path}/{name}")
        self.pending.forget_told()

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
        return decode_prebuilt(read(f"{self.path}/{SUMMARY_FILE}"))

    def save_restored_brief(self, brief: PrebuiltText) -> None:
        self.write(RESTORED_FILE, brief.encode())

    def read_restored_brief(self) -> PrebuiltText | None:
        """The brief that was chosen against the summary of the compaction under way."""
        return decode_prebuilt(read(f"{self.path}/{RESTORED_FILE}"))

    def save_standing_brief(self, compaction: str, text: str) -> None:
        self.write(STANDING_FILE, f"{compaction}\n{text}".encode("utf-8", "replace"))

    def read_standing_brief(self, compaction: str) -> str | None:
        """None where it was made for another compaction, or never."""
        data = read(f"{self.path}/{STANDING_FILE}")
        known, newline, text = (data or b"").decode("utf-8", "replace").partition("\n")
        return text if newline and known == compaction else None

    def save_answered_request(self, key: str) -> None:
        self.write(REQUEST_FILE, key.encode("utf-8", "replace"))

    def read_answered_request(self) -> str:
        """The compaction whose requests need nothing more than the brief that waits, if any."""
        return (read(f"{self.path}/{REQUEST_FILE}") or b"").decode("utf-8", "replace")

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

    def unlatch(self, name: str) -> None:
        remove(f"{self.path}/{name}")
        for found in list_names(self.path):
            if found.startswith(f"{name}.") and found[len(name) + 1 :].isdecimal():
                remove(f"{self.path}/{found}")

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
        with where_possible:  # else nothing was noted since
            move(f"{self.path}/spool", f"{self.path}/spool.{os.getpid()}-{int(seconds)}")
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
            owner = (read(path) or b"").decode("ascii", "replace")
            killed = owner.isdecimal() and not is_process_running(int(owner))
            if not killed and _is_recent(path, seconds, WORK_LOCK_SECONDS):
                return False
        except OSError:
            return True
        with where_possible:  # else those who wait will do so for its age
            self.write("working", b"%d" % os.getpid())
        return True

    def end_work(self) -> None:
        remove(f"{self.path}/working")

    def mark_forgotten(self) -> None:
        self.write(FORGOTTEN_FILE, b"")

    def is_forgotten(self) -> bool:
        """The user wants nothing kept of this session."""
        return exists(f"{self.path}/{FORGOTTEN_FILE}")

    def delete_all(self) -> None:
        """Everything of this session, when it is deleted from the store."""
        from holdfast.fastpath import inbox

        inbox.delete_inbox(self.path)
        for name in list_names(self.path):
            remove(f"{self.path}/{name}")
        with where_possible:  # else it was never made, or somebody just put something into it
            os.rmdir(self.path)

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


def note_client(data: str, process: int) -> None:
    """It has read our entries, and keeps them until it ends."""
    list_running_clients(data)
    with where_possible:  # else an uninstall does not know of it
        make_private_dir(f"{data}/clients")
        touch(f"{data}/clients/{process}")


def list_running_clients(data: str) -> list[int]:
    """Those that were noted; what ended since is forgotten."""
    running = []
    for name in list_names(f"{data}/clients"):
        if name.isdecimal() and is_process_running(int(name)):
            running.append(int(name))
        else:
            remove(f"{data}/clients/{name}")
    return running


# What the fast hooks leave for the next full one: prompts, commands and deliveries, as JSON lines
# put together by hand, since `json` costs 5 ms; `session.view` reads them.


def spool_prompt(session_dir: SessionDir, prompt_id: str, text: str) -> None:
    """Whose words these are is decided when they are read: the row may be there by then."""
    append_line(session_dir, "prompt", id=prompt_id, text=_redact_text(session_dir, text))


def spool_command(session_dir: SessionDir, name: str, arguments: str) -> None:
    append_line(session_dir, "command", text=name, arguments=_redact_text(session_dir, arguments))


def encode_json_string(text: str) -> str:
    try:
        from _json import encode_basestring_ascii
    except ImportError:  # an interpreter without the C part
        import json

        return json.dumps(text)
    return encode_basestring_ascii(text)


def append_line(session_dir: SessionDir, kind: str, **fields: str | int) -> None:
    named = {"what": kind, "time": format_now(), **fields}
    pairs = [
        f'"{name}":{value if isinstance(value, int) else encode_json_string(value)}'
        for name, value in named.items()
    ]
    # No place to note it is no reason not to answer; doctor looks at the disk.
    with where_possible:
        session_dir.append_spool("{" + ",".join(pairs) + "}")


def _redact_text(session_dir: SessionDir, text: str) -> str:
    from holdfast.redact.prefilter import suspicious

    window = text[: 2 * MAX_PROMPT_CHARS]
    # The user's own patterns, saved by the full path.
    own = exists(f"{session_dir.data_dir}/{PATTERNS_FILE}")
    if own or suspicious(window):
        from holdfast.redact import redact

        if own:
            from holdfast.settings.user_patterns import apply_saved_patterns

            apply_saved_patterns(session_dir.data_dir)
        window = redact(window)
    return window[:MAX_PROMPT_CHARS]
