"""The user's own redaction patterns, at hand for hooks that read no settings.

The full path keeps a copy of the effective ones in the data directory; the fast path looks for
that one file before it writes a prompt. No patterns, no file.
"""

import json
from contextlib import suppress

from holdfast.files import make_private_dir, read, remove, write_atomic
from holdfast.paths import PATTERNS_FILE
from holdfast.redact import use_patterns
from holdfast.settings.loader import PROJECT, Settings

SETTING_NAME = "redact_patterns"


def apply_configured_patterns(settings: Settings, data: str) -> None:
    """For this process; and kept, where the user chose them, for the hooks that read none."""
    use_patterns(settings.patterns(SETTING_NAME))
    chosen = settings.values[SETTING_NAME]
    if chosen.source == PROJECT:
        return  # patterns of another project do not apply
    path = f"{data}/{PATTERNS_FILE}"
    if not chosen.value:
        remove(path)
        return
    text = json.dumps(chosen.value).encode()
    if read(path) != text:
        with suppress(OSError):  # used here all the same; what a fast hook notes is redacted again
            make_private_dir(data)
            write_atomic(path, text)


def apply_saved_patterns(data: str) -> None:
    """What cannot be used was damaged since it was kept, and is left out."""
    try:
        kept = json.loads(read(f"{data}/{PATTERNS_FILE}") or b"{}")
        use_patterns({str(name): str(pattern) for name, pattern in kept.items()})
    except (ValueError, AttributeError):  # a pattern that does not compile is the first
        use_patterns({})
