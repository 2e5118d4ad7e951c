"""`holdfast session ingest PATH...`: index old transcripts.

Owns which files are read and what is told about them; the reading is `session.ingest`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.output import (
    NARROW_WIDTH,
    CliError,
    JsonOption,
    drop_columns,
    format_bytes,
    format_one_line,
    make_console,
    pluralize,
    print_json_line,
    print_steps,
)
from holdfast.cli.store_access import ensure_store_path, translate_errors

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.session.ingest import IngestResult


# Below this a second process costs more than it brings.
MIN_POOL_BYTES = 32_000_000
MAX_JOBS = 4
# Given up before SQLite's own patience would end a long ingestion: a writer takes milliseconds.
BUSY_TIMEOUT_SECONDS = 60.0


class Outcome(NamedTuple):
    path: str
    size: int
    done: IngestResult | None
    error: str = ""


def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Transcripts, or folders to search for *.jsonl and *.jsonl.gz. Default: the "
            "clients' own, ~/.claude/projects, ~/.codex/sessions and ~/.gemini/tmp, and ours of "
            "OpenCode.",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", metavar="N", min=0, help="Number of worker processes; 0 chooses by size."
        ),
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Index existing transcripts, so that `search` and `show` find their contents.

    Safe to repeat (reads only what is new) and to interrupt at any point. With `--json`, prints
    one line per file as soon as it is stored, then a line with the totals.

    Example: `holdfast session ingest ~/.claude/projects`
    """
    from holdfast import clients

    given = paths or clients.sessions_dirs(os.environ, os.path.expanduser("~"))
    if not paths:
        given = [place for place in given if os.path.exists(place)] or given[:1]
    if not paths and not os.path.exists(given[0]):
        raise CliError(
            f"No transcripts found ({given[0]} does not exist)",
            "Pass a transcript or a folder that contains some.",
        )
    files = _files(given)
    if not files:
        raise CliError(
            f"No *.jsonl or *.jsonl.gz in {', '.join(given)}",
            "Pass a transcript or a folder that contains some.",
        )
    store = ensure_store_path()
    outcomes: list[Outcome] = []
    try:
        with translate_errors():
            for outcome in _show_progress(_run(files, store, _jobs(jobs, files)), files, as_json):
                outcomes.append(outcome)
                if as_json:
                    print_json_line(_document(outcome))
    except KeyboardInterrupt:
        _report_interruption(outcomes, len(files), as_json)
        raise
    if as_json:
        print_json_line(_totals(outcomes))
    else:
        _report(make_console(), outcomes)
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


def _report_interruption(outcomes: list[Outcome], planned: int, as_json: bool) -> None:
    """What was read before Ctrl-C is stored, also of the file that was being read."""
    totals = _totals(outcomes)
    if as_json:
        print_json_line(totals | {"interrupted": True})
        return
    done = totals["files"] - totals["failed"]
    out = make_console(stderr=True)
    out.print(
        Text(f"Interrupted: {done} of {pluralize(planned, 'transcript')} stored")
        + Text(f", {pluralize(totals['rows'], 'new row')}. Run it again to go on."),
        soft_wrap=True,
    )


def _files(paths: list[str]) -> list[str]:
    """The transcripts to read, each session once.

    A plain file before its packed copy; of several plain ones the last: it goes on from the rest.
    """
    from holdfast import clients

    found: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            found.append(path)  # whatever it is: reading it will tell
            continue
        for folder, below, names in os.walk(path):
            below.sort()
            candidates = [os.path.join(folder, name) for name in sorted(names)]
            found += [path for path in candidates if _is_transcript(path)]
    chosen: dict[str, str] = {}
    for path in sorted(found):
        session = clients.of_name(path).paths.transcript_session_id(path)
        key = os.path.join(os.path.dirname(os.path.abspath(path)), session)
        if key not in chosen or not path.endswith(".gz"):
            chosen[key] = path
    return sorted(chosen.values())


def _is_transcript(path: str) -> bool:
    from holdfast import clients

    return clients.of_name(path).paths.is_transcript(path)


