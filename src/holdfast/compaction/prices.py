"""What a compaction cost in money: an estimate by a table of prices that the user can change.

A compaction reads the whole context once more and writes a summary. Prices change and caches make
reading cheaper, so every amount made here is called an estimate.
"""

import json
import os
from collections.abc import Mapping

from holdfast.settings.loader import user_config_dir
from holdfast.text import estimate_tokens

# US dollars per million tokens (read, written), by how a model's name begins; list prices of 2026.
DEFAULT_PRICES: Mapping[str, tuple[float, float]] = {
    "claude-opus": (5.0, 25.0),
    "claude-sonnet": (3.0, 15.0),
    "claude-haiku": (1.0, 5.0),
    "gpt-5": (1.25, 10.0),
    "gemini": (1.25, 10.0),
}
PRICES_FILE = "prices.json"  # beside the settings, where the user has prices of their own


class BadPrices(ValueError):
    """A table that cannot be used; says what it should look like."""


def own_prices_path(environ: Mapping[str, str]) -> str:
    """Where the user may have a table; "" when the environment names no home at all."""
    folder = user_config_dir(environ)
    return os.path.join(folder, PRICES_FILE) if folder else ""


def load_prices(environ: Mapping[str, str]) -> Mapping[str, tuple[float, float]]:
    """The user's own table where there is one, else ours. Raises BadPrices."""
    path = own_prices_path(environ)
    try:
        with open(path, encoding="utf-8") as handle:
            return parse_prices(handle.read())
    except OSError:
        return DEFAULT_PRICES
    except (BadPrices, UnicodeError) as error:
        raise BadPrices(f"Cannot use the prices in {path}: {error}") from error


def parse_prices(text: str) -> dict[str, tuple[float, float]]:
    """The user's table, before ours: `{"claude-opus": [5, 25]}`."""
    try:
        own = {
            str(name): (float(read), float(written))
            for name, (read, written) in json.loads(text).items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        shape = '{"claude-opus": [5, 25]}, in dollars per million tokens read and written'
        raise BadPrices(f"write {shape}") from error
    return {**DEFAULT_PRICES, **own}


def estimate_dollars(
    model: str,
    tokens_before: int | None,
    summary_chars: int,
    prices: Mapping[str, tuple[float, float]] = DEFAULT_PRICES,
) -> float | None:
    """For one compaction; None where the model has no known price."""
    names = [name for name in prices if name in model]
    if not names or not tokens_before:
        return None
    read, written = prices[max(names, key=len)]
    return (tokens_before * read + estimate_tokens(summary_chars) * written) / 1_000_000
