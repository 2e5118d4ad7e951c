"""Where the client keeps things."""

from pathlib import Path

from holdfast.clients.claude_code.client import PATHS


def transcript(config: Path, project: str, session: str) -> Path:
    path = config / "projects" / project / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    return path


def test_a_session_is_found_in_whichever_project_it_is(tmp_path: Path) -> None:
    config = str(tmp_path)
    assert PATHS.find_transcript(config, "s1", "") is None
    found = transcript(tmp_path, "-a", "s1")
    transcript(tmp_path, "-b", "s2")
    assert PATHS.find_transcript(config, "s1", "") == str(found)
    assert PATHS.find_transcript(config, "../-a/s1", "") is None
    assert PATHS.find_transcript(config, "", "") is None


def test_the_configured_folder_wins() -> None:
    assert PATHS.config_dir({}, "/home/dev") == "/home/dev/.claude"
    assert PATHS.config_dir({"CLAUDE_CONFIG_DIR": "/elsewhere"}, "/home/dev") == "/elsewhere"
