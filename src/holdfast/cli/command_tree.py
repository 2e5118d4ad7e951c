"""Which commands there are: their names, groups and lines in the help, in the help's order.

Owns the names alone. Must not import a command: `lazy_group` does when one is called, and each
summary is the first line of the command's own help (a test holds that).
"""

import re

from holdfast.cli.lazy_group import CommandGroup, LazyCommand

# The parts of the help, in this order.
START = "Start here"
RECALL = "What is saved"
GROUPS = "More"


_ENTRY = re.compile(r"^(\S+) (\S+)\n((?: .+\n)+)", re.M)


def _list_commands(table: str, panel: str | None = None) -> dict[str, LazyCommand]:
    """From a line with the name and the target of each, and its summary indented below."""
    return {
        name: LazyCommand(target, " ".join(summary.split()), panel)
        for name, target, summary in _ENTRY.findall(table)
    }


SESSION = CommandGroup(
    "Work with sessions: notes, handoffs, tasks; read old transcripts, delete old data.",
    'holdfast session note "Cents as integers"',
    _list_commands("""
note documents:note
    Add a note to a session. It is restored verbatim after every compaction.
handoff documents:handoff
    Write the handoff page of a session: a Markdown file to read, edit and continue from.
resume documents:resume
    Show the handoff of an earlier session and mark it as resumed.
tasks documents:tasks
    List the tasks of a session, with summaries of the finished ones.
commands active_commands:commands
    Commands and skills whose rules stay active across compactions.
ingest ingest:ingest
    Index existing transcripts, so that `search` and `show` find their contents.
uncompact undo:uncompact
    Undo a compaction: a new session, as it was before, that the client can resume.
restore undo:restore
    Put a deleted transcript back where the client can resume it, from the archived rows.
forget prune:forget
    Remove sessions from Holdfast for good: facts, words, archived rows, notes, handoffs.
prune prune:prune
    Delete old sessions, checkpoints, notes and handoffs.
"""),
    GROUPS,
)

TEAM = CommandGroup(
    "Share sessions with a team: run its server, connect to it, sync, send messages.",
    "holdfast team connect https://holdfast.example",
    _list_commands("""
connect team:connect
    Connect to a team server.
disconnect team:disconnect
    Stop syncing. Data already on the server or on this machine is kept.
sync team:sync
    Sync sessions to the team server and fetch messages.
send team:send
    Send a message to one agent, to a role, or to everyone in this project.
serve serve:serve
    Run the team server over HTTP, with an OpenAPI document at /openapi.json.
token token:token
    Manage access tokens of the server.
db db:db
    Manage the database: PostgreSQL for a team, SQLite for one user.
"""),
    GROUPS,
)

DEV = CommandGroup(
    "For programs and for looking inside: briefs, states, MCP, the status line.",
    "holdfast dev state session.jsonl",
    _list_commands("""
brief brief:brief
    Show the brief of a session: what its agent is given after a compaction.
state brief:state
    Show the state of a transcript: rules, tasks, tests, errors, dead ends, files and more.
instructions dev:instructions
    Show the compact instructions for this project: what a summary should contain.
plugin dev:plugin
    The plugin for Claude Code that came with this package.
mcp dev:mcp
    Serve recall to an agent over MCP: recall, show, state, note, handoff.
statusline dev:statusline
    Print the status line for a payload on standard input: context left, last save, open tasks.
"""),
    GROUPS,
)

_START = """
try demo:show_demo
    Demo: what the compaction of a recorded session kept, lost and would get back.
audit audit:audit
    Show what compaction has cost you so far, and what Holdfast would have kept.
install install:install
    Add Holdfast's hooks to a client's settings. Safe to repeat; repairs old entries.
uninstall install:uninstall
    Remove Holdfast's hooks from a client's settings and restore what was there.
doctor doctor:doctor
    Check that Holdfast works: client, hooks, store, recent compactions, other tools.
"""
_RECALL = """
status status:status
    Show what is saved of this session, or of all, and what the last compaction did.
search show:search
    Search facts and messages, in all sessions or one.
show show:show
    Show a session, a fact, a message or a compaction, made for reading.
open serve:open_dashboard
    Open the dashboard in the browser.
"""
_CONFIG = """
config config:config
    Show the effective settings and where each comes from; `set` and `unset` change one.
"""
TREE: dict[str, LazyCommand | CommandGroup] = {
    **_list_commands(_START, START),
    **_list_commands(_RECALL, RECALL),
    "session": SESSION,
    "team": TEAM,
    **_list_commands(_CONFIG, GROUPS),
    "dev": DEV,
    # What programs call, by the names that they know.
    **{
        name: command._replace(hidden=True)
        for name in ("brief", "state", "plugin")
        if isinstance(command := DEV.commands[name], LazyCommand)
    },
}
