"""Said: what is planted into a session, and what counts as kept."""

import json
from pathlib import Path

from benchmarks.quality import said
from benchmarks.quality.sentences import CORRECTIONS, STATEMENTS

from .rows import Row, answered, boundary, called, summary, typed
from .rows import said as agent_said


def session(turns: int = 40) -> list[Row]:
    rows = []
    for n in range(turns):
        rows += [typed(f"step {n}"), called("Read", f"t{n}", file_path=f"/home/ann/{n}.py")]
        rows += [answered(f"t{n}", "text"), agent_said(f"Step {n} is finished.")]
    return [*rows, boundary(), summary("what went before"), typed("go on")]


def test_the_same_seed_plants_the_same_and_another_plants_others() -> None:
    rows = session()
    first, again, other = (said.plant_statements(rows, seed) for seed in ("1", "1", "2"))
    assert first is not None
    assert again is not None
    assert other is not None
    assert first.rows == again.rows
    assert first.said != other.said


def test_prompts_stand_before_the_cut_on_one_chain() -> None:
    rows = session()
    planted = said.plant_statements(rows, "chain")
    assert planted is not None
    added = [row for row in planted.rows if row.get("uuid") not in {r.get("uuid") for r in rows}]
    assert len(added) == said.PLACES
    assert planted.rows[planted.cut]["uuid"] == planted.boundary
    assert all(planted.rows.index(row) < planted.cut for row in added)
    texts = [row["message"]["content"] for row in added]
    assert all(text in texts for _, text, _ in planted.said)
    assert rows == session_like(rows)  # what was given is not changed


def session_like(rows: list[Row]) -> list[Row]:
    loaded: list[Row] = json.loads(json.dumps(rows))
    return loaded


def test_a_session_without_room_is_left_out() -> None:
    assert said.plant_statements(session(3), "1") is None
    assert said.plant_statements([typed("never compacted")], "1") is None


def test_kept_known_and_standing() -> None:
    planted = said.Planted(
        [],
        "b",
        0,
        (("who", "Priya decides about the schema.", "priya decides schema"),),
        "Keep 5 backups",
        "9 backups",
    )
    both = said.score_said(planted, '- "Priya decides about the schema."\n- "Make that 9 backups."')
    assert (both.kinds, both.corrected, both.withdrawn) == ({"who": (1, 1)}, True, False)
    neither = said.score_said(planted, "Priya reviews.\nKeep 5 backups.")
    assert (neither.kinds, neither.corrected, neither.withdrawn) == ({"who": (1, 0)}, False, True)
    marked = said.score_said(planted, 'Withdrawn since: "Keep 5 backups."')
    assert not marked.withdrawn


def test_every_sentence_tells_its_own_words() -> None:
    """Else a brief that quotes it whole would not keep it."""
    for kind, sentences in STATEMENTS.items():
        assert len(sentences) >= 6, kind
        for text, telling in sentences:
            wanted = telling.split()
            found = sum(word in text.lower() for word in wanted)
            assert found >= 0.7 * len(wanted), text
    for first, second, withdrawn, corrected in CORRECTIONS:
        assert withdrawn in first
        assert corrected in second
        assert withdrawn not in second


def test_written_rows_are_read_again(tmp_path: Path) -> None:
    planted = said.plant_statements(session(), "w")
    assert planted is not None
    said.write_transcript(planted, tmp_path / "t.jsonl")
    lines = (tmp_path / "t.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == planted.rows
