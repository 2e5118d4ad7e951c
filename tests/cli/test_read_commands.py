"""The commands as a user calls them: what they show, and what they give to programs."""

import gzip
import json
from pathlib import Path

import pytest

from holdfast.samples import SESSION_FILE as BUNDLED
from support.demonstration import SESSION_FILE

from .conftest import Call

SAMPLE = SESSION_FILE


@pytest.fixture
def ingested(holdfast: Call) -> str:
    """The sample in the store; the beginning of its session's id."""
    ended = holdfast("session", "ingest", SAMPLE, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out.splitlines()[0])
    return str(found["session_id"])[:8]


def test_state_shows_what_is_known_by_kind(holdfast: Call) -> None:
    ended = holdfast("state", SAMPLE, "--compaction", "1")
    assert ended.code == 0
    for said in ("right before compaction 1", "never floats", "in force", "withdrawn", "8123"):
        assert said in ended.out
    assert "\x1b" not in ended.out  # no colours into a pipe


def test_state_in_json_counts_and_says_where_each_fact_is_from(holdfast: Call) -> None:
    known = json.loads(holdfast("state", SAMPLE, "--json").out)
    assert known["session"]["branch"] == "main"
    assert known["read"]["bad_lines"] == known["read"]["unknown_rows"] == 0
    assert sum(known["counts"]["task"].values()) == 3
    assert all(fact["row"] and fact["end"] > fact["start"] for fact in known["facts"])


def test_state_before_the_compaction_differs_from_the_state_at_the_end(holdfast: Call) -> None:
    before = json.loads(holdfast("state", SAMPLE, "--json", "--compaction", "1").out)
    after = json.loads(holdfast("state", SAMPLE, "--json").out)
    assert (before["moment"]["epoch"], after["moment"]["epoch"]) == (0, 1)
    assert before["counts"]["task"] == {"done": 1, "open": 2}


def test_state_of_one_kind_alone(holdfast: Call) -> None:
    known = json.loads(holdfast("state", SAMPLE, "--kind", "rule", "--json").out)
    assert {fact["kind"] for fact in known["facts"]} == {"rule"}


def test_state_reads_packed_files(holdfast: Call, tmp_path: Path) -> None:
    packed = tmp_path / "s.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(SAMPLE).read_bytes()))
    plain = json.loads(holdfast("state", SAMPLE, "--json").out)
    assert json.loads(holdfast("state", str(packed), "--json").out)["facts"] == plain["facts"]


