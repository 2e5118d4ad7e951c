"""The judge reads rows by itself: it imports nothing of what it judges."""

import ast
from pathlib import Path

import benchmarks.measure
import benchmarks.survival

# Processes and the writing of files are no part of what is judged.
OF_ALL = {"holdfast.workers", "holdfast.files"}


def imported(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_survival_imports_nothing_of_the_product_but_itself() -> None:
    files = [
        file
        for package in (benchmarks.measure, benchmarks.survival)
        for file in sorted(Path(str(package.__file__)).parent.glob("*.py"))
    ]
    assert len(files) > 20
    for file in files:
        ours = {n for n in imported(file.read_text("utf-8")) if n.split(".")[0] == "holdfast"}
        assert ours <= OF_ALL, file.name
