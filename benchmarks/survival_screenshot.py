"""Make docs/survival.png of docs/survival.svg: `make survival`. Needs Chromium."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from holdfast.cli.screenshots import take_screenshot

DOCS = Path(__file__).parent.parent / "docs"


def main() -> int:
    svg = DOCS / "survival.svg"
    size = re.search(r'width="(\d+)" height="(\d+)"', svg.read_text("utf-8"))
    width, height = (int(size[1]), int(size[2])) if size else (800, 600)
    return 0 if take_screenshot(str(svg), str(DOCS / "survival.png"), width, height) else 1


if __name__ == "__main__":
    sys.exit(main())