def test_ingest_tells_of_each_file_and_of_all(holdfast: Call, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.jsonl").write_bytes(Path(SAMPLE).read_bytes())
    (tmp_path / "broken.jsonl.gz").write_bytes(b"not gzip at all")
    ended = holdfast("session", "ingest", str(tmp_path), "--json")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.code == 1  # one file could not be read; the other was
    assert [("error" in line) for line in lines[:-1]] == [True, False]
    assert lines[-1]["files"] == 2
    assert lines[-1]["failed"] == 1
    assert lines[-1]["rows"] > 100


def test_ingest_for_people_says_what_was_read_and_that_nothing_is_new(holdfast: Call) -> None:
    first = holdfast("session", "ingest", SAMPLE)
    assert "1 transcript, " in first.out
    assert "new rows" in first.out
    assert "holdfast status --compactions" in first.out, "what to look at next"
    assert "bad lines" not in first.out, "a column of noughts says nothing"
    assert "1 unchanged" in holdfast("session", "ingest", SAMPLE).out


def test_ingest_takes_the_clients_own_folder_by_default(holdfast: Call, home: Path) -> None:
    project = home / ".claude" / "projects" / "-home-dev-shop"
    (project / "x" / "subagents").mkdir(parents=True)
    (project / "s.jsonl").write_bytes(Path(SAMPLE).read_bytes())
    (project / "x" / "subagents" / "agent-1.jsonl").write_bytes(Path(SAMPLE).read_bytes())
    lines = holdfast("session", "ingest", "--json").out.splitlines()
    assert [Path(json.loads(line)["path"]).name for line in lines[:-1]] == ["s.jsonl"]


def test_ingest_without_a_client_says_what_to_do(holdfast: Call, home: Path) -> None:
    ended = holdfast("session", "ingest")
    assert (ended.code, ended.out) == (1, "")
    assert "No transcripts found" in ended.err
    assert "Pass a transcript" in ended.err
    assert not (home / "data").exists()


def test_ingest_says_that_a_file_is_no_transcript(holdfast: Call, tmp_path: Path) -> None:
    (tmp_path / "noise.jsonl").write_bytes(b"\xff\x00 nothing\n" * 7)
    told = holdfast("session", "ingest", str(tmp_path)).out
    assert "bad lines" in told
    assert "unchanged" not in told


@pytest.mark.parametrize("content", [b"\xff\x00 nothing\n", b"hello\n", b'{"a": 1}\n'])
def test_a_file_that_was_named_and_is_no_transcript_is_called_so(
    holdfast: Call, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    for words, said in (
        (["session", "ingest"], "not a transcript"),
        (["dev", "state"], "Not a transcript"),
        (["brief"], "Not a transcript"),
        (["show"], "No messages in"),
        (["audit"], "Not a transcript"),
    ):
        ended = holdfast(*words, str(path))
        assert ended.code == 1, words
        assert said in ended.out + ended.err
    path.write_bytes(b"")  # the client has made it and not written yet
    assert holdfast("session", "ingest", str(path)).code == 0


def test_an_ingested_transcript_is_found_again_from_another_folder(
    holdfast: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "s.jsonl").write_bytes(Path(SAMPLE).read_bytes())
    monkeypatch.chdir(tmp_path)
    holdfast("session", "ingest", "here")
    monkeypatch.chdir(tmp_path / "here")
    ended = holdfast("brief", "bcd7f21d")
    assert (ended.code, ended.err) == (0, "")


def test_ingest_prefers_the_plain_file_to_its_packed_copy(holdfast: Call, tmp_path: Path) -> None:
    data = Path(SAMPLE).read_bytes()
    (tmp_path / "s.jsonl").write_bytes(data)
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(data))
    lines = holdfast("session", "ingest", str(tmp_path), "--json").out.splitlines()
    assert [Path(json.loads(line)["path"]).name for line in lines[:-1]] == ["s.jsonl"]


def test_sessions_lists_them(holdfast: Call, ingested: str) -> None:
    ended = holdfast("status", "--all")
    assert ingested in ended.out
    assert "shop" in ended.out
    (session,) = json.loads(holdfast("status", "--all", "--json").out)
    assert (session["branch"], session["compactions"]) == ("main", 1)
    assert session["about"].startswith("House rule")


def test_sessions_of_another_project_are_none(
    holdfast: Call, ingested: str, tmp_path: Path
) -> None:
    assert json.loads(holdfast("status", "--all", "--json", "--project", str(tmp_path)).out) == []
    assert (
        len(json.loads(holdfast("status", "--all", "--json", "--project", "/home/dev/shop").out))
        == 1
    )


def test_show_opens_a_fact_with_the_row_it_came_from(holdfast: Call, ingested: str) -> None:
    ended = holdfast("show", f"{ingested}:t2")
    assert "Expose the discount in GET /cart" in ended.out
    assert "A tool returned on 2026-" in ended.out
    assert "Row " in ended.out
    shown = json.loads(holdfast("show", f"{ingested}:t2", "--json").out)
    assert shown["fact"]["id"] == "t2"
    assert shown["source"]["uuid"] == shown["fact"]["row"]


def test_show_finds_a_fact_without_its_session(holdfast: Call, ingested: str) -> None:
    assert json.loads(holdfast("show", "r1", "--json").out)["fact"]["kind"] == "rule"


def test_show_opens_a_session_by_the_beginning_of_its_id(holdfast: Call, ingested: str) -> None:
    assert "compaction 1" in holdfast("show", ingested).out
    shown = json.loads(holdfast("show", ingested, "--json").out)
    assert shown["compactions"][0]["trigger"] == "auto"
    assert len(shown["checkpoints"]) == 1


def test_show_opens_a_row_by_its_id(holdfast: Call, ingested: str) -> None:
    hits = json.loads(holdfast("search", "accounting", "--kind", "message", "--json").out)["hits"]
    row = hits[0]["message"]["row"]
    shown = json.loads(holdfast("show", f"{ingested}:{row[:8]}", "--json").out)
    assert shown["source"]["uuid"] == row


def test_show_says_when_the_transcript_is_gone(
    holdfast: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_ARCHIVE", "off")
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(Path(SAMPLE).read_bytes())
    holdfast("session", "ingest", str(copy))
    copy.unlink()
    ended = holdfast("show", "t1")
    assert ended.code == 0
    assert "no longer has this row" in ended.out


def test_search_finds_facts_and_words(holdfast: Call, ingested: str) -> None:
    found = json.loads(holdfast("search", "8123", "--json").out)["hits"]
    kinds = {hit["fact"]["kind"] if hit["fact"] else "message" for hit in found}
    assert {"identifier", "message"} <= kinds
    assert f"{ingested}:" in holdfast("search", "8123").out


def test_search_narrows_by_kind_session_project_and_limit(holdfast: Call, ingested: str) -> None:
    def count(*options: str) -> int:
        return len(json.loads(holdfast("search", "discount", "--json", *options).out)["hits"])

    assert 0 < count("--kind", "task") < count()
    assert count("--limit", "1") == 1
    assert count("--session", ingested) == count("--project", "/home/dev/shop") == count()
    assert count("--project", "/elsewhere") == 0


def test_search_never_fails_on_the_words(holdfast: Call, ingested: str) -> None:
    for words in ('"', "AND OR NOT", "a*b(c", "-x", "'; drop table facts"):
        assert holdfast("search", "--json", "--", words).code == 0


def test_try_shows_what_a_visitor_should_see(holdfast: Call, home: Path) -> None:
    ended = holdfast("try")
    assert ended.code == 0
    shown = " ".join(ended.out.split())
    for said in (
        "hold: Don't push until I say so",
        "task: README: report, serve, KILN_LOG_BIND",
        "test run: ",
        "also known, exact value: port 8731",
        "facts that matter; Holdfast would have restored",
        "with its own compaction prompt.",
    ):
        assert said in shown
    assert not (home / "data").exists()  # nothing is left behind


@pytest.mark.parametrize("is_there", [True, False])
def test_try_says_how_to_get_the_command_where_it_is_not_on_the_path(
    holdfast: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    if is_there:
        (tmp_path / "holdfast").write_text("")
        (tmp_path / "holdfast").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = holdfast("try").out
    assert ("pipx install ." in shown) != is_there
    assert "holdfast install" in shown


def test_try_counts_as_show_does(holdfast: Call) -> None:
    """Whether by `holdfast try` or after an ingest: the same figures, in text and JSON."""
    kept = json.loads(holdfast("try", "--json").out)
    assert {fact["in_summary"] for fact in kept["before"]} == {True, False}
    holdfast("session", "ingest", BUNDLED)
    (report,) = json.loads(holdfast("status", "--compactions", "--json").out)
    counted = report["kept"] + report["lost"]
    assert f"The summary kept {report['kept']} of {counted} facts" in holdfast("try").out


def test_sessions_stand_under_their_repository_and_its_worktrees(
    holdfast: Call, tmp_path: Path
) -> None:
    recorded = Path(SAMPLE).read_text(encoding="utf-8")
    for number, cwd in enumerate(("/gone/shop/.worktrees/1", "/gone/shop", "/gone/other")):
        copy = tmp_path / f"{number}{'0' * 7}-0000-4000-8000-000000000000.jsonl"
        copy.write_text(recorded.replace("/home/dev/shop", cwd), encoding="utf-8")
    holdfast("session", "ingest", str(tmp_path))
    lines = [line.rstrip() for line in holdfast("status", "--all").out.splitlines()]
    shop = lines.index("shop  /gone/shop")
    assert lines[shop + 1].startswith("  10000000"), "its own folder first"
    assert lines[shop + 2] == "  .worktrees/1"
    assert lines[shop + 3].startswith("  00000000")
    assert "other  /gone/other" in lines
    assert not any(line.startswith(("1 ", "1  ")) for line in lines)


def test_a_compaction_names_files_from_the_sessions_folder_on(
    holdfast: Call, ingested: str
) -> None:
    shown = holdfast("show", ingested, "--compaction", "1").out
    assert "file: shop/server.py" in shown
    chain = holdfast("show", ingested, "--compactions", "--full").out
    assert "/home/dev/shop/" not in shown + chain
    assert "182 rows archived" in chain


def test_a_list_that_is_cut_at_its_limit_says_so(holdfast: Call, tmp_path: Path) -> None:
    recorded = Path(SAMPLE).read_text(encoding="utf-8")
    for number in range(3):
        copy = tmp_path / f"{number}{'0' * 7}-0000-4000-8000-000000000000.jsonl"
        copy.write_text(recorded, encoding="utf-8")
    holdfast("session", "ingest", str(tmp_path))
    for option, noun in (("--all", "session"), ("--compactions", "compaction")):
        cut = holdfast("status", option, "--limit", "2").out
        assert f"The latest 2 {noun}s; --limit N shows more." in cut
        assert len(json.loads(holdfast("status", option, "--limit", "2", "--json").out)) == 2
        assert "--limit" not in holdfast("status", option, "--limit", "3").out


def test_search_shows_one_hit_once(holdfast: Call, ingested: str, tmp_path: Path) -> None:
    """What was said is stored as a message, a reply and a next step, and again in a fork."""
    fork = tmp_path / "forked-session.jsonl"
    fork.write_text(Path(SAMPLE).read_text().replace("bcd7f21d-", "f0f0f0f0-"))
    holdfast("session", "ingest", str(fork))
    hits = json.loads(holdfast("search", "README", "section", "green", "--json").out)["hits"]
    said = [hit for hit in hits if "the README has a section" in hit["snippet"]]
    assert len(said) == 1
    shown = holdfast("search", "dependencies").out
    assert shown.count("rule, in force") == 1  # and below it the message that it stands in
    assert "user: House rule for this repo" in shown
    assert "`holdfast show " in shown


def test_what_one_message_told_in_different_words_stays(holdfast: Call, ingested: str) -> None:
    hits = json.loads(holdfast("search", "cents", "--kind", "rule", "--json").out)["hits"]
    assert {hit["fact"]["id"] for hit in hits} >= {"r1"}
    assert len({hit["fact"]["text"] for hit in hits}) == len(hits)


def test_a_fact_that_is_cut_is_its_message(holdfast: Call, ingested: str) -> None:
    hits = json.loads(holdfast("search", "discount", "--limit", "100", "--json").out)["hits"]
    whole = [(hit["message"] or {}).get("row") for hit in hits]
    cut = [
        hit["fact"]["row"]
        for hit in hits
        if hit["fact"]
        and hit["fact"]["text"][-1:] == "…"
        and hit["fact"]["kind"] in ("request", "reply")
    ]
    assert [row for row in cut if row in whole] == []


def test_a_session_is_shown_as_a_conversation(holdfast: Call, ingested: str) -> None:
    shown = holdfast("show", ingested).out
    assert "User  2026-11-15 23:44 UTC  4f03e465\n  Go on, make the server test green" in shown
    assert "  · $ git add -A" in shown
    assert "earlier messages; --full shows all" in shown
    assert "House rule for this repo" not in shown
    assert "House rule for this repo" in holdfast("show", ingested, "--full").out
    assert '"type"' not in shown
    assert all(line == line.rstrip() for line in shown.split("\n\n", 1)[1].splitlines())


def test_a_fact_is_a_sentence_with_the_words_it_comes_from(holdfast: Call, ingested: str) -> None:
    shown = holdfast("show", f"{ingested}:r1").out
    assert shown.startswith("Rule r1 of session bcd7f21d is in force:\n  House rule for this repo")
    assert "The user wrote on 2026-11-15 23:44 UTC:\n  House rule" in shown
    assert "Row c401d78f" in shown
    assert "Command c1 of session bcd7f21d succeeded:" in holdfast("show", f"{ingested}:c1").out


def test_a_call_of_a_tool_is_shown_by_the_names_of_its_input(holdfast: Call, ingested: str) -> None:
    rows = map(json.loads, Path(SAMPLE).read_text().splitlines())
    row = next(
        row["uuid"]
        for row in rows
        if row.get("type") == "assistant" and "git commit" in json.dumps(row["message"])
    )
    shown = holdfast("show", f"{ingested}:{row[:8]}").out
    assert "Bash\n    command: git " in shown
    assert "{" not in shown
