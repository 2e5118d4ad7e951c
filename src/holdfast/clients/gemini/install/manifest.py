"""The manifest that makes a folder an extension of Gemini CLI, and our recall server in it.

Owns gemini-extension.json. Must not touch the client's settings: an extension needs none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

import holdfast
from holdfast.clients.installation import NotWritable
from holdfast.files import make_parents
from holdfast.settings import atomic_file

EXTENSION_NAME = "holdfast"
MANIFEST_NAME = "gemini-extension.json"


def manifest_path(hooks_path: str) -> str:
    """Beside the folder of the extension's hooks."""
    return os.path.join(os.path.dirname(os.path.dirname(hooks_path)), MANIFEST_NAME)


def build(recall: Sequence[str], variables: Mapping[str, str]) -> bytes:
    """With `recall`, which starts our MCP server, where there is one."""
    fields: dict[str, object] = {
        "name": EXTENSION_NAME,
        "version": holdfast.__version__,
        "description": "Keeps the state of a session through compression.",
    }
    if recall:
        server: dict[str, object] = {"command": recall[0], "args": list(recall[1:])}
        if variables:
            server["env"] = dict(variables)
        fields["mcpServers"] = {EXTENSION_NAME: server}
    return json.dumps(fields, indent=2, ensure_ascii=False).encode() + b"\n"


def write(path: str, content: bytes, dry_run: bool) -> list[str]:
    """Lines that say so; none where it is there already."""
    try:
        before = atomic_file.read(path)
        if before == content:
            return []
        if dry_run:
            return [f"The extension's manifest would be written: {path}."]
        make_parents(path)
        atomic_file.replace(path, content, before)
    except OSError as error:
        raise NotWritable(f"{path}: {error.strerror or error}") from error
    return [f"Wrote the extension's manifest: {path}."]


def remove(path: str, dry_run: bool) -> list[str]:
    try:
        before = atomic_file.read(path)
        if before is None:
            return []
        if dry_run:
            return [f"The extension's manifest would go: {path}."]
        atomic_file.delete(path, before)
    except OSError as error:
        raise NotWritable(f"{path}: {error.strerror or error}") from error
    return [f"Removed the extension's manifest: {path}."]
