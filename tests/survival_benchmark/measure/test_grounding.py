"""The three rules of grounding, each accepting and rejecting. The session is hand-made."""

from pathlib import Path

import pytest

from benchmarks.measure.brief_lines import read_brief
from benchmarks.measure.entities import Entity
from benchmarks.measure.prepared_boundary import PreparedBoundary
from benchmarks.measure.scoring import find_grounded
from survival_benchmark.measure.handmade import tax_story

TAX = Entity("path", "src/billing/tax.py")
CHECKOUT = Entity("path", "src/cart/checkout.py")
PYTEST = Entity("command", "python -m pytest tests/test_tax.py")
HELPER = Entity("identifier", "roundHalfUp")
COMPUTE = Entity("identifier", "compute_tax")
TASK = Entity("task", "write the invoice test")
COMMIT = Entity("hash", "3fa9c21")


@pytest.fixture
def prepared(tmp_path: Path) -> PreparedBoundary:
    return tax_story().prepared(tmp_path)


@pytest.mark.parametrize(
    "brief",
    [
        "roundHalfUp, compute_tax, src/billing/tax.py, 3fa9c21",
        "roundHalfUp\ncompute_tax\nsrc/billing/tax.py\npython -m pytest tests/test_tax.py",
        "Symbols: roundHalfUp, compute_tax",
        "Important files: src/billing/tax.py, src/cart/checkout.py",
        "",
    ],
)
def test_bare_mentions_ground_nothing(prepared: PreparedBoundary, brief: str) -> None:
    assert find_grounded(brief, prepared) == set()


def test_rule_i_a_line_told_as_before_grounds_what_it_holds(prepared: PreparedBoundary) -> None:
    line = "helper roundHalfUp must stay beside compute_tax: the report imports it"
    assert find_grounded(line, prepared) == {HELPER, COMPUTE}


def test_rule_i_needs_two_shared_words_and_a_third_of_the_line(prepared: PreparedBoundary) -> None:
    assert find_grounded("the helper roundHalfUp", prepared) == set()
    padded = "helper report roundHalfUp " + " ".join(f"filler{w}" for w in "abcdefgh")
    assert find_grounded(padded.replace("filler", "unrelated"), prepared) == set()


def test_rule_i_does_not_let_commands_vouch_for_each_other(prepared: PreparedBoundary) -> None:
    assert find_grounded("python -m pytest tests/test_tax.py, git commit -m fix", prepared) == set()


def test_rule_ii_a_true_label_grounds(prepared: PreparedBoundary) -> None:
    assert TAX in find_grounded("Edited: src/billing/tax.py", prepared)
    assert TAX in find_grounded("## Files changed\n- billing/tax.py", prepared)
    assert TAX in find_grounded("src/billing/tax.py (edited, 2 times)", prepared)
    assert PYTEST in find_grounded(
        "Commands run:\n- `python -m pytest tests/test_tax.py`", prepared
    )
    assert TASK in find_grounded("Open tasks:\n- Write the invoice test", prepared)
    assert TASK in find_grounded("- [ ] Write the invoice test", prepared)
    assert COMMIT in find_grounded("Commits: 3fa9c21d0", prepared)
    assert CHECKOUT in find_grounded("Seen in search: src/cart/checkout.py", prepared)
    assert PYTEST in find_grounded("Failing: python -m pytest tests/test_tax.py", prepared)


def test_rule_ii_a_false_label_does_not(prepared: PreparedBoundary) -> None:
    assert find_grounded("Edited: src/cart/checkout.py", prepared) == set()
    assert find_grounded("Read: src/cart/checkout.py", prepared) == set()
    assert find_grounded("Done tasks:\n- Write the invoice test", prepared) == set()
    assert find_grounded("Errors: roundHalfUp", prepared) == set()


def test_rule_ii_a_label_ends_with_the_next_heading(prepared: PreparedBoundary) -> None:
    assert find_grounded("Edited:\n\nOther things:\nsrc/billing/tax.py", prepared) == set()


def test_rule_iii_a_symbol_on_the_line_of_its_file(prepared: PreparedBoundary) -> None:
    assert find_grounded("tax.py: roundHalfUp, compute_tax", prepared) == {HELPER, COMPUTE}
    cart = Entity("identifier", "cartLines")
    assert find_grounded("checkout.py: cartLines", prepared) == {cart}


def test_rule_iii_rejects_a_file_where_it_did_not_occur(prepared: PreparedBoundary) -> None:
    assert find_grounded("invoice.py: roundHalfUp", prepared) == set()
    assert find_grounded("roundHalfUp, tax.py", prepared) == set()
    assert find_grounded("tax.py: a; invoice.py: roundHalfUp", prepared) == set()


def test_a_path_may_stand_under_its_folder(prepared: PreparedBoundary) -> None:
    assert TAX in find_grounded("Edited:\nsrc/billing/\n  tax.py", prepared)
    assert TAX in find_grounded("Edited: src/billing/: tax.py", prepared)


def test_a_line_of_its_own_standing_overrules_its_heading() -> None:
    lines = read_brief("Tasks, open:\n- one\n- two (done)\nErrors: x")
    assert lines[1].labels == {"task", "open"}
    assert lines[2].labels == {"task", "done"}
    assert lines[3].labels == {"error"}


def test_first_words_label_a_line_only_where_nothing_else_does() -> None:
    lines = read_brief("Open tasks:\n- run tests\n## Notes\nEdited a/b.py\nmise run lint")
    assert lines[1].labels == {"task", "open"}
    assert lines[3].labels == {"edited"}
    assert lines[4].labels == frozenset()


def test_strictly_only_the_labels_of_the_definition_count(prepared: PreparedBoundary) -> None:
    assert find_grounded("Edited: src/billing/tax.py", prepared, strict=True) == {TAX}
    assert find_grounded("Commits: 3fa9c21", prepared, strict=True) == set()
    assert find_grounded("Seen: src/cart/checkout.py", prepared, strict=True) == set()
    assert find_grounded("tax.py: roundHalfUp", prepared, strict=True) == {HELPER}
