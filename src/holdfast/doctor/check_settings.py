"""Our own settings: what is wrong in them, and where."""

from __future__ import annotations

from holdfast.doctor.environment import Environment
from holdfast.doctor.finding import OK, WARN, Finding
from holdfast.session.context import load_settings
from holdfast.settings.loader import DEFAULT

CHECK = "settings"


def check_settings(around: Environment) -> list[Finding]:
    chosen = load_settings(around.environ, around.data, around.project)
    if chosen.problems:
        seen = f"{chosen.problems[0]}"
        more = tuple(chosen.problems[1:])
        return [Finding(CHECK, WARN, seen, "Fix it in that file; see `holdfast config`", more)]
    own = sum(value.source != DEFAULT for value in chosen.values.values())
    return [Finding(CHECK, OK, f"{own} of {len(chosen.values)} customised, the rest default")]
