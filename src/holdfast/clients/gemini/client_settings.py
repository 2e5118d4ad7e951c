"""Reading Gemini CLI's settings.json, which may hold comments. Must not write it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from holdfast.clients.gemini import client_paths
from holdfast.clients.json_fields import as_object
from holdfast.files import read

MAX_SETTINGS_BYTES = 4 * 1024 * 1024
# A string, kept as it is, or a comment.
_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def list_settings_files(environ: Mapping[str, str], home: str, project: str) -> list[str]:
    """The user's and the project's, in the order in which a later one wins."""
    folders = [client_paths.config_dir(environ, home)]
    folders += [os.path.join(project, ".gemini")] if project else []
    return [
        os.path.join(folder, "settings.json") for folder in dict.fromkeys(filter(None, folders))
    ]


def read_settings(path: str) -> dict[str, Any]:
    """{} where it is not there or cannot be read."""
    content = read(path, most=MAX_SETTINGS_BYTES) or b""
    text = _COMMENTS.sub(lambda found: found[1] or "", content.decode("utf-8-sig", "replace"))
    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def read_value(settings: Mapping[str, Any], name: str) -> Any:
    """A value by its dotted name; None where it is not there."""
    value: Any = settings
    for key in name.split("."):
        value = as_object(value).get(key)
    return value


def find_value(environ: Mapping[str, str], home: str, project: str, name: str) -> tuple[Any, str]:
    """The value in effect and its file; (None, "") where no file has one."""
    for path in reversed(list_settings_files(environ, home, project)):
        value = read_value(read_settings(path), name)
        if value is not None:
            return value, path
    return None, ""
