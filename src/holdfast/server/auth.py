"""Who calls, and what they may do. Decides; `middleware` enforces it.

A caller has a token, or is the owner of this service: a process of the same user on the same
machine, which speaks to it by a loopback name and is neither a web page nor a proxy.
"""

import hmac
import time
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from holdfast.records import NamedTuple
from holdfast.server.open_code import page_token
from holdfast.server.peer_credentials import Address, is_loopback
from holdfast.server.problems import ApiError, Forbidden
from holdfast.server.records import Records, tokens
from holdfast.server.server_settings import ServerSettings
from holdfast.system import own_user_id

OWNER_NAME = "owner"
# What proxies add: a proxied request is not a local user's.
_PROXY_HEADERS = ("forwarded", "x-forwarded-", "x-real-ip", "via", "cf-")
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="holdfast"'}


class Caller(NamedTuple):
    name: str  # "owner", or the token's id
    scopes: frozenset[str]
    projects: tuple[str, ...] | None  # None for all

    def has_scope(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    def can_see(self, project: str) -> bool:
        return self.projects is None or project in self.projects


OWNER = Caller(OWNER_NAME, frozenset(tokens.SCOPES), None)


def check_origin(headers: Mapping[str, str]) -> None:
    """A browser says which page is asking. Our own pages are on the host that is asked."""
    origin = headers.get("origin", "")
    # What comes from a page without an address ("null") is not from one of our pages.
    if origin and (_split_url(origin).netloc or origin).lower() != headers.get("host", "").lower():
        raise Forbidden("Cross-origin requests are not allowed")


class TokenCache:
    """The tokens in force, read again after a moment. A caller that guesses is answered from memory
    and costs the store at most a few reads a second; a token that is revoked is refused a moment
    later, and one that was just made is good at once."""

    # Seconds after which a token that memory does not know is looked up again.
    PATIENCE = 0.2

    def __init__(self, records: Records, settings: ServerSettings) -> None:
        self._records = records
        self._settings = settings
        self._found: tokens.ActiveTokens | None = None
        self._until = self._read_at = 0.0

    def can_answer(self, authorization: str) -> bool:
        """Whether memory is good enough to answer this caller."""
        now = time.monotonic()
        if self._found is None or now >= self._until:
            return False
        token = authorization.partition(" ")[2].strip()
        known = self._found.verify(token, self._settings.now())
        return bool(known) or now < self._read_at + self.PATIENCE

    def reload(self) -> None:
        """Waits for the store."""
        with self._records.transaction(None) as transaction:
            self._found = tokens.ActiveTokens(transaction)
        self._read_at = time.monotonic()
        self._until = self._read_at + self._settings.cache_seconds

    def caller(self, authorization: str) -> Caller:
        kind, _, token = authorization.partition(" ")
        if kind.lower() != "bearer":
            raise ApiError("Send the token as `Authorization: Bearer ...`", 401, _CHALLENGE)
        found = self._found and self._found.verify(token.strip(), self._settings.now())
        if not found:
            raise ApiError("Invalid, expired or revoked token", 401, _CHALLENGE)
        return Caller(found.id, frozenset(found.scopes), found.projects)


def authenticate_owner(
    headers: Mapping[str, str], peer: Address | None, own: Address | None, settings: ServerSettings
) -> Caller:
    """This machine's own user, known by the connection alone."""
    own_id = own_user_id()
    if (
        settings.allow_owner
        and own_id is not None
        and peer is not None
        and own is not None
        and is_loopback(peer[0])
        # A web page may have a name that leads here (DNS rebinding).
        and is_loopback(_split_url(f"//{headers.get('host', '')}").hostname or "")
        and not any(name.startswith(_PROXY_HEADERS) for name in headers)
        and settings.peer_uid(peer, own) == own_id
    ):
        return OWNER
    raise ApiError(
        "A token is required: create one with `holdfast team token create`", 401, _CHALLENGE
    )


def is_own_page(authorization: str, own: Address | None, settings: ServerSettings) -> bool:
    """Whether this is the token of a page that `holdfast open` has opened."""
    if not settings.open_key or own is None:
        return False
    given = authorization.partition(" ")[2].strip().encode()
    return hmac.compare_digest(given, page_token(settings.open_key, own[1]).encode())


def rate_limit_key(peer: Address | None, own: Address | None, settings: ServerSettings) -> str:
    """A name for a caller without a valid token: the address, and on this machine the user, so
    that one user's requests are not counted as another's. A user of this machine has as many
    addresses as 127.0.0.0/8 holds."""
    if peer is None:
        return "?"
    if own is None or not is_loopback(peer[0]):
        return peer[0]
    return local_user_key(settings.peer_uid(peer, own))


def local_user_key(uid: int | None) -> str:
    return f"127.0.0.1 user {uid}"


def _split_url(url: str) -> SplitResult:
    """One that cannot be read has neither place nor name."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")
