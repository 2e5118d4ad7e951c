"""The commands ``holdfast install`` and ``holdfast uninstall``.

Owns what the user is asked, shown and told. Reads the environment (home, project, interpreter)
and hands it on; every write happens in the client's installer.
Must not edit a settings file itself.
"""

from __future__ import annotations

import difflib
import enum
import functools
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.text import Text

import holdfast
from holdfast import clients, own_copy
from holdfast.cli.output import make_console, print_words
from holdfast.clients import hook_launcher
from holdfast.clients.installation import (
    FileChange,
    Installer,
    InstallOutcome,
    InvalidSettings,
    NotWritable,
    SettingsError,
    Unfinished,
)
from holdfast.doctor.hook_trial import run_one_hook
from holdfast.files import read
from holdfast.hooks.statusline import format_statusline, parse_payload
from holdfast.path_spelling import is_inside
from holdfast.paths import data_dir


class Scope(enum.StrEnum):
    user = "user"
    project = "project"
    local = "local"


ScopeOption = Annotated[
    Scope,
    typer.Option(
        help="user: all your projects; project: this one, for everyone (committed); "
        "local: this one, for you."
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show the changes as a diff; write nothing.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

ClientOption = Annotated[
    str, typer.Option(metavar="NAME", help=f"Which client: {' or '.join(clients.names())}.")
]
StatuslineOption = Annotated[
    bool,
    typer.Option(
        "--statusline",
        help="Also install a status line: context left before compaction, last save, open tasks. "
        "Wraps the one you have.",
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Codex: also have it trust Holdfast's entries, which it skips until then. Lists them.",
    ),
]
StatuslineOnlyOption = Annotated[
    bool, typer.Option("--statusline", help="Remove only the status line; keep the hooks.")
]


class UnusableHook(SettingsError):
    """This copy of Holdfast cannot be called by a hook."""


def install(
    scope: ScopeOption = Scope.user,
    client: ClientOption = clients.DEFAULT_CLIENT,
    statusline: StatuslineOption = False,
    trust: TrustOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add Holdfast's hooks to a client's settings. Safe to repeat; repairs old entries.

    Example: `holdfast install --dry-run` shows what would change, `holdfast install` changes it.
    """
    installer = _installer(client)

    def act() -> InstallOutcome:
        path, interpreter = _settings_path(scope, installer), choose_interpreter()
        if not dry_run:
            own_copy.ensure_lasting(data_dir())
        script = find_hook_script()
        finish = functools.partial(
            installer.finish_install,
            path,
            environ=os.environ,
            home=os.path.expanduser("~"),
            project=find_project_root(os.getcwd()),
            data_dir=data_dir(),
            recall=_recall_command(),
            launcher=hook_launcher.build_launcher(data_dir(), interpreter, script),
            trust=trust,
        )
        steps = finish(dry_run=True)  # refuses, where it must, before anything is changed
        outcome = installer.install(
            path,
            data_dir=data_dir(),
            interpreter=interpreter,
            script=script,
            dry_run=dry_run,
            statusline=statusline,
        )
        if not dry_run:
            _remove_unused_copies()
            steps = finish(dry_run=False)
        return outcome._replace(steps=tuple(steps), trusted=trust)

    _run(act, _installed_lines, scope, dry_run, as_json, client)


def uninstall(
    scope: ScopeOption = Scope.user,
    client: ClientOption = clients.DEFAULT_CLIENT,
    statusline: StatuslineOnlyOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove Holdfast's hooks from a client's settings and restore what was there.

    Example: `holdfast uninstall`
    """
    installer = _installer(client)

    def act() -> InstallOutcome:
        path, steps = _settings_path(scope, installer), []
        if not statusline:
            steps = installer.begin_uninstall(
                path,
                environ=os.environ,
                home=os.path.expanduser("~"),
                data_dir=data_dir(),
                dry_run=dry_run,
            )
        outcome = installer.uninstall(
            path, data_dir=data_dir(), dry_run=dry_run, statusline_only=statusline
        )
        if not dry_run:
            _remove_unused_copies()
        return outcome._replace(steps=tuple(steps))

    _run(act, _uninstalled_lines, scope, dry_run, as_json, client)


def _installer(client: str) -> Installer:
    try:
        return clients.get(client).installer
    except clients.UnknownClient as error:
        known = ", ".join(clients.names())
        raise typer.BadParameter(f"{error}; there are: {known}", param_hint="--client") from None


def find_hook_script() -> str:
    """The script that every hook is to run; one that is there to stay."""
    own = os.path.join(own_copy.package_dir(), own_copy.HOOK_SCRIPT)
    if not os.path.isfile(own):
        raise UnusableHook(
            f"the hook script {own} is missing. Reinstall Holdfast and run `holdfast install` again"
        )
    return own_copy.find_hook_script(data_dir())


def _recall_command() -> list[str]:
    """What starts the MCP server of this copy, where it has what that needs and stays."""
    if own_copy.is_temporary() or importlib.util.find_spec("mcp") is None:
        return []
    return [sys.executable, "-m", "holdfast", "dev", "mcp"]


def _remove_unused_copies() -> None:
    """Of the copies that earlier installs made, those that nothing names any more."""
    launcher = read(hook_launcher.launcher_path(data_dir())) or b""
    texts = [os.fsdecode(launcher)]
    for name in clients.names():
        installer = clients.get(name).installer
        sources = installer.read_settings_sources(
            os.environ, os.path.expanduser("~"), find_project_root(os.getcwd())
        )
        if any(source.problem for source in sources):
            return  # what cannot be read may name one
        texts += [source.text for source in sources]
        texts += installer.read_installed(data_dir())
    own_copy.remove_unused(data_dir(), texts)


def choose_interpreter() -> str:
    base = getattr(sys, "_base_executable", None)
    return hook_launcher.choose_interpreter(base, sys.executable, os.path.realpath, _runs_a_hook)


def _runs_a_hook(interpreter: str) -> bool:
    probe = [interpreter, *hook_launcher.PYTHON_FLAGS, "-c", "import json, sqlite3"]
    try:
        ended = subprocess.run(probe, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def _settings_path(scope: Scope, installer: Installer) -> str:
    root = find_project_root(os.getcwd())
    path = installer.settings_path(scope.value, os.environ, os.path.expanduser("~"), root)
    if scope is not Scope.user and links_outside(path, root):
        raise NotWritable(f"{path} is a link to a file outside the project")
    return path


def links_outside(path: str, folder: str) -> bool:
    """Whether a file of the project around this folder is, by a link, one outside of it."""
    root = os.path.realpath(find_project_root(folder))
    return not is_inside(os.path.realpath(path), root)


def find_project_root(folder: str) -> str:
    """The repository around this folder; the folder itself where there is none."""
    candidate = folder
    while not os.path.exists(os.path.join(candidate, ".git")):
        parent = os.path.dirname(candidate)
        if parent == candidate:
            return folder
        candidate = parent
    return candidate


def _run(
    act: Callable[[], InstallOutcome],
    lines_for: Callable[[InstallOutcome, Scope, bool, str], list[str]],
    scope: Scope,
    dry_run: bool,
    as_json: bool,
    client: str,
) -> None:
    try:
        outcome = act()
    except SettingsError as error:
        _refuse(error, as_json)
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(json.dumps(_report(outcome, scope, dry_run, client), indent=2))
        return
    if dry_run:
        make_console().print(_color_diff(format_diff(outcome)), end="", soft_wrap=True)
    for line in [*lines_for(outcome, scope, dry_run, client), *outcome.steps]:
        print_words(_printable(line))


def _refuse(error: SettingsError, as_json: bool) -> None:
    if as_json:
        found: dict[str, Any] = {"error": str(error), "kind": type(error).__name__}
        if isinstance(error, InvalidSettings):
            found |= {"path": error.path, "line": error.line, "column": error.column}
        typer.echo(json.dumps(found, indent=2))
        return
    console = make_console(stderr=True)
    opening = "Not finished. " if isinstance(error, Unfinished) else "Nothing was changed. "
    line = Text(opening, style="bold red") + Text(_printable(str(error)))
    console.print(line, soft_wrap=not console.is_terminal)
    if isinstance(error, InvalidSettings):
        console.print("Fix the file, then run the command again.")


def _report(outcome: InstallOutcome, scope: Scope, dry_run: bool, client: str) -> dict[str, Any]:
    report: dict[str, Any] = {
        "action": outcome.action,
        "dry_run": dry_run,
        "scope": scope.value,
        "path": outcome.path,
        "added": outcome.added,
        "repaired": outcome.repaired,
        "removed": outcome.removed,
        "backup": outcome.backup,
        "statusline": outcome.statusline,
        "identical": outcome.identical,
        "warnings": _warnings(outcome, scope, client) + _try_hook(outcome, dry_run, client),
    }
    if outcome.steps:
        report["steps"] = outcome.steps
    if dry_run:
        report["diff"] = "".join(format_diff(outcome))
    return report


def format_diff(outcome: InstallOutcome) -> list[str]:
    """The changes of every file as a unified diff, a line each."""
    decode = clients.default().installer.decode_settings
    found = []
    for change in _list_changes(outcome):
        is_settings = change.path == outcome.path
        both = (change.before, change.after)
        before, after = (
            _lines(decode(raw) if is_settings else os.fsdecode(raw or b"")) for raw in both
        )
        old, new = (_diff_name(change.path, raw) for raw in both)
        diff = difflib.unified_diff(before, after, old, new, lineterm="")
        found += [f"{line}\n" for line in diff]
    return found


def _list_changes(outcome: InstallOutcome) -> list[FileChange]:
    settings = FileChange(outcome.path, outcome.before, outcome.after)
    changes = [settings, outcome.launcher] if outcome.launcher else [settings]
    return [change for change in changes if change.before != change.after]


def _lines(text: str) -> list[str]:
    # Not splitlines(): that also breaks at characters which JSON allows inside a string.
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _diff_name(path: str, raw: bytes | None) -> str:
    return "/dev/null" if raw is None else path


def _printable(text: str) -> str:
    """A path may hold bytes that no terminal can show."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _color_diff(lines: list[str]) -> Text:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    text = Text()
    for line in lines:
        is_name = line.startswith(("--- ", "+++ "))
        text.append(_printable(line), style="bold" if is_name else styles.get(line[0], ""))
    return text


def _warnings(outcome: InstallOutcome, scope: Scope, client: str) -> list[str]:
    if outcome.action not in ("installed", "repaired", "unchanged"):
        return []
    installer = clients.get(client).installer
    text, found = installer.decode_settings(outcome.after), []
    if installer.read_hook_flags(text).disable_all_hooks:
        found.append('"disableAllHooks" is on in this file: no hook runs until it is removed')
    if scope is Scope.project:
        found.append(
            "the entries contain paths of this machine: commit them only if they are the same on "
            "every machine, or use --scope local"
        )
    return found


def _try_hook(outcome: InstallOutcome, dry_run: bool, client: str) -> list[str]:
    """One hook run for real, in a temporary folder; says what it did not do."""
    installer = clients.get(client).installer
    if dry_run or outcome.action not in ("installed", "repaired") or not installer.HAS_TRIAL:
        return []
    try:
        problems = run_one_hook(installer.parse_entries(installer.decode_settings(outcome.after)))
    except OSError as error:
        return [f"could not run a test hook in the temporary folder: {error.strerror or error}"]
    found = [f"test run of a hook on a sample session: {problem}" for problem in problems[:1]]
    return [f"{words}. Run `holdfast doctor` for details" for words in found]


def _installed_lines(
    outcome: InstallOutcome, scope: Scope, dry_run: bool, client: str
) -> list[str]:
    call = own_copy.format_call()
    if outcome.action == "unchanged":
        lines = [f"Nothing to do: Holdfast's hooks are in {outcome.path} and up to date."]
    elif dry_run:
        lines = [_describe_dry_run(outcome)]
        if own_copy.is_temporary():
            folder = os.path.dirname(os.path.dirname(find_hook_script()))
            lines.append(f"It would also copy Holdfast's own code to {folder}, for the hooks.")
    elif outcome.action == "repaired":
        lines = []
        if named := _list_changed(outcome):
            lines.append(f"Repaired Holdfast's hooks in {outcome.path}: {named}.")
    else:
        lines = [
            f"Installed {len(outcome.added)} hooks in {outcome.path}.",
            *(() if outcome.trusted else clients.get(client).installer.NEXT_STEPS),
            f"`{call} doctor` checks everything, `{call} status` shows what is saved.",
        ]
    if outcome.launcher and not dry_run:
        verb = "Wrote" if outcome.action == "installed" else "Repaired"
        lines.append(f"{verb} the launcher that the entries run: {outcome.launcher.path}.")
    if not dry_run and outcome.statusline and outcome.action != "unchanged":
        lines.append("The status line shows context left, when state was saved, and open tasks.")
    if not dry_run and outcome.backup:
        lines.append(f"A backup of the previous file is in {outcome.backup}.")
    if not dry_run and outcome.action == "installed":
        option = "" if scope is Scope.user else f" --scope {scope.value}"
        option += "" if client == clients.DEFAULT_CLIENT else f" --client {client}"
        lines.append(f"To undo: `{call} uninstall{option}`.")
    if not dry_run and outcome.action in ("installed", "repaired") and own_copy.is_temporary():
        lines.append(
            f"The hooks run a copy of this Holdfast ({holdfast.__version__}) in {data_dir()}, "
            f"because {call.removesuffix(' holdfast')} works in a cache that may be emptied. "
            f"`{call} install` brings it up to date; `{own_copy.format_install()}` gives you a "
            "`holdfast` command."
        )
    warnings = _warnings(outcome, scope, client) + _try_hook(outcome, dry_run, client)
    return lines + [f"Warning: {warning}." for warning in warnings]


def _describe_dry_run(outcome: InstallOutcome) -> str:
    changed = " and ".join(change.path for change in _list_changes(outcome))
    return f"Nothing was written. Without --dry-run this changes {changed}."


def _list_changed(outcome: InstallOutcome) -> str:
    parts = {"replaced": outcome.repaired, "added": outcome.added, "removed": outcome.removed}
    return "; ".join(f"{verb} {', '.join(events)}" for verb, events in parts.items() if events)


def _uninstalled_lines(
    outcome: InstallOutcome, scope: Scope, dry_run: bool, client: str
) -> list[str]:
    if outcome.action == "not installed":
        others = " ".join(f"`--scope {other.value}`" for other in Scope if other is not scope)
        return [
            f"Nothing to do: {outcome.path}, which {clients.get(client).title} reads, has no "
            "Holdfast entries.",
            f"For other scopes, run {others.replace(' `', ' or `')}.",
        ]
    if dry_run:
        return [_describe_dry_run(outcome)]
    if not outcome.removed:
        return [f"Removed the status line from {outcome.path}; yours is unchanged."]
    lines = [f"Removed {len(outcome.removed)} hooks from {outcome.path}."]
    if outcome.identical and outcome.after is None:
        lines.append("The file did not exist before the install, so it was deleted.")
    elif outcome.identical:
        lines.append("The file is byte-for-byte identical to the one before the install.")
    elif outcome.identical is None:
        lines.append("No backup was found to compare with; only Holdfast's entries were removed.")
    else:
        lines.append(
            "Only Holdfast's entries were removed: the file was changed since the install, or "
            "already had entries of an older Holdfast. The rest is unchanged."
        )
    return lines


# `holdfast dev statusline`: the line itself, from the client's payload on standard input.
#
# The installed status line runs `holdfast/hooks/main.py statusline` instead, which starts ten times
# faster; this is for trying it, and for chaining it by hand.


def statusline() -> None:
    """Print the status line for a payload on standard input: context left, last save, open tasks.

    `holdfast install --statusline` adds it to Claude Code, wrapping the one you have.

    Example: `holdfast dev statusline < payload.json`
    """
    raw = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    shown = format_statusline(parse_payload(raw), os.environ, time.time())
    if shown:
        typer.echo(shown)
