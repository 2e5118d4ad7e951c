"""When Claude Code compacts: the window it works with and the point at which it acts.

Owns the client's arithmetic and the names of the settings and variables that move it; the
figures are those of 2.1.325. Reads settings files when asked, never the environment by itself.

    window   the model's, or the smaller one that the user configured
    room     window - what is kept for an answer (20,000 at most)
    point    room - 13,000, or a percentage of the room where that is lower

Where nothing is configured, most models are compacted only when the API refuses a request. The
point is then the earliest at which it can happen (a summary prepared ahead), and marked so.

The model's window is known from the status line, from `[1m]` in the requested model's name, from
tokens that once fitted in, or where nothing but the usual one is possible. Else it is a guess by
the name, and marked so: no warning comes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.clients.claude_code import client_paths
from holdfast.clients.client_protocol import CompactionPoint, WindowConfig
from holdfast.files import read

ANSWER_TOKENS = 20_000
RESERVE_TOKENS = 13_000
MIN_WINDOW_TOKENS, MAX_WINDOW_TOKENS = 100_000, 1_000_000
DEFAULT_WINDOW_TOKENS, LONG_WINDOW_TOKENS = 200_000, 1_000_000
# Models that have the long window only on request (`[1m]`). All others have it, names that the
# client does not know included; some only for some accounts.
DEFAULT_WINDOW_MODELS = ("claude-3", "claude-haiku-4", "claude-sonnet-4", "claude-opus-4")
LONG_WINDOW_MODELS = ("claude-opus-4-7", "claude-opus-4-8")
MAX_SETTINGS_BYTES = 4 * 1024 * 1024

_MANAGED = "/etc/claude-code/managed-settings.json"
_NO = ("", "0", "false", "no", "off")
_VARIABLES = (
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE",
    "CLAUDE_CODE_MAX_CONTEXT_TOKENS",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_DISABLE_1M_CONTEXT",
    "DISABLE_AUTO_COMPACT",
    "DISABLE_COMPACT",
)


def list_settings_files(environ: Mapping[str, str], project: str) -> list[str]:
    """The weakest first."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    config = client_paths.config_dir(environ, home)
    files = [f"{config}/settings.json"] if config else []
    if project:
        files += [f"{project}/.claude/settings.json", f"{project}/.claude/settings.local.json"]
    return [*files, _MANAGED]


def read_settings_files(paths: Iterable[str]) -> list[dict[str, Any]]:
    """Those that are there and can be read, in the same order."""
    import json

    found = []
    for path in paths:
        content = read(path, most=MAX_SETTINGS_BYTES)
        if content is None:
            continue
        try:
            document = json.loads(content.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            found.append(document)
    return found


def read_window_config(environ: Mapping[str, str], project: str) -> WindowConfig:
    return build_window_config(environ, read_settings_files(list_settings_files(environ, project)))


def build_window_config(
    environ: Mapping[str, str], settings: Sequence[Mapping[str, Any]]
) -> WindowConfig:
    """Pure. Variables that a settings file sets count like those of the environment."""
    variables = {name: environ[name] for name in _VARIABLES if name in environ}
    window, automatic = 0, True
    window_by_model: dict[str, int] = {}
    for document in settings:
        inside = document.get("env")
        if isinstance(inside, dict):
            variables |= {name: str(inside[name]) for name in _VARIABLES if name in inside}
        if "autoCompactWindow" in document:
            window = _window(document["autoCompactWindow"])
            window_by_model.clear()  # the stronger file's word holds for every model
        if isinstance(document.get("autoCompactEnabled"), bool):
            automatic = document["autoCompactEnabled"]
        for model, chosen in _objects(document.get("modelSettings")):
            if "autoCompactWindow" in chosen:
                window_by_model[model] = _window(chosen["autoCompactWindow"])
    off = any(
        is_on(variables.get(name, "")) for name in ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT")
    )
    said = _tokens(variables.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", ""))
    if said:
        window = min(max(said, MIN_WINDOW_TOKENS), MAX_WINDOW_TOKENS)
    return WindowConfig(
        window,
        tuple(window_by_model.items()),
        _percent(variables.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")),
        _tokens(variables.get("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "")),
        _tokens(variables.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "")),
        automatic and not off,
        bool(said),
        is_on(variables.get("CLAUDE_CODE_DISABLE_1M_CONTEXT", "")),
    )


def model_window(
    chosen: WindowConfig, model: str, *, seen: int = 0, used: int = 0, requested: bool = False
) -> tuple[int, bool]:
    """The model's own window, and whether that is known."""
    name = model.lower()
    if used > max(seen, chosen.model_window, DEFAULT_WINDOW_TOKENS):
        return LONG_WINDOW_TOKENS, True
    if known := chosen.model_window or seen:
        return known, True
    if chosen.long_window_disabled:
        return DEFAULT_WINDOW_TOKENS, True
    if "[1m]" in name:
        return LONG_WINDOW_TOKENS, True
    if name.startswith(DEFAULT_WINDOW_MODELS) and not name.startswith(LONG_WINDOW_MODELS):
        return DEFAULT_WINDOW_TOKENS, requested
    return LONG_WINDOW_TOKENS, False


def compaction_point(
    chosen: WindowConfig, model: str, *, seen: int = 0, used: int = 0, requested: bool = False
) -> CompactionPoint:
    """Pure: the client's arithmetic.

    `seen` is the window that the client itself named, in the status line; `used` what once fitted
    in; `requested` says that the name is the one asked for, which would say `[1m]`.
    """
    whole, known = model_window(chosen, model, seen=seen, used=used, requested=requested)
    own = chosen.window
    if not chosen.is_from_environment:
        own = next((w for name, w in chosen.window_by_model if _names(name, model)), own)
    if own and own <= DEFAULT_WINDOW_TOKENS:
        known = True  # no model has less
    window = min(whole, own) if own else whole
    answer = min(chosen.max_output_tokens or ANSWER_TOKENS, ANSWER_TOKENS)
    room = window - answer
    point = room - RESERVE_TOKENS
    if chosen.percent:
        point = min(int(room * chosen.percent / 100), point)
    return CompactionPoint(
        max(point, 1), window, chosen.auto_compact, is_lower_bound=not own, is_certain=known
    )


def _names(key: str, model: str) -> bool:
    """The canonical name stands for its dated spellings too."""
    plain = model.lower().replace("[1m]", "")
    return plain == key.lower() or plain.startswith(key.lower() + "-")


def _window(value: Any) -> int:
    good = type(value) is int and MIN_WINDOW_TOKENS <= value <= MAX_WINDOW_TOKENS
    return value if good else 0  # "auto", or a value that the client refuses as well


def _objects(value: Any) -> list[tuple[str, dict[str, Any]]]:
    items = value.items() if isinstance(value, dict) else ()
    return [(str(key), item) for key, item in items if isinstance(item, dict)]


def is_on(value: str) -> bool:
    return value.strip().lower() not in _NO


def _tokens(text: str) -> int:
    """`200000`, and `200k` or `1m` as newer clients have it; 0 for anything else."""
    text = text.strip().lower().replace("_", "")
    scale = {"k": 1_000, "m": 1_000_000}.get(text[-1:], 1)
    number = text.rstrip("km")
    return int(number) * scale if number.isdecimal() and len(number) < 10 else 0


def _percent(text: str) -> float:
    text = text.strip()
    if not text.replace(".", "", 1).isdecimal():
        return 0.0
    value = float(text)
    return value if 0 < value <= 100 else 0.0
