"""Entities: what they are, how they are found in text, and what they weigh.

Owns extraction and weights. It reads text only; which rows the text came from is not its matter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from benchmarks.measure.shell_commands import word_set

PATH, IDENTIFIER, COMMAND, URL, HASH, TICKET, PORT, NUMBER, TASK = (
    "path",
    "identifier",
    "command",
    "url",
    "hash",
    "ticket",
    "port",
    "number",
    "task",
)

WEIGHTS = {
    PATH: 1.0,
    COMMAND: 1.0,
    URL: 1.0,
    TICKET: 1.0,
    PORT: 1.0,
    TASK: 1.0,
    HASH: 0.8,
    IDENTIFIER: 0.6,
    NUMBER: 0.3,
}
IDF_KINDS = frozenset({IDENTIFIER, NUMBER})


class Entity(NamedTuple):
    kind: str
    value: str


_CHUNK = re.compile(r"[^\s\"'`()\[\]{}<>,;|=*!?\\$&→│├└─•“”‘’]+")
_URL = re.compile(r"https?://[^\s\"'`<>()\[\]{}\\|]+")
_PORT_WORDS = re.compile(r"(?i)\bport(?:\s+|\s*[=:]\s*)(\d{2,5})\b")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_SNAKE = re.compile(r"[A-Za-z0-9]_+[A-Za-z0-9]")
_EXTENSION = re.compile(r"^(?:[\w@+%#~.-]*[\w@+~-])?\.([a-z][a-z0-9]{0,7})$")
_LINE_SUFFIX = re.compile(r"(?::\d+(?:-\d+)?)+:?$|#L\d+(?:-L?\d+)?$|@@$")
_NUMBERED = re.compile(r"^([^:]+?)[:-]\d+[:-](.*)$")
_DOMAIN = re.compile(r"^(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|in|ai|co|sh|app|land|me|gov|edu)$")
_HASH = re.compile(r"^[0-9a-f]{7,40}$")
_TICKET = re.compile(r"(?<![A-Za-z0-9_-])([A-Z][A-Z0-9]{1,9}-\d{1,6})(?![A-Za-z0-9_-])")
_ISSUE = re.compile(r"^#(\d{2,6})$")
_NOT_TICKETS = word_set("UTF ISO SHA RFC GPT HTTP AES RSA EC MD BASE X86 IPV CP TLS PEP ED")
_HOST_PORT = re.compile(r"^(?:[A-Za-z][\w.-]*|\d{1,3}(?:\.\d{1,3}){3})?:(\d{4,5})(?:/.*)?$")
_NUMBER = re.compile(r"^[-+~]?(\d{4,}|\d+\.\d+)%?$")
_TRIM = ".:-/#+~%^@"
_LOCAL = frozenset({"", "localhost", "127.0.0.1", "0.0.0.0", "host", "::1"})

# Extensions a bare name may have to be taken for a file: without a folder in front,
# `time.now` and `config.go` look alike, and only a closed list tells them apart.
FILE_EXTENSIONS = word_set(
    """
    py pyi go rs js jsx ts tsx mjs cjs java kt kts scala rb php c h cc cpp hpp cxx cs swift m mm sh
    bash zsh fish ps1 sql json jsonl json5 yaml yml toml ini cfg conf env md mdx rst txt html htm
    css scss sass less vue svelte xml svg lock mod sum gradle tf hcl proto graphql ex exs erl hs lua
    pl r jl dart zig nix csv tsv ipynb tmpl tpl j2 log patch diff snap plist properties cmake
    """
)


class Classified(NamedTuple):
    """What one chunk of text may hold, before a session has resolved its paths."""

    entities: tuple[Entity, ...]
    pathlike: str


@lru_cache(maxsize=400_000)
def classify(chunk: str) -> Classified:
    """Everything a chunk without spaces holds. Pure, so remembered across sessions."""
    if len(chunk) < 3 or len(chunk) > 400:
        return _NOTHING
    bare = _LINE_SUFFIX.sub("", chunk.rstrip(".:")).lstrip("@:#+^").rstrip(".:-,")
    if len(bare) < 3:
        return _NOTHING
    found: list[Entity] = []
    if "-" in chunk and _UUID.search(chunk):
        return Classified((), bare) if _looks_like_path(bare) else _NOTHING
    found.extend(
        Entity(TICKET, t) for t in _TICKET.findall(chunk) if t.rsplit("-", 1)[0] not in _NOT_TICKETS
    )
    if issue := _ISSUE.match(chunk.rstrip(".:")):
        return Classified((Entity(TICKET, "#" + issue.group(1)),), "")
    if ":" in chunk and (port := _HOST_PORT.match(chunk)):
        host = chunk.split(":", 1)[0]
        if host in _LOCAL:
            return Classified((Entity(PORT, port.group(1)),), "")
    if _looks_like_path(bare):
        return Classified(tuple(found), bare)
    if (hit := _NUMBERED.match(chunk)) and _looks_like_path(hit.group(1)):
        rest = [Entity(IDENTIFIER, w) for w in _WORD.findall(hit.group(2)) if is_identifier(w)]
        return Classified((*found, *rest), hit.group(1))
    for part in chunk.split(".."):
        part = part.strip(_TRIM)
        if _HASH.match(part) and not part.isdigit() and not part.isalpha():
            found.append(Entity(HASH, part[:7]))
            return Classified(tuple(found), "")
    if number := _NUMBER.match(chunk.rstrip(".:")):
        found.append(Entity(NUMBER, number.group(1)))
        return Classified(tuple(found), "")
    found.extend(Entity(IDENTIFIER, w) for w in _WORD.findall(chunk) if is_identifier(w))
    return Classified(tuple(found), "") if found else _NOTHING


_NOTHING = Classified((), "")


def _looks_like_path(bare: str) -> bool:
    """A file name with an extension; without a folder only with an extension of the list."""
    last = bare.rsplit("/", 1)[-1]
    match = _EXTENSION.match(last)
    if not match or ":" in bare or "//" in bare:
        return False
    if bare[0] == "/" and bare.count("/") == 1:
        return False  # what is left of `<id>/metadata.json`, not a file in the root
    if "/" not in bare:
        return match.group(1) in FILE_EXTENSIONS
    return not _DOMAIN.match(bare.split("/", 1)[0])


def is_identifier(word: str) -> bool:
    """camelCase, snake_case or UPPER_CASE with at least six characters."""
    if not 6 <= len(word) <= 80:
        return False
    return bool(_SNAKE.search(word) or _CAMEL.search(word))


def chunks(text: str) -> list[str]:
    return _CHUNK.findall(text)


def urls(text: str) -> list[str]:
    if "http" not in text:
        return []
    return [u.rstrip(".,;:!?*_") for u in _URL.findall(text)]


def without_urls(text: str) -> str:
    return _URL.sub(" ", text) if "http" in text else text


def ports(text: str) -> list[str]:
    if "port" not in text.lower():
        return []
    return _PORT_WORDS.findall(text)


class PathResolver:
    """The paths of one session: made relative, and resolved from their ends.

    `learn` adds what is known; `resolve` finds the one known path a token can mean, or none. A
    token is a path when it is known in full, or is the end of exactly one known path.
    """

    def __init__(self, roots: list[str]) -> None:
        self.roots = roots
        self.known: set[str] = set()
        self._ends: dict[str, set[str]] = {}
        self._relative: dict[str, str] = {}

    def relative(self, token: str) -> str:
        """A token relative to the session's cwd, without line numbers or a leading ./"""
        cached = self._relative.get(token)
        if cached is not None:
            return cached
        text = _LINE_SUFFIX.sub("", token)
        for root in self.roots:
            if text.startswith(root + "/"):
                text = text[len(root) + 1 :]
                break
            if text == root:
                text = ""
                break
        while text.startswith("./"):
            text = text[2:]
        text = text.rstrip("/").rstrip(".")
        self._relative[token] = text
        return text

    def learn(self, token: str) -> str:
        """Add a path; the form it is known by, or '' where it is none."""
        path = self.relative(token)
        if not path or path in (".", "..") or "..." in path:
            return ""
        if path not in self.known:
            self.known.add(path)
            parts = path.lstrip("/").split("/")
            for i in range(len(parts)):
                self._ends.setdefault("/".join(parts[i:]), set()).add(path)
        return path

    def learn_mentions(self, tokens: Iterable[str]) -> None:
        """Add paths seen in text, unless they are only a short form of a known one.

        Longest first, so that `pkg/a.go` is known before `a.go` asks what it means; the `a/` and
        `b/` of a diff are not folders.
        """
        candidates = {p for t in tokens if "/" in (p := self.relative(t))}
        for path in sorted(candidates, key=lambda p: (-p.count("/"), p)):
            if path[:2] in ("a/", "b/") and (path[2:] in candidates or self.resolve(path[2:])):
                continue
            if path.lstrip("/") not in self._ends:
                self.learn(path)

    def resolve(self, token: str, folder: str = "") -> str:
        """The known path a token means, or ''."""
        path = self.relative(token)
        if not path:
            return ""
        if path in self.known:
            return path
        if folder:
            joined = f"{folder}/{path}"
            if joined in self.known:
                return joined
            under = [p for p in self._ends.get(joined, ()) if p]
            if len(under) == 1:
                return under[0]
        ends = self._ends.get(path.lstrip("/"), ())
        return next(iter(ends)) if len(ends) == 1 else ""


def idf_table(sessions: Iterable[Iterable[Entity]], count: int) -> dict[Entity, float]:
    """Inverse document frequency over sessions, scaled to at most 1."""
    df: dict[Entity, int] = {}
    for session in sessions:
        for entity in session:
            df[entity] = df.get(entity, 0) + 1
    return {entity: idf(n, count) for entity, n in df.items()}


def idf(df: int, count: int) -> float:
    """1 for what one session has, falling to near 0 for what all have."""
    return math.log((count + 1) / (df + 0.5)) / math.log((count + 1) / 1.5) if count > 1 else 1.0


def weight(entity: Entity, idfs: dict[Entity, float]) -> float:
    base = WEIGHTS[entity.kind]
    return base * idfs.get(entity, 1.0) if entity.kind in IDF_KINDS else base
