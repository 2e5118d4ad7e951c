"""`holdfast session uncompact` and `restore`: take a compaction back, bring a deleted transcript
back.
"""

import os
import uuid
from collections.abc import Iterable

from holdfast import clients
from holdfast.cli import output
from holdfast.cli.screen import Screen
from holdfast.cli.store_access import SessionArgument, open_user_store, resolve_session
from holdfast.files import create_with_lines
from holdfast.session.archive import read_lines
from holdfast.session.uncompact import USABLE_SHARE, NoSuchCompaction, NoSuchPrompt, rewind
from holdfast.store.protocol import Session
from holdfast.store.sqlite.store import SqliteStore
from holdfast.text import pluralize

_NEXT_STEPS: dict[type[Exception], str] = {
    NoSuchCompaction: "`holdfast show SESSION --compactions` lists them.",
    NoSuchPrompt: "`holdfast show --before-compaction` shows the prompts with their rows.",
}


def uncompact(
    session: SessionArgument = "",
    compaction: output.Natural = 0,
    max_tokens: output.Natural = 0,
    from_: str = "",
    dry_run: output.DryRunOption = False,
    as_json: output.JsonOption = False,
) -> None:
    """Undo a compaction: a new session, as it was before, that the client can resume.

    The original session is not changed. Claude Code and Codex.

    --compaction N: Which one. Default: the last.
    --max-tokens N: Leave out old tool output until it fits. Default: 60 % of what the context held
        before an automatic compaction, all of it before one that you asked for.
    --from ROW: Only from this prompt on: its row's id, as `holdfast show` prints it.

    Example: `holdfast session uncompact --dry-run`
    """
    with open_user_store() as store:
        found = resolve_session(store, session)
        known = {one.epoch + 1: one for one in store.compactions(found.id)}

        def tokens_before(number: int) -> int:
            return (known[number].tokens_before or 0) if number in known else 0

        number = compaction or max(known, default=0)
        automatic = number in known and known[number].trigger == "auto"
        full = tokens_before(number)
        client = clients.of_session(found.client)
        try:
            done = rewind(
                client,
                lambda: _read_lines(store, found),
                found.id,
                number=compaction,
                tokens_before=tokens_before,
                most_tokens=max_tokens or (int(full * USABLE_SHARE) if automatic else full),
                transcript=found.transcript,
                new_id=str(uuid.uuid4()),
                first=from_,
                dry_run=dry_run,
            )
        except ValueError as error:
            step = _NEXT_STEPS.get(
                type(error), "`holdfast show SESSION` shows what was said before."
            )
            raise output.CliError(str(error), step) from error
        except OSError as error:
            raise output.CliError(f"Cannot write the session: {error.strerror}") from error
    resume = f"{client.resumable.RESUME_COMMAND if client.resumable else ''} {done.session}"
    if as_json:
        output.print_json(done._asdict() | {"dry_run": dry_run, "resume": resume, "cwd": found.cwd})
        return
    emptied = f", without {pluralize(done.emptied, 'older tool output')}" if done.emptied else ""
    Screen().say(
        f"{'Would write' if dry_run else 'Wrote'} session {done.session}: as before compaction "
        f"{done.compaction} of {found.id[:8]}, about {done.tokens:,} tokens{emptied}."
    )
    if not dry_run:
        Screen().steps([(f"cd {found.cwd} && {resume}", "goes on from there")])


def _read_lines(store: SqliteStore, session: Session) -> Iterable[bytes]:
    """The transcript's rows; where it is gone, those that were archived."""
    if session.transcript and os.path.isfile(session.transcript):
        with open(session.transcript, "rb") as file:
            yield from (line.rstrip(b"\n") for line in file)
    else:
        yield from read_lines(store, session.id)


def restore(
    session: SessionArgument = "",
    dry_run: output.DryRunOption = False,
    as_json: output.JsonOption = False,
) -> None:
    """Put a deleted transcript back where the client can resume it, from the archived rows.

    Secrets were removed from them. A transcript that is there is never overwritten.

    Example: `holdfast session restore 0276a600`
    """
    with open_user_store() as store:
        found = resolve_session(store, session)
        path = found.transcript
        if os.path.exists(path):
            raise output.CliError(f"{path} exists", "There is nothing to restore.")
        count = sum(1 for _ in read_lines(store, found.id))
        if not count or not path:
            raise output.CliError(
                f"No rows of session {found.id[:8]} were archived",
                "The setting `archive` keeps the rows of each session.",
            )
        if not dry_run:
            with output.explain_os_error(f"Cannot write {path}", "Check the folder's permissions."):
                create_with_lines(path, read_lines(store, found.id))
    if as_json:
        output.print_json({"session": found.id, "path": path, "rows": count, "dry_run": dry_run})
        return
    verb = "Would write" if dry_run else "Wrote"
    Screen().say(f"{verb} {pluralize(count, 'row')} to {path}.")
