"""Recall as a command line of the standard library alone: what the plugin bundles.

    recall WORDS [--kind KIND] [--page N]    show ID [--page N]    state [--kind KIND] [--page N]
    note KIND WORDS                          handoff               resume [ID]
    status                                   why

Read by an agent through its shell, or shown by the plugin's commands. Exit code 1 with one line
on standard error where there is nothing to answer.
"""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.replace("\\", "/").rsplit("/", 3)[0])

from holdfast import clients
from holdfast.fastpath.project import locate_project
from holdfast.paths import data_dir, store_path
from holdfast.recall import notes_and_handoff, queries
from holdfast.recall.queries import NotFound, RecallScope
from holdfast.session.context import get_agent_session_id, load_module_settings
from holdfast.store.protocol import Store, StoreError
from holdfast.store.sqlite.store import SqliteStore

USAGE = (
    "usage: holdfast recall WORDS [--kind KIND] [--page N] | show ID | state [--kind KIND]"
    " | note decision|rule|dead_end|next_step WORDS | handoff | resume [ID] | status | why"
)


def make_scope(environ: "os._Environ[str]", cwd: str, data: str) -> RecallScope:
    project, worktree = locate_project(clients.default().paths.project_dir(environ, cwd))
    session = get_agent_session_id(environ)
    return RecallScope(project, session, load_module_settings(data).all_projects, worktree)


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
    if not os.path.exists(store_path(data)):
        raise NotFound("Holdfast has saved nothing yet.")
    store = SqliteStore(store_path(data))
    try:
        return _dispatch(store, make_scope(os.environ, os.getcwd(), data), command, rest, options)
    finally:
        store.close()


def _dispatch(
    store: Store, scope: RecallScope, command: str, rest: str, options: dict[str, str]
) -> str:
    kind, page = options.get("kind", ""), _number(options.get("page", "1"))
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
        return queries.format_session_report(
            store, session.id, load_module_settings(data_dir()).compaction
        )
    if command == "why":
        return queries.explain_last_compaction(store, session.id)
    raise NotFound(USAGE)


def _parse_arguments(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    words, options = [], {}
    waiting = iter(arguments)
    for argument in waiting:
        if argument in ("--kind", "--page"):
            options[argument[2:]] = next(waiting, "")
        else:
            words.append(argument)
    return words, options


def _number(text: str) -> int:
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
