"""The commands ``holdfast install`` and ``holdfast uninstall``.

Owns what the user is asked, shown and told. Reads the environment (home, project, interpreter)
and hands it on; every write happens in ``clients.claude_code.settings_file``.
Must not edit a settings file itself.
"""

import difflib
import enum
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

import holdfast
from holdfast.clients.claude_code import boot, settings, settings_file
from holdfast.clients.claude_code.settings import SettingsError
from holdfast.clients.claude_code.settings_file import Outcome
from holdfast.lifecycle.places import data_folder


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
    bool, typer.Option("--dry-run", help="Show what would change as a diff; write nothing.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]

# Tools that run a package without installing it keep it in a cache that they later empty: the
# hooks would fall silent without a word.
_CACHES = ("/uv/archive-v", "/.cache/uv/", "/.cache/pipx/", "/pipx/.cache/")


StatuslineOption = Annotated[
    bool,
    typer.Option(
        "--statusline",
        help="Also a status line: context left before compaction, when state was saved, open "
        "tasks. It goes around the one you have.",
    ),
]
StatuslineOnlyOption = Annotated[
    bool, typer.Option("--statusline", help="Only the status line; the hooks stay.")
]


class UnusableHook(SettingsError):
    """This copy of Holdfast cannot be called by a hook, or would not be for long."""


def install(
    scope: ScopeOption = Scope.user,
    statusline: StatuslineOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Put Holdfast's hooks into Claude Code's settings. Safe to repeat; repairs old entries.

    Example: `holdfast install --dry-run` shows what would change, `holdfast install` changes it.
    """

    def act() -> Outcome:
        return settings_file.install(
            _settings_path(scope),
            data_dir=data_folder(),
            interpreter=interpreter(),
            script=hook_script(),
            dry_run=dry_run,
            statusline=statusline,
        )

    _run(act, _installed_lines, scope, dry_run, as_json)


def uninstall(
    scope: ScopeOption = Scope.user,
    statusline: StatuslineOnlyOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Take Holdfast's hooks out of Claude Code's settings and put back what was there.

    Example: `holdfast uninstall`
    """

    def act() -> Outcome:
        return settings_file.uninstall(
            _settings_path(scope),
            data_dir=data_folder(),
            dry_run=dry_run,
            statusline_only=statusline,
        )

    _run(act, _uninstalled_lines, scope, dry_run, as_json)


def hook_script() -> str:
    """The script that every hook runs; refuses one that is not there to stay."""
    script = os.path.join(os.path.dirname(os.path.abspath(holdfast.__file__)), "hooks", "run.py")
    if any(cache in script.replace("\\", "/") for cache in _CACHES):
        raise UnusableHook(
            f"this copy of Holdfast runs from a cache that will be emptied ({script}). "
            "Install it for good, for example with `uv tool install holdfast` or "
            "`pipx install holdfast`, and run `holdfast install` again"
        )
    if not os.path.isfile(script):
        raise UnusableHook(
            f"the hook script {script} is missing. Reinstall Holdfast and run "
            "`holdfast install` again"
        )
    return script


def interpreter() -> str:
    base = getattr(sys, "_base_executable", None)
    return settings.choose_interpreter(base, sys.executable, os.path.realpath, _runs_a_hook)


def _runs_a_hook(interpreter: str) -> bool:
    probe = [interpreter, *boot.FLAGS, "-c", "import json, sqlite3"]
    try:
        ended = subprocess.run(probe, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0


def _settings_path(scope: Scope) -> str:
    config_dir = os.environ.get("CLAUDE_CONFIG_DIR") or None
    root = project_root(os.getcwd())
    path = settings_file.settings_path(scope.value, os.path.expanduser("~"), config_dir, root)
    if scope is not Scope.user and leads_out(path, root):
        raise settings.NotWritable(f"{path} is a link that leads out of the project")
    return path


def leads_out(path: str, folder: str) -> bool:
    """Whether a file of the project around this folder is, by a link, one outside of it."""
    root = os.path.realpath(project_root(folder))
    return not os.path.realpath(path).startswith(root.rstrip("/") + "/")


def project_root(folder: str) -> str:
    """The repository around this folder; the folder itself where there is none."""
    candidate = folder
    while not os.path.exists(os.path.join(candidate, ".git")):
        parent = os.path.dirname(candidate)
        if parent == candidate:
            return folder
        candidate = parent
    return candidate


def _run(
    act: Callable[[], Outcome],
    lines_for: Callable[[Outcome, Scope, bool], list[str]],
    scope: Scope,
    dry_run: bool,
    as_json: bool,
) -> None:
    try:
        outcome = act()
    except SettingsError as error:
        _refuse(error, as_json)
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(json.dumps(_report(outcome, scope, dry_run), indent=2))
        return
    console = Console(soft_wrap=True, highlight=False)
    if dry_run:
        console.print(_coloured(diff(outcome)), end="")
    for line in lines_for(outcome, scope, dry_run):
        console.print(_printable(line), markup=False)


def _refuse(error: SettingsError, as_json: bool) -> None:
    if as_json:
        found: dict[str, Any] = {"error": str(error), "kind": type(error).__name__}
        if isinstance(error, settings.BrokenSettings):
            found |= {"path": error.path, "line": error.line, "column": error.column}
        typer.echo(json.dumps(found, indent=2))
        return
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(Text("Nothing was changed. ", style="bold red") + Text(_printable(str(error))))
    if isinstance(error, settings.BrokenSettings):
        console.print("Correct the file there, then run the command again.")


def _report(outcome: Outcome, scope: Scope, dry_run: bool) -> dict[str, Any]:
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
        "warnings": _warnings(outcome, scope) + _tried(outcome, dry_run),
    }
    if dry_run:
        report["diff"] = "".join(diff(outcome))
    return report


def diff(outcome: Outcome) -> list[str]:
    """The change as a unified diff, a line each."""
    before, after = (_lines(raw) for raw in (outcome.before, outcome.after))
    old, new = (_diff_name(outcome.path, raw) for raw in (outcome.before, outcome.after))
    return [f"{line}\n" for line in difflib.unified_diff(before, after, old, new, lineterm="")]


def _lines(raw: bytes | None) -> list[str]:
    text = settings_file.text_of(raw)
    # Not splitlines(): that also breaks at characters which JSON allows inside a string.
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _diff_name(path: str, raw: bytes | None) -> str:
    return "/dev/null" if raw is None else path


def _printable(text: str) -> str:
    """A path may hold bytes that no terminal can show."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _coloured(lines: list[str]) -> Text:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    text = Text()
    for number, line in enumerate(lines):
        text.append(_printable(line), style="bold" if number < 2 else styles.get(line[0], ""))
    return text


def _warnings(outcome: Outcome, scope: Scope) -> list[str]:
    if outcome.action not in ("installed", "repaired", "unchanged"):
        return []
    text, found = settings_file.text_of(outcome.after), []
    if settings.flags(text).disable_all_hooks:
        found.append('"disableAllHooks" is on in this file: no hook runs until it is removed')
    if scope is Scope.project:
        found.append(
            "the entries hold paths of this machine: commit them only where every machine has "
            "the same, or use --scope local"
        )
    return found


def _tried(outcome: Outcome, dry_run: bool) -> list[str]:
    """One hook run for real, in a temporary folder; says what it did not do."""
    if dry_run or outcome.action not in ("installed", "repaired"):
        return []
    from holdfast.doctor.trial import run_one
    from holdfast.doctor.wiring import entries

    try:
        problems = run_one(entries(settings_file.text_of(outcome.after)))
    except OSError as error:
        return [f"no hook could be tried in the temporary folder: {error.strerror or error}"]
    found = [f"a hook was tried on a sample session: it {problem}" for problem in problems[:1]]
    return [f"{words}. `holdfast doctor` tells more" for words in found]


def _installed_lines(outcome: Outcome, scope: Scope, dry_run: bool) -> list[str]:
    if outcome.action == "unchanged":
        lines = [f"Nothing to do: Holdfast's hooks are in {outcome.path} and up to date."]
    elif dry_run:
        lines = [f"Nothing was written. Without --dry-run this changes {outcome.path}."]
    elif outcome.action == "repaired":
        lines = []
        if named := _named(outcome):
            lines.append(f"Repaired Holdfast's hooks in {outcome.path}: {named}.")
    else:
        lines = [
            f"Installed {len(outcome.added)} hooks in {outcome.path}.",
            "Claude Code picks them up without a restart: open a session and work as always.",
            "`holdfast doctor` checks everything, `holdfast status` shows what is saved.",
        ]
    if not dry_run and outcome.statusline and outcome.action != "unchanged":
        lines.append("The status line shows context left, when state was saved, and open tasks.")
    if not dry_run and outcome.backup:
        lines.append(f"The file as it was is kept in {outcome.backup}.")
    if not dry_run and outcome.action == "installed":
        option = "" if scope is Scope.user else f" --scope {scope.value}"
        lines.append(f"To undo: `holdfast uninstall{option}`.")
    warnings = _warnings(outcome, scope) + _tried(outcome, dry_run)
    return lines + [f"Warning: {warning}." for warning in warnings]


def _named(outcome: Outcome) -> str:
    parts = {"replaced": outcome.repaired, "added": outcome.added, "removed": outcome.removed}
    return "; ".join(f"{verb} {', '.join(events)}" for verb, events in parts.items() if events)


def _uninstalled_lines(outcome: Outcome, scope: Scope, dry_run: bool) -> list[str]:
    if outcome.action == "not installed":
        others = " ".join(f"`--scope {other.value}`" for other in Scope if other is not scope)
        return [
            f"Nothing to do: {outcome.path} holds nothing of Holdfast's.",
            f"Elsewhere they would be under {others.replace(' `', ' or `')}.",
        ]
    if dry_run:
        return [f"Nothing was written. Without --dry-run this changes {outcome.path}."]
    if not outcome.removed:
        return [f"Took the status line out of {outcome.path}; yours is as it was."]
    lines = [f"Removed {len(outcome.removed)} hooks from {outcome.path}."]
    if outcome.identical and outcome.after is None:
        lines.append("There was no such file before the install, so it is gone again.")
    elif outcome.identical:
        lines.append("The file is byte for byte what it was before the install.")
    elif outcome.identical is None:
        lines.append(
            "No backup was found, so it cannot be compared with the file before the install; "
            "only Holdfast's entries were taken out."
        )
    else:
        lines.append(
            "Only Holdfast's entries were taken out: the file was changed since the install, or "
            "had some of an older Holdfast before it. The rest stays as it is."
        )
    return lines
