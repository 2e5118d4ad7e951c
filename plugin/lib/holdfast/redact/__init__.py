"""Removes secrets from text before it is first written.

Owns: what counts as a secret, and the label that takes its place, `[redacted:<kind>]`.
Must not: read settings or files, or import `re` before a text gives reason to.
"""

from holdfast.redact.prefilter import suspicious

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.engine import BadPattern, Redactor

__all__ = ["BadPattern", "Redactor", "redact", "redact_bytes", "suspicious"]

# A longer text is left to the engine: per MB the prefilter takes 45 ms, the engine 30.
_SHORT = 64_000


def redact(text: str) -> str:
    """Replace secrets by labels such as `[redacted:github-token]`; the rest stays as it is."""
    if len(text) <= _SHORT and not suspicious(text):
        return text
    from holdfast.redact.engine import BUILT_IN

    return BUILT_IN.redact(text)


def redact_bytes(data: bytes) -> bytes:
    """Do the same to raw JSONL of any size; a line that was valid JSON stays valid JSON."""
    from holdfast.redact.engine import BUILT_IN

    return BUILT_IN.redact_bytes(data)


def __getattr__(name: str) -> object:
    # Loaded when asked for, so that `suspicious` costs no regular-expression import.
    if name in ("Redactor", "BadPattern"):
        from holdfast.redact import engine

        return getattr(engine, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
