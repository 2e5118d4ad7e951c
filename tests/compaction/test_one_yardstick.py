"""One definition of what matters: every view gives the same figures for the same compactions."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from audit.stories import RULE, Clocked
from holdfast.cli.main import main
from holdfast.compaction.report import COUNTED_KINDS
from holdfast.paths import store_path
from holdfast.recall.queries import format_session_report
from holdfast.store.sqlite.store import SqliteStore
from support.in_process_service import running

SESSION = "5a0b3c1e-0000-4000-8000-000000000001"


def compacted_twice() -> Clocked:
    """Rules and tasks that two summaries lose, beside a file and a command that failed once."""
    story = Clocked(SESSION)
    story.user(f"Please fix the tax on invoices. {RULE}")
    story.task(1, "Write the migration for the tax table")
    story.edit("src/billing/tax.py", "return TAX_RATE", "return roundHalfUp(TAX_RATE)")
    story.bash("curl https://example.org/rates.json", "curl: (6) no such host", error=True)
    story.compacted()
    story.user("Never send an invoice without the number of the customer. Go on with the tax.")
    story.task(2, "Print the customer number on every invoice")
    story.compacted()
    story.user("go on")
    story.says("Going on with the migration.")
    return story


def test_the_same_figures_come_from_every_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "data"))
    folder = tmp_path / "transcripts"
    folder.mkdir()
    compacted_twice().write(folder)

    def call(*arguments: str) -> Any:
        with pytest.raises(SystemExit):
            main([*arguments, "--json"])
        return json.loads(capsys.readouterr().out)

    with pytest.raises(SystemExit):
        main(["session", "ingest", str(folder)])
    capsys.readouterr()
    audited = call("audit", str(folder))
    expected = [
        (p["counted"]["in_summary"], p["counted"]["known"], p["counted"]["with_brief"])
        for p in audited["points"]
    ]
    assert len(expected) == 2
    assert all(kept < known == with_brief for kept, known, with_brief in expected)
    assert audited["also_known"] >= 2
    assert set(audited["facts"]) <= COUNTED_KINDS

    def figures(found: list[dict[str, Any]]) -> list[tuple[int, int, int]]:
        return [
            (one["kept"], one["kept"] + one["lost"], one["kept"] + one["would_restore"])
            for one in found
        ]

    assert figures(call("status", "--compactions")[::-1]) == expected
    assert figures(call("show", SESSION, "--compactions")["compactions"]) == expected
    store = store_path()
    with running(store, str(tmp_path / "service")) as service:
        life = service.owner.get(f"/api/sessions/{SESSION}/life").json()
        assert figures(life["compactions"]) == expected
        overview = service.owner.get("/api/overview").json()["compactions"]
        assert figures(overview) == expected
    with closing(SqliteStore(store)) as opened:
        kept, known, with_brief = expected[-1]
        said = format_session_report(opened, SESSION)
    assert f"kept {kept} of {known} facts that matter" in said
    assert f"it would have been {with_brief - kept} of those lost" in said
