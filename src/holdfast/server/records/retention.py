"""What goes of what was posted: contexts, actions and kept answers that are old enough.

Messages stay: one that nobody has read yet is not old. So do tokens and the trail.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.server.records.engine import Transaction

# By the word that users know them by.
_OF_SESSIONS = {"contexts": "contexts", "actions": "deeds"}


def prune(
    transaction: Transaction, before: str, held: Sequence[str] = (), *, dry_run: bool = False
) -> dict[str, int]:
    """Drop what is older than `before`, except of sessions that are held back. Answers what
    was (or would be) dropped."""
    names = {f"held_{number}": name for number, name in enumerate(held)}
    kept = f"session NOT IN ({', '.join(f':{name}' for name in names)})" if names else "1 = 1"
    dropped = {}
    for word, table in (*_OF_SESSIONS.items(), ("answers", "answers")):
        named = names if table != "answers" else {}
        which = f"FROM {table} WHERE {{mine}} AND created < :before"
        which += f" AND {kept}" if named else ""
        if dry_run:
            dropped[word] = int(
                transaction.rows(f"SELECT count(*) {which}", before=before, **named)[0][0]
            )
        else:
            dropped[word] = transaction.change(f"DELETE {which}", before=before, **named)
    return dropped