def _jobs(asked: int, files: list[str]) -> int:
    if asked:
        return min(asked, len(files))
    if sum(map(_size, files)) < MIN_POOL_BYTES:
        return 1
    return min(MAX_JOBS, os.cpu_count() or 1, len(files))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _run(files: list[str], store: str, jobs: int) -> Iterator[Outcome]:
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    from holdfast.workers import worker_pool

    if jobs == 1:
        for path in files:
            yield _one(path, store)
        return

    waiting = dict.fromkeys(files)
    try:
        with worker_pool(jobs) as pool:
            for future in as_completed([pool.submit(_one, path, store) for path in files]):
                outcome = future.result()
                waiting.pop(outcome.path, None)
                yield outcome
    except BrokenProcessPool:
        # A worker was killed, as when memory ran out: go on with one process, here.
        for path in list(waiting):
            yield _one(path, store)


def _one(path: str, store_path: str) -> Outcome:
    import orjson

    from holdfast.session.ingest import ingest_transcript as ingest_file
    from holdfast.store.sqlite.store import SqliteStore
    from holdfast.transcript.reader import TranscriptError

    store = SqliteStore(store_path, busy_seconds=BUSY_TIMEOUT_SECONDS)
    try:
        return Outcome(path, _size(path), ingest_file(store, path, loads=orjson.loads))
    except TranscriptError as error:
        return Outcome(path, _size(path), None, str(error))
    finally:
        store.close()


def _show_progress(
    outcomes: Iterator[Outcome], files: list[str], as_json: bool
) -> Iterator[Outcome]:
    """With a progress bar on a terminal, and nothing of it elsewhere."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    out = make_console(stderr=True)
    if as_json or not out.is_terminal:
        yield from outcomes
        return
    columns = (
        TextColumn("[bold]Indexing[/bold]"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", style="dim"),
    )
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("", total=sum(map(_size, files)) or None)
        for outcome in outcomes:
            progress.update(task, advance=outcome.size, description=os.path.basename(outcome.path))
            yield outcome


def _document(outcome: Outcome) -> dict[str, Any]:
    if outcome.done is None:
        return {"path": outcome.path, "error": outcome.error}
    return outcome.done._asdict()


def _totals(outcomes: list[Outcome]) -> dict[str, Any]:
    done = [outcome.done for outcome in outcomes if outcome.done is not None]
    return {
        "files": len(outcomes),
        "failed": len(outcomes) - len(done),
        "rows": sum(one.rows for one in done),
        "facts": sum(one.facts for one in done),
        "messages": sum(one.messages for one in done),
    }


def _report(out: Console, outcomes: list[Outcome]) -> None:
    news = [
        outcome for outcome in outcomes if outcome.error or (outcome.done and _format_new(outcome))
    ]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("session")
    for name in ("size", "new rows", "facts", "messages", "compactions", "bad lines", "unknown"):
        table.add_column(name, justify="right")
    for outcome in news:
        done = outcome.done
        if done is None:
            continue  # told below, with its reason
        table.add_row(
            Text(format_one_line(done.session_id[:8], 8), style="cyan"),
            format_bytes(outcome.size),
            *(str(n) for n in (done.rows, done.facts, done.messages, done.compactions)),
            Text(str(done.bad + done.oversized), style="red" if done.bad else "dim"),
            Text(str(done.unknown), style="yellow" if done.unknown else "dim"),
        )
    told = [outcome.done for outcome in news if outcome.done]
    if not any(done.bad or done.oversized for done in told):
        drop_columns(table, "bad lines")
    if not any(done.unknown for done in told):
        drop_columns(table, "unknown")
    if out.width < NARROW_WIDTH:
        drop_columns(table, "size", "facts", "messages")
    if told:
        out.print(table)
    for outcome in outcomes:
        if outcome.error:
            out.print(Text(f"Not read: {format_one_line(outcome.error, 300)}", style="red"))
    totals = _totals(outcomes)
    quiet = len(outcomes) - len(news)
    parts = [pluralize(totals["files"], "transcript"), pluralize(totals["rows"], "new row")]
    parts += [f"{quiet} unchanged"] if quiet else []
    parts += [f"{totals['failed']} not read"] if totals["failed"] else []
    out.print(Text(", ".join(parts) + ".", style="bold"))
    if any(done.compactions for done in told):
        out.print()
        purpose = "what each summary lost, and what would have been restored"
        print_steps([("holdfast status --compactions", purpose)])


def _format_new(outcome: Outcome) -> bool:
    done = outcome.done
    # A file of bad lines alone is no transcript: that is news each time.
    return done is not None and bool(done.rows or (done.bad and not done.total_rows))
