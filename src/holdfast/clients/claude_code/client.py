"""Where Claude Code keeps things on disk, and when it compacts.

Owns the layout below the client's configuration folder, the variables that move it, and the
client's arithmetic: the figures are those of 2.1.325. The environment is handed in; files are read
when asked.

    window   the model's, or the smaller one that the user configured
    room     window - what is kept for an answer (20,000 at most)
    point    room - 13,000, or a percentage of the room where that is lower

Where nothing is configured, most models are compacted only when the API refuses a request. The
point is then the earliest at which it can happen (a summary prepared ahead), and marked so.

The model's window is known from the status line, from `[1m]` in the requested model's name, from
tokens that once fitted in, or where nothing but the usual one is possible. Else it is a guess by
the name, and marked so: no warning comes of it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from holdfast.clients.claude_code.hooks import list_settings_files
from holdfast.clients.client_protocol import (
    Client,
    ClientPaths,
    CompactionPoint,
    ContextWindow,
    RunningModel,
    WindowConfig,
)
from holdfast.clients.json_fields import as_object, as_text, read_settings
from holdfast.records import Any


class ClaudeCodePaths(ClientPaths):
    """A file is named by an id and an ending, as others do: no name is its own."""

    FOLDER, FOLDER_VARIABLE = ".claude", "CLAUDE_CONFIG_DIR"
    PROJECT_VARIABLE, SESSION_VARIABLE = "CLAUDE_PROJECT_DIR", "CLAUDE_CODE_SESSION_ID"
    SESSIONS = "projects"
    TRANSCRIPTS = os.path.join("*", "SESSION.jsonl")

    def is_headless(self, environ: Mapping[str, str]) -> bool:
        """`-p` and programs on the Agent SDK; the client says so to what it runs."""
        return environ.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")

    def screen_columns(self, environ: Mapping[str, str]) -> int:
        if environ.get("CLAUDE_CODE_ENTRYPOINT") != "cli":
            return 0
        columns = environ.get("COLUMNS", "")
        return int(columns) if columns.isdecimal() else 80

    def is_transcript(self, path: str) -> bool:
        """Whether a file's name and place say that it is a session's, not a subagent's."""
        parts = path.replace("\\", "/").split("/")
        if not parts[-1].endswith((".jsonl", ".jsonl.gz")):
            return False
        return not parts[-1].startswith("agent-") and "subagents" not in parts[:-1]

    def list_plugins(self, config: str) -> list[tuple[str, str]]:
        listed = read_settings(os.path.join(config, "plugins", "installed_plugins.json"))
        return [
            (str(name), folder)
            for name, installs in as_object(listed.get("plugins")).items()
            for one in (installs if isinstance(installs, list) else [installs])
            if (folder := as_text(as_object(one).get("installPath")))
        ]


PATHS = ClaudeCodePaths()


ANSWER_TOKENS = 20_000
RESERVE_TOKENS = 13_000
MIN_WINDOW_TOKENS, MAX_WINDOW_TOKENS = 100_000, 1_000_000
DEFAULT_WINDOW_TOKENS, LONG_WINDOW_TOKENS = 200_000, 1_000_000
# Models that have the long window only on request (`[1m]`). All others have it, names that the
# client does not know included; some only for some accounts.
DEFAULT_WINDOW_MODELS = ("claude-3", "claude-haiku-4", "claude-sonnet-4", "claude-opus-4")
LONG_WINDOW_MODELS = ("claude-opus-4-7", "claude-opus-4-8")

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


def read_variables(
    environ: Mapping[str, str], settings: Iterable[Mapping[str, Any]]
) -> dict[str, str]:
    """Those that count here: a settings file can set them like the environment."""
    variables: dict[str, Any] = {}
    for place in (environ, *(as_object(document.get("env")) for document in settings)):
        variables |= {name: str(place[name]) for name in _VARIABLES if name in place}
    return variables


