"""Which hooks of the plugin ever ran, and in which version of the client: for `holdfast doctor`.

Several of them are called experimental by the client and may go with any version; then nothing
fails, and nothing is restored either. One small file, written when something new is to be said.
"""

from __future__ import annotations

from holdfast.files import make_private_dir, read, write_atomic

HEARTBEAT_FILE = "opencode-hooks"
MAX_BYTES = 4096

# Without these nothing is restored or steered; and what shows that they should have run.
REQUESTED = "chat.params"
COMPACTED = "session.compacted"
RESTORES = "experimental.chat.messages.transform"
STEERS = "experimental.session.compacting"


def note_hooks(data: str, version: str, hooks: object) -> None:
    """A line with the client's version, and a line for each hook that ran in it."""
    names = [n for n in hooks if type(n) is str and n] if type(hooks) is list else []
    known = read_hooks(data)
    if known is not None and (not version or known[0] == version) and known[1].issuperset(names):
        return
    before = known[1] if known is not None and known[0] == version else frozenset()
    lines = [version, *sorted({*before, *names})]
    try:
        make_private_dir(data)
        text = "\n".join(line.replace("\n", " ") for line in lines)[:MAX_BYTES]
        write_atomic(f"{data}/{HEARTBEAT_FILE}", text.encode("utf-8", "replace"))
    except OSError:
        pass  # nobody but the doctor asks for it


def read_hooks(data: str) -> tuple[str, frozenset[str]] | None:
    """The client's version and the hooks that ran in it; None where none ever did."""
    raw = read(f"{data}/{HEARTBEAT_FILE}", most=MAX_BYTES * 2)
    if raw is None:
        return None
    version, *names = raw.decode("utf-8", "replace").split("\n")
    return version, frozenset(filter(None, names))
