"""How the command line behaves: trouble in one line, exit codes, terminals, help, documents."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from tools.docs_reference import build_page

from holdfast.cli.output import replace_control_chars
from holdfast.paths import data_dir, store_path
from holdfast.store.sqlite.store import SqliteStore
from support.demonstration import SESSION_FILE

from .conftest import Call

DOCUMENT = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["state", "/no/such/file"], "no such file"),
        (["state", "/dev/null"], "not a regular file"),
        (["state", SESSION_FILE, "--compaction", "9"], "has 1 compaction"),
        (["session", "resume"], "Run `holdfast session ingest`"),
        (["show", "t1"], "Nothing is stored yet"),
        (["session", "ingest", "/tmp/../nowhere-at-all.jsonl"], "no such file"),
    ],
)
def test_foreseeable_trouble_is_one_line_and_exit_code_one(
    holdfast: Call, arguments: list[str], said: str
) -> None:
    ended = holdfast(*arguments)
    assert ended.code == 1
    assert said in (ended.err + ended.out).replace("\n", " ")
    assert "Traceback" not in ended.err + ended.out


EMPTY_STORE = (
    "Nothing is stored yet. Run `holdfast session ingest` to read your transcripts, or "
    "`holdfast install` to start saving."
)


@pytest.mark.parametrize("made", [False, True], ids=["no file", "no session"])
@pytest.mark.parametrize(
    ("arguments", "document"),
    [
        (["status", "--all"], []),
        (["status", "--compactions"], []),
        (["search", "x"], {"query": "x", "hits": []}),
        (["search", "--archive", "x"], {"query": "x", "rows": []}),
        (["show"], {"session": None}),
        (["session", "tasks"], {"session": None, "tasks": [], "summaries": []}),
        (["session", "prune", "--days", "1"], {"sessions": [], "dropped": {}, "dry_run": False}),
    ],
)  # fmt: skip
def test_an_empty_store_ends_alike_everywhere(
    holdfast: Call, arguments: list[str], document: object, made: bool
) -> None:
    if made:
        os.makedirs(data_dir())
        SqliteStore(store_path()).close()
    ended = holdfast(*arguments)
    assert (ended.code, ended.out.strip(), ended.err) == (0, EMPTY_STORE, "")
    assert json.loads(holdfast(*arguments, "--json").out) == document


@pytest.mark.parametrize("made", [False, True], ids=["no file", "no session"])
@pytest.mark.parametrize(
    "arguments",
    [["show", "t1"], ["show", "abc:t1"], ["status", "abc"], ["session", "handoff"],
     ["session", "note", "x"], ["open", "abc"]],
)  # fmt: skip
def test_what_needs_a_session_says_the_same_and_ends_with_one(
    holdfast: Call, arguments: list[str], made: bool
) -> None:
    if made:
        os.makedirs(data_dir())
        SqliteStore(store_path()).close()
    ended = holdfast(*arguments)
    assert (ended.code, ended.err.strip()) == (1, f"Error: {EMPTY_STORE}")


def test_an_empty_folder_says_what_to_do(holdfast: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = holdfast("session", "ingest", str(tmp_path / "empty"))
    assert ended.code == 1
    assert "Pass a transcript" in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_trouble_in_json_is_json(holdfast: Call) -> None:
    ended = holdfast("show", "t1", "--json")
    assert ended.code == 1
    assert set(json.loads(ended.out)) == {"error", "next"}


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["state"], ["state", SESSION_FILE, "--kind", "x"],
     ["search", "a", "--kind", "x"], ["state", SESSION_FILE, "--compaction", "0"],
     ["search", "a", "--limit", "0"]],
)  # fmt: skip
def test_wrong_use_is_exit_code_two(holdfast: Call, arguments: list[str]) -> None:
    assert holdfast(*arguments).code == 2


def test_unknown_names_say_how_to_find_the_right_one(holdfast: Call) -> None:
    holdfast("session", "ingest", SESSION_FILE)
    assert "holdfast search" in holdfast("show", "t999").err
    assert "holdfast status --all" in holdfast("show", "zzz:t1").err


def test_a_name_that_fits_many_sessions_says_which(holdfast: Call, tmp_path: Path) -> None:
    for last in "ab":
        name = f"abcdef12-0000-4000-8000-00000000000{last}"
        (tmp_path / f"{name}.jsonl").write_bytes(Path(SESSION_FILE).read_bytes())
    holdfast("session", "ingest", str(tmp_path))
    told = holdfast("status", "abc").err
    assert "'abc' matches 2 sessions: " in told
    assert "00000000000a" in told
    assert "Use a longer prefix" in told
    assert "No session id starts with 'zzz'" in holdfast("status", "zzz").err


def test_a_damaged_database_is_named_and_left_alone(holdfast: Call) -> None:
    os.makedirs(data_dir())
    Path(store_path()).write_bytes(b"this is no database " * 100)
    ended = holdfast("status", "--all")
    assert ended.code == 1
    assert "holdfast.db" in ended.err.replace("\n", "")
    assert Path(store_path()).read_bytes().startswith(b"this is no database")


def test_an_unwritable_home_is_named(holdfast: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    ended = holdfast("--home", str(tmp_path / "file" / "below"), "session", "ingest", SESSION_FILE)
    assert ended.code == 1
    assert "--home" in ended.err


def test_the_data_folder_follows_option_environment_and_default(
    holdfast: Call, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_dir() == str(home / "data")
    monkeypatch.delenv("HOLDFAST_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_dir() == str(tmp_path / "xdg" / "holdfast")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert data_dir() == str(home / ".local" / "share" / "holdfast")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "mine"))
    holdfast("--home", str(tmp_path / "option"), "session", "ingest", SESSION_FILE)
    assert (tmp_path / "option" / "holdfast.db").exists()


def test_a_transcript_cannot_steer_the_terminal(holdfast: Call, tmp_path: Path) -> None:
    assert replace_control_chars("a\x1b[31mb\x07\x9bc\u202ed\ne") == "a�[31mb��c�d\ne"
    path = tmp_path / "s.jsonl"
    row = {"type": "user", "uuid": "row-000001", "sessionId": "s1", "timestamp": "2026-01-01"}
    row["message"] = {"role": "user", "content": "never \x1b]0;owned\x07 push"}  # type: ignore[assignment]
    path.write_text(json.dumps(row) + "\n")
    shown = holdfast("state", str(path)).out
    assert "never push" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_words_of_a_transcript_are_no_markup(holdfast: Call, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    row = {"type": "user", "uuid": "row-000001", "sessionId": "s1", "timestamp": "2026-01-01"}
    row["message"] = {"role": "user", "content": "use [bold]that[/bold] [/nonsense]"}  # type: ignore[assignment]
    path.write_text(json.dumps(row) + "\n")
    assert "use [bold]that[/bold] [/nonsense]" in holdfast("state", str(path)).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["status", "--all"], ["bcd7f21d", "House rule"]),
        (["status", "--compactions"], ["bcd7f21d", "2026-11-1"]),
        (["search", "dependencies", "--kind", "rule"], ["bcd7f21d:r3", "dependencies"]),
        (["state", SESSION_FILE, "--kind", "task"], ["t3", "Document"]),
    ],
)
def test_a_narrow_terminal_has_room_for_names_and_words(
    holdfast: Call, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: list[str]
) -> None:
    holdfast("session", "ingest", SESSION_FILE)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("holdfast.cli.screen.PLAIN_WIDTH", 40)
    monkeypatch.setattr("holdfast.cli.screen.Screen.is_terminal", True)
    shown = re.sub(r"\x1b\[[\d;]*m", "", holdfast(*arguments).out)
    assert max(map(len, shown.splitlines())) <= 40
    for word in words:
        assert word in shown


def test_every_command_has_help_with_an_example(holdfast: Call) -> None:
    listed = re.findall(r"^## holdfast (\w[\w ]*)$", DOCUMENT.read_text(), re.M)
    groups = {name.rsplit(" ", 1)[0] for name in listed if " " in name}
    for command in set(listed) - groups:
        ended = holdfast(*command.split(), "--help")
        assert ended.code == 0
        assert f"Example: holdfast {command}" in " ".join(ended.out.split()), command


def test_the_page_in_docs_has_every_command_and_option() -> None:
    assert DOCUMENT.read_text() == build_page(), (
        "docs/cli.md is not what the commands say: "
        "run `python -m tools.docs_reference > docs/cli.md`"
    )


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from holdfast.cli.main import app; "
        "heavy = {'sqlite3', 'orjson', 'multiprocessing', 'holdfast.session.follow', "
        "'holdfast.store.sqlite.store', 'rich.progress'}; "
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr.strip()) == (0, "")


def test_a_closed_pipe_ends_it_without_a_word() -> None:
    code = f"from holdfast.cli.main import main; main(['state', {SESSION_FILE!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
        running.wait()
    assert running.returncode in (0, 1)  # what Typer itself makes of it


@pytest.mark.parametrize("arguments", [["state", SESSION_FILE], ["config", "--json"], ["-h"]])
def test_a_full_disk_under_the_output_is_told_in_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr == b"Error: Write failed: No space left on device.\n"


def test_without_a_place_to_print_it_works_on_in_silence() -> None:
    ended = subprocess.run(
        ["sh", "-c", 'exec "$0" -m holdfast state "$1" >&-', sys.executable, SESSION_FILE],
        stderr=subprocess.PIPE,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_terminal_without_unicode_gets_question_marks() -> None:
    code = "from holdfast.cli.main import main; main(['try'])"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=environment, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_the_version_is_shown(holdfast: Call) -> None:
    assert re.fullmatch(r"holdfast \d+\.\d+\.\S+", holdfast("--version").out.strip())


def test_colours_end_where_words_of_others_begin(
    holdfast: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain words are in the terminal's own colour, so that they are read on light and on dark."""
    holdfast("session", "ingest", SESSION_FILE)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for arguments in (["show", "bcd7f21d:r1"], ["search", "cents"], ["show", "bcd7f21d", "--full"]):
        shown = holdfast(*arguments).out
        assert "\x1b[36m" in shown or "\x1b[1;32m" in shown
        assert re.search(r"^  House rule", shown, re.M), arguments
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[\d;]*3\d", holdfast("show", "bcd7f21d:r1").out)


def test_a_reader_that_went_away_is_not_an_error() -> None:
    from holdfast.cli.screen import Screen

    with pytest.raises(BrokenPipeError):
        Screen().on_broken_pipe()


def test_help_for_a_reader_that_went_away_is_not_an_error() -> None:
    call = f"{sys.executable} -m holdfast audit --help | head -c 1"
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", call], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_home_that_cannot_be_written_gets_a_next_step(
    holdfast: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "mkdir", refuse)
    for arguments in (["config", "set", "brief_chars", "8000"], ["open"], ["install"]):
        ended = holdfast(*arguments)
        assert ended.code == 1
        assert "Permission denied" in ended.err
        assert "Grant write access" in ended.err, arguments


def test_a_command_starts_without_a_library_that_checks_types() -> None:
    """Typer from 0.29 on imports Pydantic for each call, which doubles its time."""
    if [int(part) for part in version("typer").split(".")[:2]] >= [0, 29]:
        pytest.skip("this environment was made before pyproject.toml left that version out")
    code = (
        "import atexit, sys; from holdfast.cli.main import main; "
        "atexit.register(lambda: sys.stderr.write(str('pydantic' in sys.modules))); "
        "main(['search', 'x'])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.stderr == "False"
