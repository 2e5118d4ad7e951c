"""Ingestion: everything once, only what is new, and whatever a file throws at it."""

import gzip
import json
from pathlib import Path

import pytest

from holdfast.session import ingest as ingesting
from holdfast.session.follow import follow_transcript, to_saved
from holdfast.session.ingest import find_session_id, ingest_transcript
from holdfast.session.replay import read_source_row, scan_boundaries
from holdfast.state import decode_state, list_facts
from holdfast.store.sqlite.store import SqliteStore
from holdfast.transcript.reader import TranscriptMissing
from support import made_transcripts
from support.transcripts import SAMPLE


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(str(tmp_path / "store" / "holdfast.db"))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()


def counts(store: SqliteStore) -> dict[str, int]:
    found: dict[str, int] = store.health()["counts"]
    return found


def test_the_store_then_knows_what_the_transcript_says(store: SqliteStore) -> None:
    done = ingest_transcript(store, str(SAMPLE))
    whole = follow_transcript(str(SAMPLE))
    saved = store.load(done.session_id)
    assert saved is not None
    assert (saved.state, saved.position) == tuple(json.loads(json.dumps(to_saved(whole))))
    assert {f.id: f for f in store.facts(done.session_id)} == {
        f.id: f for f in list_facts(whole.state)
    }
    assert (saved.session.branch, saved.session.project) == ("main", "/home/dev/shop")


def test_a_second_time_nothing_is_new(store: SqliteStore) -> None:
    first = ingest_transcript(store, str(SAMPLE))
    before = counts(store)
    again = ingest_transcript(store, str(SAMPLE))
    assert (first.rows > 100, again.rows, again.facts, again.messages) == (True, 0, 0, 0)
    assert counts(store) == before


def test_only_what_was_appended_is_read(store: SqliteStore, tmp_path: Path) -> None:
    lines = SAMPLE.read_bytes().splitlines(keepends=True)
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(lines[:100]))
    assert ingest_transcript(store, str(path)).rows == 100
    path.write_bytes(b"".join(lines))
    done = ingest_transcript(store, str(path))
    assert done.rows == len(lines) - 100
    saved = store.load(done.session_id)
    assert saved is not None
    assert decode_state(saved.state) == follow_transcript(str(SAMPLE)).state


def test_a_checkpoint_is_kept_from_right_before_each_compaction(
    store: SqliteStore, tmp_path: Path
) -> None:
    path = made_transcripts.write(tmp_path, 1, 15)
    done = ingest_transcript(store, str(path))
    marks = scan_boundaries(str(path))
    kept = sorted(store.checkpoints(done.session_id), key=lambda one: one.epoch)
    assert [one.revision[1] for one in kept] == [mark.start for mark in marks]
    assert [(one.epoch, one.cause) for one in kept] == [(0, "compaction"), (1, "compaction")]
    for one, mark in zip(kept, marks, strict=True):
        saved = store.load_checkpoint(one.id)
        assert saved is not None
        assert decode_state(saved.state) == follow_transcript(str(path), until=mark.start).state


def test_a_compaction_is_recorded_with_its_summary(store: SqliteStore, tmp_path: Path) -> None:
    done = ingest_transcript(store, str(made_transcripts.write(tmp_path, 2, 15)))
    found = sorted(store.compactions(done.session_id), key=lambda one: one.epoch)
    assert [one.epoch for one in found] == [0, 1]
    assert ["7 parts" in found[0].summary, "14 parts" in found[1].summary] == [True, True]
    assert (found[0].trigger, found[0].tokens_before, found[0].tokens_after) == ("auto", 1000, 10)


