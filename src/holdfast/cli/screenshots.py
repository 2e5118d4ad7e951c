"""Pictures of our own SVG and HTML files, where a Chromium is installed.

Owns the search for a browser and its one call. Must not be needed: whoever asks for a picture
without a browser is told so, and gets the SVG.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TIMEOUT_SECONDS = 60


def find_browser() -> str:
    """The path of an installed browser, "" where there is none."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), "")


def take_screenshot(source: str, target: str, width: int, height: int, *, scale: int = 2) -> bool:
    """A PNG of a local SVG or HTML file. False where no browser could make it."""
    program = find_browser()
    if not program:
        return False
    with tempfile.TemporaryDirectory(prefix="holdfast-picture-") as profile:
        # A browser started by root refuses its sandbox; the file it opens is our own.
        rootly = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        call = [
            program,
            "--headless",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
            *rootly,
            f"--user-data-dir={profile}",
            f"--window-size={width},{height}",
            f"--force-device-scale-factor={scale}",
            f"--screenshot={os.path.abspath(target)}",
            f"file://{os.path.abspath(source)}",
        ]
        try:
            done = subprocess.run(call, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and os.path.exists(target)
