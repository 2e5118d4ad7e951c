"""What stands on a person's screen, in the real interactive client: by settings and by plugin.

Of ours are the lines that name us, and those of the texts that we hand to the model: these must
not be shown at all, or only where the client leaves no other way, and then briefly.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.fastpath.pending_texts import LOW_USER
from plugin.plugin_stage import Scene, copied, delivered_by_hooks
from support.claude import Client, ScriptedApi, Terminal, bash, text, tool

from .stage import BRIEF, Stage, injected

pytestmark = [pytest.mark.client, pytest.mark.xdist_group("screens")]

RULE = "Never use float for money, always use Decimal with two places."
REQUEST = f"Build the shop. {RULE}"
# Parts of a program or of an installation, which are nobody's business on a screen.
CODE = ("import sys", "sys.path", "python3", "main.py", "-I -S", "/src/", "Traceback", "{")
MAX_LINES_AFTER_COMPACT = 5  # by settings
COMPACTED = "Compacted (ctrl+o"


def lines_of_ours(terminal: Terminal) -> list[str]:
    return [line for line in terminal.lines if "oldfast" in line]


def has(terminal: Terminal, words: str) -> bool:
    """Whether these words stand there, wherever the client broke its lines."""
    return words in " ".join(line.strip() for line in terminal.lines)


def see(terminal: Terminal, words: str) -> None:
    terminal.wait_for(lambda: has(terminal, words), words)


def compaction_block(terminal: Terminal) -> list[str]:
    """What the client shows beneath `/compact`, up to the tasks or the input box."""
    shown = terminal.lines
    start = max(at for at, line in enumerate(shown) if COMPACTED in line)
    block = []
    for line in shown[start + 1 :]:
        if not line.startswith("     "):
            break
        block.append(line.strip())
    return block


def assert_no_code(lines: list[str]) -> None:
    assert [line for line in lines for part in CODE if part in line] == []


def assert_nothing_twice(lines: list[str]) -> None:
    """But for the client's frames, and its line at the end of a turn."""
    lines = [line.strip() for line in lines if "──" not in line and not line.startswith("✻")]
    told = [line for line in lines if len(line) > 12]
    assert sorted(told) == sorted(set(told))


def work(api: ScriptedApi, terminal: Terminal) -> None:
    """A turn that leaves a rule, an open task and a finished one behind; then a full context."""
    api.say(
        bash("echo built on port 8123"),
        tool("TaskCreate", subject="Wire the cart to checkout", description="with totals"),
        tool("TaskCreate", subject="Sketch the price table", description="first"),
        tool("TaskUpdate", taskId="2", status="completed"),
        "Begun with it.",
    )
    terminal.type(REQUEST)
    see(terminal, "Begun with it.")


