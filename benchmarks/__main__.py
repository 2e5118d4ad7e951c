"""Runs every benchmark in this package and prints one table: `make bench`.

A benchmark is a module with `run()`, which gives rows with what was measured, its ratio, the
limit of the ratio (0 where it only informs), the time and the number of runs.
"""

import importlib
import pkgutil
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

import benchmarks


def list_benchmarks() -> list[str]:
    """The modules here. Packages measure something else and have commands of their own."""
    found = pkgutil.iter_modules(benchmarks.__path__)
    return [one.name for one in found if not one.name.startswith("_") and not one.ispkg]


def main(wanted: list[str]) -> int:
    table = Table(title="Ratios within one run, medians", title_justify="left")
    table.add_column("what", no_wrap=True)
    for heading in ("ratio", "at most", "time", "n"):
        table.add_column(heading, justify="right")
    missed = 0
    for name in list_benchmarks():
        if wanted and name not in wanted:
            continue
        module = importlib.import_module(f"benchmarks.{name}")
        if not hasattr(module, "run"):
            continue
        table.add_section()
        for row in module.run():
            held = not row.limit or row.ratio <= row.limit
            missed += not held
            style = ("dim" if not row.limit else "green") if held else "red"
            table.add_row(
                Text(row.what, style="" if row.limit else "dim"),
                Text(f"{row.ratio:.2f}x{'' if held else ' missed'}", style=style),
                f"{row.limit:g}x" if row.limit else "",
                f"{row.milliseconds:,.1f} ms" if row.milliseconds else "",
                str(row.runs),
            )
    Console(width=None if sys.stdout.isatty() else 110).print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