def build_window_config(
    environ: Mapping[str, str], settings: Sequence[Mapping[str, Any]]
) -> WindowConfig:
    """Pure; the weakest settings first."""
    variables = read_variables(environ, settings)
    window, automatic = 0, True
    window_by_model: dict[str, int] = {}
    for document in settings:
        if "autoCompactWindow" in document:
            window = _parse_window(document["autoCompactWindow"])
            window_by_model.clear()  # the stronger file's word holds for every model
        if isinstance(document.get("autoCompactEnabled"), bool):
            automatic = document["autoCompactEnabled"]
        for model, chosen in as_object(document.get("modelSettings")).items():
            if "autoCompactWindow" in as_object(chosen):
                window_by_model[model] = _parse_window(chosen["autoCompactWindow"])
    off = any(
        is_on(variables.get(name, "")) for name in ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT")
    )
    said = _parse_tokens(variables.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", ""))
    if said:
        window = min(max(said, MIN_WINDOW_TOKENS), MAX_WINDOW_TOKENS)
    return WindowConfig(
        window,
        tuple(window_by_model.items()),
        _parse_percent(variables.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")),
        _parse_tokens(variables.get("CLAUDE_CODE_MAX_CONTEXT_TOKENS", "")),
        _parse_tokens(variables.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "")),
        automatic and not off,
        bool(said),
        is_on(variables.get("CLAUDE_CODE_DISABLE_1M_CONTEXT", "")),
    )


def find_model_window(chosen: WindowConfig, model: RunningModel) -> tuple[int, bool]:
    """The model's own window, and whether that is known."""
    name = model.name.lower()
    if model.used > max(model.window, chosen.model_window, DEFAULT_WINDOW_TOKENS):
        return LONG_WINDOW_TOKENS, True
    if known := chosen.model_window or model.window:
        return known, True
    if chosen.long_window_disabled:
        return DEFAULT_WINDOW_TOKENS, True
    if "[1m]" in name:
        return LONG_WINDOW_TOKENS, True
    if name.startswith(DEFAULT_WINDOW_MODELS) and not name.startswith(LONG_WINDOW_MODELS):
        return DEFAULT_WINDOW_TOKENS, model.is_requested
    return LONG_WINDOW_TOKENS, False


class ClaudeCodeWindow(ContextWindow):
    def read_window_config(self, environ: Mapping[str, str], project: str) -> WindowConfig:
        files = [*list_settings_files(environ, project), _MANAGED]  # the weakest first
        return build_window_config(environ, [read_settings(path) for path in files])

    def compaction_point(self, chosen: WindowConfig, model: RunningModel) -> CompactionPoint:
        """The client's arithmetic. It names the window in the status line."""
        whole, known = find_model_window(chosen, model)
        own = chosen.window
        if not chosen.is_from_environment:
            by_model = chosen.window_by_model
            own = next((w for name, w in by_model if _is_model(name, model.name)), own)
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


def _is_model(key: str, model: str) -> bool:
    """The canonical name covers its dated spellings too."""
    plain = model.lower().replace("[1m]", "")
    return plain == key.lower() or plain.startswith(key.lower() + "-")


def _parse_window(value: Any) -> int:
    good = type(value) is int and MIN_WINDOW_TOKENS <= value <= MAX_WINDOW_TOKENS
    return value if good else 0  # "auto", or a value that the client refuses as well


def is_on(value: str) -> bool:
    return value.strip().lower() not in _NO


def _parse_tokens(text: str) -> int:
    """`200000`, and `200k` or `1m` as newer clients have it; 0 for anything else."""
    text = text.strip().lower().replace("_", "")
    scale = {"k": 1_000, "m": 1_000_000}.get(text[-1:], 1)
    number = text.rstrip("km")
    return int(number) * scale if number.isdecimal() and len(number) < 10 else 0


def _parse_percent(text: str) -> float:
    text = text.strip()
    if not text.replace(".", "", 1).isdecimal():
        return 0.0
    value = float(text)
    return value if 0 < value <= 100 else 0.0


class ClaudeCodeClient(Client):
    name = "claude-code"
    title = "Claude Code"
    paths, context_window = PATHS, ClaudeCodeWindow(PATHS)
    installer = "holdfast.install.claude_code:INSTALLER"

    def recognises(self, head: bytes) -> bool:
        """Rows of many kinds come first; what they share is that each names its session."""
        return b'"sessionId":' in head or b'"leafUuid":' in head


CLIENT = ClaudeCodeClient()
