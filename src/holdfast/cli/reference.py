"""docs/cli.md, made from the commands themselves: `python -m holdfast.cli.reference`.

Owns the page's layout and its general part. Must not describe a command: its help does that.
"""

from __future__ import annotations

import enum
import inspect
import sys
from typing import Any

_GENERAL = """\
# The command line

*Made from the commands by `python -m holdfast.cli.reference > docs/cli.md`; a test holds the two
together.*

Tables are for people; `--json` gives programs the same in JSON. Colours appear only on a
terminal, and `NO_COLOR` turns them off there too. What comes from a transcript is shown with
control characters replaced, and what is stored or shown has passed the redactor.

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | it did not work; one line says why and what to do next |
| 2 | the command was used wrongly |
| 130 | interrupted |

## Where things are kept

One database per user, `holdfast.db`, in the data folder: `--home FOLDER` before the command,
else `$HOLDFAST_HOME`, else `$XDG_DATA_HOME/holdfast`, else `~/.local/share/holdfast`.
`holdfast state` and `holdfast try` need none.

## Names of facts

Every fact has a short id within its session, and `holdfast show` opens it: `q` request,
`r` rule, `t` task (`td` from a todo list), `p` plan, `v` test state, `e` error, `x` dead end,
`d` decision, `f` file, `c` command, `i` identifier, `g` commit, `s` subagent or background job,
`k` skill, `n` next step. `0276a600:t3` is task 3 of the session whose id begins with `0276a600`.
"""


def page() -> str:
    import typer.main

    from holdfast.cli.main import app

    group: Any = typer.main.get_command(app)
    return "\n".join([_GENERAL, "## holdfast\n", _parameters(group), *_commands(group, "holdfast")])


def _commands(group: Any, above: str) -> list[str]:
    parts: list[str] = []
    for name, command in group.commands.items():
        parts += [f"## {above} {name}\n", inspect.cleandoc(command.help or "") + "\n"]
        parts += [part for part in (_parameters(command),) if part]
        if hasattr(command, "commands"):
            parts += _commands(command, f"{above} {name}")
    return parts


def _parameters(command: Any) -> str:
    rows = [_row(param) for param in command.params if param.name != "help"]
    if not rows:
        return ""
    return "\n".join(["| Argument or option | |", "|---|---|", *rows]) + "\n"


def _row(param: Any) -> str:
    if param.param_type_name == "argument":
        name = (param.metavar or param.name).upper()
        shown = f"`{name}...`" if param.nargs == -1 else f"`{name}`"
        if not param.required:
            shown += " (optional)"
    else:
        value = "" if param.is_flag else f" {param.metavar or _choices(param)}"
        shown = ", ".join(f"`{name}{value}`" for name in (*param.opts, *param.secondary_opts))
    said = " ".join((param.help or "").split())
    if param.param_type_name == "option" and not param.is_flag and param.default:
        default = getattr(param.default, "value", param.default)
        if isinstance(default, (str, int)):
            said += f" Default: `{default}`."
    return f"| {shown} | {said} |".replace("\\|", "|")


def _choices(param: Any) -> str:
    # From the default, which every version of Typer keeps as it was given.
    if isinstance(param.default, enum.Enum):
        return "/".join(str(choice.value) for choice in type(param.default))
    return "VALUE"


if __name__ == "__main__":
    sys.stdout.write(page())
