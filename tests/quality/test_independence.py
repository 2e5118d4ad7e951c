"""The judge asks the product from outside: it imports nothing that it measures."""

import ast
from pathlib import Path

import benchmarks.quality

# The survival judge has its own such test, and shares nothing with the product either.
ALLOWED = ("benchmarks.quality", "benchmarks.survival", "benchmarks.measure")


def imported(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_quality_imports_nothing_of_what_it_measures() -> None:
    files = sorted(Path(benchmarks.quality.__file__).parent.glob("*.py"))
    assert len(files) > 10
    for file in files:
        ours = {
            name
            for name in imported(file.read_text("utf-8"))
            if name.split(".")[0] in ("holdfast", "benchmarks")
        }
        assert all(name.startswith(ALLOWED) for name in ours), (file.name, ours)
