"""Who calls, and what they may do. Decides; `gate` carries it out.

A caller has a token, or is the owner of this service: a process of the same user on the same
machine, which speaks to it by a loopback name and is no web page and no proxy.
"""

from __future__ import annotations

import os
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


def caller_of(
    headers: Mapping[str, str],
    peer: Address | None,
    own: Address | None,
    settings: Settings,
    records: Records,
) -> Caller:
    words = headers.get("authorization", "")
    if words:
        kind, _, token = words.partition(" ")
        if kind.lower() != "bearer":
            raise Refused("Send the token as `Authorization: Bearer ...`", 401, _CHALLENGE)
        with records.transaction(None) as transaction:
            found = tokens.understood(transaction, token.strip(), settings.now())
        if found is None:
            raise Refused("This token is not known, or no longer good", 401, _CHALLENGE)
        return Caller(found.id, frozenset(found.scopes), found.projects)
    if settings.open_to_owner and _is_owner(headers, peer, own, settings):
        return Caller(OWNER, frozenset(tokens.SCOPES), None)
    raise Refused("A token is needed here: `holdfast token create` makes one", 401, _CHALLENGE)


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
