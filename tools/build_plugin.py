"""Builds `plugin/` from the sources: `python -m tools.build_plugin`, or with `--check` only looks.

Owns what is generated there: `hooks/hooks.json`, from the same table as `holdfast install`, and
the version. The code itself is not copied: `plugin/lib` is a link to `src`, in place of which the
client puts the files when it installs the plugin. `list_bundled_modules` says which of them the
plugin runs; one that would need more than the standard library stops the build.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
PLUGIN = ROOT / "plugin"
# Where execution starts: what they import, at the top or inside a function, is run too.
ENTRY_MODULES = (
    "holdfast.hooks.main",
    "holdfast.recall.stdlib_cli",
    "holdfast.recall.empty_mcp_server",
)
DESCRIPTION = "Keeps a session's working state alive through context compaction"


class NotStandardLibrary(Exception):
    """A module that the plugin runs needs more than the standard library."""


def list_bundled_modules() -> dict[str, Path]:
    """The modules that the plugin runs, by name."""
    found: dict[str, Path] = {}
    waiting = list(ENTRY_MODULES)
    while waiting:
        name = waiting.pop()
        path = _source(name)
        if name in found or path is None:
            continue
        found[name] = path
        parent = name.rpartition(".")[0]
        waiting += [parent] if parent else []
        for imported in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            top = imported.partition(".")[0]
            if top == "holdfast":
                waiting.append(imported)
            elif top not in sys.stdlib_module_names:
                raise NotStandardLibrary(f"{name} imports {imported}")
    return found


def generate_files() -> dict[str, bytes]:
    """Every generated file of the plugin, by its path inside `plugin/`."""
    list_bundled_modules()
    manifest = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text(encoding="utf-8"))
    return {
        "hooks/hooks.json": _pretty(build_hooks()),
        ".claude-plugin/plugin.json": _pretty({**manifest, "version": _version()}),
    }


def build_hooks() -> dict[str, object]:
    """The classic hooks, as `holdfast install` would write them, through the launcher."""
    from holdfast.clients.claude_code.install.hook_table import HOOKS

    events: dict[str, object] = {}
    for spec in HOOKS:
        entry: dict[str, object] = {
            "type": "command",
            "command": "/bin/sh",
            "args": ["${CLAUDE_PLUGIN_ROOT}/bin/holdfast-run", "hook", spec.event],
        }
        if spec.run_async:
            entry["async"] = True
        entry["timeout"] = spec.timeout_seconds
        group: dict[str, object] = {"hooks": [entry]}
        events[spec.event] = [group if spec.matcher is None else {"matcher": spec.matcher, **group}]
    return {"description": DESCRIPTION, "hooks": events, "modules": ["./register.js"]}


def find_differences() -> list[str]:
    """What in `plugin/` is not as the sources say."""
    return [
        f"{name}: out of step"
        for name, data in generate_files().items()
        if not (PLUGIN / name).exists() or (PLUGIN / name).read_bytes() != data
    ]


def build() -> None:
    for name, data in generate_files().items():
        (PLUGIN / name).write_bytes(data)


def _source(name: str) -> Path | None:
    path = SOURCES / Path(*name.split("."))
    package, module = path / "__init__.py", path.with_suffix(".py")
    return package if package.exists() else module if module.exists() else None


def _imports(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _for_types_only(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            yield child.module
            if child.module.startswith("holdfast"):
                yield from (f"{child.module}.{alias.name}" for alias in child.names)
        else:
            yield from _imports(child)


def _for_types_only(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _version() -> str:
    import holdfast

    return holdfast.__version__


def _pretty(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def main() -> int:
    sys.path.insert(0, str(SOURCES))
    if "--check" in sys.argv[1:]:
        wrong = find_differences()
        sys.stderr.write("".join(f"plugin/{line}\n" for line in wrong))
        return 1 if wrong else 0
    build()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
