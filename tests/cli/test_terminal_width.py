"""What a terminal of 80 and of 40 columns shows: whole words, headings and options."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from support.demonstration import SESSION_FILE

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def show(home: Path, columns: int, *arguments: str, plain: bool = True) -> list[str]:
    """The lines of a command on a terminal; plain: without colour."""
    home.mkdir(exist_ok=True)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    command = [sys.executable, "-m", "holdfast.cli.main", *arguments]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, cwd=home
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
        process.wait(60)
    os.close(ours)
    text = ESCAPE.sub("", shown.decode()) if plain else shown.decode()
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize(
    ("columns", "arguments"),
    [
        (80, ["audit"]),
        (80, ["doctor"]),
        (40, []),
        (40, ["--help"]),
        (40, ["install", "--help"]),
        (40, ["audit"]),
        (40, ["doctor"]),
        (40, ["try"]),
        (40, ["brief", SESSION_FILE]),
    ],
)
def test_no_line_is_wider_than_the_terminal(home: Path, columns: int, arguments: list[str]) -> None:
    shown = show(home, columns, *arguments)
    assert any(shown)
    assert [line for line in shown if len(line) > columns] == []


def test_a_narrow_help_names_every_option_and_command_whole(home: Path) -> None:
    options = "\n".join(show(home, 40, "show", "--help"))
    for name in (
        "--compactions",
        "--compaction N",
        "--before-compaction",
        "--from ROW",
        "-h, --help",
    ):
        assert f"  {name}" in options
    assert "…" not in options

    commands = " ".join(" ".join(show(home, 40, "--help")).split())
    assert "what Holdfast would have kept." in commands
    assert "..." not in commands.replace("[ARGS]...", "")


def test_an_argument_is_shown_without_its_python_type(home: Path) -> None:
    assert "<str>" not in "\n".join(show(home, 80, "show", "--help"))
    assert "<list" not in "\n".join(show(home, 80, "search", "--help"))


@pytest.mark.parametrize("columns", [80, 40])
def test_tables_keep_their_headings_whole(home: Path, columns: int) -> None:
    show(home, columns, "session", "ingest", SESSION_FILE)
    heads = [
        show(home, columns, "status", "--all")[0],
        show(home, columns, "status", "--compactions")[0],
    ]
    assert "…" not in "".join(heads)
    assert heads[1].split()[-2:] == ["lost", "restored"]


def test_settings_have_their_names_whole_on_a_narrow_terminal(home: Path) -> None:
    shown = show(home, 40, "config")
    at = shown.index("brief_chars = 9,500  default")
    assert shown[at + 1] == "    Maximum length of the brief after a"
    assert shown[at] in show(home, 80, "config")


def test_help_has_no_black_boxes(home: Path) -> None:
    """A light terminal shows them as bars across the text."""
    assert "\x1b[" in (shown := "".join(show(home, 80, "audit", "--help", plain=False)))
    assert not re.search(r"\x1b\[[0-9;]*;40m", shown)


def test_next_steps_are_wrapped_in_their_own_column(home: Path) -> None:
    told = show(home, 80, "session", "ingest", SESSION_FILE)
    start = next(line for line in told if line.startswith("  holdfast status --compactions"))
    column = start.index("what each summary lost")
    after = told[told.index(start) + 1]
    assert after == " " * column + "been restored"


def test_a_finding_and_its_next_step_stand_together_on_a_narrow_terminal(home: Path) -> None:
    shown = show(home, 40, "doctor")
    step = shown.index("      -> Run `holdfast install`")
    assert shown[step - 1].startswith("      Holdfast's hooks are not installed")


def test_a_narrow_comparison_says_nothing_of_what_needed_no_restoring(home: Path) -> None:
    shown = "\n".join(show(home, 40, "try"))
    assert "in the summary: yes" in shown
    assert "restored: -" not in " ".join(shown.split())


def test_tasks_are_wrapped_beside_their_numbers(home: Path) -> None:
    show(home, 40, "session", "ingest", SESSION_FILE)
    narrow = show(home, 40, "session", "tasks", "bcd7f21d")
    assert [line for line in narrow if len(line) > 40] == []
    assert "Document discounts in the README" in " ".join(" ".join(narrow).split())
