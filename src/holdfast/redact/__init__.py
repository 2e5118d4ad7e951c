"""Removes secrets from text before it is first written.

Owns: what counts as a secret, and the label that takes its place, `[redacted:<kind>]`.
Must not: read settings or files, or import `re` before a text gives reason to.
"""

from holdfast.redact.prefilter import suspicious

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.redact.redactor import Redactor

__all__ = [
    "prefilter",
    "private_keys",
    "redact",
    "redact_bytes",
    "redact_lines",
    "redact_many",
    "redactor",
    "safe_truncation",
    "strip_codes",
    "suspicious",
    "use_patterns",
]

# A longer text is left to the engine: per MB the prefilter takes 45 ms, the engine 30.
_SHORT = 64_000

# The user's own patterns on top of the built-in ones, for this process; None for none.
_chosen: "Redactor | None" = None


def use_patterns(patterns: "Mapping[str, str]") -> None:
    """Redact these too, from now on and in this process. Raises InvalidPattern."""
    global _chosen
    if not patterns:
        _chosen = None
        return
    from holdfast.redact.redactor import Redactor

    _chosen = Redactor(list(patterns.items()))


def redact(text: str) -> str:
    """Replace secrets by labels such as `[redacted:github-token]`; the rest stays as it is."""
    if _chosen is None and len(text) <= _SHORT and not suspicious(text):
        return text
    return _engine().redact(text)


def redact_bytes(data: bytes) -> bytes:
    """Do the same to raw JSONL of any size; a line that was valid JSON stays valid JSON."""
    from holdfast.redact.jsonl import redact_rows

    return redact_rows(_engine(), data)


def redact_many(texts: "Sequence[str]") -> "dict[int, str]":
    """The texts that held secrets, by their place, without them: one scan over all of them."""
    from holdfast.redact import bulk_scan

    return bulk_scan.redact_batch(_engine(), texts)


def redact_lines(lines: "Sequence[str]") -> "tuple[str, ...]":
    """Lines of one text, as a diff has them; each stays one line."""
    from holdfast.redact.jsonl import redact_lines as clean

    return clean(_engine(), lines)


def _engine() -> "Redactor":
    if _chosen is not None:
        return _chosen
    from holdfast.redact.redactor import BUILT_IN

    return BUILT_IN


def strip_codes(text: str) -> str:
    """The text without colours and other terminal codes."""
    if "\x1b" not in text:
        return text
    from holdfast.redact.terminal_codes import strip_codes as stripped

    return stripped(text)
