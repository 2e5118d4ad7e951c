"""Texts that are meant to be slow: what is looked at is bounded, or looked at once."""

from holdfast.events import CommandRan, FileTouched, Origin
from holdfast.state import checks, fold, runs, verdicts
from holdfast.state.model import EMPTY_STATE

AT = Origin("row", 0, 1, "2026-02-01T00:00:00.000Z", "")


def test_the_output_of_a_chain_is_read_once_for_all_its_checks() -> None:
    runs._read_echoes.cache_clear()
    command = " && ".join(f"make test{number}" for number in range(30))
    run = runs.read_run(CommandRan(AT, command, "$ pytest -q\n" + "\n" * 5000, True, 0))
    assert len(run.passed) == 30
    assert runs._read_echoes.cache_info().misses == 1


def test_of_a_chain_so_many_checks_count() -> None:
    command = " && ".join(f"make test{number}" for number in range(100))
    run = runs.read_run(CommandRan(AT, command, "", True, 0))
    assert len(run.passed) == checks.MAX_CHECKS


def test_blank_output_of_a_chain_that_failed_names_no_tests() -> None:
    """Where a line begins, white space is not looked for over the following lines: from each of
    20,000 empty lines to the last took more than a second."""
    assert not verdicts._MOCHA.pattern.startswith(r"^\s")
    assert not verdicts.names_tests("\n" * 20_000)
    assert verdicts.names_tests("  1) adds the totals\n\n     AssertionError: 1 != 2\n")


def test_a_tools_own_line_is_read_and_one_of_many_thousand_characters_is_not() -> None:
    said = "=========== 1 failed, 2 passed in 0.31s ==========="
    assert verdicts.read_verdict(f"x\n{said}", False, "test").summary
    read = verdicts.lines_with(("==",), "= 1 failed =" * 1000 + f"\n{said}")
    assert [len(line) for line in read.split("\n")] == [verdicts.MAX_LINE_CHARS, len(said)]


def test_a_path_that_no_system_opens_is_no_file() -> None:
    state = fold(EMPTY_STATE, FileTouched(AT, "/a" * 2049, "read", True, "x"))
    assert state.files == {}
    assert fold(EMPTY_STATE, FileTouched(AT, "/a" * 2048, "read", True, "x")).files
    assert fold(EMPTY_STATE, CommandRan(AT, "rm " + "/a" * 9000, "", True, 0, "")).files == {}


def test_a_line_of_nested_shells_or_options_is_read_at_once() -> None:
    for line in (
        "ssh a " * 600,
        "bash -c '" * 400,
        "kubectl " + "-n -n " * 300,
        "docker run " + "-e " * 900,
        "docker compose " + "-f x.yml " * 300,
        "nix " + "a " * 1500,
    ):
        assert isinstance(runs.read_run(CommandRan(AT, line, "error: no", False, 1)), runs.Run)
