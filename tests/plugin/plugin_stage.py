"""A project with the plugin and no Holdfast installed, the real client in it.

Owns the set-up, broken copies of the plugin, and the reading of what the plugin told: what was
restored stands inside reminders, an instant compaction is a message of its own.
"""

import json
import os
import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from end_to_end.stage import has_read_all
from holdfast.store.sqlite.store import SqliteStore
from support.claude import (
    Client,
    LiveSession,
    Reply,
    Request,
    ScriptedApi,
    bash,
    texts,
    tool,
    wait_until,
)

PLUGIN = Path(__file__).parent.parent.parent / "plugin"

RESTORED = "Holdfast: what the summary above leaves out"
CONTINUED = "Holdfast: continued.\n"
GAP = "Holdfast: known before the last compaction"
STATE = "Holdfast: the state of this session, taken from its transcript"
SUMMARY = "This session is being continued"
RULE = "Never use float for money, always use Decimal with two places."


class Scene:
    def __init__(
        self,
        root: Path,
        api: ScriptedApi,
        *,
        plugin: Path = PLUGIN,
        env: Mapping[str, str] | None = None,
        **settings: object,
    ) -> None:
        self.api = api
        self.client = Client(root, api, plugin_dirs=[plugin], env=env or {})
        self.data = root / "home/.local/share/holdfast"
        self.data.mkdir(parents=True)
        if settings:
            (self.data / "settings.json").write_text(json.dumps(settings))

    def log(self) -> str:
        path = self.data / "holdfast.log"
        return path.read_text() if path.exists() else ""

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        with closing(SqliteStore(str(self.data / "holdfast.db"))) as store:
            yield store

    def work(self, live: LiveSession) -> None:
        """A turn that leaves a rule, an open task and a finished one behind."""
        self.api.say(
            bash("echo built on port 8123"),
            tool("TaskCreate", subject="Wire the cart to checkout", description="with totals"),
            tool("TaskCreate", subject="Sketch the price table", description="first"),
            tool("TaskUpdate", taskId="2", status="completed"),
            "Begun.",
        )
        live.ask(f"Build the shop. {RULE}")

    def settled(self, live: LiveSession) -> None:
        """Wait until the background hooks have read all that the transcript holds."""
        transcript = self.client.transcript_path(live.session_id)
        folder = self.data / "sessions" / live.session_id
        wait_until(lambda: has_read_all(folder, transcript), 30)


def conversation(request: Request) -> list[str]:
    """The messages as the model gets them, without the client's reminders."""
    return [
        piece.text
        for piece in texts(request)
        if piece.place == "message" and not piece.text.startswith("<")
    ]


def placed(request: Request, opening: str = RESTORED) -> list[str]:
    """What stands in the conversation as if the user had typed it."""
    return [text for text in conversation(request) if text.startswith(opening)]


def restored(request: Request) -> list[str]:
    """What was restored after a summary, the pieces of a long text put together."""
    assert placed(request) == []
    texts: list[str] = []
    for words in delivered_by_hooks(request):
        if words.startswith(CONTINUED):
            texts[-1] = f"{texts[-1]}\n{words.removeprefix(CONTINUED)}"
        elif words.startswith(RESTORED):
            texts.append(words)
    return texts


def delivered_by_hooks(request: Request) -> list[str]:
    """What classic hooks put into the conversation, inside reminders."""
    found = []
    for piece in texts(request):
        for part in piece.text.split("<system-reminder>")[1:]:
            # A background hook's words come without the line that names the hook.
            words = part.partition("</system-reminder>")[0].strip()
            _, named, told = words.partition(" hook additional context: ")
            found.append(told if named else words)
    return [words for words in found if words.startswith("Holdfast:")]


def copied(root: Path) -> Path:
    """A plugin to break."""
    return Path(shutil.copytree(PLUGIN, root / "broken-plugin"))


def break_launcher(plugin: Path, moment: str, instead: str) -> None:
    """Make the launcher do something else when the native module asks at this moment."""
    launcher = plugin / "bin" / "holdfast-run"
    shebang, _, rest = launcher.read_text().partition("\n")
    launcher.write_text(f'{shebang}\nif [ "$2" = "native-{moment}" ]; then\n{instead}\nfi\n{rest}')


def break_module(plugin: Path, before: str, after: str) -> None:
    module = plugin / "hooks" / "register.js"
    text = module.read_text()
    assert before in text
    module.write_text(text.replace(before, after, 1))


def path_without_python(root: Path) -> str:
    """A PATH with what a shell script needs, and no Python of any name."""
    folder = root / "few-tools"
    folder.mkdir()
    for name in ("sh", "bash", "cat", "mkdir", "mv", "rm", "chmod", "ls", "ps", "env", "uname"):
        found = shutil.which(name)
        if found:
            os.symlink(found, folder / name)
    return str(folder)


def many_rules(count: int) -> list[str]:
    """Rules of about 250 characters, each in words of its own."""
    heads, tails = "bra cle dro fli gru ksa lem nof pry sto".split(), "den gar hul min pos".split()
    words = [a + b + c for a in heads for b in tails for c in tails]
    rules = []
    for number in range(count):
        mine = random.Random(number).sample(words, 24)
        rules.append(f"Never {' '.join(mine)} {number:03d} times.")
    return rules


__all__ = [
    "GAP",
    "PLUGIN",
    "RESTORED",
    "RULE",
    "STATE",
    "SUMMARY",
    "Reply",
    "Scene",
    "break_launcher",
    "break_module",
    "conversation",
    "copied",
    "delivered_by_hooks",
    "many_rules",
    "path_without_python",
    "placed",
    "restored",
]
