"""Make docs/audit.png, a picture of the audit of a folder: `make survival`. Needs Chromium."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from holdfast.cli.main import app
from holdfast.cli.screenshots import take_screenshot

TARGET = Path(__file__).parent.parent / "docs" / "audit.png"
WIDTH, HEIGHT = 1100, 1180


def main(folder: str) -> int:
    with tempfile.TemporaryDirectory(prefix="holdfast-audit-") as place:
        report = str(Path(place) / "audit.html")
        app(args=["audit", folder, "--html", report], standalone_mode=False)
        made = take_screenshot(report, str(TARGET), WIDTH, HEIGHT, scale=1)
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
