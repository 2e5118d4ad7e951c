"""What is kept between runs, and what is not."""

from pathlib import Path

from benchmarks.quality.product_command import Product, is_unchanged, tree_hash
from benchmarks.quality.result_cache import ResultCache


def test_an_answer_is_made_once_for_each_key(tmp_path: Path) -> None:
    memory = ResultCache(str(tmp_path))
    assert memory.recall(("a", 1), lambda: {"n": 1}) == {"n": 1}
    assert memory.recall(("a", 1), lambda: {"n": 2}) == {"n": 1}
    assert memory.recall(("a", 2), lambda: {"n": 2}) == {"n": 2}


def test_nothing_is_kept_of_a_tree_that_is_unknown_or_was_edited_meanwhile(tmp_path: Path) -> None:
    memory = ResultCache(str(tmp_path / "kept"))
    assert memory.recall(("a", ""), lambda: 1) == 1
    assert memory.recall(("a", ""), lambda: 2) == 2
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("1")
    product_command = Product((), tree_hash(str(tree)), str(tree), traces=False)

    def edit() -> int:
        (tree / "a.py").write_text("2")
        return 1

    assert memory.recall(("b",), edit, lambda: is_unchanged(product_command)) == 1
    assert memory.recall(("b",), lambda: 3) == 3
