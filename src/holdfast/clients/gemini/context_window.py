"""When Gemini CLI compresses.

Before a request, when the last one had a share of the model's limit, which is 1,048,576 tokens for
all of Google's Gemini models: half of it, or what `model.compressionThreshold` says. Read from the
source of 0.61, and seen with a threshold that was set low.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.clients.client_protocol import CompactionPoint, WindowConfig
from holdfast.clients.gemini.client_settings import find_value

MODEL_TOKENS = 1_048_576
GEMMA_TOKENS = 256_000
DEFAULT_PERCENT = 50.0


def read_window_config(environ: Mapping[str, str], project: str) -> WindowConfig:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    threshold, _ = find_value(environ, home, project, "model.compressionThreshold")
    usable = type(threshold) in (int, float) and 0 < threshold <= 1
    return WindowConfig(percent=100.0 * threshold if usable else 0.0)


def compaction_point(
    chosen: WindowConfig, model: str, *, seen: int = 0, used: int = 0, requested: bool = False
) -> CompactionPoint:
    """Pure. The client has a table of limits: a window is no guess by the model's name."""
    window = seen or (GEMMA_TOKENS if model.startswith("gemma-4") else MODEL_TOKENS)
    point = int(window * (chosen.percent or DEFAULT_PERCENT) / 100)
    return CompactionPoint(max(min(point, window), 1), window)
