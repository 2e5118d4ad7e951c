"""One module opens for writing, makes folders and renames: `holdfast.files`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import holdfast

SOURCE = Path(holdfast.__file__).parent
OWNER = SOURCE / "files.py"
# By whatever name the object has: of `os`, `shutil`, `tempfile`, or of a Path.
ALWAYS = {
    *("mkdir", "makedirs", "rename", "renames", "symlink", "symlink_to", "link", "hardlink_to"),
    *("mkfifo", "mknod", "truncate", "mkstemp", "NamedTemporaryFile", "TemporaryFile"),
    *("write_text", "write_bytes", "touch", "copy2", "copyfile", "copyfileobj", "copytree"),
    *("rmtree", "mkdtemp", "SpooledTemporaryFile", "FileHandler"),
}
# Of these modules nothing that writes is imported by its bare name.
MODULES = ("os", "shutil", "tempfile", "io", "gzip", "pathlib")
OURS = {"touch", "move", "open_lock", "open_output"}  # imported from `holdfast.files` by name


def writes(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call | ast.ImportFrom):
            found = _writes(node) if isinstance(node, ast.Call) else _imports(node)
            yield from [node.lineno] * found


def _imports(node: ast.ImportFrom) -> bool:
    names = {name.name for name in node.names}
    return node.module in MODULES and bool(names & {*ALWAYS, "open", "replace", "copy", "move"})


def _writes(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id == "open" and _mode(call, 1) and not _has_handle(call)
    if not isinstance(function, ast.Attribute):
        return False
    of = function.value.id if isinstance(function.value, ast.Name) else ""
    if of == "os" and function.attr == "open":
        return not _is_devnull(call) and not _only_reads(call)
    if f"{of}.{function.attr}" in ("os.replace", "os.fdopen", "shutil.move", "shutil.copy"):
        return True
    if function.attr == "open":  # of a Path, of gzip: a mode that is no plain word is none of its
        return any(
            isinstance(given, ast.Constant) and _mode(call, place)
            for place, given in enumerate(call.args[:2])
        )
    return function.attr in ALWAYS


def _mode(call: ast.Call, place: int) -> bool:
    given = [word.value for word in call.keywords if word.arg == "mode"]
    given += call.args[place : place + 1]
    return any(
        not isinstance(mode, ast.Constant) or set(str(mode.value)) & set("wax+") for mode in given
    ) and not _is_devnull(call)


def _has_handle(call: ast.Call) -> bool:
    """`open(open_output(path), "wb")`: the file was opened by the owner."""
    first = call.args[0]
    named = first.func if isinstance(first, ast.Call) else None
    return isinstance(named, ast.Name) and named.id in OURS


def _is_devnull(call: ast.Call) -> bool:
    return bool(call.args) and ast.unparse(call.args[0]) == "os.devnull"


def _only_reads(call: ast.Call) -> bool:
    flags = ast.unparse(call.args[1])
    writing = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")
    return flags.startswith("os.O_RDONLY") and not any(flag in flags for flag in writing)


def test_nothing_else_opens_for_writing() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in SOURCE.rglob("*.py")
        if path != OWNER
        for line in writes(ast.parse(path.read_text()))
    ]
    assert found == []


def test_the_test_sees_what_it_looks_for() -> None:
    """Each of these stood in the product once, or could."""
    for code in (
        'open("x", "w")',
        'open("x", mode="ab")',
        "open(path, mode)",
        'os.open("x", os.O_CREAT | os.O_WRONLY, 0o600)',
        'os.replace("a", "b")',
        'place.write_text("x")',
        'place.open("wb")',
        "os.makedirs(folder)",
        "tempfile.mkstemp()",
        "shutil.copyfile(a, b)",
        "shutil.copy(a, b)",
        'gzip.open(path, "wb")',
        'io.open("x", "w")',
        "os.open(p, os.O_RDONLY | os.O_CREAT)",
        'os.fdopen(handle, "w")',
        "from os import open",
        "from shutil import copyfile as take",
    ):
        assert list(writes(ast.parse(code))) == [1], code
    for code in ('open("x")', 'open("x", "rb")', "os.open(p, os.O_RDONLY)", '"a".replace("b", "")'):
        assert list(writes(ast.parse(code))) == [], code