def test_where_the_client_recorded_no_size_after_it_the_first_answers_context_stands(
    store: SqliteStore, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row.get("compactMetadata", {}).pop("postTokens", None)
    at = next(i for i, row in enumerate(rows) if row.get("subtype") == "compact_boundary")
    usage = next(row["message"]["usage"] for row in rows[at:] if row["type"] == "assistant")
    path = tmp_path / SAMPLE.name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (found,) = store.compactions(ingest_transcript(store, str(path)).session_id)
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    assert found.tokens_after == sum(usage[part] for part in parts) > 0


def test_words_are_kept_for_search_each_once(store: SqliteStore, tmp_path: Path) -> None:
    path = made_transcripts.write(tmp_path, 3, 3)
    ingest_transcript(store, str(path))
    ingest_transcript(store, str(path))
    hits = store.search("stands", kind="message")
    assert len(hits) == 3


def test_small_stretches_give_what_one_gives(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "STEP_BYTES", 5_000)
    path = made_transcripts.write(tmp_path, 4, 15)
    done = ingest_transcript(store, str(path))
    saved = store.load(done.session_id)
    assert saved is not None
    assert decode_state(saved.state) == follow_transcript(str(path)).state
    assert done.total_rows == len(made_transcripts.rows(4, 15))
    assert len(store.checkpoints(done.session_id)) == 2


def test_a_packed_file_is_read_to_its_last_line(store: SqliteStore, tmp_path: Path) -> None:
    path = tmp_path / f"{made_transcripts.session_id(5)}.jsonl.gz"
    plain = made_transcripts.write(tmp_path, 5, 3).read_bytes().rstrip(b"\n")
    path.write_bytes(gzip.compress(plain))
    assert ingest_transcript(store, str(path)).rows == len(made_transcripts.rows(5, 3))


def test_the_last_line_of_a_growing_file_is_left_until_it_is_whole(
    store: SqliteStore, tmp_path: Path
) -> None:
    path = made_transcripts.write(tmp_path, 6, 3)
    data = path.read_bytes()
    path.write_bytes(data[:-10])
    done = ingest_transcript(store, str(path))
    assert (done.rows, done.bad) == (len(made_transcripts.rows(6, 3)) - 1, 0)
    path.write_bytes(data)
    assert ingest_transcript(store, str(path)).rows == 1


def test_bad_lines_and_unknown_rows_are_counted(store: SqliteStore, tmp_path: Path) -> None:
    path = made_transcripts.write(tmp_path, 7, 2)
    path.write_bytes(b'{"type":"new-in-2030"}\nnot json\n' + path.read_bytes() + b"\xff\xfe\n")
    done = ingest_transcript(store, str(path))
    assert (done.bad, done.unknown) == (2, 1)
    assert done.total_rows == len(made_transcripts.rows(7, 2)) + 1


def test_a_file_that_is_no_transcript_leaves_no_session(store: SqliteStore, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"note": 1}\n{"note": 2}\n')
    assert ingest_transcript(store, str(path)).unknown == 2
    assert store.sessions() == []


def test_a_missing_file_says_so(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(TranscriptMissing):
        ingest_transcript(store, str(tmp_path / "none.jsonl"))


def test_a_replaced_file_keeps_what_was_known(store: SqliteStore, tmp_path: Path) -> None:
    path = made_transcripts.write(tmp_path, 8, 10)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:80]))
    done = ingest_transcript(store, str(path))
    # The client can rewrite a file to what stands after its last boundary.
    path.write_bytes(b"".join(lines[70:]))
    ingest_transcript(store, str(path))
    again = ingest_transcript(store, str(path))
    saved = store.load(done.session_id)
    assert saved is not None
    assert again.rows == 0
    state = decode_state(saved.state)
    assert {f"t{n}" for n in range(1, 11)} == set(state.tasks)


def test_the_session_is_named_by_its_file_or_by_its_rows(tmp_path: Path) -> None:
    path = made_transcripts.write(tmp_path, 9, 1)
    assert find_session_id(str(path)) == made_transcripts.session_id(9)
    renamed = path.rename(tmp_path / "copy.jsonl")
    assert find_session_id(str(renamed)) == made_transcripts.session_id(9)


def test_secrets_do_not_reach_the_store(store: SqliteStore, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    made = made_transcripts.rows(10, 8)
    made[0]["message"]["content"] = f"Never print my token {secret}."
    made[-1]["message"]["content"] = f"Summary:\nthe token is {secret}"
    path = tmp_path / f"{made_transcripts.session_id(10)}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    ingest_transcript(store, str(path))
    store.close()
    for file in (tmp_path / "store").iterdir():
        assert secret.encode() not in file.read_bytes()
    with_token = SqliteStore(str(tmp_path / "store" / "holdfast.db"))
    assert "[redacted:" in with_token.facts(made_transcripts.session_id(10), kind="rule")[0].text


def test_a_fact_leads_back_to_its_row(store: SqliteStore) -> None:
    done = ingest_transcript(store, str(SAMPLE))
    for fact in store.facts(done.session_id):
        row = read_source_row(str(SAMPLE), fact.at.row, fact.at.start)
        assert row is not None
        assert json.loads(row)["uuid"] == fact.at.row


def test_a_row_is_found_by_its_id_after_the_file_changed(tmp_path: Path) -> None:
    path = made_transcripts.write(tmp_path, 11, 3)
    lines = path.read_bytes().splitlines(keepends=True)
    wanted = json.loads(lines[5])["uuid"]
    path.write_bytes(b"".join(lines[3:]))
    found = read_source_row(str(path), wanted, sum(map(len, lines[:5])))
    assert found is not None
    assert json.loads(found) == json.loads(lines[5])
    assert read_source_row(str(path), "00000000-none", 0) is None
    assert read_source_row(str(tmp_path / "gone.jsonl"), wanted, 0) is None
