"""The processes that a client starts: parse the payload, dispatch, print, exit 0."""

# What other packages may import.
__all__ = ["detach", "hook_log", "spawn_sync", "statusline"]
