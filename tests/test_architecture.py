"""The rules that keep the core a core: imports go one way, and pure modules touch nothing."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import holdfast

# On one worker, so that each module is parsed once.
pytestmark = pytest.mark.xdist_group("sources")

PACKAGE = Path(holdfast.__file__).parent
ROOT = Path(__file__).parents[1]

# Pure: what they are given in, what they make of it out.
PURE = ("events.py", "state", "brief", "redact")
# They read files because that is their work, but what they do depends on nothing else.
CORE = (*PURE, "clients", "install", "transcript", "store", "settings")
TALKING = ("cli", "hooks", "audit", "recall")

TOUCHING_THE_WORLD = frozenset(
    """os io sys time datetime random secrets pathlib shutil tempfile glob subprocess socket sqlite3
    logging urllib http asyncio threading multiprocessing signal platform getpass""".split()
)
CLOCKS = frozenset(
    "time.time time.time_ns time.localtime time.gmtime time.strftime time.ctime "
    "datetime.now datetime.utcnow datetime.today date.today".split()
)
# A repeat of a whole group that gives nothing back, or an atomic group.
POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+|\(\?>")
CHARACTER_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]")
NUMBERED_PARAMETER = re.compile(r"[ (,=]\?[1-9]\b")


def modules(*parts: str) -> list[Path]:
    found: list[Path] = []
    for part in parts:
        place = PACKAGE / part
        found += [place] if place.is_file() else sorted(place.rglob("*.py"))
    assert found
    return found


def everything_but(*parts: str) -> list[Path]:
    kept_out = {path for part in parts for path in (PACKAGE / part).rglob("*.py")}
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path not in kept_out]


@cache
def nodes(tree: ast.AST) -> list[ast.AST]:
    return list(ast.walk(tree))


def dotted(node: ast.AST) -> str:
    """`a.b.c` as it is written; what is no name at its beginning is left out."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@cache
def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@cache
def called(tree: ast.AST) -> set[str]:
    return {dotted(node.func) for node in nodes(tree) if isinstance(node, ast.Call)}


@cache
def mentioned(tree: ast.AST) -> set[str]:
    return {dotted(node) for node in nodes(tree) if isinstance(node, ast.Attribute)}


@cache
def parsed(path: Path) -> ast.AST:
    return ast.parse(path.read_text(encoding="utf-8"))


def breaches(paths: list[Path], rule: Callable[[ast.AST], Iterable[str]]) -> list[str]:
    """What breaks a rule, each with the file it stands in."""
    return [f"{path.relative_to(PACKAGE)}: {what}" for path in paths for what in rule(parsed(path))]


def test_a_pure_module_touches_nothing() -> None:
    forbidden = {"open", "print", "input", "exec", "eval", "__import__"}
    assert not breaches(
        modules(*PURE), lambda tree: imported(tree) & TOUCHING_THE_WORLD | called(tree) & forbidden
    )


def test_a_core_module_reads_neither_clock_nor_environment() -> None:
    def rule(tree: ast.AST) -> list[str]:
        used = called(tree) | mentioned(tree)
        return [
            name
            for name in used
            if name.endswith(("os.environ", "os.getenv", "os.environb"))
            or name.removeprefix("datetime.") in CLOCKS
        ]

    assert not breaches(modules(*CORE), rule)


def test_nobody_prints_but_the_surfaces() -> None:
    def rule(tree: ast.AST) -> set[str]:
        return (called(tree) & {"print"}) | (mentioned(tree) & {"sys.stdout", "sys.stderr"})

    assert not breaches(everything_but(*TALKING), rule)


def test_nobody_catches_everything_but_the_guards_of_the_surfaces() -> None:
    def rule(tree: ast.AST) -> Iterator[str]:
        for node in nodes(tree):
            if not isinstance(node, ast.ExceptHandler):
                continue
            caught = "everything" if node.type is None else ast.unparse(node.type)
            # Passing it on after cleaning up is not catching it.
            passed_on = node.type is not None and isinstance(node.body[-1], ast.Raise)
            if caught in ("everything", "Exception", "BaseException") and not passed_on:
                yield f"catches {caught} in line {node.lineno}"

    guarded = [path for path in everything_but("hooks") if path != PACKAGE / "sdk" / "guard.py"]
    assert not breaches(guarded, rule)


def test_no_pattern_repeats_a_group_possessively() -> None:
    """`re` of Python before 3.11.5 matches such a pattern wrongly, without a word."""

    def rule(tree: ast.AST) -> Iterator[str]:
        for node in nodes(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                if POSSESSIVE_GROUP.search(CHARACTER_CLASS.sub("[]", text)):
                    yield f"possessive group in line {node.lineno}"

    assert not breaches(everything_but(), rule)


def test_sql_numbers_no_parameters() -> None:
    """`?1` with a sequence is deprecated in Python 3.12.0 to 3.12.3: named, or plain `?`."""

    def rule(tree: ast.AST) -> Iterator[str]:
        for node in nodes(tree):
            if isinstance(node, ast.Constant) and NUMBERED_PARAMETER.search(str(node.value)):
                yield f"numbered parameter in line {node.lineno}"

    assert not breaches(everything_but(), rule)


def surface(package: str) -> set[str]:
    """What a package's `__init__` offers: the names and modules that it lists, or its names and all
    modules but those that it keeps inside."""
    listed: dict[str, set[str]] = {}
    for node in nodes(parsed(PACKAGE / package / "__init__.py")):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("__all__", "INSIDE"):
            listed[ast.unparse(node.targets[0])] = set(ast.literal_eval(node.value))
    modules = {found.stem for found in (PACKAGE / package).iterdir()}
    if "__all__" in listed and "INSIDE" not in listed:
        return listed["__all__"]
    return listed.get("__all__", set()) | modules - listed.get("INSIDE", set())


def test_packages_import_from_each_other_only_what_is_offered() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    offered = {package: surface(package) for package in packages}
    offered["samples"] = {"SESSION_FILE"}
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = path.relative_to(PACKAGE).parts[0]
        for node in nodes(parsed(path)):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            root, *parts = node.module.split(".")
            if root != "holdfast" or not parts or parts[0] == own or parts[0] not in packages:
                continue
            names = {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
            found += [
                f"{path.relative_to(PACKAGE)}: {parts[0]}.{name}"
                for name in sorted(names - offered[parts[0]])
            ]
    assert found == []


def test_imports_go_one_way() -> None:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
    ]
    ended = subprocess.run(
        [*command, "--no-cache"],
        cwd=ROOT,
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "3 kept, 0 broken" in ended.stdout


def test_every_package_is_kept_from_importing_a_client_by_name() -> None:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = described["tool"]["importlinter"]["contracts"]
    contract = next(one for one in contracts if one["name"].startswith("A client is asked for"))
    found = {path.stem for path in PACKAGE.glob("*.py")}  # a folder without one is left from before
    found |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    found -= {"__init__", "__main__", "clients", "install"}
    clients = {
        f"holdfast.clients.{path.parent.name}" for path in PACKAGE.glob("clients/*/client.py")
    }
    assert set(contract["source_modules"]) == {f"holdfast.{name}" for name in found}
    assert set(contract["forbidden_modules"]) == clients
