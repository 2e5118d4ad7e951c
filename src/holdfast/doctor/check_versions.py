"""Which version of Holdfast runs, which the hooks run, and which wrote what is there.

After an upgrade or a downgrade these differ: the command that a person calls, the copy that the
hooks start, and the database that both write may be of three versions. Reads alone: a version is
taken from the files of a copy, never by running it.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress

import holdfast
from holdfast import clients
from holdfast.clients import hook_launcher
from holdfast.doctor.check_hooks import list_plugin_entries
from holdfast.doctor.environment import OK, WARN, Environment, Finding, read_settings_sources
from holdfast.files import read
from holdfast.paths import store_path
from holdfast.store.sqlite.connection import read_written_by

CHECK = "versions"
MAX_BYTES = 64 * 1024
_VERSION = re.compile(rb"^__version__ = [\"']([^\"']{1,40})[\"']", re.M)
_NUMBERS = re.compile(r"\d{1,9}")


def check_versions(around: Environment) -> list[Finding]:
    running = holdfast.__version__
    details = [f"this command: {running}"]
    problems = []
    for where, version in _list_hook_versions(around):
        details.append(f"{where}: {version or 'unknown'}")
        if version and version != running:
            problems.append(_describe_hooks(where, version, running))
    wrote = read_written_by(store_path(around.data))
    if wrote:
        details.append(f"the database was last written by {wrote}")
    if wrote and is_older(running, wrote):
        problems.append(
            (
                f"a newer Holdfast, {wrote}, has written the database; this is {running}",
                f"Upgrade to {wrote} or later: what only the newer one knows is not shown here",
            )
        )
    if not problems:
        return [Finding(CHECK, OK, f"Holdfast {running}", details=tuple(details))]
    return [Finding(CHECK, WARN, seen, do, tuple(details)) for seen, do in problems]


def _list_hook_versions(around: Environment) -> list[tuple[str, str]]:
    """Each copy that hooks run, by whose entries, and its version."""
    installer = clients.default().installer
    found: dict[str, str] = {}
    for source in read_settings_sources(around):
        if not source.usable:
            continue
        wrote = installer.read_install_version(around.data, source.path)
        by = f" (installed by {wrote})" if wrote else ""
        for entry in installer.parse_entries(source.text):
            target = hook_launcher.find_target(entry.argv)
            if target is not None:
                version = read_package_version(os.path.dirname(os.path.dirname(target.script)))
                found[f"the hooks in the {source.scope} settings{by}"] = version
    for plugin in list_plugin_entries(around):
        manifest = read(os.path.join(plugin.folder, ".claude-plugin/plugin.json"), most=MAX_BYTES)
        with suppress(ValueError, KeyError, TypeError):
            version = str(json.loads(manifest or b"")["version"])
            found[f"the hooks of the plugin {plugin.name}"] = version
    return list(found.items())


def _describe_hooks(where: str, version: str, running: str) -> tuple[str, str]:
    if "plugin" in where:
        do = "Update the older of the two: `/plugin` in Claude Code, or the package"
    elif is_older(version, running):
        do = f"`holdfast install` makes them run {running}"
    else:
        do = f"Upgrade this command, or go back to {running} for the hooks: `holdfast install`"
    age = "an older" if is_older(version, running) else "a newer"
    return f"{where} run {age} Holdfast, {version}; this command is {running}", do


def read_package_version(folder: str) -> str:
    """The version of the package in this folder, "" where its file does not say."""
    said = _VERSION.search(read(os.path.join(folder, "__init__.py"), most=MAX_BYTES) or b"")
    return said[1].decode("utf-8", "replace") if said else ""


def is_older(one: str, other: str) -> bool:
    """By their numbers; what is not a number says nothing."""
    first, second = ([int(n) for n in _NUMBERS.findall(version)] for version in (one, other))
    return first < second
