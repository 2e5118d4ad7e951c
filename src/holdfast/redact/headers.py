"""Finds credentials in headers: Bearer and Basic, and others behind `Authorization`."""

import binascii
from collections.abc import Iterator

from holdfast.redact.plausibility import is_dummy, looks_generated
from holdfast.redact.token_shapes import Span, compile_once, find_anchor


def is_basic_name(name: str) -> bool:
    return name.lower().strip("_.-") == "auth"


def read_basic(text: str, at: int) -> Span | None:
    match = compile_once(r"\\{0,7}[\"'`]?([A-Za-z0-9+/]{8,200}={0,2})").match(text, at)
    if match is None or not is_basic_pair(match.group(1)):
        return None
    return match.start(1), match.end(1), "basic-auth"


def is_basic_pair(value: str) -> bool:
    """Say whether this is base64 of user:password."""
    if not 8 <= len(value) <= 400:
        return False
    try:
        pair = binascii.a2b_base64(value, strict_mode=True).decode("ascii")
    except ValueError:
        return False
    user, _, password = pair.partition(":")
    return bool(user and password) and pair.isprintable()


_SCHEME = (
    r"[\"'\\]{0,8}\]?[ ]?[:=,][ ]?[\"'\\]{0,8}[A-Za-z][A-Za-z0-9\-]{1,20}[ ]{1,4}"
    r"(?:token=[\"'\\]{0,8})?"
)
_CREDENTIAL = r"([A-Za-z0-9\-._~+/]{12,4000}={0,2})"


def find_headers(lowered: str, text: str) -> Iterator[Span]:
    """Bearer and Basic credentials, with or without the header's name; others with it."""
    for at in find_anchor(lowered, "basic "):
        match = compile_once(r"\s{1,4}([A-Za-z0-9+/]{8,400}={0,2})").match(text, at + 5)
        if match and is_basic_pair(match.group(1)):
            yield match.start(1), match.end(1), "basic-auth"
    for header, scheme, label in (
        ("bearer", r"\s{1,4}", "bearer-token"),
        ("authorization", _SCHEME, "token"),
    ):
        for at in find_anchor(lowered, header):
            match = compile_once(scheme + _CREDENTIAL).match(text, at + len(header))
            if match and looks_generated(match.group(1)) and not is_dummy(match.group(1)):
                yield match.start(1), match.end(1), label
