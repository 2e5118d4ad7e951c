"""Our own settings: what is wrong in them, and where."""

from __future__ import annotations

from holdfast.doctor.finding import OK, WARN, Finding
from holdfast.doctor.surroundings import Surroundings
from holdfast.lifecycle.terms import settings_for
from holdfast.settings.reading import DEFAULT

CHECK = "settings"


def check_settings(around: Surroundings) -> list[Finding]:
    chosen = settings_for(around.environ, around.data, around.project)
    if chosen.problems:
        seen = f"{chosen.problems[0]}"
        more = tuple(chosen.problems[1:])
        return [Finding(CHECK, WARN, seen, "Correct it there; see `holdfast config`", more)]
    own = sum(value.source != DEFAULT for value in chosen.values.values())
    return [Finding(CHECK, OK, f"{own} of {len(chosen.values)} chosen, the rest as they come")]
