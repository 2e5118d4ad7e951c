"""`holdfast audit [PLACE]`: what compaction has cost, on the user's own transcripts.

Owns what is read, the report in the terminal, and where files are written. Reads the client's
folder and never writes into it.
"""

import os
import re
import time
import webbrowser
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast import clients
from holdfast.audit import session_audit, statistics
from holdfast.audit.report_files import draw_picture, render_page
from holdfast.audit.session_audit import Session
from holdfast.audit.statistics import AuditStatistics, Example, compute_statistics, remove_quotes
from holdfast.cli import output
from holdfast.cli.doctor import describe_kept, detect_environment
from holdfast.cli.screen import NARROW_WIDTH, Screen, drop_columns, make_table, progress_bar
from holdfast.compaction.prices import BadPrices, load_prices, own_prices_path
from holdfast.doctor.check_hooks import describe_hook_problem
from holdfast.files import write_output
from holdfast.own_copy import format_call
from holdfast.path_spelling import is_inside
from holdfast.text import pluralize

DEFAULT_PAGE = "holdfast-audit.html"
DEFAULT_PICTURE = "holdfast-audit.svg"
BAR_WIDTH, MIN_BAR_WIDTH = 30, 8
WITH_BRIEF = "with Holdfast's brief"
MAX_QUOTES = 4
MAX_UNREAD = 5
MAX_PROJECTS = 8
MAX_REPEATED = 3
DAY_SECONDS = 86_400
UNIT_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def audit(
    place: Annotated[str, typer.Argument(metavar="PLACE")] = "",
    since: str = "",
    project: str = "",
    client: str = "",
    html: str = "",
    open_: bool = False,
    picture: bool = False,
    picture_file: str = "",
    as_json: output.JsonOption = False,
    no_quotes: bool = False,
    jobs: output.Natural = 0,
) -> None:
    """Show what compaction has cost you so far, and what Holdfast would have kept.

    Reads your transcripts and changes nothing. No model, no network.

    PLACE: A transcript, or a folder to search for transcripts. Default: the clients' own,
        ~/.claude/projects, ~/.codex/sessions and ~/.gemini/tmp, and ours of OpenCode.
    --since AGE: Only compactions since then: 30d, 4w or 2026-10-01.
    --project NAME: Only projects whose folder ends with it.
    --client NAME: Only sessions of this client.
    --html FILE: Write the report as one self-contained page.
    --open: Open the page in the browser. Written to ./holdfast-audit.html without --html.
    --picture: Write one picture to show around (SVG, no quotes): ./holdfast-audit.svg.
    --picture-file FILE: Write the picture there.
    --no-quotes: Figures only, without quotes from the transcripts.
    --jobs N: Number of worker processes; 0 chooses by size.

    Example: `holdfast audit --since 30d --open`
    """
    html = html or (DEFAULT_PAGE if open_ else "")
    picture_file = picture_file or (DEFAULT_PICTURE if picture else "")
    places, earliest = _find_places(place), _parse_since(since)
    for target in filter(None, (html, picture_file)):
        for one in places:
            _check_target(target, one)
    try:
        prices = load_prices(os.environ)
    except BadPrices as error:
        raise output.CliError(str(error), "Mend the file, or remove it.") from error
    found = _find_sessions(places, client, earliest)
    total = sum(map(session_audit.total_bytes, found.values()))
    with progress_bar("Reading transcripts", total, quiet=as_json) as advance:
        sessions = session_audit.audit_all(found, jobs=jobs, progress=advance)
    if os.path.isfile(place) and not any(one.updated for one in sessions):
        problem = next((f" ({one.error})" for one in sessions if one.error), "")
        raise output.CliError(
            f"Not a transcript: {place}{problem}",
            "Pass a client's *.jsonl file, or a folder of them.",
        )
    made = compute_statistics(_select(sessions, project, earliest), prices)
    made.folder = places[0]
    if no_quotes:
        made = remove_quotes(made)
    if html:
        names = ", ".join(map(format_folder, places))
        _write_private(html, render_page(made, folder=names, made_on=time.strftime("%Y-%m-%d")))
    if picture_file:
        _write_private(picture_file, draw_picture(made))
    if as_json:
        output.print_json(asdict(made))
    else:
        _print_all(made, earliest, {"Report": html, "Picture": picture_file})
        if not place:
            Screen().say(describe_kept(), "dim")
    if open_ and not webbrowser.open(Path(html).resolve().as_uri()) and not as_json:
        Screen().say("No browser was found to open it with.", "yellow")


