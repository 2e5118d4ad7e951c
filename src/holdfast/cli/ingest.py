"""`holdfast session ingest PATH...`: index old transcripts.

Owns which files are read and what is printed about them; the reading is `session.ingest`.
"""

import os
from contextlib import closing
from functools import partial
from typing import Annotated, Any

import typer
from rich.text import Text

from holdfast import clients
from holdfast.audit.session_audit import find_transcripts, total_bytes
from holdfast.cli import output
from holdfast.cli.screen import Screen, progress_bar
from holdfast.cli.store_access import ensure_store_path
from holdfast.fastpath.session_dir import SessionDir
from holdfast.paths import data_dir
from holdfast.records import NamedTuple
from holdfast.redact import use_patterns
from holdfast.session.context import load_settings
from holdfast.session.ingest import IngestResult, ingest_transcript
from holdfast.settings.user_patterns import SETTING_NAME
from holdfast.store.sqlite.store import SqliteStore
from holdfast.text import pluralize
from holdfast.transcript.reader import TranscriptError
from holdfast.workers import choose_jobs, run_each

# Below this a second process costs more than it brings.
MIN_POOL_BYTES = 32_000_000
# Given up before SQLite's own patience would end a long ingestion: a writer takes milliseconds.
BUSY_TIMEOUT_SECONDS = 60.0


class Outcome(NamedTuple):
    path: str
    size: int
    done: IngestResult | None
    error: str = ""


def ingest(
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH")] = None,
    jobs: output.Natural = 0,
    as_json: output.JsonOption = False,
) -> None:
    """Index existing transcripts, so that `search` and `show` find their contents.

    Safe to repeat (reads only what is new) and to interrupt at any point. With `--json`, prints
    one line per file as soon as it is stored, then a line with the totals.

    PATH: Transcripts, or folders to search for *.jsonl and *.jsonl.gz. Default: the clients' own,
        ~/.claude/projects, ~/.codex/sessions and ~/.gemini/tmp, and ours of OpenCode.
    --jobs N: Number of worker processes; 0 chooses by size.

    Example: `holdfast session ingest ~/.claude/projects`
    """
    own = clients.sessions_dirs(os.environ, os.path.expanduser("~"))
    given = paths or [place for place in own if os.path.exists(place)]
    files = _list_transcripts(given)
    if not files:
        where = f"in {', '.join(given)}" if given else f"({own[0]} does not exist)"
        step = "Pass a transcript or a folder that contains some."
        raise output.CliError(f"No transcripts found {where}", step)
    store = ensure_store_path()
    chosen = load_settings(os.environ, data_dir(), os.getcwd())
    keep_rows, patterns = chosen.flag("archive"), chosen.patterns(SETTING_NAME)
    files = [path for path in files if not _is_forgotten(path)]
    read = partial(_read_transcript, store_path=store, keep_rows=keep_rows, patterns=patterns)
    sizes = [total_bytes([path]) for path in files]
    jobs = choose_jobs(jobs, sizes, min_bytes=MIN_POOL_BYTES)
    outcomes: list[Outcome] = []
    try:
        with progress_bar("Indexing", sum(sizes), quiet=as_json) as advance:
            for outcome in run_each(read, files, jobs):
                if outcome.path in given:
                    outcome = _refuse_junk(outcome)
                outcomes.append(outcome)
                advance(outcome.size)
                if as_json:
                    failed = {"path": outcome.path, "error": outcome.error}
                    output.print_json_line(outcome.done._asdict() if outcome.done else failed)
    except KeyboardInterrupt:
        _report_interruption(outcomes, len(files), as_json)
        raise
    if as_json:
        output.print_json_line(_sum_totals(outcomes))
    else:
        _print_outcomes(Screen(), outcomes)
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


def _refuse_junk(outcome: Outcome) -> Outcome:
    """A file that was named, and of which no row is a client's; an empty one may become one."""
    done = outcome.done
    if done is None or done.total_rows > done.unknown or not outcome.size:
        return outcome
    return outcome._replace(done=None, error=f"{outcome.path}: not a transcript")


def _report_interruption(outcomes: list[Outcome], planned: int, as_json: bool) -> None:
    """What was read before Ctrl-C is stored, also of the file that was being read."""
    totals = _sum_totals(outcomes)
    if as_json:
        output.print_json_line(totals | {"interrupted": True})
        return
    done = totals["files"] - totals["failed"]
    Screen(stderr=True).verbatim(
        f"Interrupted: {done} of {pluralize(planned, 'transcript')} stored, "
        f"{pluralize(totals['rows'], 'new row')}. Run it again to go on."
    )


def _list_transcripts(paths: list[str]) -> list[str]:
    """The transcripts to read, each session once.

    A plain file before its packed copy; of several plain ones the last: it goes on from the rest.
    """
    found = [path for copies in find_transcripts(*paths).values() for path in copies]
    found += [path for path in paths if not os.path.exists(path)]  # reading it says why
    chosen: dict[str, str] = {}
    for path in sorted(found):
        session = clients.of_name(path).paths.transcript_session_id(path)
        key = os.path.join(os.path.dirname(os.path.abspath(path)), session)
        if key not in chosen or not path.endswith(".gz"):
            chosen[key] = path
    return sorted(chosen.values())


def _is_forgotten(path: str) -> bool:
    """Whether `session forget` removed it."""
    session = clients.of_name(path).paths.transcript_session_id(path)
    return SessionDir(data_dir(), session).is_forgotten()


def _read_transcript(
    path: str, store_path: str, keep_rows: bool, patterns: dict[str, str]
) -> Outcome:
    use_patterns(patterns)  # in this process, which may be a worker
    with closing(SqliteStore(store_path, busy_seconds=BUSY_TIMEOUT_SECONDS)) as store:
        try:
            done = ingest_transcript(store, path, keep_rows=keep_rows)
            return Outcome(path, total_bytes([path]), done)
        except TranscriptError as error:
            return Outcome(path, total_bytes([path]), None, str(error))


def _sum_totals(outcomes: list[Outcome]) -> dict[str, Any]:
    done = [outcome.done for outcome in outcomes if outcome.done is not None]
    return {
        "files": len(outcomes),
        "failed": len(outcomes) - len(done),
        "rows": sum(one.rows for one in done),
        "facts": sum(one.facts for one in done),
        "messages": sum(one.messages for one in done),
    }


def _print_outcomes(out: Screen, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.error:
            out.print(Text(f"Not read: {output.format_one_line(outcome.error, 300)}", style="red"))
    totals, read = _sum_totals(outcomes), [one.done for one in outcomes if one.done]
    parts = [pluralize(totals["files"], "transcript")]
    parts += [pluralize(totals[f"{name}s"], f"new {name}") for name in ("row", "fact", "message")]
    counts = {
        "compaction": sum(one.compactions for one in read),
        "bad line": sum(one.bad + one.oversized for one in read),
        "unknown row": sum(one.unknown for one in read),
    }
    parts += [pluralize(count, name) for name, count in counts.items() if count]
    quiet = sum(not one.rows and not (one.bad and not one.total_rows) for one in read)
    parts += [f"{quiet} unchanged"] if quiet else []
    parts += [f"{totals['failed']} not read"] if totals["failed"] else []
    out.say(", ".join(parts) + ".", "bold")
    if counts["compaction"]:
        out.print()
        purpose = "what each summary lost, and what would have been restored"
        out.steps([("holdfast status --compactions", purpose)])
