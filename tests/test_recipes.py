"""ARCHITECTURE.md says how to add a section of the brief and a verb: each is added to a copy here.

A kind of fact is added by `tests/state/test_kinds.py`, a client by
`tests/clients/test_adding_a_client.py`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from support.demonstration import SESSION_FILE

SECTION = '''"""How much was asked."""

from collections.abc import Iterator

from holdfast.brief.lines import Line, SizeLimits
from holdfast.state.model import State


def prompts(state: State, size: SizeLimits) -> Iterator[Line]:
    if state.position.turn:
        yield Line(f"- {state.position.turn} prompts in all")
'''
VERB = '''"""`holdfast session count`: how many sessions are stored."""

from holdfast.cli.output import JsonOption, print_json
from holdfast.cli.screen import Screen
from holdfast.cli.store_access import open_user_store, store_exists


def count(as_json: JsonOption = False) -> None:
    """Count the stored sessions.

    Example: `holdfast session count`
    """
    found = 0
    if store_exists():
        with open_user_store() as store:
            found = len(store.sessions())
    print_json(found) if as_json else Screen().say(f"{found} sessions")
'''


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(holdfast.__file__).parent, tmp_path / "holdfast", ignore=ignored)
    return tmp_path / "holdfast"


def add_below(file: Path, line: str, added: str) -> None:
    source = file.read_text("utf-8")
    assert f"\n{line}\n" in source, (file, line)
    file.write_text(source.replace(f"\n{line}\n", f"\n{line}\n{added}\n", 1), "utf-8")


def run(copy: Path, *argv: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(copy.parent), "PYTHONPATH": str(copy.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *argv],
        env={**environ, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=copy.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_section_takes_one_function_and_lines_in_two_files(copy: Path) -> None:
    (copy / "brief" / "sections" / "amounts.py").write_text(SECTION, "utf-8")
    sections, role = copy / "brief" / "sections" / "__init__.py", copy / "brief" / "role.py"
    add_below(sections, "_HEADINGS = {", '    "amounts": {"prompts": "Asked[ so far]:"},')
    tasks = '        " changed 0.2, notes 0.2, git 0.25, verified 0.15, tasks 0.2, finished 0.1,"'
    add_below(role, tasks, '        " prompts,"')
    printed = run(copy, "brief", SESSION_FILE)
    assert "Asked so far:\n- 4 prompts in all" in printed


def test_a_verb_takes_one_module_and_a_line_in_the_tree(copy: Path) -> None:
    (copy / "cli" / "count.py").write_text(VERB, "utf-8")
    add_below(
        copy / "cli" / "command_tree.py",
        '    \'holdfast session note "Cents as integers"\',\n    _list_commands("""',
        "count count:count\n    Count the stored sessions.",
    )
    assert run(copy, "session", "count") == "0 sessions\n"
    assert run(copy, "session", "count", "--json") == "0\n"
    assert "Count the stored sessions." in run(copy, "session", "--help")