def _print_all(made: AuditStatistics, earliest: str, files: Mapping[str, str]) -> None:
    out = Screen()
    if made.compactions:
        _print_report(out, made)
    else:
        head = f"No compaction in {pluralize(made.sessions_read, 'session')}"
        rest = f" since {earliest}." if earliest else ": it has cost you nothing so far."
        out.say(rest, label=head, label_style="bold")
    for path, error in made.unreadable[:MAX_UNREAD]:
        out.say(
            f"Not read: {output.format_one_line(path, 200)}: {output.format_one_line(error, 200)}",
            "red",
        )
    if (more := len(made.unreadable) - MAX_UNREAD) > 0:
        out.say(f"and {more} more not read", "red")
    for name, target in files.items():
        if target:
            size = output.format_bytes(os.stat(target).st_size)
            out.verbatim(f"{name}: {target} ({size})", "bold")
    out.print()
    # What to do with it: stop the loss, then look at the worst.
    off = describe_hook_problem(detect_environment(quick=True))
    command, purpose = ("install", "keeps it from now on") if off else ("status", "what is saved")
    steps = [(f"{format_call()} {command}", purpose)]
    if made.worst and not off:
        worst = made.worst[0]
        steps.append((f"{format_call()} show {worst.session_id[:8]} --compactions", "the worst"))
    out.steps(steps)
    out.print()


def _find_places(place: str) -> list[str]:
    """The file or folder that was named, or the clients' own folders that exist."""
    if place:
        if not os.path.exists(place):
            raise output.CliError(
                f"No such file or folder: {place}",
                "Pass a transcript, or the folder that contains the transcripts.",
            )
        return [place]
    places = clients.sessions_dirs(os.environ, os.path.expanduser("~"))
    there = [one for one in places if os.path.isdir(one)]
    if not there:
        raise output.CliError(
            f"No transcripts yet: {places[0]} does not exist",
            f"`{format_call()} try` shows Holdfast on a sample session.",
        )
    return there


def _find_sessions(places: list[str], client: str, earliest: str) -> dict[str, list[str]]:
    found = session_audit.find_transcripts(*places)
    if not found:
        raise output.CliError(
            f"No *.jsonl or *.jsonl.gz below {places[0]}",
            "Pass a folder that contains transcripts.",
        )
    if client:
        names = {session: clients.of_name(paths[0]).name for session, paths in found.items()}
        if client not in names.values():
            known = ", ".join(sorted({*names.values()}))
            raise output.CliError(f"No session of {client} here", f"There are: {known}.")
        found = {session: paths for session, paths in found.items() if names[session] == client}
    # A file that was last written before then holds nothing of it.
    return {
        session: paths for session, paths in found.items() if max(map(_last_day, paths)) >= earliest
    }


def _last_day(path: str) -> str:
    try:
        return time.strftime("%Y-%m-%d", time.gmtime(os.stat(path).st_mtime))
    except OSError:
        return "~"  # audited all the same, and named there as unreadable


def _parse_since(text: str) -> str:
    """The first day that counts, "" for all."""
    if not text or re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return text
    if not (age := re.fullmatch(r"(\d{1,4})([dwmy])", text)):
        raise output.CliError(
            f"Cannot read --since {text}", "Pass 30d, 4w, 6m or a day: 2026-10-01."
        )
    seconds = int(age[1]) * UNIT_DAYS[age[2]] * DAY_SECONDS
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - seconds))


