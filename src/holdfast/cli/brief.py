"""`holdfast brief SESSION|FILE`: the text that an agent is given, for a reader and a budget.

Writes nothing. With `--compactions --json` it answers programs, one line of JSON each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.input_args import (
    BudgetOption,
    InputArgument,
    RoleOption,
    SessionInput,
    build_title,
    compute_char_limits,
    load_current_state,
    print_note,
    read_agent_type,
    require_transcript,
    resolve_input,
    resolve_role,
)
from holdfast.cli.output import (
    CliError,
    JsonOption,
    make_console,
    print_json,
    print_json_line,
    print_words,
    replace_control_chars,
)
from holdfast.cli.store_access import translate_errors
from holdfast.text import estimate_tokens

if TYPE_CHECKING:
    from holdfast.brief.compose import Brief
    from holdfast.brief.role import Role
    from holdfast.state.model import State


def brief(
    subject: InputArgument,
    role: RoleOption = "",
    budget: BudgetOption = None,
    max_chars: Annotated[
        list[int] | None,
        typer.Option(
            "--max-chars",
            metavar="N",
            min=0,
            help="Maximum length in characters; repeatable with --compactions. Default: 6000, as "
            "delivered by the hooks.",
        ),
    ] = None,
    gap: Annotated[
        bool, typer.Option("--gap", help="Show what the last compaction's summary lost instead.")
    ] = False,
    instant: Annotated[
        bool,
        typer.Option(
            "--instant", help="Show what the agent would have after an instant compaction instead."
        ),
    ] = False,
    compactions: Annotated[
        bool,
        typer.Option(
            "--compactions",
            help="One brief per compaction, from what was known right before it.",
        ),
    ] = False,
    against_summary: Annotated[
        bool,
        typer.Option(
            "--against-summary",
            help="With --compactions: what the compaction's own summary lost comes first.",
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
    """Show the brief of a session: what its agent is given after a compaction.

    Example: `holdfast dev brief session.jsonl --role validator --budget 1000`
    """
    for name, given in (("--against-summary", against_summary), ("--trace", trace)):
        if given and not compactions:
            raise typer.BadParameter("needs --compactions", param_hint=name)
    if gap and compactions:
        raise typer.BadParameter("use either --gap or --compactions", param_hint="--gap")
    sizes = compute_char_limits(budget, max_chars)
    about = resolve_input(subject)
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


def _instant(about: SessionInput, as_json: bool) -> None:
    import orjson

    from holdfast.compaction.module_handlers import preview_instant_compaction

    state = load_current_state(about)
    with translate_errors():
        left = preview_instant_compaction(require_transcript(about), state, loads=orjson.loads)
    if as_json:
        print_json({"text": left.text, "messages": list(left.messages)})
        return
    if not left.text and not left.messages:
        print_note("nothing is known yet")
        return
    _print_text("\n\n".join((left.text, *left.messages)))


def show_current_brief(subject: str, as_json: bool) -> None:
    """As the hooks would deliver it now."""

    from holdfast.brief.hook_texts import DEFAULT_BRIEF_CHARS

    _now(resolve_input(subject), "", DEFAULT_BRIEF_CHARS, as_json)


def _now(about: SessionInput, role: str, max_chars: int, as_json: bool) -> None:
    from holdfast.brief.compose import compose

    state = load_current_state(about)
    reader = resolve_role(state, role, read_agent_type(about.path) if not role else "")
    made = compose(state, max_chars, title=build_title(state, max_chars), role=reader)
    show_brief(made, state.session.session_id or about.session_id, reader, max_chars, as_json)


def show_brief(
    made: Brief, session_id: str, role: Role, max_chars: int, as_json: bool, **more: object
) -> None:
    if as_json:
        print_json(
            {
                "session_id": session_id,
                "role": role.name,
                **more,
                "max_chars": max_chars,
                "characters": len(made.text),
                "tokens": estimate_tokens(len(made.text)),
                "facts": list(made.fact_ids),
                "text": made.text,
            }
        )
        return
    if not made.text:
        print_note("nothing fits")
        return
    if not made.fact_ids and "\n" not in made.text.strip():
        print_note("nothing is known yet")  # and a title alone would look as if there were
        return
    _print_text(made.text)


def _print_text(text: str) -> None:
    """Wrapped between words on a terminal; as the agent gets it where a program reads."""
    if make_console().is_terminal:
        print_words(text)
    else:
        typer.echo(replace_control_chars(text))


def _at_compactions(
    about: SessionInput,
    role: str,
    sizes: list[int],
    as_json: bool,
    against_summary: bool,
    trace: bool,
) -> None:
    import orjson

    from holdfast.brief.compose import compose
    from holdfast.session.replay import iterate_compactions

    readers: dict[str, Role] = {}  # by agent type: a broken role file is told about once
    path = require_transcript(about)
    number = 0
    with translate_errors():
        found = iterate_compactions(path, loads=orjson.loads, summaries=against_summary)
        for number, cut in enumerate(found, 1):
            if cut.agent_type not in readers:
                readers[cut.agent_type] = resolve_role(cut.state, role, cut.agent_type)
            for max_chars in sizes:
                reader = readers[cut.agent_type]
                made = compose(cut.state, max_chars, role=reader, summary=cut.summary)
                if as_json:
                    print_json_line(
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
                    typer.echo(f"{head}:\n\n{replace_control_chars(made.text)}\n")
    if not number and not as_json:
        print_note(f"{path} was never compacted")


def _traced(state: State, made: Brief) -> list[dict[str, object]]:
    """Every statement of a brief with the row that it comes from."""

    from holdfast.state.model import list_facts

    rows = {fact.id: fact.at.row for fact in list_facts(state)}
    return [
        {
            "kind": one.kind,
            "text": one.text,
            "fact": one.fact,
            "rows": [rows[one.fact]] if rows.get(one.fact) else [],
            **({"about": one.about} if one.about else {}),
        }
        for one in made.entries
    ]


def _gap(about: SessionInput, max_chars: int, as_json: bool) -> None:
    import orjson

    from holdfast.brief.gap import compose_gap, split_covered
    from holdfast.session.replay import load_last_summary

    path = require_transcript(about)
    with translate_errors():
        found = load_last_summary(path, loads=orjson.loads)
    if found is None or not found[1]:
        what = "was never compacted" if found is None else "has no summary after its compaction"
        raise CliError(f"{path} {what}", "Omit --gap.")
    state, summary = found
    told, lost = split_covered(state, summary)
    made = compose_gap(state, summary, "", max_chars)
    if as_json:
        print_json(
            {
                "session_id": state.session.session_id or about.session_id,
                "max_chars": max_chars,
                "kept": list(told),
                "lost": list(lost),
                "facts": list(made.fact_ids),
                "text": made.text,
            }
        )
    elif made.text:
        _print_text(made.text)
    else:
        print_note(f"the summary lost nothing of {len(told)} facts" if not lost else "nothing fits")
