"""What programs rely on: keys of `--json`, the OpenAPI document, what hooks print on the sample.

Held as files in tests/golden, so that a change of them is seen in the diff and made on purpose:
`HOLDFAST_GOLDEN=write python -m pytest tests/test_golden.py` writes them again. The text of
`--help` is held by docs/cli.md.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.fastpath.session_dir import INDEX_FILE
from holdfast.server.app import build_openapi
from support.claude import wait_until
from support.demonstration import SESSION_FILE

GOLDEN = Path(__file__).parent / "golden"
SESSION = json.loads(Path(SESSION_FILE).read_text(encoding="utf-8").split("\n", 1)[0])["sessionId"]

COMMANDS = (
    ["try"],
    ["state", SESSION_FILE],
    ["brief", SESSION_FILE, "--compactions", "--max-chars", "6000"],
    ["session", "ingest", SESSION_FILE],
    ["status", "--all"],
    ["status", SESSION],
    ["status", "--compactions"],
    ["show", SESSION, "--compactions"],
    ["show", SESSION, "--compaction", "1"],
    ["dev", "brief", SESSION],
    ["session", "tasks", SESSION],
    ["search", "test"],
    ["show", SESSION],
    ["audit", str(Path(SESSION_FILE).parent)],
    ["config"],
    ["doctor"],
    ["install", "--dry-run"],
    ["session", "prune", "--days", "30", "--dry-run"],
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "work").mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "HOLDFAST_HOME": str(tmp_path / "data"),
        "COLUMNS": "100",
    }


def compare(name: str, found: Any) -> None:
    place = GOLDEN / name
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("HOLDFAST_GOLDEN") == "write":
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, encoding="utf-8")
    assert json.loads(place.read_text(encoding="utf-8")) == json.loads(text)


def keys(value: Any, path: str = "") -> Iterator[str]:
    """Where values stand in a document; names that are data (ids, paths) as a star."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from keys(inner, f"{path}.{name if re.fullmatch(r'[a-z_]+', name) else '*'}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, f"{path}[]")
    else:
        yield path or "."


@pytest.mark.slow
def test_the_keys_of_json_answers(environment: dict[str, str], tmp_path: Path) -> None:
    found: dict[str, list[str]] = {}
    for command in COMMANDS:
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast", *command, "--json"],
            cwd=tmp_path / "work", env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ended.stdout, ended.stderr
        try:
            answers = [json.loads(ended.stdout)]
        except ValueError:  # a row for each file
            answers = [json.loads(line) for line in ended.stdout.splitlines()]
        named = [word for word in command if re.fullmatch(r"-{0,2}[a-z]+", word)]
        found[" ".join(named)] = sorted({key for answer in answers for key in keys(answer)})
    compare("json_keys.json", found)


def test_the_openapi_document() -> None:
    compare("openapi.json", build_openapi())


def test_what_hooks_answer_on_the_sample(environment: dict[str, str], tmp_path: Path) -> None:
    """The texts of a compaction, as the hooks print them for the client."""
    transcript = tmp_path / f"{SESSION}.jsonl"
    shutil.copy(SESSION_FILE, transcript)
    base = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": str(tmp_path)}
    answers: dict[str, str] = {}
    for event, more in (
        ("UserPromptSubmit", {"prompt": "go on"}),
        ("Stop", {"stop_hook_active": False}),
        ("PreCompact", {"trigger": "manual", "custom_instructions": ""}),
        ("SessionStart", {"source": "compact"}),
        ("PostCompact", {"trigger": "manual", "compact_summary": "Nothing was kept."}),
        ("UserPromptSubmit", {"prompt": "and on"}),
        ("SessionEnd", {"reason": "exit"}),
    ):
        payload = json.dumps({**base, "hook_event_name": event, **more})
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast.hooks.main", event],
            input=payload, cwd=tmp_path, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert (ended.returncode, ended.stderr) == (0, "")
        if event == "PostCompact":  # made behind the client's back
            index = tmp_path / "data" / "sessions" / SESSION / INDEX_FILE
            wait_until(index.exists, 20)
        text = ended.stdout.replace(str(tmp_path), "<tmp>")
        text = re.sub(r"\d{4}-\d\d-\d\d[ T][\d:]+", "<time>", text)
        answers[f"{len(answers) + 1} {event}"] = text
    compare("hook_answers.json", answers)
