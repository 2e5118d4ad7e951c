"""`holdfast tasks [SESSION]`: open and finished tasks, with the summaries of cold ones."""

from __future__ import annotations

from typing import Any

from holdfast.cli.desk import SessionArgument
from holdfast.cli.output import JsonOption, answer, console, one_line, printable, when


def tasks(session: SessionArgument = "", as_json: JsonOption = False) -> None:
    """List the tasks of a session: open, done, and in short what each finished one took.

    Example: `holdfast tasks 0276a600`
    """
    from holdfast.cli.desk import laid_out, session_meant
    from holdfast.cli.opening import foreseen, opened_store
    from holdfast.lifecycle.cold_tasks import shelf
    from holdfast.state.finished import line, to_document

    with opened_store() as store, foreseen():
        desk = laid_out(store, session_meant(store, session))
    summaries = shelf(desk.tray).summaries
    known = {one.task: one for one in summaries}
    rows: list[dict[str, Any]] = [
        {
            "id": task.task,
            "subject": task.subject,
            "status": task.status,
            "standing": task.standing,
            "time": task.at.time,
        }
        for task in desk.shown.tasks.values()
    ]
    if as_json:
        answer(
            {
                "session": desk.kept.session.id,
                "tasks": rows,
                "summaries": [to_document(one) | {"line": line(one)} for one in summaries],
            }
        )
        return
    out = console()
    if not rows and not summaries:
        out.print("No tasks in this session.")
        return
    from rich.text import Text

    for row in rows:
        style = {"open": "yellow", "done": "green"}.get(row["standing"], "dim")
        word = row["status"].replace("_", " ") if row["standing"] == "open" else row["standing"]
        text = Text(f"#{row['id']:<4} ", style="cyan") + Text(f"{word:<12} ", style=style)
        text.append(one_line(row["subject"], 140))
        text.append(f"  {when(row['time'])}", style="dim")
        out.print(text, soft_wrap=True)
        if row["id"] in known:
            _show(known.pop(row["id"]))
    for one in known.values():  # no longer in the list, still worth knowing
        out.print(Text(f"#{one.task:<4} done         {one_line(one.subject, 140)}"))
        _show(one)


def _show(one: Any) -> None:
    from rich.text import Text

    parts = [
        ("turns", [f"{one.start_turn} to {one.end_turn}"]),
        ("files", one.files),
        ("ran", one.commands),
        ("outcome", one.outcomes),
        ("resolved", one.errors),
    ]
    out = console()
    for label, values in parts:
        if values:
            shown = Text(f"      {label:<9} ", style="dim")
            out.print(shown + Text(printable("; ".join(values))), soft_wrap=True)
