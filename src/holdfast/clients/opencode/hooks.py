"""What the hooks ask OpenCode: payloads, output, whose call it is.

The calls come from our own plugin (`plugin.js`), which also brings the rows: what is in them is on
disk before anything else is done. It is answered in JSON lines that nothing else knows:

    {"kept": 3}                       at once: so many rows are on disk
    {"text": ..., "message": ...}     at the end: for the model, and for the user's eyes

Imported by the lightest hooks.
"""

from __future__ import annotations

import os

from holdfast.clients.hook_base import HookClient
from holdfast.fastpath.hook_json import HookPayload, read_text, strip_terminal_codes
from holdfast.fastpath.session_dir import SessionDir, encode_json_string
from holdfast.files import make_private_dir, read, write_atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HEARTBEAT_FILE = "%s-hooks"  # of which client
MAX_BYTES = 4096
# Without these nothing is restored or steered; and what shows that they should have run.
REQUESTED = "chat.params"
COMPACTED = "session.compacted"
RESTORES = "experimental.chat.messages.transform"
STEERS = "experimental.session.compacting"


class OpenCodeHooks(HookClient):
    NAME = "opencode"
    NAMES_TRANSCRIPT = False  # it is ours
    DETACHES_WORK = False  # the plugin does not wait
    PROCESS_VARIABLE = "HOLDFAST_CLIENT_PID"  # the plugin says it: it may be over before we are
    STEERS = True  # what PreCompact answers follows the summariser's instructions

    def fill_payload(self, payload: HookPayload, fields: dict[str, Any]) -> None:
        payload.prompt_id = read_text(fields, "prompt_id")
        payload.query = read_text(fields, "query")

    def receive(self, payload: HookPayload, data: str) -> None:
        """Writes down the rows that came with the call, which the plugin then need not keep."""
        path = f"{SessionDir(data, payload.session_id).path}/{self.NAME}.jsonl"
        payload.transcript_path = path
        kept = 0
        if payload.fields.get("rows"):
            from holdfast.clients.opencode import session_file

            kept = session_file.append_rows(path, payload.fields, data)
        os.write(1, b'{"kept":%d}\n' % kept)
        if hooks := payload.fields.get("hooks"):
            note_hooks(data, self.NAME, read_text(payload.fields, "version"), hooks)

    def is_bookkeeping_row(self, row: bytes) -> bool:
        return b'"type":"title"' in row[:200]

    def format_context(self, event: str, text: str, message: str = "") -> str:
        parts = {"text": strip_terminal_codes(text), "message": message}
        found = [f'"{name}":{encode_json_string(said)}' for name, said in parts.items() if said]
        return "{" + ",".join(found) + "}" if found else ""


class KiloHooks(OpenCodeHooks):
    NAME = "kilo"  # its calls are those of OpenCode's plugin


def note_hooks(data: str, client: str, version: str, hooks: object) -> None:
    """Which hooks of the plugin ever ran, and in which version of the client, for the doctor.

    Several of them are called experimental by the client and may go with any version; then nothing
    fails, and nothing is restored either. Written when something new is to be said.
    """
    names = [n for n in hooks if type(n) is str and n] if type(hooks) is list else []
    known = read_hooks(data, client)
    if known is not None and (not version or known[0] == version) and known[1].issuperset(names):
        return
    before = known[1] if known is not None and known[0] == version else frozenset()
    lines = [version, *sorted({*before, *names})]
    try:
        make_private_dir(data)
        text = "\n".join(line.replace("\n", " ") for line in lines)[:MAX_BYTES]
        write_atomic(_path(data, client), text.encode("utf-8", "replace"))
    except OSError:
        pass  # only the doctor asks for it


def read_hooks(data: str, client: str) -> tuple[str, frozenset[str]] | None:
    """The client's version and the hooks that ran in it; None where none ever did."""
    raw = read(_path(data, client), most=MAX_BYTES * 2)
    if raw is None:
        return None
    version, *names = raw.decode("utf-8", "replace").split("\n")
    return version, frozenset(filter(None, names))


def _path(data: str, client: str) -> str:
    return f"{data}/{HEARTBEAT_FILE % client}"


HOOKS, KILO_HOOKS = OpenCodeHooks(), KiloHooks()
