"""Copies everything from one store into another, with nothing lost: session by session.

Each session is read at one moment and written in one transaction. What the target knows
already stays as it is where it knows more; copying twice changes nothing the second time.
"""

from holdfast.store.transfer.session_export import ImportTarget, SessionExport, copy_sessions

__all__ = ["ImportTarget", "SessionExport", "copy_sessions"]
