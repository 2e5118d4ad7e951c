"""Finds private keys: PEM, OpenSSH and PGP blocks, PuTTY files, JSON web keys, and lines of a key.

Owns: where a key begins and ends in a text, whole, cut off, numbered, or as lines of a diff.
Must not: know about JSON rows (jsonl.py), which hand over lines joined by line breaks.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from holdfast.redact.plausibility import looks_generated
from holdfast.redact.secret_patterns import JWK_ANCHOR, PEM_ANCHOR, PPK_ANCHOR
from holdfast.redact.token_shapes import LINE_BREAK, Span, compile_once, find_anchor

_PEM_HEAD = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = r"-----END [A-Z0-9 ]{0,48}-----"
# A key of 16,384 bits takes 13 KB; line numbers and escapes add to it.
_PEM_LONGEST = 24_000
# A line of a key whose end was cut off, after a line number or a quoting mark.
_BREAK = rf"(?:\\+r)?{LINE_BREAK}"
_PEM_LINE = (
    _BREAK + r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,120}"
    r"|[A-Za-z0-9+/]{16,120}={0,2}|=?[A-Za-z0-9+/]{4,100}={0,2}(?=\s|\\|\"|\Z)|(?=\r?\n|\\+n))"
)


def find_private_keys(text: str) -> Iterator[Span]:
    done = 0
    for at in find_anchor(text, PEM_ANCHOR):
        head = compile_once(_PEM_HEAD).match(text, at) if at >= done else None
        if head is None:
            continue
        limit = text.find(PEM_ANCHOR, head.end(), head.end() + _PEM_LONGEST)
        if limit < 0:
            limit = min(len(text), head.end() + _PEM_LONGEST)
        end_at = text.find("-----END ", head.end(), limit)
        tail = compile_once(_PEM_END).match(text, end_at) if end_at >= 0 else None
        done = tail.end() if tail else _end_of_cut_key(text, head.end())
        if done > head.end():
            yield at, done, "private-key"


def _end_of_cut_key(text: str, at: int) -> int:
    line = compile_once(_PEM_LINE)
    while (match := line.match(text, at)) and match.end() > at:
        at = match.end()
    return at


_PPK_LINES = (
    rf"-Lines: ?\d{{1,4}}((?:{_BREAK}[A-Za-z0-9+/]{{4,80}}={{0,2}}(?![A-Za-z0-9:\-])){{1,80}})"
)
_PPK_MAC = r"-(?:MAC|Hash): ?([0-9a-f]{40,64})"


def find_putty_keys(text: str) -> Iterator[Span]:
    for at in find_anchor(text, PPK_ANCHOR):
        for tail in (_PPK_LINES, _PPK_MAC):
            match = compile_once(tail).match(text, at + len(PPK_ANCHOR))
            if match is not None:
                start = match.start(1)
                body = compile_once(_BREAK).match(text, start)
                yield body.end() if body else start, match.end(1), "private-key"


# What a JSON web key keeps to itself: of RSA and curves, and of a key that both sides have.
_JWK_MEMBER = (
    r"(?<![A-Za-z0-9])(?:d|p|q|dp|dq|qi|k)\\{0,7}[\"']\s{0,4}:\s{0,4}\\{0,7}[\"']"
    r"([A-Za-z0-9_\-]{16,1400})"
)
_JWK_AROUND = 6000
_JWK_CUT = 1500


def find_web_keys(text: str) -> Iterator[Span]:
    done = 0
    for at in find_anchor(text, JWK_ANCHOR):
        start, stop = max(done, at - _JWK_AROUND), at + _JWK_AROUND
        if stop - done < _JWK_CUT * 2:
            continue
        for match in compile_once(_JWK_MEMBER).finditer(text, start, stop):
            if looks_generated(match.group(1)):
                yield match.start(1), match.end(1), "private-key"
        # What was looked at is done, but for a member that the window cut in two.
        done = max(done, stop - _JWK_CUT)


# A line of a key by its length: PEM, PGP and PuTTY have 64, OpenSSH has 70.
_KEY_LINE = r"[A-Za-z0-9+/]{64}(?:[A-Za-z0-9+/]{6})?\Z"
_LINES_OF_A_KEY = 3
_PUBLIC = ("CERTIFICATE", "PUBLIC KEY", "SIGNATURE", "PGP MESSAGE")


def find_key_lines(lines: Sequence[str]) -> list[int]:
    """Which lines of a diff stand in a key of which the diff shows no beginning.

    Three in a row at least; not in a block that says that it is public.
    """
    if any(word in line for line in lines for word in _PUBLIC):
        return []
    found: list[int] = []
    for is_key, run in groupby(enumerate(lines), lambda numbered: _is_key_line(numbered[1])):
        places = [at for at, _ in run]
        if is_key and len(places) >= _LINES_OF_A_KEY:
            found += places
    return found


def _is_key_line(line: str) -> bool:
    body = (line[1:] if line[:1] in ("+", "-", " ") else line).strip()
    is_long = len(body) in (64, 70) and compile_once(_KEY_LINE).match(body) is not None
    return is_long and looks_generated(body)
