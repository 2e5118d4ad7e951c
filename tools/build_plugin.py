"""Builds the plugins from the sources: `python -m tools.build_plugin`; `--check` only looks.

Owns what is generated: the hooks, from the same tables as `holdfast install`, and the version. The
code itself is not copied. Claude Code's plugin is `plugin/`, where `lib` is a link to `src`; the
client puts the files in its place when it installs. Codex leaves links out when it does, so its
plugin is `src` itself, with `src/.codex-plugin` for what belongs to it, the launcher among that.
`list_bundled_modules` says which modules the plugins run; one that would need more than the
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
LAUNCHER = "plugin/bin/holdfast-run"
CODEX_FOLDER = ".codex-plugin"  # where the client looks for the manifest
# Where execution starts: what they import, at the top or inside a function, is run too.
ENTRY_MODULES = (
    "holdfast.hooks.main",
    "holdfast.recall.stdlib_cli",
    "holdfast.recall.mcp_server",
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
    """Every generated file of the plugins, by its path in the repository."""
    list_bundled_modules()
    manifest = json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text(encoding="utf-8"))
    manifest["version"] = _version()
    shared = {key: manifest[key] for key in ("name", "version", "description", "author", "license")}
    codex = {**shared, "hooks": f"./{CODEX_FOLDER}/hooks.json"}
    return {
        "plugin/hooks/hooks.json": _pretty(build_hooks()),
        "plugin/.claude-plugin/plugin.json": _pretty(manifest),
        f"src/{CODEX_FOLDER}/plugin.json": _pretty(codex),
        f"src/{CODEX_FOLDER}/hooks.json": _pretty(build_codex_hooks()),
        f"src/{CODEX_FOLDER}/holdfast-run": (ROOT / LAUNCHER).read_bytes(),
    }


def build_hooks() -> dict[str, object]:
    """The classic hooks, as `holdfast install` would write them, through the launcher."""
    from holdfast.install.claude_code import HOOKS

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


def build_codex_hooks() -> dict[str, object]:
    """Codex's hooks, likewise. Its shell knows the plugin's folder, so no entry names a version."""
    from holdfast.install.codex import INSTALLER
    from holdfast.install.launcher import Launcher, LaunchTarget

    launcher = Launcher("", LaunchTarget("", ""), windows=False)
    events: dict[str, object] = {}
    for spec in INSTALLER.hooks:
        event = INSTALLER.prefix + spec.event
        run = f'/bin/sh "$PLUGIN_ROOT/{CODEX_FOLDER}/holdfast-run" hook {event}'
        entry = {**INSTALLER.build_entry(spec, launcher), "command": run}
        events[spec.event] = [{"hooks": [entry]}]
    return {"description": DESCRIPTION, "hooks": events}


def find_differences() -> list[str]:
    """What of the plugins is not as the sources say."""
    return [
        f"{name}: out of step"
        for name, data in generate_files().items()
        if not (ROOT / name).exists() or (ROOT / name).read_bytes() != data
    ]


def build() -> None:
    for name, data in generate_files().items():
        (ROOT / name).write_bytes(data)


def _source(name: str) -> Path | None:
    path = SOURCES / Path(*name.split("."))
    package, module = path / "__init__.py", path.with_suffix(".py")
    return package if package.exists() else module if module.exists() else None


def _imports(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _for_types_only(child.test):
            continue
        if isinstance(child, ast.With) and "ImportError" in ast.unparse(child.items[0]):
            continue  # done without where it is not there
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
        sys.stderr.write("".join(f"{line}\n" for line in wrong))
        return 1 if wrong else 0
    build()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
