"""`holdfast try`: a recorded session, and what its compaction kept, lost and would get back.

The first thing a visitor sees. Works on the bundled sample in a temporary store, which it shows as
`holdfast show --compaction` does, and leaves nothing behind.
"""

import os
import shutil
import tempfile
from contextlib import closing

from rich.text import Text

from holdfast import own_copy
from holdfast.cli.output import JsonOption
from holdfast.cli.screen import Screen
from holdfast.cli.views.compaction import show_compaction
from holdfast.samples import SESSION_FILE
from holdfast.session.ingest import ingest_transcript
from holdfast.store.sqlite.store import SqliteStore

HOW_IT_WAS_MADE = (
    "The client ran every call; a language model played the user and the agent, and wrote the "
    "summary when the client asked for it with its own compaction prompt."
)


def show_demo(as_json: JsonOption = False) -> None:
    """Demo: what the compaction of a recorded session kept, lost and would get back.

    Real work in a small repository with the real client. Uses a temporary folder; nothing is
    installed and nothing is left behind.

    Example: `holdfast try`
    """
    out = Screen()
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-try-") as folder,
        closing(SqliteStore(os.path.join(folder, "holdfast.db"))) as store,
    ):
        done = ingest_transcript(store, SESSION_FILE)
        (session,) = store.sessions()
        (compaction,) = store.compactions(session.id)
        if not as_json:
            before, after = compaction.tokens_before or 0, compaction.tokens_after or 0
            sizes = f"  {done.total_rows} rows, compacted once: {before:,} tokens became {after:,}."
            title = "A recorded session in the real Claude Code"
            out.print()
            out.print(Text.assemble((title, "bold"), (sizes, "dim")))
            out.print(Text(HOW_IT_WAS_MADE, style="dim"))
            out.print()
        show_compaction(store, session, 1, full=False, as_json=as_json)
    if as_json:
        return
    call = own_copy.format_call()
    steps = [
        (f"{call} audit", "what compaction has cost you so far"),
        (f"{call} install", "turn it on for Claude Code"),
    ]
    if call == "holdfast" and shutil.which(call) is None:  # as after `make try`, in .venv
        steps.insert(0, ("pipx install .", "put `holdfast` on your PATH"))
    out.print()
    out.steps(steps)
