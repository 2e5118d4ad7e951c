"""The product, asked from outside: `holdfast brief FILE --compactions --json` in its own process.

Owns how it is run and what is remembered of its answers. Never with the user's home or settings.
What it answered is kept by (file, source tree, arguments), so a second run asks only what changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
TIMEOUT_SECONDS = 300


class ProductFailed(Exception):
    """The product ended with an error, or took too long."""


@dataclass(frozen=True, slots=True)
class Product:
    """A command line that answers as `holdfast` does, and the tree that its answers depend on."""

    command: tuple[str, ...]
    tree: str  # a hash; empty: nothing may be remembered
    source: str  # the folder that it is a hash of
    traces: bool  # its `brief` names the rows of what it tells


def find_product(candidate: str = "", source: str = "") -> Product:
    """The product of this tree, or another command; `source` is the tree it is made of."""
    command = tuple(shlex.split(candidate)) or (sys.executable, "-m", "holdfast")
    folder = source or ("" if candidate else str(ROOT / "src" / "holdfast"))
    tree = tree_hash(folder) if folder else ""
    traces = "--trace" in run(command, ["brief", "--help"], {"COLUMNS": "200"})
    return Product(command, tree, folder, traces)


def is_unchanged(product_command: Product) -> bool:
    """Whether the tree is what it was: somebody may edit it while it is measured."""
    return not product_command.source or tree_hash(product_command.source) == product_command.tree


def tree_hash(folder: str) -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(folder).rglob("*.py")):
        digest.update(str(path.relative_to(folder)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def run_briefs(
    product_command: Product, path: Path, sizes: tuple[int, ...], *, trace: bool
) -> list[dict[str, Any]]:
    """One row per compaction and size, as `--compactions --json` prints them."""
    arguments = ["brief", str(path), "--compactions", "--json"]
    for size in sizes:
        arguments += ["--max-chars", str(size)]
    if trace and product_command.traces:
        arguments.append("--trace")
    rows = []
    for line in run(product_command.command, arguments).splitlines():
        row = json.loads(line)
        if isinstance(row, dict) and "boundary_uuid" in row:
            rows.append(row)
    return rows


def run(command: tuple[str, ...], arguments: list[str], more: dict[str, str] | None = None) -> str:
    with tempfile.TemporaryDirectory(prefix="quality-home-") as home:
        env = {
            "HOME": home,
            "HOLDFAST_HOME": os.path.join(home, "holdfast"),
            "PATH": os.environ.get("PATH", ""),
            "LANG": "C.UTF-8",
            **(more or {}),
        }
        if command[0] == sys.executable:
            env["PYTHONPATH"] = str(ROOT / "src")
        try:
            ended = subprocess.run(
                [*command, *arguments],
                capture_output=True,
                env=env,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ProductFailed(f"{shlex.join(command)}: {error}") from error
    if ended.returncode:
        told = ended.stderr.decode("utf-8", "replace").strip()[-400:]
        raise ProductFailed(
            f"{shlex.join([*command, *arguments])}: exit {ended.returncode}: {told}"
        )
    return ended.stdout.decode("utf-8", "replace")
