"""Make the pictures in docs/pictures: `make pictures`, with CORPUS=folder also those of an audit.

Each is a real run: the command is called as a user calls it, in a home of its own, and what it
printed becomes an SVG that plays line by line in a window. Without motion it shows the end. No
browser is needed, and the files load nothing from outside.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from holdfast.samples import SESSION_FILE

SAMPLE = "feda0905"  # the id of the recorded session
TARGET = Path(__file__).parent.parent / "docs" / "pictures"
COLUMNS = 92
ROWS = 42  # of the window; what is longer scrolls
LINE = 24.4  # pixels, as rich sets its rows
MARGIN, BAR = 18, 44
START, PER_LINE = 0.6, 0.06  # seconds: until the first line, and for each

THEME = TerminalTheme(
    (17, 21, 28),
    (214, 219, 228),
    [(42, 49, 61), (235, 120, 110), (65, 199, 154), (235, 180, 96),
     (120, 160, 240), (200, 150, 230), (100, 200, 220), (214, 219, 228)],
)  # fmt: skip

# Filled by rich; {lines} are clips that carry a row's number, which the motion below uses.
FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 @WIDTH@ @HEIGHT@" role="img"\
 aria-label="@TITLE@">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono",\
 monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font: 15px system-ui, sans-serif; fill: #a0a9b8; }}
{styles}
@MOTION@
</style>
<defs><clipPath id="window"><rect width="@WIDTH@" height="@WINDOW@" /></clipPath>{lines}</defs>
<rect width="@WIDTH@" height="@HEIGHT@" rx="10" fill="#11151c" />
<circle cx="24" cy="22" r="6" fill="#eb786e" /><circle cx="44" cy="22" r="6" fill="#ebb460" />\
<circle cx="64" cy="22" r="6" fill="#41c79a" />
<text class="{unique_id}-title" x="88" y="27">@TITLE@</text>
<g transform="translate(@MARGIN@, @BAR@)" clip-path="url(#window)"><g class="scroll">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></g>
</svg>
"""


def main() -> int:
    TARGET.mkdir(exist_ok=True)
    _write("try.svg", "holdfast try", run(["try"]))
    undo = ["session", "uncompact", SAMPLE, "--dry-run"]
    _write("undo.svg", f"holdfast {' '.join(undo)}", run(undo, before=["session", "ingest"]))
    corpus = os.environ.get("HOLDFAST_CORPUS", "")
    if not corpus:
        print("HOLDFAST_CORPUS is not set: the pictures of an audit stay as they are")  # noqa: T201
        return 0
    card = TARGET / "audit-card.svg"
    # Quotes stay out: whoever said them did not say them for this.
    printed = run(["audit", corpus, "--no-quotes", "--picture-file", str(card)])
    print(f"docs/pictures/{card.name}")  # noqa: T201
    card.chmod(0o644)
    report = printed.partition("Picture: ")[0]
    _write("audit.svg", "holdfast audit", report)
    return 0


def run(arguments: list[str], before: Sequence[str] = ()) -> str:
    """What the command prints on a terminal, with its colours, in a home where nothing is; or, with
    a command to run `before`, where the client has the recorded session."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with tempfile.TemporaryDirectory(prefix="holdfast-pictures-") as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home, "TERM": "xterm-256color"}
        if before:
            folder = Path(home, ".claude", "projects", "-home-dev-shop")
            folder.mkdir(parents=True)
            shutil.copy(SESSION_FILE, folder / "session.jsonl")
            quiet = [sys.executable, "-m", "holdfast", *before]
            subprocess.run(quiet, env=environment, stdout=subprocess.DEVNULL, check=True)
        command = [sys.executable, "-m", "holdfast", *arguments]
        # What is said beside the answer, as a bar of progress, is no part of the picture.
        running = subprocess.Popen(
            command, env=environment, stdout=terminal, stderr=subprocess.DEVNULL
        )
        os.close(terminal)
        pieces = []
        with suppress(OSError):  # how a terminal says that nobody writes to it any more
            while piece := os.read(screen, 65536):
                pieces.append(piece)
        os.close(screen)
        if running.wait() != 0:
            raise SystemExit(f"`holdfast {' '.join(arguments)}` failed")
    return b"".join(pieces).decode("utf-8").replace("\r\n", "\n")


def record(title: str, printed: str) -> str:
    """An SVG in which the lines of a run appear one after another."""
    lines = printed.strip("\n").split("\n")
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text(f"$ {title}", style="bold"))
    for line in lines:
        console.print(Text.from_ansi(line.rstrip()), no_wrap=True, overflow="crop", crop=True)
    rows = len(lines) + 1
    shown = min(rows, ROWS)
    width = round(COLUMNS * 12.2 + 2 * MARGIN)
    window = round(shown * LINE + 4)
    drawn = console.export_svg(title="", theme=THEME, code_format=FORMAT, unique_id="run")
    for mark, value in {
        "@TITLE@": escape(title),
        "@WIDTH@": str(width),
        "@HEIGHT@": str(window + BAR + MARGIN),
        "@WINDOW@": str(window),
        "@MARGIN@": str(MARGIN),
        "@BAR@": str(BAR),
        "@MOTION@": _motion(rows, shown),
    }.items():
        drawn = drawn.replace(mark, value)
    # Rows that hold nothing but blanks draw nothing.
    return re.sub(r"[ \t]+\n", "\n", drawn)


def _motion(rows: int, shown: int) -> str:
    """Rows appear in turn and the window follows; who wants no motion sees the end."""
    hidden = round((rows - shown) * LINE, 1)
    end = f".scroll {{ transform: translateY(-{hidden}px); }}"
    shows = "".join(
        f'[clip-path="url(#run-line-{row})"] {{ animation-delay: {_second(row)}s; }}\n'
        for row in range(1, rows)
    )
    begins, lasts = _second(shown), round((rows - shown) * PER_LINE, 2)
    return (
        f"{end}\n@media (prefers-reduced-motion: no-preference) {{\n"
        "@keyframes show { from { opacity: 0; } }\n"
        f"@keyframes scroll {{ from {{ transform: none; }} }}\n"
        '[clip-path^="url(#run-line-"] { animation: show .05s both; }\n'
        f"{shows}"
        f".scroll {{ animation: scroll {lasts}s linear {begins}s both; }}\n}}"
    )


def _second(row: int) -> float:
    return round(START + row * PER_LINE, 2)


def _write(name: str, title: str, printed: str) -> None:
    (TARGET / name).write_text(record(title, printed), encoding="utf-8")
    print(f"docs/pictures/{name}")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