def _select(sessions: list[Session], project: str, earliest: str) -> list[Session]:
    if project:
        wanted = _spell_folder(project)
        sessions = [one for one in sessions if _spell_folder(one.project).endswith(wanted)]
        if not sessions:
            raise output.CliError(
                f"No session of a project that ends with {project}",
                f"`{format_call()} audit` lists the projects.",
            )
    for session in sessions:
        session.compactions = [one for one in session.compactions if one.time >= earliest]
    return sessions


def _spell_folder(folder: str) -> str:
    return "/" + folder.replace("\\", "/").strip("/").lower()


def format_folder(folder: str) -> str:
    """Where the transcripts are, without telling a reader more of this machine than needed."""
    path, home = os.path.abspath(folder), os.path.expanduser("~")
    if is_inside(path, home):
        return "~" + path[len(home.rstrip("/")) :]
    return os.path.basename(path) or path


def _check_target(name: str, place: str) -> None:
    """Before the work, not after it; and never among the transcripts."""
    target = os.path.realpath(name)
    if is_inside(target, os.path.realpath(place)):
        raise output.CliError(
            f"{name} is inside the transcripts folder, which is never written to",
            "Choose another path.",
        )
    if os.path.isdir(target) or not os.path.isdir(os.path.dirname(target)):
        raise output.CliError(
            f"Cannot write {name}: the folder does not exist, or it is itself a folder",
            "Pass a file name.",
        )


def _write_private(target: str, text: str) -> None:
    with output.explain_os_error(f"Cannot write {target}", "Choose another path."):
        # A page quotes transcripts, and those are for the user alone.
        write_output(target, text.encode("utf-8", "replace"))


def _print_report(out: Screen, made: AuditStatistics) -> None:
    between = statistics.format_date_range(made.first, made.last)
    out.print()
    read = f"  {pluralize(made.sessions_read, 'session')} read, {between}"
    out.print(Text.assemble(("What compaction has cost you", "bold"), (read, "dim")))
    out.print(_make_cost_table(made))
    if shares := made.counted.shares:
        note = (
            f"{pluralize(made.counted.known, 'fact')} in "
            f"{pluralize(made.compared, 'compaction')}, by words; as `status --compactions` counts"
        )
        _print_two_bars(out, statistics.MEASURE, shares, note)
        out.print()
        out.print(_make_kind_table(made))
    if shares := made.said.shares:
        note = f"{pluralize(made.said.known, 'sentence')}, by words"
        _print_two_bars(out, "What you had said, sentence by sentence", shares, note)
    if len(made.projects) > 1:
        out.print(Text("\nWhat mattered, by project", style="bold"))
        out.print(_make_project_table(made, narrow=out.width < NARROW_WIDTH))
    _print_quotes(out, made)
    out.say(
        "Without a language model, from the rows before each compaction and its summary. "
        "Waiting and money are estimates; `--open` shows the page with the method.",
        "dim",
    )


def _make_cost_table(made: AuditStatistics) -> Table:
    table = make_table(header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True, justify="right", style="bold")
    table.add_column(overflow="fold")
    table.add_row()
    kinds = f"{made.automatic:,} automatic, {made.manual:,} manual"
    sessions = f"{kinds}, in {pluralize(made.sessions_compacted, 'session')}"
    table.add_row("Compactions", f"{made.compactions:,}", sessions)
    if made.tokens_before_known:
        after = f"about {statistics.format_amount(made.tokens_after_median)} after each"
        amount = statistics.format_amount(made.tokens_before)
        table.add_row("Context before", amount, f"tokens in total; {after}")
    if made.dollars_estimated is not None:
        own = own_prices_path(os.environ)
        place = format_folder(own)
        how = f"estimated by list prices, without cache; your own go into {place}"
        if os.path.isfile(own):
            how = f"estimated by the prices in {place}, without cache"
        table.add_row("Money", statistics.format_dollars(made.dollars_estimated), how)
    if made.seconds_known:
        how = "estimated from timestamps" if made.seconds_estimated else "as recorded"
        what = f"for {made.seconds_known:,} of them, {how}"
        table.add_row("Waiting", statistics.format_duration(made.seconds), what)
    if made.repeats:
        most = made.most_repeated[:MAX_REPEATED]
        named = ", ".join(f"{output.format_one_line(what, 60)} ({times}x)" for what, times in most)
        examples = f": {named}" if named else ""
        table.add_row("Repeated look-ups", f"{made.repeats:,}", f"after a compaction{examples}")
    return table


