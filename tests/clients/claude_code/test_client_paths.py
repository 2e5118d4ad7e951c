"""Where the client keeps things, and the task files it writes."""

import json
from pathlib import Path

import pytest

from holdfast.clients.claude_code import client_paths
from holdfast.clients.claude_code.transcript.tools import read_task_files


def transcript(config: Path, project: str, session: str) -> Path:
    path = config / "projects" / project / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    return path


@pytest.mark.parametrize(
    ("cwd", "key"),
    [
        ("/home/dev/project", "-home-dev-project"),
        ("/a_b/c.d/é", "-a-b-c-d--"),
        ("C:\\Work", "C--Work"),
    ],
)
def test_a_projects_folder_is_named_by_its_path(cwd: str, key: str) -> None:
    assert client_paths.project_key(cwd) == key
    assert client_paths.transcript_path("/c", cwd, "s") == f"/c/projects/{key}/s.jsonl"


def test_a_long_path_is_found_by_its_beginning(tmp_path: Path) -> None:
    cwd = "/" + "x" * 300
    shortened = client_paths.project_key(cwd)[: client_paths.MAX_PROJECT_KEY_CHARS] + "-1abc"
    assert not client_paths.transcripts_dir(str(tmp_path), cwd).endswith("-1abc")
    transcript(tmp_path, shortened, "s")
    assert client_paths.transcripts_dir(str(tmp_path), cwd).endswith("-1abc")


def test_a_session_is_found_in_whichever_project_it_is(tmp_path: Path) -> None:
    config = str(tmp_path)
    assert client_paths.find_transcript(config, "s1") is None
    found = transcript(tmp_path, "-a", "s1")
    transcript(tmp_path, "-b", "s2")
    assert client_paths.find_transcript(config, "s1") == str(found)
    assert client_paths.find_transcript(config, "../-a/s1") is None
    assert client_paths.find_transcript(config, "") is None


def test_the_configured_folder_wins() -> None:
    assert client_paths.config_dir({}, "/home/dev") == "/home/dev/.claude"
    assert client_paths.config_dir({"CLAUDE_CONFIG_DIR": "/elsewhere"}, "/home/dev") == "/elsewhere"


def test_subagents_stand_beside_their_session(tmp_path: Path) -> None:
    main = transcript(tmp_path, "-a", "s1")
    assert client_paths.list_subagent_transcripts(str(main)) == []
    folder = main.with_suffix("") / "subagents"
    (folder / "workflows" / "run").mkdir(parents=True)
    for name in (
        "agent-2.jsonl",
        "agent-1.jsonl",
        "agent-1.meta.json",
        "workflows/run/agent-3.jsonl",
    ):
        (folder / name).write_text("")
    found = [Path(path).name for path in client_paths.list_subagent_transcripts(str(main))]
    assert found == ["agent-1.jsonl", "agent-2.jsonl", "agent-3.jsonl"]
    assert client_paths.transcript_session_id(f"{main}.gz") == "s1"


def test_a_task_lists_folder_has_a_safe_name() -> None:
    assert client_paths.tasks_dir("/c", "my team/../x") == "/c/tasks/my-team----x"


def test_task_files_are_read_and_the_rest_is_passed_over(tmp_path: Path) -> None:
    # As written by the client: one file per task, a lock and a counter beside them.
    task = {
        "id": "2",
        "subject": "Second task",
        "description": "do two",
        "owner": "me",
        "status": "pending",
        "blocks": [],
        "blockedBy": ["1"],
    }
    (tmp_path / "2.json").write_text(json.dumps(task))
    (tmp_path / "10.json").write_text(json.dumps({"id": 10, "status": "completed"}))
    (tmp_path / ".highwatermark").write_text("10")
    (tmp_path / ".lock").write_text("")
    (tmp_path / "3.json").write_text('{"id": "3", "sub')
    (tmp_path / "4.json").write_text("[]")
    (tmp_path / "5.json").write_text("[" * 100_000)
    (tmp_path / "6.json").mkdir()
    listed = read_task_files(str(tmp_path), "2026-01-01T00:00:00Z")
    assert [(t.task, t.status, t.subject, t.owner, t.blocked_by) for t in listed.tasks] == [
        ("2", "pending", "Second task", "me", ("1",)),
        ("10", "completed", None, None, ()),
    ]
    assert listed.at.time == "2026-01-01T00:00:00Z"


def test_no_task_folder_is_no_tasks(tmp_path: Path) -> None:
    assert read_task_files(str(tmp_path / "none")).tasks == ()
