"""Sections of one's own in the brief: files of the project, and what the user's commands print.

`.holdfast/brief.d/*.md` is quoted as that repository's file. `brief_commands` come from the user's
own settings alone, run where nobody waits and are told from a file of the session with the time
they ran. Owns both, and the project's name and version from its manifest.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress

from holdfast.clients.json_fields import as_object, as_text
from holdfast.clock import format_minute_utc
from holdfast.files import list_names, read
from holdfast.redact import redact
from holdfast.session.context import SessionContext, list_project_dirs
from holdfast.settings.loader import PROJECT_DIR_NAME
from holdfast.text import quote_block, sanitize_line, truncate_line

SECTIONS_DIR = "brief.d"
PRINTED_FILE = "own-sections"
MAX_FILES = 8
MAX_SECTION_CHARS = 1_000
MAX_ALL_CHARS = 2_500
MAX_COMMANDS = 5
COMMAND_SECONDS = 5.0
MAX_MANIFEST_BYTES = 256 * 1024
MAX_PROJECT_CHARS = 80


def compose_own_sections(ctx: SessionContext) -> str:
    """ "" where there are none."""
    text = ""
    printed = read(f"{ctx.session_dir.path}/{PRINTED_FILE}", most=4 * MAX_ALL_CHARS) or b""
    pieces = [*_project_files(ctx.session.cwd)]
    if ctx.config.settings.words("brief_commands"):
        pieces += [printed.decode("utf-8", "replace").strip()]
    for piece in filter(None, pieces):
        if len(text) + len(piece) < MAX_ALL_CHARS:
            text += f"{piece}\n"
    return text.rstrip("\n")


def run_brief_commands(ctx: SessionContext) -> None:
    """Where nobody waits: what they print is kept for the briefs that follow."""
    folder = (list_project_dirs(ctx.session.cwd) or [""])[0]
    commands = ctx.config.settings.words("brief_commands")[:MAX_COMMANDS]
    if not commands or not os.path.isdir(folder):
        return
    moment = format_minute_utc(ctx.now.text)
    found = [
        f"`{truncate_line(redact(command), 160)}` printed ({moment}):\n{_quote_section(said)}"
        for command in commands
        if (said := _run_command(command, folder))
    ]
    with suppress(OSError):  # no space: the brief goes without
        ctx.session_dir.write(PRINTED_FILE, "\n".join(found).encode("utf-8", "replace"))


def _project_files(cwd: str) -> Iterator[str]:
    for folder in list_project_dirs(cwd)[:1]:
        place = f"{folder}/{PROJECT_DIR_NAME}/{SECTIONS_DIR}"
        names = sorted(name for name in list_names(place) if name.endswith(".md"))
        for name in names[:MAX_FILES]:
            raw = read(f"{place}/{name}", within=folder, most=4 * MAX_SECTION_CHARS)
            if raw and raw.strip():
                opening = f"The project's .holdfast/brief.d/{name} says (quoted):"
                yield f"{opening}\n{_quote_section(raw.decode('utf-8', 'replace').strip())}"


def _quote_section(text: str) -> str:
    safe = redact(text)
    cut = safe if len(safe) <= MAX_SECTION_CHARS else safe[: MAX_SECTION_CHARS - 2] + " …"
    return quote_block(cut)


def _run_command(command: str, folder: str) -> str:
    """What it printed; "" where it failed or took too long."""
    import signal
    import subprocess  # 4 ms, which hooks without such commands need not wait for

    started = subprocess.Popen(
        command,
        shell=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        said, _ = started.communicate(timeout=COMMAND_SECONDS)
    except subprocess.TimeoutExpired:
        if hasattr(os, "killpg"):
            os.killpg(started.pid, signal.SIGKILL)  # what the shell started as well
        started.kill()
        started.communicate()
        return ""
    return "" if started.returncode else said.decode("utf-8", "replace").strip()


def describe_project(cwd: str) -> str:
    """Name and version as its manifest has them; "" where it has none."""
    for folder in list_project_dirs(cwd)[:1]:
        for name, named in (("package.json", None), ("pyproject.toml", "project"),
                            ("Cargo.toml", "package")):  # fmt: skip
            raw = read(f"{folder}/{name}", within=folder, most=MAX_MANIFEST_BYTES)
            if raw and (found := _read_manifest(raw.decode("utf-8", "replace"), named)):
                return sanitize_line(redact(found[:MAX_PROJECT_CHARS])).replace('"', "'")
    return ""


def _read_manifest(text: str, table: str | None) -> str | None:
    import tomllib

    try:
        document = as_object(tomllib.loads(text).get(table) if table else json.loads(text))
    except (ValueError, RecursionError):
        return None
    name, version = as_text(document.get("name")), as_text(document.get("version"))
    return f"{name} {version}".rstrip() or None