def _make_bar(share: float, style: str, width: int, encoding: str) -> Text:
    """Blocks where the output can show them, else ASCII."""
    filled = round(share * width)
    full, empty = ("█", "░") if encoding.lower().startswith("utf") else ("#", ".")
    return Text(full * filled, style=style) + Text(empty * (width - filled), style="dim")


def _print_two_bars(out: Screen, title: str, shares: tuple[float, float], note: str) -> None:
    """A share that the summary kept, and with the brief; under them what they are based on."""
    out.print(Text(f"\n{title}", style="bold"))
    width = max(MIN_BAR_WIDTH, min(BAR_WIDTH, out.width - len(WITH_BRIEF) - 10))
    table = make_table(header=False)
    for label, share, style in (
        ("the summary alone", shares[0], "yellow"),
        (WITH_BRIEF, shares[1], "green"),
    ):
        table.add_row(
            Text(label, style="dim"),
            _make_bar(share, style, width, out.encoding),
            Text(statistics.format_percent(share), style=f"bold {style}"),
        )
    out.print(table)
    out.say(f"{note}; the brief is simulated", "dim")


def _make_kind_table(made: AuditStatistics) -> Table:
    table = make_table("Lost by the summaries", ">of", ">lost", ">with Holdfast")
    for kind, count in made.facts.items():
        lost, still = count.known - count.in_summary, count.known - count.with_brief
        table.add_row(
            Text(statistics.FACT_LABELS[kind]),
            Text(f"{count.known:,}", style="dim"),
            Text(f"{lost:,}", style="bold" if lost else "dim"),
            Text(f"{still:,}", style="green" if still < lost else "dim"),
        )
    table.add_row(Text("Also known, not counted", style="dim"), f"{made.also_known:,}", "", "")
    return table


def _make_project_table(made: AuditStatistics, *, narrow: bool) -> Table:
    names = (">compactions", ">summary", ">with Holdfast", ">repeated look-ups")
    table = make_table("project", *names)
    for one in made.projects[:MAX_PROJECTS]:
        shares = one.counted.shares
        table.add_row(
            Text(output.format_one_line(one.name, 50)),
            f"{one.compactions:,}",
            statistics.format_percent(shares and shares[0]),
            statistics.format_percent(shares and shares[1]),
            f"{one.repeats:,}",
        )
    if len(made.projects) > MAX_PROJECTS:
        table.add_row(Text(f"and {len(made.projects) - MAX_PROJECTS} more", style="dim"))
    if narrow:
        drop_columns(table, "repeated look-ups", "compactions")
    return table


def _print_quotes(out: Screen, made: AuditStatistics) -> None:
    if not made.examples:
        out.print()
        return
    out.print(Text("\nKnown before, missing from the summary", style="bold"))
    for one in _mix_kinds(made.examples)[:MAX_QUOTES]:
        line = Text(f"{statistics.EXAMPLE_LABELS[one.kind]}: ", style="yellow")
        line.append(f"“{output.format_one_line(one.text, 200)}”", style="default")
        if one.detail:
            line.append(f" ({output.format_one_line(one.detail, 120)})", style="dim")
        line.append(f"  {one.time[:10]}, {output.format_one_line(one.project, 40)}", style="dim")
        out.print(Padding(line, (0, 0, 0, 2)))
    out.print()


def _mix_kinds(examples: list[Example]) -> list[Example]:
    """One of each kind first: four rules in a row say less than a rule and an open error."""
    turns: dict[str, int] = {}
    ranked = []
    for one in examples:
        turn = turns[one.kind] = turns.get(one.kind, 0) + 1
        ranked.append((turn, one))
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]
