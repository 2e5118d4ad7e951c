"""What is kept between runs, and what is not."""

from pathlib import Path

from benchmarks.quality.product import Product, tree_hash, unchanged
from benchmarks.quality.remembered import Memory


def test_an_answer_is_made_once_for_each_key(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path))
    assert memory.recall(("a", 1), lambda: {"n": 1}) == {"n": 1}
    assert memory.recall(("a", 1), lambda: {"n": 2}) == {"n": 1}
    assert memory.recall(("a", 2), lambda: {"n": 2}) == {"n": 2}


def test_nothing_is_kept_of_a_tree_that_is_unknown_or_was_edited_meanwhile(tmp_path: Path) -> None:
    memory = Memory(str(tmp_path / "kept"))
    assert memory.recall(("a", ""), lambda: 1) == 1
    assert memory.recall(("a", ""), lambda: 2) == 2
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("1")
    made_by = Product((), tree_hash(str(tree)), str(tree), frozenset())

    def edit() -> int:
        (tree / "a.py").write_text("2")
        return 1

    assert memory.recall(("b",), edit, lambda: unchanged(made_by)) == 1
    assert memory.recall(("b",), lambda: 3) == 3
