"""Builds `plugin/` from the sources: `python -m tools.build_plugin`, or with `--check` only looks.

Owns what is generated there: `lib/holdfast`, the modules that hooks, native module and recall
need and nothing else; `hooks/hooks.json`, from the same table as `holdfast install`; and the
version. Everything else in `plugin/` is written by hand. A module that would need more than the
standard library stops the build.
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
# Where execution starts: all they import, at the top or inside a function, comes along.
STARTS = ("holdfast.hooks.run", "holdfast.recall.plain", "holdfast.recall.absent")
DATA = {"holdfast.lifecycle.roles": ("holdfast/brief/roles/*.json",)}
DESCRIPTION = "Keeps a session's working state alive through context compaction"


class NotPlain(Exception):
    """A module on the plugin's road that needs more than the standard library."""


def carried() -> dict[str, Path]:
    """The modules to carry, by name."""
    found: dict[str, Path] = {}
    waiting = list(STARTS)
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
                raise NotPlain(f"{name} imports {imported}")
    return found


def generated() -> dict[str, bytes]:
    """Every generated file of the plugin, by its path inside `plugin/`."""
    modules = carried()
    files = {
        f"lib/{path.relative_to(SOURCES).as_posix()}": path.read_bytes()
        for path in modules.values()
    }
    for module, patterns in DATA.items():
        if module in modules:
            for pattern in patterns:
                for path in sorted(SOURCES.glob(pattern)):
                    files[f"lib/{path.relative_to(SOURCES).as_posix()}"] = path.read_bytes()
    files["hooks/hooks.json"] = _pretty(hooks())
    manifest = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text(encoding="utf-8"))
    files[".claude-plugin/plugin.json"] = _pretty({**manifest, "version": _version()})
    return files


def hooks() -> dict[str, object]:
    """The classic hooks, as `holdfast install` would write them, through the launcher."""
    from holdfast.clients.claude_code.settings import HOOKS

    events: dict[str, object] = {}
    for spec in HOOKS:
        entry: dict[str, object] = {
            "type": "command",
            "command": "/bin/sh",
            "args": ["${CLAUDE_PLUGIN_ROOT}/bin/holdfast-run", "hook", spec.event],
        }
        if spec.background:
            entry["async"] = True
        entry["timeout"] = spec.timeout
        group: dict[str, object] = {"hooks": [entry]}
        events[spec.event] = [group if spec.matcher is None else {"matcher": spec.matcher, **group}]
    return {"description": DESCRIPTION, "hooks": events, "modules": ["./register.js"]}


def differences() -> list[str]:
    """What stands in `plugin/` and should not, or the other way round."""
    wanted = generated()
    there = {
        path.relative_to(PLUGIN).as_posix()
        for path in (PLUGIN / "lib").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    wrong = [f"{name}: not from the sources" for name in sorted(there - set(wanted))]
    for name, data in sorted(wanted.items()):
        path = PLUGIN / name
        if not path.exists():
            wrong.append(f"{name}: missing")
        elif path.read_bytes() != data:
            wrong.append(f"{name}: out of step")
    return wrong


def build() -> None:
    wanted = generated()
    for path in sorted((PLUGIN / "lib").rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.relative_to(PLUGIN).as_posix() not in wanted:
            path.unlink()
    for name, data in wanted.items():
        path = PLUGIN / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)


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
        wrong = differences()
        sys.stderr.write("".join(f"plugin/{line}\n" for line in wrong))
        return 1 if wrong else 0
    build()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
