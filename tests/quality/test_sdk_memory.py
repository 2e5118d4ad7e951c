"""Conversations as messages, for the benchmark of what frameworks keep of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def run() -> Callable[[], list[Any]]:
    """Imported when a test asks: the libraries that it compares take seconds."""
    from benchmarks import sdk_memory

    return sdk_memory.run


def row(kind: str, number: int, held: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": held}
    return {"type": kind, "uuid": f"u{number}", "sessionId": "s", "message": message, **more}


def conversation() -> list[dict[str, Any]]:
    """A rule, then thirty calls whose answers are long; a compaction, and its summary."""
    rows = [row("user", 0, "Never sell rye on Mondays.")]
    for number in range(1, 61, 2):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash"}
        rows.append(row("assistant", number, [{**call, "input": {"command": f"cat {number}.log"}}]))
        answer = {"type": "tool_result", "tool_use_id": f"t{number}"}
        rows.append(row("user", number + 1, [{**answer, "content": "warm ovens\n" * 400}]))
    rows.append({"type": "system", "subtype": "compact_boundary", "uuid": "cut", "sessionId": "s"})
    rows.append(row("user", 99, "We bake.", isCompactSummary=True))
    return rows


def test_ours_tells_what_the_others_lost(
    run: Callable[[], list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"kind": "rule", "must": 3, "text": "rye", "words": ["never", "rye", "mondays"]}
    facts = [{**told, "in_summary": "no"}]
    gold = {"session": "s", "boundary": "cut", "repo": "shop", "traps": [], "facts": facts}
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(one) + "\n" for one in conversation()))
    (tmp_path / "s.gold.json").write_text(json.dumps(gold))
    monkeypatch.setenv("CORPUS", str(tmp_path))
    monkeypatch.setenv("GOLD", str(tmp_path))
    rows = run()
    assert [(one.ratio, one.runs) for one in rows[:2]] == [(0, 1), (0, 1)]


def test_without_annotations_there_are_no_rows(
    run: Callable[[], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CORPUS", "HOLDFAST_CORPUS", "GOLD", "HOLDFAST_GOLD"):
        monkeypatch.delenv(name, raising=False)
    assert run() == []
