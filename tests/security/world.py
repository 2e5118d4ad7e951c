"""A made-up user with private files and a cloned repository, and the hooks as they are wired."""

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.demonstration import SESSION_FILE

SESSION = "5ec0ffee-1111-4222-8333-444455556666"
NEXT = "5ec0ffee-9999-4222-8333-444455556666"
# In every file that no repository may get at.
PRIVATE = "private-line-of-the-user-7f3a"
# Written by a repository, to be found nowhere but in it, or quoted.
PLANTED = "planted-by-the-repository-91bd"
BRIEF = "Holdfast: the state of this session"
MEMORY = 2 * 1024**3


def wired(home: Path) -> dict[str, list[str]]:
    """The command of every hook, as `holdfast install` writes it into a new home."""
    home.mkdir()
    words = [sys.executable, "-m", "holdfast", "install"]
    subprocess.run(words, env=clean(home), cwd=home, check=True, capture_output=True)
    hooks = json.loads((home / ".claude/settings.json").read_text())["hooks"]
    return {
        event: [entry["command"], *entry["args"]]
        for event, groups in hooks.items()
        for group in groups
        for entry in group["hooks"]
    }


def clean(home: Path) -> dict[str, str]:
    path = os.pathsep.join(path for path in sys.path if path)
    return {"HOME": str(home), "PATH": os.defpath, "PYTHONPATH": path}


@dataclass(frozen=True)
class Ran:
    event: str
    code: int
    out: str
    err: str
    seconds: float

    @property
    def context(self) -> str:
        if not self.out.startswith("{"):
            return self.out
        specific = json.loads(self.out).get("hookSpecificOutput", {})
        return str(specific.get("additionalContext", ""))


@dataclass
class World:
    root: Path
    hooks: dict[str, list[str]]
    name: str = "shop"  # of the repository's folder
    ran: list[Ran] = field(default_factory=list)

    def __post_init__(self) -> None:
        for folder in (self.repo / ".git", self.home / ".ssh", self.transcript.parent):
            folder.mkdir(parents=True)
        lines = Path(SESSION_FILE).read_bytes().splitlines(keepends=True)
        self.transcript.write_bytes(b"".join(lines[:120]))
        self.key.write_text(f"{PRIVATE}\nRule: {PRIVATE}\n")
        self.bashrc.write_text(f"# {PRIVATE}\n")

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def repo(self) -> Path:
        return self.home / "src" / self.name

    @property
    def key(self) -> Path:
        return self.home / ".ssh/id_key"

    @property
    def bashrc(self) -> Path:
        return self.home / ".bashrc"

    @property
    def data(self) -> Path:
        return self.home / ".local/share/holdfast"

    @property
    def transcript(self) -> Path:
        return self.home / ".claude/projects/shop" / f"{SESSION}.jsonl"

    @property
    def session_folder(self) -> Path:
        """In the tree, named by the repository's own CURRENT_SESSION."""
        return self.repo / ".claude/sessions/theirs"

    def put(self, path: str, text: str = PLANTED) -> Path:
        place = self.repo / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def link(self, path: str, to: Path | str) -> None:
        place = self.repo / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(to)

    def pipe(self, path: str) -> None:
        place = self.repo / path
        place.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(place)

    def named(self) -> None:
        """The repository names its session's folder itself."""
        self.put(".claude/sessions/CURRENT_SESSION", "theirs\n")
        self.session_folder.mkdir(parents=True, exist_ok=True)

    def choose(self, **settings: Any) -> None:
        """In the user's own file."""
        path = self.home / ".config/holdfast/settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))

    def command(self, text: str, path: str = ".claude/commands/evil.md") -> None:
        self.put(path, text)

    def hook(self, event: str, session: str = SESSION, limit: float = 60, **more: Any) -> Ran:
        payload = {
            "session_id": session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.repo),
            "hook_event_name": event,
            **more,
        }
        env = {"HOME": str(self.home), "PATH": os.defpath, "SECRET": PRIVATE}
        begun = time.monotonic()
        done = subprocess.run(
            self.hooks[event],
            input=json.dumps(payload).encode(),
            env=env,
            cwd=self.repo,
            capture_output=True,
            timeout=limit,
            preexec_fn=_bounded,
            check=False,
        )
        ran = Ran(
            event,
            done.returncode,
            done.stdout.decode(),
            done.stderr.decode(),
            time.monotonic() - begun,
        )
        self.ran.append(ran)
        return ran

    def live(self) -> str:
        """A session until after its compaction, and the start of the next; what the model got."""
        self.hook("UserPromptExpansion", command_name="evil", command_args="now", prompt="/evil")
        self.hook("PostToolBatch")
        self.hook("PreCompact", trigger="manual")
        self.hook("SessionStart", source="compact")
        self.hook("SessionStart", NEXT, source="startup")
        return "\n".join(ran.context for ran in self.ran)

    def holdfast(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return self.python("-m", "holdfast", *words)

    def python(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, *words],
            env=clean(self.home),
            cwd=self.repo,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def outside(self) -> dict[str, str]:
        """What there is beyond the repository and our data folder."""
        return {
            path: text
            for path, text in _contents(self.home).items()
            if not path.startswith((str(self.repo) + "/", str(self.data)))
        }

    def in_repo(self) -> str:
        """Without files that have a second name: those are outside as well."""
        return "\n".join(_contents(self.repo, most_names=1).values())

    def in_data(self) -> str:
        return "\n".join(_contents(self.data).values())


def _contents(folder: Path, most_names: int = 9) -> dict[str, str]:
    """Plain files by path, links by where they lead; nothing is followed."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_symlink():
            found[str(path)] = f"-> {path.readlink()}"
        elif path.is_file() and path.stat().st_nlink > most_names:
            continue
        elif path.is_file() and path.stat().st_size < 50_000_000:
            found[str(path)] = path.read_bytes().decode("utf-8", "replace")
    return found


def _bounded() -> None:
    """A hook that reads without end fails instead of taking the machine with it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
