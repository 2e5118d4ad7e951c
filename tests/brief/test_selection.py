"""Choosing statements: the same everywhere."""

import os
import subprocess
import sys

CHOICE = """
from holdfast.brief.selection import Selection
from holdfast.brief.statements import Statement

def said(fact, words):
    return Statement("user", fact, "as long as the other", frozenset(words), 1.0, 0, 0, 0)

names = [f"{letter}{n}" for n in range(40) for letter in "abc"]
weights = {name: {"a": 0.1, "b": 0.2, "c": 0.3}[name[0]] for name in names}
offered = [said(f"q{n}", (f"a{n}", f"b{n}", f"c{n}")) for n in range(40)]
choice = Selection(offered, weights, lambda one: 10)
choice.fill(100)
print(",".join(one.fact for one in choice.statements()))
"""


def test_the_choice_is_the_same_in_every_process() -> None:
    """The order of a set is another one each time: of equal values the first is to win."""
    chosen = {
        subprocess.run(
            [sys.executable, "-c", CHOICE],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in range(3)
    }
    assert chosen == {",".join(f"q{n}" for n in range(10))}