@pytest.fixture
def root() -> Iterator[Path]:
    """With a path as short as a home has: the client shows it, and breaks lines by it."""
    with tempfile.TemporaryDirectory(prefix="hf-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def by_settings(root: Path, api: ScriptedApi) -> Client:
    stage = Stage(root, api)
    stage.holdfast("install", "--statusline")
    return stage.client


@pytest.fixture
def by_plugin(root: Path, api: ScriptedApi) -> Client:
    return Scene(root, api, plugin=copied(root)).client  # the client writes into its folder


def test_by_settings_from_the_start_to_a_clear(by_settings: Client, api: ScriptedApi) -> None:
    api.summarise_with("The user wants a shop.")
    with Terminal(by_settings) as terminal:
        # At the start nothing of ours; the status line comes with the first answer.
        assert lines_of_ours(terminal) == []
        work(api, terminal)
        see(terminal, "before compaction · saved just now · 1 open task")
        assert lines_of_ours(terminal) == []

        # With low context: the status line counts to the compaction, and says so beside the
        # client's own figure; a warning comes once, with the next prompt.
        api.say(text("That filled it.").filling(150_000))
        terminal.type("Read all of it")
        see(terminal, "10% left before compaction")
        see(terminal, "83% context used")
        waiting = by_settings.home / ".local/share/holdfast/sessions"
        terminal.wait_for(lambda: list(waiting.glob(f"*/{LOW_USER}")), "the warning is prepared")
        api.say("Still here.")
        terminal.type("And now?")
        see(terminal, "Still here.")
        see(terminal, "Holdfast: 10 % of the context is left before it is compacted")
        assert len([line for line in lines_of_ours(terminal) if "10 %" in line]) == 1

        terminal.type("/compact")
        see(terminal, COMPACTED)
        see(terminal, "PostCompact [")
        shown = compaction_block(terminal)
        assert len(shown) <= MAX_LINES_AFTER_COMPACT
        assert len([line for line in shown if "holdfast-hook" in line]) == 2
        assert " ".join(shown).count(RULE) == 1
        assert_no_code(shown)
        assert_nothing_twice(terminal.lines)
        see(terminal, "100% left before compaction")

        api.say("Going on then.")
        terminal.type("go on")
        see(terminal, "Going on then.")
        (brief,) = injected(api.last, BRIEF)
        assert not has(terminal, brief.partition(",")[0])  # the model's alone

        terminal.type("/clear")
        terminal.wait_for(lambda: not has(terminal, "Going on then."), "an empty screen")
        see(terminal, "nothing saved yet")
        assert lines_of_ours(terminal) == []


def test_by_settings_a_compact_in_a_wide_terminal_stays_within_five_lines(
    by_settings: Client, api: ScriptedApi
) -> None:
    api.summarise_with("The user wants a shop.")
    with Terminal(by_settings, columns=200) as terminal:
        work(api, terminal)
        see(terminal, "saved just now")
        terminal.type("/compact")
        see(terminal, "PostCompact [")
        assert "Keep these facts" in " ".join(compaction_block(terminal))
        assert len(compaction_block(terminal)) <= MAX_LINES_AFTER_COMPACT


def test_by_settings_a_resume_shows_what_was_there_and_nothing_of_ours(
    by_settings: Client, api: ScriptedApi
) -> None:
    with Terminal(by_settings) as terminal:
        work(api, terminal)
        see(terminal, "saved just now")
    (transcript,) = (by_settings.config_dir / "projects").glob("*/*.jsonl")
    with Terminal(by_settings, resume=transcript.stem) as terminal:
        see(terminal, "Begun with it.")
        api.say("Resumed.")
        terminal.type("go on")
        see(terminal, "Resumed.")
        assert lines_of_ours(terminal) == []
        assert_nothing_twice(terminal.lines)


def test_by_plugin_from_the_start_to_a_resume(by_plugin: Client, api: ScriptedApi) -> None:
    api.summarise_with("The user wants a shop.")
    with Terminal(by_plugin) as terminal:
        assert lines_of_ours(terminal) == []
        work(api, terminal)
        api.say("A second answer.")
        terminal.type("And then?")
        see(terminal, "A second answer.")
        assert lines_of_ours(terminal) == []

        terminal.type("/compact")
        see(terminal, COMPACTED)
        see(terminal, "PostCompact [")
        see(terminal, "facts restored after the summary")
        shown = compaction_block(terminal)
        assert len(shown) == 2  # a line for each hook, which the client leaves no way around
        assert_no_code([line.replace("${CLAUDE_PLUGIN_ROOT}", "") for line in shown])
        # The notice is named once, and nothing stands as if the user had typed it.
        assert not has(terminal, "holdfast: holdfast")
        assert not has(terminal, "what the summary above leaves out")
        assert_nothing_twice(terminal.lines)
        assert len([line for line in terminal.lines if "A second answer." in line]) <= 1

        api.say("Going on then.")
        terminal.type("go on")
        see(terminal, "Going on then.")
        (restored,) = delivered_by_hooks(api.last)
        assert RULE in restored
        assert not has(terminal, "what the summary above leaves out")

        terminal.type("/clear")
        terminal.wait_for(lambda: not has(terminal, "Going on then."), "an empty screen")
        assert [line for line in lines_of_ours(terminal) if "restored" not in line] == []
    (transcript,) = (
        path
        for path in (by_plugin.config_dir / "projects").glob("*/*.jsonl")
        if REQUEST in path.read_text()
    )
    with Terminal(by_plugin, resume=transcript.stem) as terminal:
        see(terminal, "Going on then.")
        assert not has(terminal, "what the summary above leaves out")
        assert len([line for line in terminal.lines if "A second answer." in line]) <= 1
