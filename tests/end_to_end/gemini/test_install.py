"""Installing into the real Gemini CLI: an extension, its settings untouched, no trace after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.gemini import Call, GeminiApi, GeminiTerminal, Said

from .gemini_stage import GeminiStage, run, work

pytestmark = pytest.mark.client


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file below with its bytes, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def test_the_client_lists_our_extension_and_an_uninstall_leaves_no_trace(
    tmp_path: Path, model: GeminiApi
) -> None:
    stage = GeminiStage(tmp_path, model)
    before = snapshot(stage.gemini.config)
    shown = stage.holdfast("install", "--client", "gemini", "--dry-run")
    assert "gemini:BeforeModel" in shown
    assert "gemini-extension.json" in shown
    assert snapshot(stage.gemini.config) == before
    said = stage.holdfast("install", "--client", "gemini")
    assert "Installed 7 hooks" in said
    added = set(snapshot(stage.gemini.config)) - set(before)
    assert all(name.startswith("extensions") for name in added)
    assert (stage.gemini.config / "settings.json").read_bytes() == before["settings.json"]
    listed = stage.gemini.run("extensions", "list")
    assert "holdfast" in listed
    assert "Enabled (User): true" in listed
    assert "Nothing to do" in stage.holdfast("install", "--client", "gemini")
    written = snapshot(stage.gemini.config)
    going = stage.holdfast("uninstall", "--client", "gemini", "--dry-run")
    assert "gemini-extension.json" in going
    assert snapshot(stage.gemini.config) == written
    stage.holdfast("uninstall", "--client", "gemini")
    left = snapshot(stage.gemini.config)
    # What the client itself wrote while it listed is the client's.
    assert {name: data for name, data in left.items() if name in before} == before
    assert [name for name in left if "extensions" in name] == []
    assert not (stage.data / "holdfast-hook").exists()


def test_an_extension_of_others_stays(tmp_path: Path, model: GeminiApi) -> None:
    stage = GeminiStage(tmp_path, model)
    other = stage.gemini.config / "extensions" / "other"
    other.mkdir(parents=True)
    (other / "gemini-extension.json").write_text('{"name": "other", "version": "1"}')
    before = snapshot(stage.gemini.config)
    stage.install()
    stage.holdfast("uninstall", "--client", "gemini")
    assert snapshot(stage.gemini.config) == before


def test_what_the_client_uninstalls_itself_is_gone_too(tmp_path: Path, model: GeminiApi) -> None:
    stage = GeminiStage(tmp_path, model)
    stage.install()
    stage.gemini.run("extensions", "uninstall", "holdfast")
    assert not (stage.gemini.config / "extensions" / "holdfast").exists()
    assert "without Holdfast" in stage.holdfast("doctor", check=False)
    assert "Nothing to do" in stage.holdfast("uninstall", "--client", "gemini")


def test_recall_is_offered_by_the_extension(tmp_path: Path, model: GeminiApi) -> None:
    stage = GeminiStage(tmp_path, model)
    stage.install()
    manifest = stage.gemini.config / "extensions" / "holdfast" / "gemini-extension.json"
    assert json.loads(manifest.read_text())["mcpServers"]["holdfast"]["args"][-2:] == ["dev", "mcp"]
    model.say(*work())
    stage.gemini.start("Build it.")
    model.say([run("sleep 3")], [Call("mcp_holdfast_recall", {"query": "orders SQLite"})])
    stage.gemini.resume("What did we decide?")
    assert "mcp_holdfast_recall" in list_mcp_tools(model)
    given = [
        part
        for content in model.requests[-1]["contents"]
        for part in content["parts"]
        if part.get("functionResponse", {}).get("name") == "mcp_holdfast_recall"
    ]
    assert "the shop runs on a single machine" in str(given)


def test_in_a_folder_that_is_not_trusted_hooks_run_and_recall_is_not_offered(
    tmp_path: Path, model: GeminiApi
) -> None:
    stage = GeminiStage(tmp_path, model)
    stage.install()
    trust = {str(stage.gemini.project): "DO_NOT_TRUST"}
    (stage.gemini.config / "trustedFolders.json").write_text(json.dumps(trust))
    with GeminiTerminal(stage.gemini, skip_trust=False) as terminal:
        terminal.type("Port 8137 stays.")
        terminal.wait_for(lambda: "Understood." in terminal.screen, "the answer")
        terminal.wait_for((stage.data / "holdfast.db").exists, "what the hooks wrote")
    assert list_mcp_tools(model) == []


def list_mcp_tools(model: GeminiApi) -> list[str]:
    offered = [one for tool in model.requests[-1]["tools"] for one in tool["functionDeclarations"]]
    return [one["name"] for one in offered if one["name"].startswith("mcp_")]


def test_doctor_tells_what_keeps_hooks_from_running(tmp_path: Path, model: GeminiApi) -> None:
    stage = GeminiStage(tmp_path, model)
    assert "Gemini CLI is there, without Holdfast" in stage.holdfast("doctor", check=False)
    stage.install()
    trust = stage.gemini.config / "trustedFolders.json"
    own = str(stage.gemini.project)
    trust.write_text(json.dumps({str(tmp_path): "DO_NOT_TRUST", own: "TRUST_FOLDER"}))
    assert "its hooks may run" in stage.holdfast("doctor", check=False)
    trust.write_text(json.dumps({str(stage.gemini.project): "DO_NOT_TRUST"}))
    assert "is not trusted: there it offers no recall" in stage.holdfast("doctor", check=False)
    trust.unlink()
    stage.gemini.settings["experimental"] = {"contextManagement": True}
    stage.gemini.save_settings()
    assert '"experimental.contextManagement" is on' in stage.holdfast("doctor", check=False)
    stage.gemini.settings["experimental"] = {}
    stage.gemini.save_settings()
    stage.gemini.run("extensions", "disable", "holdfast")
    assert "the extension is disabled" in stage.holdfast("doctor", check=False)


@pytest.mark.parametrize("words", [("--scope", "project"), ("--trust",), ("--statusline",)])
def test_what_the_client_does_not_have_is_refused(
    tmp_path: Path, model: GeminiApi, words: tuple[str, ...]
) -> None:
    stage = GeminiStage(tmp_path, model)
    before = snapshot(stage.gemini.config)
    said = stage.holdfast("install", "--client", "gemini", *words, check=False)
    assert "Gemini CLI" in said
    assert snapshot(stage.gemini.config) == before


def test_a_session_start_puts_nothing_before_the_users_words(
    tmp_path: Path, model: GeminiApi
) -> None:
    """The client drops a message that begins with a hook's words when the session is resumed."""
    stage = GeminiStage(tmp_path, model)
    stage.install()
    model.say(*work(), [Said("Later.")])
    stage.gemini.start("Build a shop on port 8123.")
    stage.gemini.start("What is next?")
    stage.gemini.resume("And now?")
    assert "What is next?" in str(model.requests[-1]["contents"])
    # What the first session left is offered to the second, once, and stays there.
    assert str(model.requests[-1]["contents"]).count("Holdfast: an earlier session") == 1
