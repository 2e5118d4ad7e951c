"""Tokens: who may do what. Only a digest is kept; the secret is shown once, when it is made.

The secret has 256 random bits, so that a plain digest of it cannot be turned back.
"""

import hashlib
import hmac
import secrets
from collections.abc import Sequence

from holdfast.records import NamedTuple
from holdfast.server.records.transactions import Transaction, parse_json_column
from holdfast.store.queries import Row, insert, placeholders

SCOPES = ("read", "write", "admin")
# Whose a session is that was forgotten: no token's, for no token's id has these letters.
FORGOTTEN = "forgotten"
TOKEN_PREFIX = "hf"


class Token(NamedTuple):
    id: str
    name: str
    scopes: tuple[str, ...]
    projects: tuple[str, ...] | None  # None for all
    created: str
    expires: str
    revoked: str


_COLUMNS = ", ".join(Token._fields)


def create_token(
    transaction: Transaction,
    *,
    name: str,
    scopes: tuple[str, ...],
    projects: tuple[str, ...] | None,
    now: str,
    expires: str = "",
) -> tuple[Token, str]:
    """The token, and the words that a caller sends."""
    token_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    token = Token(token_id, name, scopes, projects, now, expires, "")
    kept = {
        **token._asdict(),
        "digest": _digest_secret(secret),
        "scopes": " ".join(scopes),
        "projects": {"all": projects is None, "named": list(projects or ())},
    }
    insert(transaction, "tokens", kept)
    return token, f"{TOKEN_PREFIX}_{token_id}_{secret}"


def list_tokens(transaction: Transaction) -> list[Token]:
    rows = transaction.query(f"SELECT {_COLUMNS} FROM tokens ORDER BY created, id")
    return [_token_from_row(row) for row in rows]


def revoke_token(transaction: Transaction, token_id: str, now: str) -> bool:
    statement = "UPDATE tokens SET revoked = :now WHERE id = :id AND revoked = ''"
    return transaction.execute(statement, id=token_id, now=now) > 0


class ActiveTokens:
    """The tokens that are not revoked, with their digests, as they were when they were read."""

    def __init__(self, transaction: Transaction) -> None:
        rows = transaction.query(f"SELECT {_COLUMNS}, digest FROM tokens WHERE revoked = ''")
        self._known = {row[0]: (_token_from_row(row[:-1]), str(row[-1])) for row in rows}

    def verify(self, words: str, now: str) -> Token | None:
        """The token that these words are, if it is one and still good."""
        prefix, _, rest = words.partition("_")
        token_id, _, secret = rest.partition("_")
        if prefix != TOKEN_PREFIX or not secret or token_id not in self._known:
            return None
        token, digest = self._known[token_id]
        if not hmac.compare_digest(digest, _digest_secret(secret)):
            return None
        return None if token.expires and token.expires <= now else token


def _digest_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _token_from_row(row: Row) -> Token:
    token_id, name, scopes, projects, *times = row
    where = parse_json_column(projects)
    named = None if where["all"] else tuple(where["named"])
    return Token(token_id, name, tuple(scopes.split()), named, *times)


def get_session_owner(transaction: Transaction, project: str, session: str) -> str:
    """Whose a session is: the caller that first wrote to it. Empty where it was never written to
    through this service."""
    return list_session_owners(transaction, [session]).get((project, session), "")


def list_session_owners(
    transaction: Transaction, sessions: Sequence[str]
) -> dict[tuple[str, str], str]:
    """The callers that first wrote to them, by project and session."""
    values, places = placeholders(sessions)
    rows = transaction.query(
        f"SELECT project, session, caller FROM session_owners"
        f" WHERE {{mine}} AND session IN ({places})",
        **values,
    )
    return {(project, session): caller for project, session, caller in rows}


def set_session_owner(
    transaction: Transaction, project: str, session: str, caller: str, now: str
) -> None:
    owner = {"project": project, "session": session, "caller": caller, "created": now}
    insert(transaction, "session_owners", owner, "ON CONFLICT DO NOTHING")


def mark_forgotten(transaction: Transaction, project: str, session: str) -> None:
    """Of a session that has an owner: from now on it takes no writes."""
    transaction.execute(
        "UPDATE session_owners SET caller = :nobody"
        " WHERE {mine} AND project = :project AND session = :session",
        nobody=FORGOTTEN,
        project=project,
        session=session,
    )


def transfer_sessions(transaction: Transaction, old: str, new: str) -> int:
    """How many sessions it were."""
    return transaction.execute(
        "UPDATE session_owners SET caller = :new WHERE {mine} AND caller = :old", old=old, new=new
    )
