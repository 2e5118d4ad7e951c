"""Entities in text, paths from their ends, commands, weights. Texts are hand-made."""

import pytest

from benchmarks.measure.entities import Entity, PathResolver, idf_table, weight
from benchmarks.measure.knowledge import contains_phrase, extract
from benchmarks.measure.shell_commands import command_family, is_read_only, is_test, list_commands


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("call computeTax now", "identifier", "computeTax"),
        ("call s.compute_tax(x)", "identifier", "compute_tax"),
        ("TAX_RATE = 3", "identifier", "TAX_RATE"),
        ("an HTTPServer", "identifier", "HTTPServer"),
        ("see https://example.org/a?b=c.", "url", "https://example.org/a?b=c"),
        ("commit 3fa9c21d0e landed", "hash", "3fa9c21"),
        ("for SHOP-42 only", "ticket", "SHOP-42"),
        ("closes #128.", "ticket", "#128"),
        ("on localhost:8080/health", "port", "8080"),
        ("--port 5173", "port", "5173"),
        ("took 12345 rows", "number", "12345"),
        ("rate 19.5 percent", "number", "19.5"),
    ],
)
def test_each_kind_is_found_in_text(text: str, kind: str, value: str) -> None:
    assert Entity(kind, value) in extract(text).entities


@pytest.mark.parametrize(
    "text",
    ["getX", "Invoice", "UPPER", "123", "utf UTF-8", "6f1c2d3e-1111-2222-3333-444455556666"],
)
def test_short_plain_and_technical_words_are_no_entities(text: str) -> None:
    assert extract(text).entities == frozenset()


def test_names_inside_a_path_are_not_identifiers_too() -> None:
    found = extract("src/billing/tax_table.py:12: def x")
    assert found.tokens == ("src/billing/tax_table.py",)
    assert found.entities == frozenset()


def test_import_paths_of_a_host_are_no_files() -> None:
    assert extract("github.com/acme/shop/tax.go").tokens == ()


def test_paths_are_relative_to_the_cwd() -> None:
    paths = PathResolver(["/w/shop"])
    assert paths.learn("/w/shop/src/tax.py") == "src/tax.py"
    assert paths.resolve("./src/tax.py:14") == "src/tax.py"


def test_a_path_may_be_shortened_to_its_end_only_while_unambiguous() -> None:
    paths = PathResolver(["/w"])
    paths.learn("/w/a/tax.py")
    assert paths.resolve("tax.py") == "a/tax.py"
    paths.learn("/w/b/tax.py")
    assert paths.resolve("tax.py") == ""
    assert paths.resolve("b/tax.py") == "b/tax.py"
    assert paths.resolve("tax.py", "b") == "b/tax.py"


def test_the_sides_of_a_diff_are_not_other_files() -> None:
    paths = PathResolver(["/w"])
    paths.learn("/w/src/tax.py")
    paths.learn_mentions(["a/src/tax.py", "b/src/tax.py", "src/tax.py"])
    assert paths.known == {"src/tax.py"}


def test_commands_are_normalised_and_looking_is_left_out() -> None:
    line = "cd /w/shop && make test 2>&1 | tail -3; ls -la && /w/shop/bin/run --fast > out.txt"
    assert list_commands(line, ["/w/shop"]) == ["make test", "bin/run --fast"]


def test_a_command_that_carries_a_document_is_no_command() -> None:
    line = "git add -A && git commit -m \"$(cat <<'EOF'\nlong message\nEOF\n)\""
    assert list_commands(line, []) == ["git add -A"]


@pytest.mark.parametrize(
    "command",
    ["git status", "git -C x log", "grep -r x", "sed -n 1,2p f", "gh pr view 3", "git stash list"],
)
def test_read_only_commands_are_looking(command: str) -> None:
    assert is_read_only(command)


@pytest.mark.parametrize("command", ["git push", "sed -i s/a/b/ f", "gh pr create", "make"])
def test_commands_that_do_something_are_not_looking(command: str) -> None:
    assert not is_read_only(command)


def test_tests_and_families_are_told() -> None:
    assert is_test("go test ./...")
    assert is_test("python -m pytest -q")
    assert not is_test("git add tests/")
    assert command_family("npm run build --fast") == "npm run build"
    assert command_family("go test -v ./a") == "go test"


def test_a_phrase_with_something_grown_onto_it_is_not_mentioned() -> None:
    assert contains_phrase("ran make test.", "make test")
    assert not contains_phrase("ran make tests", "make test")
    assert not contains_phrase("ran cmake test", "make test")


def test_rare_identifiers_weigh_more_than_common_ones() -> None:
    rare, common = Entity("identifier", "oneOnly"), Entity("identifier", "everyWhere")
    idfs = idf_table([{rare, common}, {common}, {common}, {common}], 4)
    assert weight(rare, idfs) == pytest.approx(0.6)
    assert 0 < weight(common, idfs) < 0.1
    assert weight(Entity("path", "a/b.py"), idfs) == 1.0
