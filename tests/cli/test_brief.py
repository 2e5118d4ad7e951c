"""`holdfast brief`: for people, for a reader, within a size, and one line a compaction."""

import gzip
import json
import os
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.session.follow import follow_transcript
from holdfast.session.replay import scan_boundaries
from support.demonstration import SESSION_FILE

from .conftest import Call

SESSION = "bcd7f21d-f6c8-464e-b159-06072e4193ad"
BOUNDARY = "edb5caff-7499-4b84-936b-4d3f648a90a2"
COMPACTIONS = ("--compactions", "--json")


def sample_rows() -> list[bytes]:
    return Path(SESSION_FILE).read_bytes().splitlines(keepends=True)


def test_it_shows_the_brief_as_the_hooks_deliver_it(holdfast: Call) -> None:
    ended = holdfast("brief", SESSION_FILE)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("Holdfast: the state of this session")
    assert "And don't add any dependencies." in ended.out
    assert len(ended.out) <= 6001


def test_in_json_it_says_for_whom_and_how_large(holdfast: Call) -> None:
    made = json.loads(holdfast("brief", SESSION_FILE, "--max-chars", "3000", "--json").out)
    assert (made["session_id"], made["role"], made["max_chars"]) == (SESSION, "main", 3000)
    assert made["characters"] == len(made["text"]) <= 3000
    assert made["tokens"] == round(len(made["text"]) / 2.9)
    assert "t3" in made["facts"]


def test_a_budget_in_tokens_keeps_a_tenth_in_hand(holdfast: Call) -> None:
    made = json.loads(holdfast("brief", SESSION_FILE, "--budget", "1000", "--json").out)
    assert made["max_chars"] == 2610
    assert made["tokens"] <= 900


@pytest.mark.parametrize(
    ("role", "shown"),
    [
        ("orchestrator", "Progress: 2 of 3 tasks done"),
        ("developer", "Recent changes, latest first"),
        ("specialist", "Changes, for this task first"),
        ("validator", "Claimed done:"),
        ("main", "Files worked on, latest first:"),
    ],
)
def test_each_role_reads_the_same_session_in_its_way(holdfast: Call, role: str, shown: str) -> None:
    assert shown in holdfast("brief", SESSION_FILE, "--role", role).out


def test_an_unknown_role_says_which_there_are(holdfast: Call) -> None:
    ended = holdfast("brief", SESSION_FILE, "--role", "nobody")
    assert ended.code == 2
    assert "orchestrator" in ended.err


def test_a_session_is_named_by_the_beginning_of_its_id_and_brought_up_to_date(
    holdfast: Call, tmp_path: Path
) -> None:
    file = tmp_path / f"{SESSION}.jsonl"
    file.write_bytes(b"".join(sample_rows()[:120]))
    assert holdfast("session", "ingest", str(file)).code == 0
    file.write_bytes(b"".join(sample_rows()))
    made = json.loads(holdfast("brief", SESSION[:8], "--json").out)
    assert made == json.loads(holdfast("brief", str(file), "--json").out)


def test_a_session_whose_transcript_is_gone_is_told_as_it_was_saved(
    holdfast: Call, tmp_path: Path
) -> None:
    file = tmp_path / f"{SESSION}.jsonl"
    file.write_bytes(b"".join(sample_rows()))
    holdfast("session", "ingest", str(file))
    before = holdfast("brief", SESSION[:8]).out
    file.unlink()
    ended = holdfast("brief", SESSION[:8])
    assert ended.out == before
    assert "no longer exists" in ended.err


def test_it_writes_nothing(holdfast: Call, home: Path, tmp_path: Path) -> None:
    holdfast("brief", SESSION_FILE)
    holdfast("brief", SESSION_FILE, *COMPACTIONS)
    assert not home.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--budget", "10", "--max-chars", "10"),
        ("--max-chars", "10", "--max-chars", "20"),
        ("--max-chars", "-1"),
    ],
)
def test_what_does_not_go_together_is_wrong_use(holdfast: Call, arguments: tuple[str, ...]) -> None:
    assert holdfast("brief", SESSION_FILE, *arguments).code == 2


def test_neither_a_file_nor_a_session_says_what_to_do(holdfast: Call) -> None:
    ended = holdfast("brief", "nothing")
    assert ended.code == 1
    assert "holdfast session ingest" in ended.err
    assert holdfast("brief", "/nowhere/x.jsonl", "--compactions").code == 1


def test_without_a_compaction_there_is_no_line(holdfast: Call, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_bytes(b"".join(sample_rows()[:100]))
    ended = holdfast("brief", str(file), *COMPACTIONS)
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_one_line_for_every_compaction_and_size_in_order(holdfast: Call) -> None:
    sizes = ("--max-chars", "2000", "--max-chars", "4000")
    ended = holdfast("brief", SESSION_FILE, *COMPACTIONS, *sizes)
    assert (ended.code, ended.err) == (0, "")
    made = [json.loads(line) for line in ended.out.splitlines()]
    assert [list(one) for one in made] == [["session_id", "boundary_uuid", "max_chars", "text"]] * 2
    assert [(o["session_id"], o["boundary_uuid"], o["max_chars"]) for o in made] == [
        (SESSION, BOUNDARY, 2000),
        (SESSION, BOUNDARY, 4000),
    ]
    (boundary,) = scan_boundaries(SESSION_FILE)
    state = follow_transcript(SESSION_FILE, until=boundary.start, final=True).state
    assert [one["text"] for one in made] == [compose(state, n).text for n in (2000, 4000)]


def test_several_compactions_come_in_file_order_each_from_what_was_before(
    holdfast: Call, tmp_path: Path
) -> None:
    rows = sample_rows()
    again = rows[130].replace(BOUNDARY.encode(), b"11111111-0000-4000-8000-000000000000")
    file = tmp_path / "s.jsonl.gz"
    file.write_bytes(gzip.compress(b"".join([*rows, again])))
    made = [
        json.loads(line) for line in holdfast("brief", str(file), *COMPACTIONS).out.splitlines()
    ]
    assert [one["boundary_uuid"][:8] for one in made] == ["edb5caff", "11111111"]
    assert "README.md" not in made[0]["text"]
    assert "README.md" in made[1]["text"]


def test_a_file_cut_right_after_the_boundary_gives_the_same_text(
    holdfast: Call, tmp_path: Path
) -> None:
    whole = holdfast("brief", SESSION_FILE, *COMPACTIONS).out
    file = tmp_path / os.path.basename(SESSION_FILE)
    file.write_bytes(b"".join(sample_rows()[:131]))
    assert holdfast("brief", str(file), *COMPACTIONS).out == whole


def test_the_file_names_the_session_where_its_rows_do_not(holdfast: Call, tmp_path: Path) -> None:
    file = tmp_path / "nameless.jsonl"
    rows = []
    for line in sample_rows():
        row = json.loads(line)
        row.pop("sessionId", None)
        rows.append(json.dumps(row))
    file.write_text("\n".join(rows) + "\n")
    (made,) = holdfast("brief", str(file), *COMPACTIONS).out.splitlines()
    assert json.loads(made)["session_id"] == "nameless"


@pytest.mark.parametrize("option", [[], ["--compactions"]])
def test_of_an_empty_transcript_it_says_that_nothing_is_known(
    holdfast: Call, tmp_path: Path, option: list[str]
) -> None:
    (tmp_path / "s.jsonl").write_bytes(b"")
    ended = holdfast("brief", str(tmp_path / "s.jsonl"), *option)
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith("Note: ")
