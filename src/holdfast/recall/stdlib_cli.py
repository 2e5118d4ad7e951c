"""Recall as a command line of the standard library alone: what the plugin bundles.

    recall WORDS [--kind KIND] [--page N]    show ID [--page N]    state [--kind KIND] [--page N]
    note KIND WORDS                          handoff               resume [ID]
    status                                   why                   before [PAGE]
    statusline [off]

Read by an agent through its shell, or shown by the plugin's commands. Exit code 1 with one line
on standard error where there is nothing to answer.
"""

import os
import sys
from contextlib import closing

if __name__ == "__main__":
    sys.path.insert(0, __file__.replace("\\", "/").rsplit("/", 3)[0])

from holdfast import clients
from holdfast.fastpath.project import locate_project
from holdfast.paths import data_dir, store_path
from holdfast.recall import notes_and_handoff, queries
from holdfast.recall.queries import NotFound, RecallScope
from holdfast.session.context import get_agent_session_id, load_settings
from holdfast.store.protocol import StoreError
from holdfast.store.sql_store import Store
from holdfast.store.sqlite.store import SqliteStore

USAGE = (
    "usage: holdfast recall WORDS [--kind KIND] [--page N] | show ID | state [--kind KIND]"
    " | note decision|rule|dead_end|next_step WORDS | handoff | resume [ID] | status | why"
    " | before [PAGE] | statusline [off]"
)


def make_scope(environ: "os._Environ[str]", cwd: str, data: str) -> RecallScope:
    project, worktree = locate_project(clients.default().paths.project_dir(environ, cwd))
    session = get_agent_session_id(environ)
    everywhere = load_settings(environ, data, "").flag("other_projects")
    return RecallScope(project, session, everywhere, worktree)


def run_command(arguments: list[str]) -> str:
    """The answer; raises NotFound for whatever cannot be answered."""
    words, options = _parse_arguments(arguments)
    if not words:
        raise NotFound(USAGE)
    command, rest = words[0], " ".join(words[1:])
    data = data_dir()
    if command == "note":
        scope = make_scope(os.environ, os.getcwd(), data)
        return notes_and_handoff.add_note(
            scope, data, words[1] if len(words) > 1 else "", " ".join(words[2:])
        )
    if command == "statusline":
        return _switch_statusline(rest.strip(), data)
    if not os.path.exists(store_path(data)):
        raise NotFound("Holdfast has saved nothing yet.")
    with closing(SqliteStore(store_path(data))) as store:
        return _run_one(store, make_scope(os.environ, os.getcwd(), data), command, rest, options)


def _run_one(
    store: Store, scope: RecallScope, command: str, rest: str, options: dict[str, str]
) -> str:
    kind, page = options.get("kind", ""), _read_page(options.get("page", "1"))
    session = queries.find_current_session(store, scope)
    if command == "recall":
        return queries.search_memory(store, scope, rest, kind=kind, page=page)
    if command == "show":
        return queries.show_source(store, scope, rest, page=page)
    if command == "state":
        return queries.list_open_facts(store, scope, kind=kind, page=page)
    if command == "handoff":
        return notes_and_handoff.compose_handoff(store, scope)
    if command == "resume":
        return notes_and_handoff.resume_session(store, scope, rest.strip(), data_dir(), os.getcwd())
    if session is None:
        raise NotFound("Nothing is known of this project yet.")
    if command == "status":
        mode = load_settings(os.environ, data_dir(), "").text("compaction")
        return queries.format_session_report(store, session.id, mode)
    if command == "why":
        return queries.explain_last_compaction(store, session.id)
    if command == "before":
        return queries.show_before_compaction(
            store, session.id, page=_read_page(rest.strip() or "1")
        )
    raise NotFound(USAGE)


def _switch_statusline(word: str, data: str) -> str:
    # Imported late: nothing else here changes settings.
    from holdfast.install import statusline
    from holdfast.install.installation import SettingsError

    try:
        return statusline.switch_statusline(word, os.environ, data)
    except (SettingsError, OSError) as error:
        raise NotFound(f"Nothing was changed. {error}") from error


def _parse_arguments(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    words, options = [], {}
    waiting = iter(arguments)
    for argument in waiting:
        if argument in ("--kind", "--page"):
            options[argument[2:]] = next(waiting, "")
        else:
            words.append(argument)
    return words, options


def _read_page(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 1


def main() -> int:
    try:
        answer = run_command(sys.argv[1:])
    except (NotFound, StoreError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(answer + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
