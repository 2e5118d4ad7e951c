"""`holdfast session tasks [SESSION]`: open and finished tasks, with the summaries of cold ones."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from holdfast.cli.output import (
    JsonOption,
    format_one_line,
    make_console,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import (
    SessionArgument,
    load_session_view,
    open_user_store,
    print_if_empty,
    resolve_session,
    translate_errors,
)
from holdfast.clock import format_minute


def tasks(session: SessionArgument = "", as_json: JsonOption = False) -> None:
    """List the tasks of a session, with summaries of the finished ones.

    Example: `holdfast session tasks 0276a600`
    """

    from holdfast.session.documents import load_summaries
    from holdfast.state.task_summary import encode_summary, format_summary

    nothing: dict[str, Any] = {"session": None, "tasks": [], "summaries": []}
    if not session and print_if_empty(as_json, nothing):
        return
    with open_user_store() as store, translate_errors():
        ctx, view = load_session_view(store, resolve_session(store, session))
    summaries = load_summaries(ctx.session_dir).summaries
    known = {one.task: one for one in summaries}
    rows: list[dict[str, Any]] = [
        {
            "id": task.task,
            "subject": task.subject,
            "status": task.client_status,
            "standing": task.status,
            "time": task.at.time,
        }
        for task in view.display.tasks.values()
    ]
    if as_json:
        print_json(
            {
                "session": view.saved.session.id,
                "tasks": rows,
                "summaries": [
                    encode_summary(one) | {"line": format_summary(one)} for one in summaries
                ],
            }
        )
        return
    out = make_console()
    if not rows and not summaries:
        out.print("No tasks in this session.")
        return

    for row in rows:
        style = {"open": "yellow", "done": "green"}.get(row["standing"], "dim")
        word = row["status"].replace("_", " ") if row["standing"] == "open" else row["standing"]
        text = Text(f"#{row['id']:<4} ", style="cyan") + Text(f"{word:<12} ", style=style)
        text.append(format_one_line(row["subject"], 140))
        text.append(f"  {format_minute(row['time'])}", style="dim")
        out.print(text, soft_wrap=True)
        if row["id"] in known:
            _show(known.pop(row["id"]))
    for one in known.values():  # no longer in the list, still worth knowing
        out.print(Text(f"#{one.task:<4} done         {format_one_line(one.subject, 140)}"))
        _show(one)


def _show(one: Any) -> None:
    parts = [
        ("turns", [f"{one.start_turn} to {one.end_turn}"]),
        ("files", one.files),
        ("ran", one.commands),
        ("outcome", one.outcomes),
        ("resolved", one.errors),
    ]
    out = make_console()
    for label, values in parts:
        if values:
            shown = Text(f"      {label:<9} ", style="dim")
            out.print(shown + Text(replace_control_chars("; ".join(values))), soft_wrap=True)
