"""Replaces secrets in a text by labels.

Owns: the order of work on one text: find spans, settle overlaps, replace, repeat until nothing is
left to replace (a label can uncover a neighbour that was hidden by the secret's own letters).
Must not: know about JSON (jsonl.py), read settings, or touch the disk.

Errors:
    ValueError
        InvalidPattern    a user's pattern that does not compile, or a name that makes no label
"""

import re
from collections.abc import Callable, Sequence

from holdfast.redact import terminal_codes
from holdfast.redact.assignments import find_assignments
from holdfast.redact.headers import find_headers
from holdfast.redact.passwords import (
    find_cookies,
    find_manifest_secrets,
    find_numbers,
    find_option_passwords,
    find_pgpass,
    find_prose_passwords,
)
from holdfast.redact.prefilter import ascii_lower, suspicious
from holdfast.redact.private_keys import find_private_keys, find_putty_keys, find_web_keys
from holdfast.redact.token_shapes import (
    Span,
    compile_once,
    find_dotted_tokens,
    find_mailchimp_keys,
    find_signatures,
    find_url_passwords,
    find_vendor_tokens,
    find_web_tokens,
    find_webhooks,
    replace_spans,
)

_LABEL = r"\[redacted:[a-z0-9\-]{1,40}\]"
_NAME = r"[a-z0-9][a-z0-9\-]{0,39}\Z"

# Each pass replaces something, so the loop ends by itself; two passes are the rule. The bound
# keeps a text made to uncover one secret per pass from costing quadratic time.
_MAX_PASSES = 12

# Above this the prefilter costs more than the finders that it would spare.
_LONG = 16_000


class InvalidPattern(ValueError):
    """A user's redaction pattern that cannot be used."""

    def __init__(self, name: str, pattern: str, reason: str) -> None:
        super().__init__(f"redaction pattern {name!r} ({pattern!r}): {reason}")
        self.name = name
        self.pattern = pattern
        self.reason = reason


class Redactor:
    """The built-in patterns and a user's own.

    A user's pattern has no anchor, so it runs over every text and every JSON string. If it has a
    group, the first group is replaced, else the whole match. Its running time is the user's own
    risk: a pattern that backtracks without bound will do so here too.
    """

    __slots__ = ("extra",)

    def __init__(self, extra_patterns: Sequence[tuple[str, str]] = ()) -> None:
        self.extra: list[tuple[str, re.Pattern[str]]] = []
        for name, source in extra_patterns:
            if not compile_once(_NAME).match(name):
                raise InvalidPattern(name, source, "a name is 1 to 40 of a-z, 0-9 and '-'")
            try:
                self.extra.append((name, re.compile(source)))
            except (re.error, OverflowError, RecursionError) as error:
                raise InvalidPattern(name, source, str(error)) from error

    def redact(
        self,
        text: str,
        *,
        worth: bool = False,
        read: Callable[[str], str] = str,
        put: Callable[[str, Sequence[Span]], str] = replace_spans,
    ) -> str:
        """Replace every secret by its label and keep everything else as it is.

        `worth` says that a scan has found the text worth a look: the first pass asks no more.
        `read` and `put` are for the source of a text, which a span of the text has to be put into.
        """
        for _ in range(_MAX_PASSES):
            spans = self.spans(read(text), worth=worth)
            if not spans:
                break
            text, worth = put(text, spans), False
        return text

    def spans(self, text: str, *, worth: bool = False) -> list[Span]:
        """Find what one pass replaces: in order, without overlaps, never only a label."""
        found: list[Span] = []
        if worth or len(text) > _LONG or suspicious(text):
            found = _find_built_in(text)
            plain = terminal_codes.strip_codes_with_offsets(text)
            if plain is not None:
                # Colours stand between a name and its value, and inside a token.
                found += terminal_codes.map_spans_back(_find_built_in(plain[0]), plain[1])
        for name, pattern in self.extra:
            group = 1 if pattern.groups else 0
            places = (match.span(group) for match in pattern.finditer(text))
            found += [(start, end, name) for start, end in places if end > start]
        return _settle_overlaps(text, found) if found else found


def _find_built_in(text: str) -> list[Span]:
    """What the built-in finders find. The first that claims a place names it."""
    lowered = ascii_lower(text)
    return [
        *find_private_keys(text),
        *find_putty_keys(text),
        *find_web_keys(text),
        *find_vendor_tokens(text),
        *find_web_tokens(text),
        *find_dotted_tokens(text),
        *find_mailchimp_keys(text),
        *find_webhooks(text),
        *find_signatures(text),
        *find_url_passwords(text),
        *find_headers(lowered, text),
        *find_assignments(lowered, text),
        *find_option_passwords(lowered, text),
        *find_pgpass(text),
        *find_cookies(lowered, text),
        *find_manifest_secrets(lowered, text),
        *find_numbers(lowered, text),
        *find_prose_passwords(lowered, text),
    ]


def _settle_overlaps(text: str, found: list[Span]) -> list[Span]:
    """Join what overlaps, under the name of the first finder.

    A label that a span touches goes wholly into it; what holds nothing but labels is dropped.
    """
    labels = [(*match.span(), "") for match in compile_once(_LABEL).finditer(text)]
    ranked = ((start, end, rank, label) for rank, (start, end, label) in enumerate(found + labels))
    merged: list[tuple[int, int, int, str, int]] = []
    for start, end, rank, label in sorted(ranked):
        covered = 0 if label else end - start
        if merged and start < merged[-1][1]:
            first, last, last_rank, last_label, last_covered = merged.pop()
            rank, label = min((rank, label), (last_rank, last_label))
            start, end, covered = first, max(end, last), covered + last_covered
        merged.append((start, end, rank, label, covered))
    return [(start, end, label) for start, end, _, label, within in merged if within < end - start]


BUILT_IN = Redactor()
