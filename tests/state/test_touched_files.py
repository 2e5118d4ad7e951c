"""Files: changed, created, read, named, deleted, moved, made again; and the symbols in them."""

import pytest

from holdfast.events import FileTouched, Hunk
from holdfast.state.symbols import find_symbols

from .story import Story


def details(story: Story) -> dict[str, str]:
    return {fact.text: fact.detail.split(";")[0] for fact in story.facts("file")}


def test_a_file_counts_how_often_it_was_changed_and_read() -> None:
    story = Story().touched("/r/a.py", "read").touched("/r/a.py").touched("/r/a.py")
    assert details(story) == {"/r/a.py": "changed 2x, read 1x"}


def test_a_created_file_says_so() -> None:
    assert details(Story().touched("/r/a.py", "created")) == {"/r/a.py": "created, changed 1x"}


def test_a_failed_change_changes_nothing() -> None:
    story = Story()
    story.tell(FileTouched(story.at(), "/r/a.py", "changed", False, "x", error="not found"))
    assert story.facts("file") == []


def test_a_deleted_file_keeps_its_entry_so_that_nobody_looks_for_it() -> None:
    story = Story().touched("/r/a.py", "created").ran("rm /r/a.py")
    (file,) = story.facts("file")
    assert file.status == "cancelled"
    assert "deleted" in file.detail


def test_a_file_is_found_by_the_end_of_its_path() -> None:
    story = Story().touched("/r/src/a.py").ran("cd /r && git rm src/a.py")
    assert [fact.status for fact in story.facts("file")] == ["cancelled"]


def test_a_deleted_folder_takes_its_files_along() -> None:
    story = Story().touched("/r/build/x.js", "created").touched("/r/src/x.js").ran("rm -rf build")
    status = {fact.text: fact.status for fact in story.facts("file")}
    assert status == {"/r/build/x.js": "cancelled", "/r/src/x.js": "open"}


def standings(story: Story) -> dict[str, str]:
    return {fact.text: fact.status for fact in story.facts("file")}


def test_a_moved_file_is_known_at_its_new_place_with_what_it_holds() -> None:
    story = Story().touched("/r/old.py", "changed", "def some_name(): ...")
    story.ran("mv /r/old.py /r/new.py")
    assert standings(story) == {"/r/old.py": "cancelled", "/r/new.py": "open"}
    moved = story.state.files["/r/new.py"]
    assert "some_name" in moved.symbols
    assert moved.changed == 1
    assert moved.number != story.state.files["/r/old.py"].number


@pytest.mark.parametrize(
    ("command", "moved"),
    [
        ("cd /r && git mv src/a.py src/b.py", "/r/src/b.py"),
        ("mv src/a.py lib/", "/r/lib/a.py"),
        ("mv ./src/a.py lib", "/r/lib/a.py"),
        ("mv src lib", "/r/lib/a.py"),
        ("mv /r/src /r/lib", "/r/lib/a.py"),
        ("mv a.py b.py", "/r/src/b.py"),
    ],
)
def test_what_was_moved_is_found_where_it_went(command: str, moved: str) -> None:
    story = Story().touched("/r/src/a.py").ran(command)
    told = standings(story)
    assert told["/r/src/a.py"] == "cancelled"
    assert told[moved] == "open"


def test_a_file_moved_away_and_back_is_there_once() -> None:
    story = Story().touched("/r/a.py").ran("mv /r/a.py /r/b.py").ran("mv /r/b.py /r/a.py")
    assert standings(story) == {"/r/b.py": "cancelled", "/r/a.py": "open"}


def test_a_folder_deleted_by_its_full_path_takes_its_files_along() -> None:
    story = Story().touched("/r/build/x.js").touched("/r/rebuild/x.js").ran("rm -rf /r/build")
    assert standings(story) == {"/r/build/x.js": "cancelled", "/r/rebuild/x.js": "open"}


def test_a_file_of_the_name_of_a_folder_takes_nothing_below_that_folder() -> None:
    story = Story().touched("/r/cmd/kiln/main.go").ran("go build ./cmd/kiln").ran("rm ./kiln")
    assert story.state.files["/r/cmd/kiln/main.go"].status == "open"


def test_a_delete_that_failed_deletes_nothing() -> None:
    story = Story().touched("/r/a.py").ran("rm /r/a.py", "permission denied", ok=False)
    assert [fact.status for fact in story.facts("file")] == ["open"]


def test_a_file_made_again_is_there_again() -> None:
    story = Story().touched("/r/a.py", "created").ran("rm /r/a.py").touched("/r/a.py", "created")
    assert [fact.status for fact in story.facts("file")] == ["open"]


def test_hunks_keep_the_changed_lines_of_the_latest_changes() -> None:
    story = Story()
    hunk = Hunk(12, (" same", "-old line", "+new line"))
    story.tell(FileTouched(story.at(), "/r/a.py", "changed", True, "new line", "", (hunk,)))
    assert story.state.files["/r/a.py"].hunks == ((12, ("-old line", "+new line")),)


def test_the_symbols_of_a_file_are_what_was_typed_and_shown_there() -> None:
    story = Story().touched("/r/a.py", "changed", "def read_rows(maxLine): return MAX_LINES")
    assert {"read_rows", "maxLine", "MAX_LINES"} <= set(story.state.files["/r/a.py"].symbols)


def test_what_a_symbol_is() -> None:
    assert find_symbols("def read_rows(self): return parseRow(MAX_LINE, Strategy, item)") == {
        "read_rows",
        "parseRow",
        "MAX_LINE",
    }
    assert find_symbols("TestSliceFromLine_EmptyContent")
    assert not find_symbols("sk9fJ2kLq8ZxT4vBn7Wc3")  # a key
    assert not find_symbols("x" * 61 + "_y")


def test_symbols_that_were_typed_are_warm_and_those_that_scrolled_past_are_not() -> None:
    story = Story().touched("/r/a.py", "changed", "typedName = 1")
    story.ran("cat /r/b.py", "seenName = 2")
    assert list(story.state.symbols) == ["typedName"]
