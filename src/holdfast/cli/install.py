"""The commands ``holdfast install`` and ``holdfast uninstall``.

Owns what the user is asked and shown. Reads the environment (home, project, interpreter)
and hands it on; every write happens in the client's installer.
Must not edit a settings file itself.
"""

import difflib
import enum
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.text import Text

import holdfast
from holdfast import clients, own_copy
from holdfast import install as installers
from holdfast.cli.doctor import describe_kept
from holdfast.cli.output import JsonOption, print_json
from holdfast.cli.screen import Screen
from holdfast.doctor.hook_trial import run_one_hook
from holdfast.fastpath.project import locate_project
from holdfast.files import read
from holdfast.install import installation, settings_file
from holdfast.install import launcher as hook_launcher
from holdfast.install.installer import Installer
from holdfast.path_spelling import is_inside
from holdfast.paths import data_dir


class Scope(enum.StrEnum):
    user = "user"
    project = "project"
    local = "local"


ClientOption = Annotated[
    str,
    typer.Option("--client", metavar="NAME", help=f"Which client: {' or '.join(clients.names())}."),
]


class UnusableHook(installation.SettingsError):
    """This copy of Holdfast cannot be called by a hook."""


def install(
    scope: Scope = Scope.user,
    client: ClientOption = clients.DEFAULT_CLIENT,
    statusline: bool = False,
    trust: bool = False,
    windows: bool = False,
    dry_run: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Add Holdfast's hooks to a client's settings. Safe to repeat; repairs old entries.

    --scope: user: all your projects; project: this one, for everyone (committed); local: this one,
        for you.
    --statusline: Also install a status line: context left before compaction, last save, open tasks.
        Wraps the one you have.
    --trust: Codex: also have it trust Holdfast's entries, which it skips until then. Lists them.
    --windows: Codex: also switch on fresh windows without a summary (features.token_budget), which
        Holdfast's brief then fills. Shows the change; the uninstall takes it back.
    --dry-run: Show the changes as a diff; write nothing.

    Example: `holdfast install --dry-run` shows what would change, `holdfast install` changes it.
    """
    installer = _get_installer(client)
    with _explain_refusal(as_json):
        path, interpreter = _settings_path(scope, installer), choose_interpreter()
        if not dry_run:
            own_copy.ensure_lasting(data_dir())
        script = find_hook_script()
        options = _make_options(dry_run=True)._replace(
            recall=_recall_command(),
            launcher=hook_launcher.build_launcher(data_dir(), interpreter, script),
            trust=trust,
            windows=windows,
        )
        # Refuses, where it must, before anything is changed.
        steps = installer.finish_install(path, options)
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
            steps = installer.finish_install(path, options._replace(dry_run=False))
    outcome = outcome._replace(steps=tuple(steps), trusted=trust)
    warnings = _list_warnings(installer, outcome, scope)
    if not dry_run and outcome.action != "unchanged" and installer.runs_trial:
        warnings += _try_hook(installer, outcome)
    if as_json:
        _print_outcome_json(outcome, scope, dry_run, warnings)
        return
    lines = _describe_install(outcome, scope, dry_run, client)
    _print_outcome(outcome, dry_run, [*lines, *(f"Warning: {words}." for words in warnings)])


def uninstall(
    scope: Scope = Scope.user,
    client: ClientOption = clients.DEFAULT_CLIENT,
    statusline: bool = False,
    dry_run: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Remove Holdfast's hooks from a client's settings and restore what was there.

    --scope: user: all your projects; project: this one, for everyone (committed); local: this one,
        for you.
    --statusline: Remove only the status line; keep the hooks.
    --dry-run: Show the changes as a diff; write nothing.

    Example: `holdfast uninstall`
    """
    installer = _get_installer(client)
    with _explain_refusal(as_json):
        path, steps = _settings_path(scope, installer), []
        if not statusline:
            steps = installer.begin_uninstall(path, _make_options(dry_run=dry_run))
        outcome = installer.uninstall(
            path, data_dir=data_dir(), dry_run=dry_run, statusline_only=statusline
        )
        if not dry_run:
            _remove_unused_copies()
    outcome = outcome._replace(steps=tuple(steps))
    if as_json:
        _print_outcome_json(outcome, scope, dry_run, [])
    else:
        _print_outcome(outcome, dry_run, _describe_uninstall(outcome, scope, dry_run, client))


def _make_options(*, dry_run: bool) -> installation.InstallOptions:
    home, project = os.path.expanduser("~"), locate_project(os.getcwd())[1]
    return installation.InstallOptions(os.environ, home, project, data_dir(), dry_run=dry_run)


def _get_installer(client: str) -> Installer:
    try:
        return installers.get(client)
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
    """What starts the MCP server of this copy, where it stays."""
    if own_copy.is_temporary():
        return []
    return [sys.executable, "-m", "holdfast", "dev", "mcp"]


def _remove_unused_copies() -> None:
    """Of the copies that earlier installs made, those that nothing names any more."""
    launcher = read(hook_launcher.launcher_path(data_dir())) or b""
    texts = [os.fsdecode(launcher), *settings_file.read_installed(data_dir())]
    for name in clients.names():
        installer = installers.get(name)
        sources = installer.read_settings_sources(
            os.environ, os.path.expanduser("~"), locate_project(os.getcwd())[1]
        )
        if any(source.problem for source in sources):
            return  # what cannot be read may name one
        texts += [source.text for source in sources]
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
    root = locate_project(os.getcwd())[1]
    path = installer.settings_path(scope.value, os.environ, os.path.expanduser("~"), root)
    if scope is not Scope.user and links_outside(path, root):
        raise installation.NotWritable(f"{path} is a link to a file outside the project")
    return path


def links_outside(path: str, folder: str) -> bool:
    """Whether a file of the project around this folder is, by a link, one outside of it."""
    root = os.path.realpath(locate_project(folder)[1])
    return not is_inside(os.path.realpath(path), root)


@contextmanager
def _explain_refusal(as_json: bool) -> Iterator[None]:
    try:
        yield
    except installation.SettingsError as error:
        if as_json:
            found: dict[str, Any] = {"error": str(error), "kind": type(error).__name__}
            if isinstance(error, installation.InvalidSettings):
                found |= {"path": error.path, "line": error.line, "column": error.column}
            print_json(found)
        else:
            opening = (
                "Not finished. "
                if isinstance(error, installation.Unfinished)
                else "Nothing was changed. "
            )
            out = Screen(stderr=True)
            out.say(_escape_bytes(str(error)), label=opening, label_style="bold red")
            if isinstance(error, installation.InvalidSettings):
                out.say("Fix the file, then run the command again.")
            elif isinstance(error.__cause__, OSError):
                out.say("Grant write access to it, then run the command again.")
        raise typer.Exit(1) from error


def _print_outcome(outcome: installation.InstallOutcome, dry_run: bool, lines: list[str]) -> None:
    if dry_run:
        Screen().print(_color_diff(format_diff(outcome)), end="", soft_wrap=True)
    for line in [*lines, *outcome.steps]:
        Screen().say(_escape_bytes(line))


_REPORTED = ("path", "added", "repaired", "removed", "backup", "statusline", "identical")


def _print_outcome_json(
    outcome: installation.InstallOutcome, scope: Scope, dry_run: bool, warnings: list[str]
) -> None:
    report: dict[str, Any] = {
        "action": outcome.action,
        "dry_run": dry_run,
        "scope": scope.value,
        **{name: getattr(outcome, name) for name in _REPORTED},
        "warnings": warnings,
    }
    if outcome.steps:
        report["steps"] = outcome.steps
    if dry_run:
        report["diff"] = "".join(format_diff(outcome))
    typer.echo(json.dumps(report, indent=2))  # in ASCII: a path may hold bytes of any kind


def format_diff(outcome: installation.InstallOutcome) -> list[str]:
    """The changes of every file as a unified diff, a line each."""
    decode = installers.get().decode
    found = []
    for change in _list_changes(outcome):
        is_settings = change.path == outcome.path
        both = (change.before, change.after)
        before, after = (
            _split_lines(decode(raw)[0] if is_settings else os.fsdecode(raw or b"")) for raw in both
        )
        old, new = (("/dev/null" if raw is None else change.path) for raw in both)
        diff = difflib.unified_diff(before, after, old, new, lineterm="")
        found += [f"{line}\n" for line in diff]
    return found


def _list_changes(outcome: installation.InstallOutcome) -> list[installation.FileChange]:
    settings = installation.FileChange(outcome.path, outcome.before, outcome.after)
    changes = [settings, outcome.launcher] if outcome.launcher else [settings]
    return [change for change in changes if change.before != change.after]


def _split_lines(text: str) -> list[str]:
    # Not splitlines(): that also breaks at characters which JSON allows inside a string.
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _escape_bytes(text: str) -> str:
    """A path may hold bytes that no terminal can show."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _color_diff(lines: list[str]) -> Text:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    text = Text()
    for line in lines:
        is_name = line.startswith(("--- ", "+++ "))
        text.append(_escape_bytes(line), style="bold" if is_name else styles.get(line[0], ""))
    return text


def _list_warnings(
    installer: Installer, outcome: installation.InstallOutcome, scope: Scope
) -> list[str]:
    found = []
    if installer.is_switched_off(installer.decode(outcome.after)[0]):
        found.append('"disableAllHooks" is on in this file: no hook runs until it is removed')
    if scope is Scope.project:
        found.append(
            "the entries contain paths of this machine: commit them only if they are the same on "
            "every machine, or use --scope local"
        )
    return found


def _try_hook(installer: Installer, outcome: installation.InstallOutcome) -> list[str]:
    """One hook run for real, in a temporary folder; says what it did not do."""
    try:
        problems = run_one_hook(installer.parse_entries(installer.decode(outcome.after)[0]))
    except OSError as error:
        return [f"could not run a test hook in the temporary folder: {error.strerror or error}"]
    opening, end = "test run of a hook on a sample session: ", "Run `holdfast doctor` for details"
    return [f"{opening}{problem}. {end}" for problem in problems[:1]]


def _describe_install(
    outcome: installation.InstallOutcome, scope: Scope, dry_run: bool, client: str
) -> list[str]:
    if outcome.action == "unchanged":
        return [f"Nothing to do: Holdfast's hooks are in {outcome.path} and up to date."]
    if not dry_run:
        return _describe_changes(outcome, scope, client)
    lines = [_describe_dry_run(outcome)]
    if own_copy.is_temporary():
        folder = os.path.dirname(os.path.dirname(find_hook_script()))
        lines.append(f"It would also copy Holdfast's own code to {folder}, for the hooks.")
    return lines


def _describe_changes(outcome: installation.InstallOutcome, scope: Scope, client: str) -> list[str]:
    """What was written, and what it means for the user."""
    call, installed = own_copy.format_call(), outcome.action == "installed"
    lines = []
    if installed:
        lines.append(f"Installed {len(outcome.added)} hooks in {outcome.path}.")
        lines += () if outcome.trusted else installers.get(client).next_steps
        lines.append(f"`{call} doctor` checks everything, `{call} status` shows what is saved.")
    elif named := _list_changed(outcome):
        lines.append(f"Repaired Holdfast's hooks in {outcome.path}: {named}.")
    if outcome.launcher:
        verb = "Wrote" if installed else "Repaired"
        lines.append(f"{verb} the launcher that the entries run: {outcome.launcher.path}.")
    if outcome.statusline:
        lines.append("The status line shows context left, when state was saved, and open tasks.")
    if installed and client == clients.DEFAULT_CLIENT:
        lines.append(
            "After `/compact` the client shows a few lines that the hooks gave the summariser; "
            "with the plugin (docs/plugin.md) it gets more, and the screen stays clean."
        )
        lines.append(describe_kept())
    if outcome.backup:
        lines.append(f"A backup of the previous file is in {outcome.backup}.")
    if installed:
        option = "" if scope is Scope.user else f" --scope {scope.value}"
        option += "" if client == clients.DEFAULT_CLIENT else f" --client {client}"
        lines.append(f"To undo: `{call} uninstall{option}`.")
    if own_copy.is_temporary():
        lines.append(
            f"The hooks run a copy of this Holdfast ({holdfast.__version__}) in {data_dir()}, "
            f"because {call.split(' ho')[0].split(' --')[0]} works in a cache that may be emptied. "
            f"`{call} install` brings it up to date; `{own_copy.format_install()}` gives you a "
            "`holdfast` command."
        )
    return lines


def _describe_dry_run(outcome: installation.InstallOutcome) -> str:
    changed = " and ".join(change.path for change in _list_changes(outcome))
    return f"Nothing was written. Without --dry-run this changes {changed}."


def _list_changed(outcome: installation.InstallOutcome) -> str:
    parts = {"replaced": outcome.repaired, "added": outcome.added, "removed": outcome.removed}
    return "; ".join(f"{verb} {', '.join(events)}" for verb, events in parts.items() if events)


def _describe_uninstall(
    outcome: installation.InstallOutcome, scope: Scope, dry_run: bool, client: str
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
