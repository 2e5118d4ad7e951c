"""Recall as a command line of the standard library alone: what the plugin carries.

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

from holdfast.lifecycle.choices import choices
from holdfast.lifecycle.places import data_folder, store_path
from holdfast.lifecycle.project import place_of
from holdfast.recall import account, answers, handing
from holdfast.recall.answers import NotFound, Scope
from holdfast.store.protocol import Store, StoreError
from holdfast.store.sqlite import SqliteStore

USAGE = (
    "usage: holdfast recall WORDS [--kind KIND] [--page N] | show ID | state [--kind KIND]"
    " | note decision|rule|dead_end|next_step WORDS | handoff | resume [ID] | status | why"
)


def scope_of(environ: "os._Environ[str]", cwd: str, data: str) -> Scope:
    project = place_of(environ.get("CLAUDE_PROJECT_DIR") or cwd)[0]
    session = environ.get("CLAUDE_CODE_SESSION_ID", "")
    return Scope(project, session, choices(data).other_projects)


def run(arguments: list[str]) -> str:
    """The answer; raises NotFound for whatever cannot be answered."""
    words, options = _understood(arguments)
    if not words:
        raise NotFound(USAGE)
    command, rest = words[0], " ".join(words[1:])
    data = data_folder()
    if command == "note":
        scope = scope_of(os.environ, os.getcwd(), data)
        return handing.note(scope, data, words[1] if len(words) > 1 else "", " ".join(words[2:]))
    if not os.path.exists(store_path(data)):
        raise NotFound("Holdfast has saved nothing yet.")
    store = SqliteStore(store_path(data))
    try:
        return _answer(store, scope_of(os.environ, os.getcwd(), data), command, rest, options)
    finally:
        store.close()


def _answer(store: Store, scope: Scope, command: str, rest: str, options: dict[str, str]) -> str:
    kind, page = options.get("kind", ""), _number(options.get("page", "1"))
    session = answers.current_session(store, scope)
    if command == "recall":
        return answers.recall(store, scope, rest, kind=kind, page=page)
    if command == "show":
        return answers.show(store, scope, rest, page=page)
    if command == "state":
        return answers.state(store, scope, kind=kind, page=page)
    if command == "handoff":
        return handing.handoff(store, scope)
    if command == "resume":
        return handing.resume(store, scope, rest.strip(), data_folder(), os.getcwd())
    if session is None:
        raise NotFound("Nothing is known of this project yet.")
    if command == "status":
        return account.account(store, session.id, choices(data_folder()).compaction)
    if command == "why":
        return account.why(store, session.id)
    raise NotFound(USAGE)


def _understood(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
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
        answer = run(sys.argv[1:])
    except (NotFound, StoreError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(answer + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
