"""`holdfast brief SESSION|FILE`: the text that an agent is given, for a reader and a budget.

Writes nothing. With `--compactions --json` it answers programs, one line of JSON each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, answer_line, printable
from holdfast.cli.subject import (
    CHARACTERS_PER_TOKEN,
    BudgetOption,
    RoleOption,
    Subject,
    SubjectArgument,
    agent_type_in,
    characters,
    note,
    present_state,
    reader_of,
    subject_named,
    titled,
    transcript_of,
)

if TYPE_CHECKING:
    from holdfast.brief.compose import Brief
    from holdfast.brief.role import Role
    from holdfast.state.model import State


def brief(
    subject: SubjectArgument,
    role: RoleOption = "",
    budget: BudgetOption = None,
    max_chars: Annotated[
        list[int] | None,
        typer.Option(
            "--max-chars",
            metavar="N",
            min=0,
            help="How long it may be, in characters; repeatable with --compactions. "
            "Default: 6000, as the hooks deliver it.",
        ),
    ] = None,
    gap: Annotated[
        bool, typer.Option("--gap", help="What the last compaction's summary lost instead.")
    ] = False,
    instant: Annotated[
        bool,
        typer.Option(
            "--instant", help="What the agent would have after an instant compaction instead."
        ),
    ] = False,
    compactions: Annotated[
        bool,
        typer.Option(
            "--compactions",
            help="One for every compaction, made from what was known right before it.",
        ),
    ] = False,
    against_summary: Annotated[
        bool,
        typer.Option(
            "--against-summary",
            help="With --compactions: what each summary in the file leaves out.",
        ),
    ] = False,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace", help="With --compactions --json: every line with the rows it comes from."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the brief of a session: what its agent is given back after a compaction.

    Example: `holdfast brief session.jsonl --role validator --budget 1000`
    """
    for name, given in (("--against-summary", against_summary), ("--trace", trace)):
        if given and not compactions:
            raise typer.BadParameter("needs --compactions", param_hint=name)
    if gap and compactions:
        raise typer.BadParameter("use either --gap or --compactions", param_hint="--gap")
    sizes = characters(budget, max_chars)
    about = subject_named(subject)
    if instant:
        _instant(about, as_json)
        return
    if compactions:
        _at_compactions(about, role, sizes, as_json, against_summary, trace)
        return
    if len(sizes) > 1:
        raise typer.BadParameter("more than one size needs --compactions", param_hint="--max-chars")
    if gap:
        _gap(about, sizes[0], as_json)
    else:
        _now(about, role, sizes[0], as_json)


def _instant(about: Subject, as_json: bool) -> None:
    import orjson

    from holdfast.cli.opening import foreseen
    from holdfast.lifecycle.instant_view import what_is_left

    state = present_state(about)
    with foreseen():
        left = what_is_left(transcript_of(about), state, loads=orjson.loads)
    if as_json:
        answer({"text": left.text, "messages": list(left.messages)})
        return
    if not left.text and not left.messages:
        note("nothing is known yet")
        return
    typer.echo(printable("\n\n".join((left.text, *left.messages))))


def _now(about: Subject, role: str, max_chars: int, as_json: bool) -> None:
    from holdfast.brief.compose import compose

    state = present_state(about)
    reader = reader_of(state, role, agent_type_in(about.path) if not role else "")
    made = compose(state, max_chars, title=titled(state, max_chars), role=reader)
    show_brief(made, state.place.session_id or about.session_id, reader, max_chars, as_json)


def show_brief(
    made: Brief, session_id: str, role: Role, max_chars: int, as_json: bool, **more: object
) -> None:
    if as_json:
        answer(
            {
                "session_id": session_id,
                "role": role.name,
                **more,
                "max_chars": max_chars,
                "characters": len(made.text),
                "tokens": round(len(made.text) / CHARACTERS_PER_TOKEN),
                "facts": list(made.facts),
                "text": made.text,
            }
        )
        return
    if not made.text:
        note("nothing is known that fits")
        return
    if not made.facts and "\n" not in made.text.strip():
        note("nothing is known yet")  # and a title alone would look as if there were
        return
    typer.echo(printable(made.text))


def _at_compactions(
    about: Subject,
    role: str,
    sizes: list[int],
    as_json: bool,
    against_summary: bool,
    trace: bool,
) -> None:
    import orjson

    from holdfast.brief.compose import compose
    from holdfast.cli.opening import foreseen
    from holdfast.lifecycle.replay import cuts

    readers: dict[str, Role] = {}  # by agent type: a broken role file is told about once
    path = transcript_of(about)
    number = 0
    with foreseen():
        found = cuts(path, loads=orjson.loads, summaries=against_summary)
        for number, cut in enumerate(found, 1):
            if cut.agent_type not in readers:
                readers[cut.agent_type] = reader_of(cut.state, role, cut.agent_type)
            for max_chars in sizes:
                reader = readers[cut.agent_type]
                made = compose(cut.state, max_chars, role=reader, summary=cut.summary)
                if as_json:
                    answer_line(
                        {
                            "session_id": cut.session_id,
                            "boundary_uuid": cut.boundary,
                            "max_chars": max_chars,
                            "text": made.text,
                            **({"lines": _traced(cut.state, made)} if trace else {}),
                        }
                    )
                else:
                    head = (
                        f"Before compaction {number} ({cut.boundary[:8]}), {max_chars} characters"
                    )
                    typer.echo(f"{head}:\n\n{printable(made.text)}\n")
    if not number and not as_json:
        note(f"{path} was never compacted")


def _traced(state: State, made: Brief) -> list[dict[str, object]]:
    """Every statement of a brief with the row that it comes from."""
    from holdfast.state.model import facts

    rows = {fact.id: fact.at.row for fact in facts(state)}
    return [
        {
            "kind": one.kind,
            "text": one.text,
            "fact": one.fact,
            "rows": [rows[one.fact]] if rows.get(one.fact) else [],
            **({"about": one.about} if one.about else {}),
        }
        for one in made.told
    ]


def _gap(about: Subject, max_chars: int, as_json: bool) -> None:
    import orjson

    from holdfast.brief.gap import carried, compose_gap
    from holdfast.cli.opening import foreseen
    from holdfast.lifecycle.replay import last_summary

    path = transcript_of(about)
    with foreseen():
        found = last_summary(path, loads=orjson.loads)
    if found is None or not found[1]:
        what = "was never compacted" if found is None else "has no summary after its compaction"
        raise Trouble(f"{path} {what}", "Leave out --gap.")
    state, summary = found
    told, lost = carried(state, summary)
    made = compose_gap(state, summary, "", max_chars)
    if as_json:
        answer(
            {
                "session_id": state.place.session_id or about.session_id,
                "max_chars": max_chars,
                "kept": list(told),
                "lost": list(lost),
                "facts": list(made.facts),
                "text": made.text,
            }
        )
    elif made.text:
        typer.echo(printable(made.text))
    else:
        note(f"the summary lost nothing of {len(told)} facts" if not lost else "nothing fits")
