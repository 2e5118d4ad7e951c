"""The user's own redaction patterns, at hand for hooks that read no settings.

The heavy road keeps a copy of the effective ones in the data folder; the light road looks for
that one file before it writes a prompt. No patterns, no file.
"""

from __future__ import annotations

import json
from contextlib import suppress

from holdfast.files import make_folder, read, remove, replace
from holdfast.lifecycle.tray import PATTERNS
from holdfast.redact import use
from holdfast.settings.reading import PROJECT, Settings

NAME = "redact_patterns"


def use_chosen(settings: Settings, data: str) -> None:
    """For this process; and kept, where the user chose them, for the hooks that read none."""
    use(settings.patterns(NAME))
    chosen = settings.values[NAME]
    if chosen.source == PROJECT:
        return  # another project's prompts are no business of this one
    path = f"{data}/{PATTERNS}"
    if not chosen.value:
        remove(path)
        return
    text = json.dumps(chosen.value).encode()
    if read(path) != text:
        with suppress(OSError):  # used here all the same; what a light hook notes is redacted again
            make_folder(data)
            replace(path, text)


def use_kept(data: str) -> None:
    """What cannot be used was damaged since it was kept, and is left out."""
    try:
        kept = json.loads(read(f"{data}/{PATTERNS}") or b"{}")
        use({str(name): str(pattern) for name, pattern in kept.items()})
    except (ValueError, AttributeError):  # a pattern that does not compile is the first
        use({})
