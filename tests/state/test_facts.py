"""What kinds of facts are called, the same wherever people read it."""

import re
from pathlib import Path

import holdfast.server.dashboard
from holdfast.audit.formatting import FACT_LABELS
from holdfast.brief.gap import MAX_FACTS_BY_KIND
from holdfast.state.facts import KINDS, LABELS, count_kind, kind_heading, kind_name

PAGE = Path(holdfast.server.dashboard.__file__).parent / "page"


def test_every_kind_has_a_label() -> None:
    assert tuple(LABELS) == KINDS
    assert len({label.many for label in LABELS.values()}) == len(KINDS)


def test_every_kind_that_a_gap_tells_has_words_for_it() -> None:
    assert all(LABELS[kind].in_gap for kind in MAX_FACTS_BY_KIND)


def test_the_dashboard_uses_the_same_words() -> None:
    table = re.search(
        r"export const KINDS = \{(.*?)^\};", (PAGE / "words.js").read_text("utf-8"), re.S | re.M
    )
    assert table is not None
    found = re.findall(r'^  (\w+): \["([^"]+)", "([^"]+)"\],$', table[1], re.M)
    assert found == [(kind, label.one, label.many) for kind, label in LABELS.items()]


def test_an_audit_uses_the_same_words_but_for_kinds_of_which_it_counts_a_part() -> None:
    part = {"said", "rule", "dead_end", "refused", "error", "test", "file"}
    assert all(FACT_LABELS[kind] == LABELS[kind].many for kind in FACT_LABELS.keys() - part)


def test_a_count_is_told_in_the_words_of_its_kind() -> None:
    assert (count_kind(1, "dead_end"), count_kind(2, "dead_end")) == ("1 dead end", "2 dead ends")
    assert (count_kind(1, "identifier"), count_kind(1_200, "reply")) == (
        "1 exact value",
        "1,200 replies",
    )
    assert (kind_name("next_step"), kind_heading("next_step")) == ("next step", "Next steps")
