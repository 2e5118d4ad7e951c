"""When this client compacts: the settings and variables in effect, in words.

Owns the words; the client answers what is in effect. Judges nothing as broken: when to compact is
the user's choice.
"""

from __future__ import annotations

from holdfast import clients
from holdfast.clients.installation import AutoCompact
from holdfast.doctor.environment import Environment, read_settings_sources
from holdfast.doctor.finding import OK, WARN, Finding

CHECK = "auto-compact"


def check_autocompact(around: Environment) -> list[Finding]:
    installer = clients.default().installer
    sources = read_settings_sources(around)
    return [describe_autocompact(installer.read_auto_compact(around.environ, around.home, sources))]


def describe_autocompact(found: AutoCompact) -> Finding:
    """Pure."""
    if found.never:
        return Finding(CHECK, WARN, f"{found.disabled_by} is set: this client never compacts")
    if found.disabled_by:
        where = "in the settings" if found.disabled_by == "settings" else f"by {found.disabled_by}"
        return Finding(CHECK, OK, f"disabled {where}: only /compact compacts")
    if found.point is None:
        lowered = f", at no more than {found.percent:g} % of its window" if found.percent else ""
        return Finding(CHECK, OK, f"on, when the client's own window is full{lowered}")
    point = found.point
    return Finding(CHECK, OK, f"on, at about {point.tokens:,} tokens (window {point.window:,})")
