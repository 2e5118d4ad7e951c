"""What the fast hooks leave for the next full one: prompts, commands and deliveries, as JSON lines.

Owns the form of those lines; `session.view` reads them. Prompts are redacted before they
are written. Imported by the fast hooks: lines are put together by hand, `json` costs 5 ms.
"""

from __future__ import annotations

from holdfast.clock import format_now
from holdfast.files import exists
from holdfast.paths import PATTERNS_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.fastpath.session_dir import SessionDir

MAX_PROMPT_CHARS = 20_000  # characters of a prompt that are kept; what is longer is pasted material


def spool_prompt(session_dir: SessionDir, prompt_id: str, text: str) -> None:
    """Whose words these are is decided when they are read: the row may be there by then."""
    _append(session_dir, "prompt", id=prompt_id, text=_redact(session_dir, text))


def spool_command(session_dir: SessionDir, name: str, arguments: str) -> None:
    _append(session_dir, "command", text=name, arguments=_redact(session_dir, arguments))


def spool_delivery(
    session_dir: SessionDir, kind: str, channel: str, epoch: int, fact_ids: str, text: str
) -> None:
    """A text was handed over; the full path tells the store."""
    _append(session_dir, kind, epoch=epoch, channel=channel, facts=fact_ids, text=text)


def encode_json_string(text: str) -> str:
    try:
        from _json import encode_basestring_ascii
    except ImportError:  # an interpreter without the C part
        import json

        return json.dumps(text)
    return encode_basestring_ascii(text)


def _append(session_dir: SessionDir, kind: str, **fields: str | int) -> None:
    named = {"what": kind, "time": format_now(), **fields}
    pairs = [
        f'"{name}":{value if isinstance(value, int) else encode_json_string(value)}'
        for name, value in named.items()
    ]
    try:  # noqa: SIM105  contextlib costs 3 ms
        session_dir.append_spool("{" + ",".join(pairs) + "}")
    except OSError:
        pass  # no place to note it is no reason not to answer; doctor looks at the disk


def _redact(session_dir: SessionDir, text: str) -> str:
    from holdfast.redact.prefilter import suspicious

    window = text[: 2 * MAX_PROMPT_CHARS]
    # The user's own patterns, saved by the full path.
    own = exists(f"{session_dir.data_dir}/{PATTERNS_FILE}")
    if own or suspicious(window):
        from holdfast.redact import redact

        if own:
            from holdfast.settings.user_patterns import apply_saved_patterns

            apply_saved_patterns(session_dir.data_dir)
        window = redact(window)
    return window[:MAX_PROMPT_CHARS]
