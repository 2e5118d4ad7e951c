"""`note`, `handoff`, `resume`, `tasks`: a session's papers, as a user calls for them."""

import json
from pathlib import Path

import pytest

from holdfast.fastpath import handoff_offers
from holdfast.fastpath.handoff_offers import HandoffOffer
from support.demonstration import SESSION_FILE

from .conftest import Call

GONE = 2**22 + 1


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the sample says that it ran, as far as the store knows."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("CLAUDE_CODE_SESSION_ID", "CLAUDECODE"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def session(holdfast: Call, project: Path, tmp_path: Path) -> str:
    copy = tmp_path / "copy.jsonl"
    rows = Path(SESSION_FILE).read_text().replace("/home/dev/shop", str(project))
    copy.write_text(rows)
    holdfast("session", "ingest", str(copy))
    found: str = json.loads(holdfast("status", "--all", "--json").out)[0]["id"]
    return found


def test_a_note_is_kept_found_and_shown(holdfast: Call, session: str) -> None:
    ended = holdfast(
        "session", "note", "--kind", "dead-end", "--session", session[:8], "Blue-green", "fails"
    )
    assert ended.out.startswith('Noted as dead end: "Blue-green fails"\n')
    assert session[:8] in ended.out
    assert f"{session[:8]}:m1" in holdfast("search", "blue-green fails").out
    assert "noted by the user" in holdfast("show", f"{session[:8]}:m1").out
    assert "Blue-green fails" in holdfast("brief", session[:8]).out
    assert "Blue-green fails" in holdfast("session", "note", "--session", session[:8], "--show").out


def test_without_a_name_a_note_goes_to_the_latest_session_of_this_folder(
    holdfast: Call, session: str
) -> None:
    answered = json.loads(holdfast("session", "note", "Here", "--json").out)
    assert (answered["session"], answered["by"]) == (session, "user")


def test_an_agents_note_goes_to_its_own_session(
    holdfast: Call, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "a-session-not-stored-yet")
    answered = json.loads(holdfast("session", "note", "Mine", "--json").out)
    assert (answered["session"], answered["by"]) == ("a-session-not-stored-yet", "agent")
    assert "Mine" not in holdfast("brief", session).out


def test_secrets_are_not_noted(holdfast: Call, session: str, home: Path) -> None:
    secret = "sk-ant-api03-" + "abcDEF123-" * 9 + "AA"
    assert secret not in holdfast("session", "note", f"the key is {secret}").out
    for path in (home / "data").rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    "words", [["--kind", "nonsense", "x"], [], ["x" * 401], ["--kind", "rule"]]
)
def test_a_note_that_cannot_be_taken_is_wrong_use(
    holdfast: Call, session: str, words: list[str]
) -> None:
    assert holdfast("session", "note", *words).code == 2


def test_a_handoff_is_written_where_asked_and_an_edited_one_left_alone(
    holdfast: Call, session: str, tmp_path: Path
) -> None:
    path = tmp_path / "to" / "HANDOFF.md"
    assert str(path) in holdfast("session", "handoff", session[:8], "--to", str(path)).out.replace(
        "\n", ""
    )
    assert "## Dead ends" in path.read_text()
    path.write_text("Mine now.\n")
    answered = json.loads(
        holdfast("session", "handoff", session[:8], "--to", str(path), "--json").out
    )
    assert answered["edited"] == str(path)
    assert path.read_text() == "Mine now.\n"
    assert "## Dead ends" in Path(answered["path"]).read_text()


def test_a_handoff_that_cannot_be_written_is_named(
    holdfast: Call, session: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    ended = holdfast("session", "handoff", "--to", str(tmp_path / "file" / "x.md"))
    assert ended.code == 1
    assert "--to" in ended.err


def offer(home: Path, project: Path, session: str) -> None:
    place = (str(project), str(project))
    offer = HandoffOffer(*place, GONE, "Left.")
    handoff_offers.save_offer(str(home / "data"), session, offer)


def test_resume_shows_what_waits_here_and_takes_it_up(
    holdfast: Call, session: str, project: Path, home: Path
) -> None:
    offer(home, project, session)
    answered = json.loads(holdfast("session", "resume", "--json").out)
    assert (answered["session"], answered["taken_up"]) == (session, True)
    assert "## Goal" in answered["text"]
    assert handoff_offers.read_acceptance(str(home / "data"), session)[0]
    ended = holdfast("session", "resume")
    assert ended.code == 1
    assert "No unfinished session to resume" in ended.err


def test_another_folders_session_can_be_read_but_is_not_taken_up(
    holdfast: Call,
    session: str,
    project: Path,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offer(home, project, session)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert holdfast("session", "resume").code == 1
    assert not json.loads(holdfast("session", "resume", session[:8], "--json").out)["taken_up"]
    assert handoff_offers.list_offers(str(home / "data"), str(project)) == [session]


def test_resume_shows_the_edited_page(holdfast: Call, session: str) -> None:
    path = Path(json.loads(holdfast("session", "handoff", session, "--json").out)["path"])
    path.write_text(path.read_text().replace("# Handoff", "# Mine"))
    assert holdfast("session", "resume", session).out.startswith("# Mine")
    holdfast("session", "handoff", session)
    assert path.with_suffix(".new.md").name in holdfast("session", "resume", session).out


def test_tasks_are_listed_with_their_standing(holdfast: Call, session: str) -> None:
    out = holdfast("session", "tasks", session[:8]).out
    assert "done         Add Cart.apply_discount and total_cents" in out
    assert "in progress  Document discounts in the README" in out
    document = json.loads(holdfast("session", "tasks", session[:8], "--json").out)
    assert [task["status"] for task in document["tasks"]] == ["done", "done", "open"]
    assert document["summaries"] == []
