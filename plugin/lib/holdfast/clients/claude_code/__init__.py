"""Claude Code: its transcript rows, tools, tasks on disk and places."""
