"""The rules that keep the core a core: imports go one way, and pure modules touch nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

PACKAGE = Path(holdfast.__file__).parent
ROOT = Path(__file__).parents[2]

# Pure: what they are given in, what they make of it out.
PURE = ("events.py", "state", "brief", "redact", "active")
# They read files because that is their work, but what they do depends on nothing else.
CORE = (*PURE, "clients", "transcript", "store", "settings")
TALKING = ("cli", "survival", "hooks", "audit", "recall")

TOUCHING_THE_WORLD = frozenset(
    """os io sys time datetime random secrets pathlib shutil tempfile glob subprocess socket sqlite3
    logging urllib http asyncio threading multiprocessing signal platform getpass""".split()
)
CLOCKS = frozenset(
    "time.time time.time_ns time.localtime time.gmtime time.strftime time.ctime "
    "datetime.now datetime.utcnow datetime.today date.today".split()
)


def modules(*parts: str) -> list[Path]:
    found: list[Path] = []
    for part in parts:
        place = PACKAGE / part
        found += [place] if place.is_file() else sorted(place.rglob("*.py"))
    return found


def everything_but(*parts: str) -> list[Path]:
    kept_out = {path for part in parts for path in (PACKAGE / part).rglob("*.py")}
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path not in kept_out]


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def called(tree: ast.AST) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def mentioned(tree: ast.AST) -> set[str]:
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def parsed(path: Path) -> ast.AST:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", modules(*PURE), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_pure_module_touches_nothing(path: Path) -> None:
    tree = parsed(path)
    assert imported(tree) & TOUCHING_THE_WORLD == set()
    assert called(tree) & {"open", "print", "input", "exec", "eval", "__import__"} == set()


@pytest.mark.parametrize("path", modules(*CORE), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_core_module_reads_neither_clock_nor_environment(path: Path) -> None:
    tree = parsed(path)
    used = called(tree) | mentioned(tree)
    assert not {name for name in used if name.endswith(("os.environ", "os.getenv", "os.environb"))}
    assert not {name for name in used if name.removeprefix("datetime.") in CLOCKS}


@pytest.mark.parametrize(
    "path", everything_but(*TALKING), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_nobody_prints_but_the_surfaces(path: Path) -> None:
    tree = parsed(path)
    assert "print" not in called(tree)
    assert not {name for name in mentioned(tree) if name in ("sys.stdout", "sys.stderr")}


@pytest.mark.parametrize("path", everything_but("hooks"), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nobody_catches_everything_but_the_guard_of_the_hooks(path: Path) -> None:
    for node in ast.walk(parsed(path)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        assert node.type is not None, f"bare except in line {node.lineno}"
        caught = ast.unparse(node.type)
        if caught in ("Exception", "BaseException"):
            # Passing it on after cleaning up is not catching it.
            assert isinstance(node.body[-1], ast.Raise), f"{caught} in line {node.lineno}"


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
