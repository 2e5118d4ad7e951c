"""docs/adding-a-client.md, followed: its files, its commands, and the promises of every client."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-a-client.md"
SESSION_WRITER = """
import json, os, shutil
from pathlib import Path

class RobinSession:
    def __init__(self, folder):
        self.path, self.count, self.prompts = str(folder / "s1.jsonl"), 0, []
        Path(self.path).touch()
    def write(self, role, text="", **more):
        self.count += 1
        row = {"id": f"m{self.count}", "time": f"2026-01-05T10:{self.count:02}:00Z",
               "session": "s1", "cwd": "/work", "role": role, "text": text, **more}
        self.last = json.dumps(row) + "\\n"
        start = os.path.getsize(self.path)
        with open(self.path, "a") as file:
            file.write(self.last)
        return start
    def prompt(self, text): self.prompts.append(self.write("user", text))
    def insert(self): self.write("user", "<reminder>Tests are slow.</reminder>")
    def place(self, text): self.write("user", text)
    def answer(self, text, *, context=0): self.write("assistant", text, tokens=context)
    def run(self, command, output): self.write("tool", output, command=command)
    def rewind(self, text):
        self.write("rewind", to=self.prompts.pop())
        self.prompt(text)
    def compact(self, summary): self.write("summary", summary or "")
    def repeat(self):
        with open(self.path, "a") as file:
            file.write(self.last)
    def move(self):
        os.makedirs(folder := os.path.dirname(self.path) + "/moved", exist_ok=True)
        self.path = shutil.move(self.path, folder + "/s1.jsonl")
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The files of the page, installed as its entry point says."""
    text = PAGE.read_text(encoding="utf-8")
    files = re.findall(r"^`([\w/]+\.\w+)`:.*?```\w+\n(.*?)^```", text, re.S | re.M)
    for name, code in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    (suite,) = re.findall(r"```python\n((?:(?!```).)*class TestRobin.*?)^```", text, re.S | re.M)
    (tmp_path / "test_robin.py").write_text(suite, encoding="utf-8")
    (tmp_path / "robin_writer.py").write_text(SESSION_WRITER, encoding="utf-8")
    shutil.copy(ROOT / "tests" / "support" / "client_conformance.py", tmp_path)
    (entry,) = re.findall(r'^robin = "(.*)"$', text, re.M)
    info = tmp_path / "holdfast_robin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: holdfast-robin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[holdfast.clients]\nrobin = {entry}\n")
    assert len(files) == 5
    return tmp_path


def run(package: Path, *argv: str, stdin: str = "") -> str:
    home = package / "home"
    done = subprocess.run(
        [sys.executable, *argv],
        input=stdin,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "HOLDFAST_HOME": str(package / "data"),
            "PYTHONPATH": f"{package}:{ROOT / 'src'}",
        },
        cwd=package,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_client_of_another_package_keeps_every_promise(package: Path) -> None:
    printed = run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_robin.py")
    assert "failed" not in printed
    assert int(re.findall(r"(\d+) passed", printed)[0]) >= 24


def test_a_client_of_another_package_is_installed_and_its_sessions_are_read(package: Path) -> None:
    from_page = re.findall(r"^holdfast (.*)$", PAGE.read_text(encoding="utf-8"), re.M)
    sessions = package / "home" / ".robin" / "sessions"
    sessions.mkdir(parents=True)
    row = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[0]
    (sessions / "s1.jsonl").write_text(row, encoding="utf-8")
    for command in from_page:
        words = command.replace("~", str(package / "home")).split()
        printed = run(package, "-m", "holdfast", *words)
        assert words[0] == "install" or "Fix it." in printed, command
    settings = json.loads((package / "home" / ".robin" / "settings.json").read_text("utf-8"))
    assert "robin:Stop" in json.dumps(settings["hooks"]["Stop"])
