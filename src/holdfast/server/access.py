"""Who calls, and what they may do. Decides; `gate` carries it out.

A caller has a token, or is the owner of this service: a process of the same user on the same
machine, which speaks to it by a loopback name and is no web page and no proxy.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from holdfast.server.neighbour import is_loopback
from holdfast.server.problems import Forbidden, Refused
from holdfast.server.records import Records, tokens
from holdfast.server.settings import Address, Settings

OWNER = "owner"
# What proxies add; in front of us they are no user of this machine.
_FORWARDED = ("forwarded", "x-forwarded-", "x-real-ip", "via", "cf-")
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="holdfast"'}


class Caller(NamedTuple):
    name: str  # "owner", or the token's id
    scopes: frozenset[str]
    projects: tuple[str, ...] | None  # None for all

    def may(self, scope: str) -> bool:
        return scope in self.scopes or "admin" in self.scopes

    def sees(self, project: str) -> bool:
        return self.projects is None or project in self.projects


def check_origin(headers: Mapping[str, str]) -> None:
    """A browser says which page is asking. Pages of ours are on the host that is asked."""
    origin = headers.get("origin", "")
    if origin and _address(origin) != headers.get("host", "").lower():
        raise Forbidden("Requests from other web pages are not answered")


class KnownTokens:
    """The tokens in force, read again after a moment. Whoever guesses is answered from memory and
    costs the store at most a few reads a second; a token that is revoked is refused a moment later,
    and one that was just made is good at once."""

    # Seconds after which a token that memory does not know is looked up again.
    PATIENCE = 0.2

    def __init__(self, records: Records, settings: Settings) -> None:
        self._records = records
        self._settings = settings
        self._found: tokens.InForce | None = None
        self._until = self._read_at = 0.0

    def answers(self, authorization: str) -> bool:
        """Whether memory is good enough to answer this caller."""
        now = time.monotonic()
        if self._found is None or now >= self._until:
            return False
        token = authorization.partition(" ")[2].strip()
        known = self._found.understood(token, self._settings.now())
        return bool(known) or now < self._read_at + self.PATIENCE

    def read(self) -> None:
        """Waits for the store."""
        with self._records.transaction(None) as transaction:
            self._found = tokens.InForce(transaction)
        self._read_at = time.monotonic()
        self._until = self._read_at + self._settings.moment_seconds

    def caller(self, authorization: str) -> Caller:
        kind, _, token = authorization.partition(" ")
        if kind.lower() != "bearer":
            raise Refused("Send the token as `Authorization: Bearer ...`", 401, _CHALLENGE)
        found = self._found and self._found.understood(token.strip(), self._settings.now())
        if not found:
            raise Refused("This token is not known, or no longer good", 401, _CHALLENGE)
        return Caller(found.id, frozenset(found.scopes), found.projects)


def owner(
    headers: Mapping[str, str], peer: Address | None, own: Address | None, settings: Settings
) -> Caller:
    """This machine's own user, known by the connection alone."""
    if settings.open_to_owner and _is_owner(headers, peer, own, settings):
        return Caller(OWNER, frozenset(tokens.SCOPES), None)
    raise Refused("A token is needed here: `holdfast token create` makes one", 401, _CHALLENGE)


def stranger(peer: Address | None, own: Address | None, settings: Settings) -> str:
    """A name for whoever shows no good token: the address, and on this machine also the user, so
    that one user's requests are not counted as another's."""
    if peer is None:
        return "?"
    if own is None or not is_loopback(peer[0]):
        return peer[0]
    return f"{peer[0]} user {settings.peer_uid(peer, own)}"


def _is_owner(
    headers: Mapping[str, str], peer: Address | None, own: Address | None, settings: Settings
) -> bool:
    if peer is None or own is None or not is_loopback(peer[0]):
        return False
    # A name that leads here without being ours may be a web page's (DNS rebinding).
    host = _name(headers.get("host", ""))
    if not is_loopback(host) or any(name.startswith(_FORWARDED) for name in headers):
        return False
    return settings.peer_uid(peer, own) == os.getuid()


def _address(origin: str) -> str:
    """What comes from a page without an address ("null") is from no page of ours."""
    try:
        return urlsplit(origin).netloc.lower() or origin
    except ValueError:
        return origin


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
