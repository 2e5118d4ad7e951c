"""Which commands there are: their names, groups and lines in the help, in the help's order.

Owns the names alone. Must not import a command: `lazy_group` does when one is called, and each
summary is the first line of the command's own help (a test holds that).
"""

from __future__ import annotations

from holdfast.cli.lazy_group import CommandGroup, LazyCommand

# The parts of the help, in this order.
START = "Start here"
RECALL = "What is saved"
GROUPS = "More"

_BRIEF = LazyCommand(
    "brief:brief", "Show the brief of a session: what its agent is given after a compaction."
)
_STATE = LazyCommand(
    "state:state",
    "Show the state of a transcript: rules, tasks, tests, errors, dead ends, files and more.",
)
_PLUGIN = LazyCommand("plugin:plugin", "The plugin for Claude Code that came with this package.")

SESSION = CommandGroup(
    "Work with sessions: notes, handoffs, tasks; read old transcripts, delete old data.",
    'holdfast session note "Cents as integers"',
    {
        "note": LazyCommand(
            "note:note", "Add a note to a session. It is restored verbatim after every compaction."
        ),
        "handoff": LazyCommand(
            "handoff:handoff",
            "Write the handoff page of a session: a Markdown file to read, edit and continue from.",
        ),
        "resume": LazyCommand(
            "handoff:resume", "Show the handoff of an earlier session and mark it as resumed."
        ),
        "tasks": LazyCommand(
            "tasks:tasks", "List the tasks of a session, with summaries of the finished ones."
        ),
        "commands": LazyCommand(
            "active_commands:commands",
            "Commands and skills whose rules stay active across compactions.",
        ),
        "replay": LazyCommand(
            "replay:replay", "Show the brief of a session as of an earlier point."
        ),
        "ingest": LazyCommand(
            "ingest:ingest",
            "Index existing transcripts, so that `search` and `show` find their contents.",
        ),
        "prune": LazyCommand(
            "prune:prune", "Delete old sessions, checkpoints, notes and handoffs."
        ),
    },
    GROUPS,
)

TEAM = CommandGroup(
    "Share sessions with a team: run its server, connect to it, sync, send messages.",
    "holdfast team connect https://holdfast.example",
    {
        "connect": LazyCommand("team:connect", "Connect to a team server."),
        "disconnect": LazyCommand(
            "team:disconnect",
            "Stop syncing. Data already on the server or on this machine is kept.",
        ),
        "sync": LazyCommand("team:sync", "Sync sessions to the team server and fetch messages."),
        "send": LazyCommand(
            "team:send", "Send a message to one agent, to a role, or to everyone in this project."
        ),
        "serve": LazyCommand(
            "serve:serve",
            "Run the team server over HTTP, with an OpenAPI document at /openapi.json.",
        ),
        "token": LazyCommand("token:token", "Manage access tokens of the server."),
        "db": LazyCommand(
            "db:db", "Manage the database: PostgreSQL for a team, SQLite for one user."
        ),
    },
    GROUPS,
)

DEV = CommandGroup(
    "For programs and for looking inside: briefs, states, MCP, the status line.",
    "holdfast dev state session.jsonl",
    {
        "brief": _BRIEF,
        "state": _STATE,
        "instructions": LazyCommand(
            "compact_instructions:instructions",
            "Show the compact instructions for this project: what a summary should contain.",
        ),
        "plugin": _PLUGIN,
        "mcp": LazyCommand(
            "mcp:mcp", "Serve recall to an agent over MCP: recall, show, state, note, handoff."
        ),
        "statusline": LazyCommand(
            "install:statusline",
            "Print the status line for a payload on standard input: context left, last save, "
            "open tasks.",
        ),
    },
    GROUPS,
)

TREE: dict[str, LazyCommand | CommandGroup] = {
    "try": LazyCommand(
        "demo:show_demo",
        "Demo: what Holdfast knows at the compaction of a recorded session.",
        START,
    ),
    "audit": LazyCommand(
        "audit:audit",
        "Show what compaction has cost you so far, and what Holdfast would have kept.",
        START,
    ),
    "install": LazyCommand(
        "install:install",
        "Add Holdfast's hooks to a client's settings. Safe to repeat; repairs old entries.",
        START,
    ),
    "uninstall": LazyCommand(
        "install:uninstall",
        "Remove Holdfast's hooks from a client's settings and restore what was there.",
        START,
    ),
    "doctor": LazyCommand(
        "doctor:doctor",
        "Check that Holdfast works: client, hooks, store, recent compactions, other tools.",
        START,
    ),
    "status": LazyCommand(
        "status:status",
        "Show what is saved of this session, or of all, and what the last compaction did.",
        RECALL,
    ),
    "search": LazyCommand(
        "search:search", "Search facts and messages, in all sessions or one.", RECALL
    ),
    "show": LazyCommand(
        "show:show",
        "Show a session, a fact, a message, a compaction or a brief, made for reading.",
        RECALL,
    ),
    "open": LazyCommand("open:open_dashboard", "Open the dashboard in the browser.", RECALL),
    "session": SESSION,
    "team": TEAM,
    "config": LazyCommand(
        "config:config",
        "Show the effective settings and where each comes from; `set` and `unset` change one.",
        GROUPS,
    ),
    "dev": DEV,
    # What programs call, by the names that they know.
    "brief": _BRIEF._replace(hidden=True),
    "state": _STATE._replace(hidden=True),
    "plugin": _PLUGIN._replace(hidden=True),
}
