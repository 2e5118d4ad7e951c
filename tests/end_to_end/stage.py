"""A project with Holdfast installed, the real client in it, and what our own hooks delivered.

Owns the set-up and the reading of what was injected. A fact counts only where our hooks put it:
the summariser's instructions, or a hook's additional context. What the client keeps or echoes by
itself is left out.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import holdfast
from holdfast.install.claude_code import INSTALLER as installer
from holdfast.store.sqlite.store import SqliteStore
from support.claude import (
    Client,
    LiveSession,
    Reply,
    Request,
    ScriptedApi,
    bash,
    last_user_text,
    texts,
    tool,
    wait_until,
)

SCRIPT = Path(holdfast.__file__).parent / "hooks" / "main.py"
INTERPRETER = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)

STEERED = "Keep these facts of the session in the summary"
ALONE = "Holdfast: the state of this session"  # made before the summary was known
AGAINST = "Holdfast: what the summary above leaves out"
BRIEF = (ALONE, AGAINST)
GAP = "Holdfast: known before the last compaction"
OFFER = "Holdfast: an earlier session in this folder"

# A test run whose verdict stands in a file, so that a story can break and mend it.
PYTEST = """#!/bin/sh
if [ -e broken ]; then
  echo "FAILED tests/test_cart.py::test_total_rounds_half_even - assert 129 == 130"
  echo "1 failed, 3 passed in 0.12s"
  exit 1
fi
echo "4 passed in 0.10s"
"""
DEPLOY = """#!/bin/sh
echo "error: blue-green needs the paid plan" >&2
exit 4
"""

RULE = "Never use float for money, always use Decimal with two places."
FACTS = {
    "rule": RULE,
    "open task": "Wire the cart to checkout",
    "file": "cart_totals.py",
    "failing test": "test_total_rounds_half_even",
    "dead end": "blue-green needs the paid plan",
    "port": "8123",
}
# What the summariser is told: for files its own instructions have a section.
STEERED_FACTS = {name: words for name, words in FACTS.items() if name != "file"}
FINISHED = "Sketch the price table"


def write_file(stage: "Stage", name: str, content: str) -> Reply:
    return tool("Write", file_path=str(stage.client.project / name), content=content)


class Stage:
    """One project, one data folder, one client."""

    def __init__(
        self,
        root: Path,
        api: ScriptedApi,
        *,
        env: Mapping[str, str] | None = None,
        interpreter: str = INTERPRETER,
        script: Path = SCRIPT,
    ) -> None:
        self.api = api
        tools = root / "bin"
        tools.mkdir(parents=True, exist_ok=True)
        for name, words in (("pytest", PYTEST), ("deploy-shop", DEPLOY)):
            (tools / name).write_text(words)
            (tools / name).chmod(0o755)
        path = f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        self.client = Client(root, api, env={"PATH": path, **(env or {})})
        self.data = Path((env or {}).get("HOLDFAST_HOME", root / "home/.local/share/holdfast"))
        installer.install(
            str(self.client.config_dir / "settings.json"),
            data_dir=str(root / "install"),
            interpreter=interpreter,
            script=str(script),
        )

    def work(self) -> list[Reply]:
        """Tool calls that leave one fact of each kind behind, and one finished task."""
        (self.client.project / "broken").touch()
        return [
            write_file(self, "cart_totals.py", "from decimal import Decimal\nPORT = 8123\n"),
            bash("pytest -q"),
            bash("deploy-shop --blue-green"),
            tool("TaskCreate", subject="Wire the cart to checkout", description="with totals"),
            tool("TaskCreate", subject=FINISHED, description="first"),
            tool("TaskUpdate", taskId="2", status="completed"),
        ]

    def holdfast(self, *words: str, check: bool = True) -> str:
        """Our own command line, in the project and with the client's environment."""
        environ = {**self.client.environment(), "PYTHONPATH": str(SCRIPT.parents[2])}
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *words],
            cwd=self.client.project,
            env=environ,
            capture_output=True,
            text=True,
            check=check,
        )
        return ended.stdout

    def log(self) -> str:
        path = self.data / "holdfast.log"
        return path.read_text() if path.exists() else ""

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        with closing(SqliteStore(str(self.data / "holdfast.db"))) as store:
            yield store

    def session_dir(self, session_id: str) -> Path:
        return self.data / "sessions" / session_id

    def settled(self, live: LiveSession) -> None:
        """Wait until the background hooks have read all that the transcript holds."""
        transcript = self.client.transcript_path(live.session_id)
        folder = self.session_dir(live.session_id)
        wait_until(lambda: has_read_all(folder, transcript))


def has_read_all(folder: Path, transcript: Path) -> bool:
    """Whether hooks have read a transcript to its end: a brief says how far, where one was due,
    and what was read without one is noted beside it."""
    made = [folder / name for name in ("known", "brief") if (folder / name).exists()]
    reached = max((int(one.read_text().split(" ", 5)[4]) for one in made), default=None)
    return reached is not None and b'"message"' not in transcript.read_bytes()[reached:]


def injected(request: Request, opening: str | tuple[str, ...]) -> list[str]:
    """What our hooks put into the conversation, by how it begins; copies by others left out."""
    found = []
    for piece in texts(request):
        # Mid-turn the client puts reminders behind the text of the tool's result.
        # For newer models reminders are messages of the role "system".
        if piece.place != "message" or piece.role not in ("user", "system"):
            continue
        for part in piece.text.split("<system-reminder>"):
            # A background hook's words come without the line that names the hook.
            _, marker, named = part.partition(" hook additional context: ")
            words = named if marker else part.lstrip()
            if words.startswith(opening):
                found.append(words.partition("</system-reminder>")[0])
    return found


def steering(request: Request) -> str:
    """Our text in the summariser's instructions, "" if it is not there."""
    _, heading, instructions = last_user_text(request).rpartition("Additional Instructions:")
    _, opening, words = instructions.partition(STEERED)
    return opening + words.partition("\nREMINDER:")[0] if heading else ""
