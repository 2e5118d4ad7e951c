"""The service of a team: many agents, one memory, over HTTP, and the dashboard.

`app` puts it together; `auth` says who calls, `backend` opens what a caller may see, `records`
keeps what agents tell each other, `hierarchy` and `restored_text` read the states, and
`routes` answer. Hooks never come here: they write locally (docs/team.md).
"""

# What other packages may import.
__all__ = ["app", "backend", "open_code", "records", "runner", "server_settings"]
