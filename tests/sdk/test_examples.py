"""Every example runs as its reader would run it, and keeps what it says it keeps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRAMEWORKS = (
    "anthropic_messages.py",
    "langchain_agent.py",
    "deep_agent.py",
    "pydantic_ai_agent.py",
    "openai_agents_session.py",
)


def run(tmp_path: Path, *arguments: str, said: str = "") -> str:
    ended = subprocess.run(
        [sys.executable, str(ROOT / "examples" / arguments[0]), *arguments[1:]],
        input=said,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("example", FRAMEWORKS)
def test_a_framework_s_example_keeps_the_beginning(tmp_path: Path, example: str) -> None:
    printed = run(tmp_path, example)
    assert "the model was sent" in printed
    assert printed.count("kept: ") == 2
    assert "LOST" not in printed


@pytest.mark.client
@pytest.mark.slow
def test_the_terminal_bot_resets_itself_and_goes_on_when_started_again(tmp_path: Path) -> None:
    database = ("--scripted", "--database", str(tmp_path / "chats.db"))
    first = run(
        tmp_path,
        "terminal_bot.py",
        *database,
        said="Never send mails at night.\nTwo\nThree\nFour\nFive\nSix\n",
    )
    assert first.count("bot: Answer") == 6
    assert "started afresh" in first
    assert "Never send mails at night" in first.splitlines()[-1]
    again = run(tmp_path, "terminal_bot.py", *database, said="Do you remember?\n")
    assert "Never send mails at night" in again


def test_every_example_is_listed() -> None:
    listed = (ROOT / "examples" / "README.md").read_text()
    files = {path.name for path in (ROOT / "examples").glob("*.py")} - {"conversation.py"}
    assert files == {*FRAMEWORKS, "terminal_bot.py"}
    assert all(f"`{name}`" in listed for name in files)
