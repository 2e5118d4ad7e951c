"""The table of kinds of facts: what people call them, and what it takes to add one."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import holdfast
from holdfast.audit.statistics import FACT_LABELS
from holdfast.server.dashboard import _ASSETS
from holdfast.state.model import KINDS, count_kind, is_fact_id, kind_heading, kind_name

ROOT = Path(__file__).parents[2]

# The one new file of a kind, and the lines of `model.py` that name it.
QUESTIONS = '''"""Questions: what the agent asked and nobody answered yet."""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import AgentSaid, Origin
from holdfast.state.facts import OPEN, AskedInGap, Fact, FactKind, Position, next_number, put_record


class Question(NamedTuple):
    number: int
    text: str
    at: Origin


def on_agent_said(
    table: dict[str, Question], event: AgentSaid, position: Position
) -> dict[str, Question]:
    if not event.text.endswith("?"):
        return table
    number = next_number(table)
    return put_record(table, KIND.fact_id(number), Question(number, event.text, event.at), 20)


def list_facts(table: dict[str, Question]) -> Iterator[Fact]:
    for key, question in table.items():
        yield Fact(key, KIND.name, question.text, OPEN, question.at)


KIND = FactKind(
    "question",
    "u",
    Question,
    list_facts,
    gap=AskedInGap("Unanswered question", most=5, rank=13),
    counted_in="tasks",
    main=True,
)
'''
# A line of a file, and the line that is added below it.
ADDED = (
    ("    plans,", "    questions,"),
    ("    replies: replies.Table = {}", "    questions: dict[str, questions.Question] = {}"),
    ("    plans,\n    check_results,", "    questions,"),
)
TRY_IT = """
import json
from holdfast.audit.statistics import FACT_LABELS
from holdfast.brief.gap import compose_gap
from tools.docs_reference import build_page
from holdfast.compaction.report import COUNTED_KINDS
from holdfast.events import AgentSaid, Origin
from holdfast.recall.queries import MAIN_KINDS
from holdfast.state import decode_state, encode_state, fold_all, list_facts
asked = AgentSaid(Origin("row", 0, 9, "2026-01-05T10:00:00Z"), "Which port should the mock use?")
state = decode_state(json.loads(json.dumps(encode_state(fold_all([asked])))))
print(json.dumps({
    "fact": [fact[:3] for fact in list_facts(state) if fact.kind == "question"],
    "gap": compose_gap(state, "Nothing of it.", "", 2000).text.splitlines()[-1],
    "counted": "question" in COUNTED_KINDS,
    "recalled": "question" in MAIN_KINDS,
    "audited": FACT_LABELS["question"],
    "documented": "`u` question" in build_page(),
}))
"""


def test_a_new_kind_takes_one_module_and_lines_in_one_file(tmp_path: Path) -> None:
    copy = tmp_path / "holdfast"
    shutil.copytree(
        Path(holdfast.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__")
    )
    (copy / "state" / "questions.py").write_text(QUESTIONS, "utf-8")
    changed = copy / "state" / "model.py"
    for line, below in ADDED:
        source = changed.read_text("utf-8")
        assert f"\n{line}\n" in source
        changed.write_text(source.replace(f"\n{line}\n", f"\n{line}\n{below}\n", 1), "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", TRY_IT],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "fact": [["u1", "question", "Which port should the mock use?"]],
        "gap": "- Unanswered question: Which port should the mock use?",
        "counted": True,
        "recalled": True,
        "audited": "Questions",
        "documented": True,
    }


def test_no_two_kinds_share_a_letter_or_a_name_in_the_plural() -> None:
    assert len({kind.letter for kind in KINDS.values()}) == len(KINDS)
    assert len({kind.many for kind in KINDS.values()}) == len(KINDS)


def test_no_two_kinds_share_a_rank_in_the_gap() -> None:
    ranks = [kind.gap.rank for kind in KINDS.values() if kind.gap]
    assert sorted(ranks) == list(range(1, len(ranks) + 1))


def test_the_dashboard_is_served_the_same_words() -> None:
    served = _ASSETS["kinds.js"].decode().removeprefix("export const KINDS = ").rstrip(";")
    assert json.loads(served) == {name: [kind.one, kind.many] for name, kind in KINDS.items()}


def test_an_audit_uses_the_same_words_but_for_kinds_of_which_it_counts_a_part() -> None:
    part = {"rule", "error", "test", "request"}
    assert all(FACT_LABELS[kind] == KINDS[kind].many for kind in FACT_LABELS.keys() - part)


def test_a_count_is_told_in_the_words_of_its_kind() -> None:
    assert (count_kind(1, "dead_end"), count_kind(2, "dead_end")) == ("1 dead end", "2 dead ends")
    assert (count_kind(1, "identifier"), count_kind(1_200, "reply")) == (
        "1 exact value",
        "1,200 replies",
    )
    assert (kind_name("next_step"), kind_heading("next_step")) == ("next step", "Next steps")


def test_an_id_is_the_letter_of_a_kind_and_a_number() -> None:
    assert all(map(is_fact_id, ("t3", "td1", "mf2", "x12")))
    assert not any(map(is_fact_id, ("3", "t", "z1", "0276a600", "tdd1")))


def test_ids_are_made_by_their_kind_alone() -> None:
    by_hand = re.compile(r"""f"[a-z]{1,2}\{[^}"]*number\}\"|"[a-z]{1,2}" \+ \w*(?:number|task)\b""")
    package = Path(holdfast.__file__).parent
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for folder in ("state", "brief", "session", "compaction", "recall", "cli", "sdk", "audit")
        for path in (package / folder).rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if by_hand.search(line)
    ]
    assert found == []
