"""`holdfast audit` as a user meets it: the report, the page, JSON, and folders with nothing."""

import gzip
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from audit.stories import RULE, SECRET, Clocked, invoices
from support.demonstration import SESSION_FILE

from .conftest import Call


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    shutil.copy(SESSION_FILE, folder / "sample.jsonl")
    return tmp_path / "projects"


def test_the_recorded_sample_in_the_terminal(holdfast: Call, sample: Path) -> None:
    ended = holdfast("audit", str(sample))
    assert (ended.code, ended.err) == (0, "")
    words = " ".join(ended.out.split())
    assert "1 automatic, 0 manual, in 1 session" in words
    assert "172 k tokens in total" in words
    assert "Standing rules 3 3 0" in words, "known, lost, and lost with the brief"
    assert "the brief is simulated" in words
    assert "in 1 compaction" in words
    assert "estimates" in words


def test_the_clients_own_folder_is_the_default(
    holdfast: Call, sample: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No transcripts yet" in holdfast("audit").err
    (home / ".claude").mkdir(parents=True)
    sample.rename(home / ".claude" / "projects")
    assert "1 session read" in holdfast("audit").out
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    assert "elsewhere" in holdfast("audit").err.replace("\n", "")


def test_programs_get_every_figure(holdfast: Call, sample: Path) -> None:
    document = json.loads(holdfast("audit", str(sample), "--json").out)
    assert document["compactions"] == document["automatic"] == 1
    assert document["compared"] == 1
    assert document["counted"]["with_brief"] > document["counted"]["in_summary"]
    assert {"rule", "task"} <= set(document["facts"])
    assert not {"dead_end", "file"} & set(document["facts"])
    assert document["points"][0]["tokens_before"] == 172309


def test_money_is_by_a_table_that_the_user_can_change_and_says_which(
    holdfast: Call, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def money() -> float:
        document = json.loads(holdfast("audit", str(sample), "--json").out)
        return float(document["dollars_estimated"])

    listed = money()
    assert "by list prices" in holdfast("audit", str(sample)).out
    (tmp_path / "holdfast").mkdir()
    (tmp_path / "holdfast" / "prices.json").write_text('{"claude-sonnet": [1000, 1000]}')
    assert money() > 10 * listed
    assert "by the prices in" in holdfast("audit", str(sample)).out


def test_the_page_is_written_where_it_was_asked_for(
    holdfast: Call, sample: Path, tmp_path: Path
) -> None:
    target = tmp_path / "report.html"
    ended = holdfast("audit", str(sample), "--html", str(target))
    assert ended.code == 0
    assert "report.html" in ended.out.replace("\n", "")
    assert target.stat().st_mode & 0o777 == 0o600
    text = target.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert str(tmp_path) not in text


def test_without_quotes_nothing_of_the_transcripts_is_repeated(
    holdfast: Call, tmp_path: Path
) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    invoices().write(folder)
    target = tmp_path / "report.html"
    arguments = ["audit", str(folder), "--html", str(target)]
    loud = holdfast(*arguments).out + target.read_text("utf-8")
    quiet = holdfast(*arguments, "--no-quotes").out + target.read_text("utf-8")
    printed = holdfast("audit", str(folder), "--no-quotes", "--json").out
    assert "Never round prices" in loud
    for text in (quiet, printed):
        assert "Never round prices" not in text
        assert "deploy.sh" not in text
        assert "tax.py" not in text
    assert SECRET not in loud + quiet + printed


def test_nothing_to_audit_is_said_in_words(holdfast: Call, tmp_path: Path) -> None:
    assert "No such file or folder" in holdfast("audit", str(tmp_path / "nowhere")).err
    assert "No *.jsonl" in holdfast("audit", str(tmp_path)).err
    story = Clocked()
    story.user("Fix the tax.")
    story.write(tmp_path)
    ended = holdfast("audit", str(tmp_path))
    assert ended.code == 0
    assert "No compaction in 1 session" in ended.out


def test_a_broken_file_is_named_and_the_rest_is_told(holdfast: Call, sample: Path) -> None:
    whole = gzip.compress(Path(SESSION_FILE).read_bytes())
    (sample / "torn.jsonl.gz").write_bytes(whole[:2000])
    (sample / "gone.jsonl").symlink_to(sample / "nowhere")
    ended = holdfast("audit", str(sample))
    assert ended.code == 0
    assert "1 automatic" in ended.out
    assert "Not read: " in ended.out
    assert "gone.jsonl" in ended.out.replace("\n", "")


@pytest.mark.parametrize("place", ["inside.html", "-home-dev-shop", "no/such/folder/report.html"])
def test_a_page_goes_neither_among_the_transcripts_nor_nowhere(
    holdfast: Call, sample: Path, place: str
) -> None:
    before = sorted(sample.rglob("*"))
    ended = holdfast("audit", str(sample), "--html", str(sample / place))
    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert sorted(sample.rglob("*")) == before


def test_it_opens_in_the_browser_that_the_user_has(
    holdfast: Call, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    monkeypatch.setattr("webbrowser._tryorder", None)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    ended = holdfast("audit", str(sample), "--open")
    page = tmp_path / "here" / "holdfast-audit.html"
    assert (ended.code, ended.err) == (0, "")
    assert "Report: holdfast-audit.html" in ended.out
    assert (tmp_path / "opened").read_text().strip() == page.as_uri()
    assert page.stat().st_mode & 0o777 == 0o600


def test_without_a_browser_the_page_is_written_and_that_is_said(
    holdfast: Call, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    target = tmp_path / "page.html"
    ended = holdfast("audit", str(sample), "--open", "--html", str(target))
    assert ended.code == 0
    assert "No browser was found" in ended.out
    assert target.exists()


def test_a_picture_to_show_around_has_figures_and_no_words_of_a_session(
    holdfast: Call, tmp_path: Path
) -> None:
    folder = tmp_path / "projects"
    folder.mkdir()
    invoices("a-session").write(folder)
    target = tmp_path / "audit.svg"
    ended = holdfast("audit", str(folder), "--picture-file", str(target))
    assert "Picture: " in ended.out
    drawn = ElementTree.fromstring(target.read_text(encoding="utf-8"))
    words = " ".join(text for text in drawn.itertext())
    assert "What context compaction cost" in words
    assert "simulated" in words
    assert "1 session" in words
    for known in (RULE, "invoice", "tax", "a-session", "deploy"):
        assert known not in words
    assert "href" not in target.read_text(encoding="utf-8"), "it loads nothing"


def test_a_picture_without_a_name_goes_into_the_current_folder(
    holdfast: Call, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "Picture: holdfast-audit.svg" in holdfast("audit", str(sample), "--picture").out
    assert (tmp_path / "holdfast-audit.svg").exists()


def test_one_transcript_can_be_audited_and_another_file_is_called_what_it_is(
    holdfast: Call, tmp_path: Path
) -> None:
    path = invoices().write(tmp_path)
    assert "1 session read" in holdfast("audit", str(path)).out
    noise = tmp_path / "noise.jsonl"
    noise.write_bytes(bytes(range(256)) * 9)
    ended = holdfast("audit", str(noise))
    assert (ended.code, "Not a transcript" in ended.err) == (1, True)


def test_time_project_and_client_choose_what_is_counted(holdfast: Call, tmp_path: Path) -> None:
    for number in range(2):
        invoices(f"s-{number}", number * 40).write(tmp_path)

    def count(*options: str) -> int:
        document = json.loads(holdfast("audit", str(tmp_path), *options, "--json").out)
        return int(document["compactions"])

    assert count() == count("--project", "shop") == count("--client", "claude-code") == 2
    assert count("--since", "2026-04-01") == 1
    assert count("--since", "1d") == 0
    assert "Cannot read --since" in holdfast("audit", str(tmp_path), "--since", "soon").err
    assert "No session of codex" in holdfast("audit", str(tmp_path), "--client", "codex").err
    assert "ends with hop" in holdfast("audit", str(tmp_path), "--project", "hop").err


def test_bars_are_plain_where_the_output_cannot_show_blocks(
    sample: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.cli.audit import _make_bar

    assert _make_bar(0.5, "", 4, "ascii").plain == "##.."
    assert _make_bar(0.5, "", 4, "utf-8").plain == "██░░"


def test_where_none_is_recent_enough_it_says_since_when(holdfast: Call, sample: Path) -> None:
    shown = holdfast("audit", str(sample), "--since", "2999-01-01")
    assert "since 2999-01-01" in shown.out + shown.err
    assert "nothing so far" not in shown.out
