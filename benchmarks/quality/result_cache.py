"""Answers kept between runs, as JSON files in one private folder.

They hold text of transcripts: the folder is for its owner's eyes only.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


class ResultCache:
    """`recall(key, make)`: what was made for a key before, or made now and kept."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder) if folder else None

    def recall(
        self,
        key: tuple[object, ...],
        make: Callable[[], Any],
        valid: Callable[[], bool] = lambda: True,
    ) -> Any:
        """`valid` says after the making whether what the key names is still what it was."""
        # A key with an empty part names nothing that could be compared, so nothing is kept.
        if self.folder is None or "" in key:
            return make()
        name = hashlib.sha256(json.dumps([str(k) for k in key]).encode()).hexdigest()[:32]
        place = self.folder / name[:2] / f"{name}.json"
        try:
            return json.loads(place.read_bytes())
        except (OSError, ValueError):
            pass
        made = make()
        if not valid():
            return made
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=place.parent)  # 0600
        with os.fdopen(handle, "w") as file:
            json.dump(made, file)
        os.replace(draft, place)
        return json.loads(place.read_bytes())


def code_hash(*modules: str) -> str:
    """Changes with the code of some modules of the benchmark."""
    digest = hashlib.sha256()
    for name in modules:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()[:16]
