"""The clients beside the default one: is Holdfast in them, up to date and allowed to run?

Says nothing of a client that is not on this machine. Must not write.
"""

from __future__ import annotations

import os

from holdfast import clients
from holdfast.clients.client_protocol import Client
from holdfast.doctor.environment import OK, WARN, Environment, Finding

CHECK = "other clients"


def check_other_clients(around: Environment) -> list[Finding]:
    found = []
    for name in clients.names():
        client = clients.get(name)
        config = client.paths.config_dir(around.environ, around.home)
        if name != clients.DEFAULT_CLIENT and config and os.path.isdir(config):
            found.append(_check(around, name, client))
    return found


def _check(around: Environment, name: str, client: Client) -> Finding:
    installer, install = client.installer, f"holdfast install --client {name}"
    sources = installer.read_settings_sources(around.environ, around.home, around.project)
    broken = [source for source in sources if source.problem]
    if broken:
        seen = f"{client.title} cannot read {broken[0].path}: {broken[0].problem}"
        return Finding(CHECK, WARN, seen, "Fix the file")
    installed = [s for s in sources if s.usable and installer.parse_entries(s.text)]
    if not installed:
        return Finding(CHECK, OK, f"{client.title} is there, without Holdfast; `{install}` adds it")
    switches = installer.list_disabling_switches(around.environ, sources)
    if switches:
        seen = f"{client.title} cannot use Holdfast's hooks: {switches[0].text}"
        return Finding(CHECK, WARN, seen, "Change that, if you want Holdfast in it")
    untrusted = installer.list_untrusted(around.environ, around.project)
    if untrusted:
        seen = f"{client.title} skips {len(untrusted)} of Holdfast's hooks: they are not trusted"
        return Finding(CHECK, WARN, seen, " ".join(installer.NEXT_STEPS[1:2]))
    limits = installer.list_limits(around.environ, around.project)
    if limits:
        seen = f"{client.title} runs Holdfast's hooks, but {limits[0]}"
        return Finding(CHECK, WARN, seen, " ".join(installer.NEXT_STEPS[1:2]))
    where = installed[0].path
    silent = installer.list_silent(around.data)
    if silent:
        names = " and ".join(silent)
        seen = f"{client.title} never called {names}: it may not know these hooks any more"
        return Finding(CHECK, WARN, seen, "Look for a newer version of Holdfast")
    if silent is None:
        seen = f"{client.title}: installed in {where}; it was not started since"
        return Finding(CHECK, OK, seen)
    if untrusted is None:
        seen = f"{client.title}: installed in {where}; whether its hooks are trusted is not known"
        return Finding(CHECK, OK, seen)
    return Finding(CHECK, OK, f"{client.title}: installed in {where}, and its hooks may run")
