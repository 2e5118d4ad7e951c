"""What a summary says that the record contradicts, and what it says that only looks like it."""

import pytest

from holdfast.brief.contradictions import (
    Contradiction,
    find_contradictions,
    format_contradictions,
)
from holdfast.events import (
    CommandRan,
    Event,
    FileTouched,
    Origin,
    TaskChanged,
    TaskCreated,
    UserSaid,
)
from holdfast.state import State, fold_all
from holdfast.state.git_seen import GitSeen, SeenFile

FOLDER = "/home/dev/kiln"


def at(number: int) -> Origin:
    return Origin(f"row-{number}", number, number + 1, f"2027-01-15T08:{number:02}:00.000Z")


def said(number: int, text: str) -> Event:
    return UserSaid(at(number), text)


def ran(number: int, command: str, output: str = "", *, ok: bool = True) -> Event:
    return CommandRan(at(number), command, output, ok, 0 if ok else 1)


def touched(number: int, path: str, action: str = "changed") -> Event:
    return FileTouched(at(number), f"{FOLDER}/{path}", action, True, "x = 1")


def fold(*events: Event) -> State:
    return fold_all(events)


TASKS = fold(
    TaskCreated(at(1), "1", "Write the parser for cone charts"),
    TaskCreated(at(2), "2", "Draw the firing curve as SVG"),
    TaskCreated(at(3), "3", "Run the test suite"),
    TaskCreated(at(4), "4", "Translate the manual into Danish"),
    TaskChanged(at(5), "1", status="completed"),
    TaskChanged(at(6), "2", status="completed"),
    TaskChanged(at(7), "3", status="completed"),
)
RED = fold(
    said(1, "Make the clock test pass."),
    touched(2, "kiln/clock.py"),
    ran(3, "pytest", "FAILED tests/test_clock.py::test_dst - assert 3 == 2\n"
        "1 failed, 11 passed in 0.31s", ok=False),
)  # fmt: skip
MENDED = fold(
    *[said(1, "Make the clock test pass.")],
    ran(3, "pytest", "FAILED tests/test_clock.py::test_dst - assert 3 == 2\n"
        "1 failed, 11 passed in 0.31s", ok=False),
    touched(4, "kiln/clock.py"),
    ran(5, "pytest", "12 passed in 0.30s"),
)  # fmt: skip
COMMITTED = fold(
    said(1, "Commit it."),
    ran(2, "git commit -am 'Round up at noon'", "[main 4c1f2aa] Round up at noon\n 1 file changed"),
)
PUSHED = fold(
    said(1, "Commit and push."),
    ran(2, "git commit -am 'Round up at noon'", "[main 4c1f2aa] Round up at noon\n 1 file changed"),
    ran(3, "git push", "To github.com:dev/kiln.git\n   9b1e0d2..4c1f2aa  main -> main"),
)
UP_TO_DATE = fold(
    said(1, "Commit and push."),
    ran(2, "git commit -am 'Round up at noon'", "[main 4c1f2aa] Round up at noon\n 1 file changed"),
    ran(3, "git push origin main", "Everything up-to-date"),
)
FILES = fold(
    said(1, "Split the chart module."),
    touched(2, "kiln/chart.py", "created"),
    touched(3, "kiln/legend.py", "created"),
    touched(4, "kiln/axis.py"),
    ran(5, "rm kiln/legend.py"),
)
VALUES = fold(
    said(1, "The band of the controller is 5 degrees."),
    said(2, "Sorry, my mistake: the band of the controller is 8 degrees."),
)
CHANGED = fold(
    said(1, "Use MySQL for the order store."),
    said(2, "Name the command `kiln-fire`."),
    said(3, "The deadline is Friday."),
    said(4, "Use the red theme for the dashboard."),
    said(5, "Set the timeout to 30 seconds."),
    said(6, "I'm not sure that the first firing worked."),
    said(7, "No, use Postgres for the order store instead of MySQL."),
    said(8, "Call the command `kiln-burn` instead."),
    said(9, "The deadline is Monday, not Friday."),
    said(10, "I changed my mind, use the blue theme for the dashboard."),
    said(11, "Make the timeout 45 seconds."),
    said(12, "Actually I'm not sure that the first firing was logged."),
)
AXIS = SeenFile("kiln/axis.py", "changed")
CLEAN = fold(touched(1, "kiln/axis.py"))._replace(
    git_seen=GitSeen("2027-01-15T09:00:00Z", FOLDER, "4c1f2aa", "draw-axis")
)
DIRTY = CLEAN._replace(
    git_seen=GitSeen("2027-01-15T09:00:00Z", FOLDER, "4c1f2aa", "main", changed=1, files=(AXIS,))
)
NOT_OURS = CLEAN._replace(
    git_seen=GitSeen(
        *("2027-01-15T09:00:00Z", FOLDER, "4c1f2aa", "main"),
        changed=1,
        files=(SeenFile("README.md", "changed"),),
    )
)
RULES = fold(
    said(1, "Never push to the main branch."),
    said(2, "Always write log messages in Danish."),
    said(3, "Keep functions under 40 lines."),
    said(4, "Report all times in UTC."),
    said(5, "Don't touch the legacy folder."),
)

PENDING = "7. Pending Tasks:\n"
CURRENT = "8. Current Work:\n"
CONCEPTS = "2. Key Technical Concepts:\n"
FILES_PART = "3. Files and Code Sections:\n"


@pytest.mark.parametrize(
    ("state", "summary", "kind"),
    [
        (TASKS, PENDING + "   - Write the parser for cone charts", "task"),
        (TASKS, PENDING + "   - [ ] Draw the firing curve as SVG", "task"),
        (TASKS, "## Remaining work:\n- Task #1: write the parser for cone charts", "task"),
        (TASKS, "9. Next Steps:\n   1. Draw the firing curve as an SVG file", "task"),
        (TASKS, CURRENT + "   - #2 Draw the firing curve as SVG (in progress)", "task"),
        (RED, CURRENT + "   All tests pass and the work is complete.", "check"),
        (RED, CURRENT + "   The full test suite is green.", "check"),
        (RED, "5. Problem Solving:\n   - mended the clock; all 12 tests pass", "check"),
        (RED, CURRENT + "   Tests are passing now.", "check"),
        (MENDED, PENDING + "   - Fix the failing test `test_dst`", "check"),
        (MENDED, CURRENT + "   `tests/test_clock.py::test_dst` is still failing.", "check"),
        (COMMITTED, CURRENT + "   Commit 4c1f2aa was pushed to main.", "git"),
        (COMMITTED, "1. Primary Request:\n   - Committed and pushed (`4c1f2aa`).", "git"),
        (PUSHED, CURRENT + "   Commit `4c1f2aa` has not been pushed.", "git"),
        (PUSHED, PENDING + "   - 4c1f2aa still needs to be pushed", "git"),
        (UP_TO_DATE, CURRENT + "   The commit 4c1f2aa may not have been pushed.", "git"),
        (FILES, FILES_PART + "   - `kiln/legend.py` (new file): draws the legend", "file"),
        (FILES, FILES_PART + "   - **kiln/legend.py** contains the colours", "file"),
        (FILES, CURRENT + "   `kiln/chart.py` (not yet created) will hold the curve", "file"),
        (FILES, FILES_PART + "   - `kiln/axis.py`: READ, NOT YET EDITED", "file"),
        (VALUES, CONCEPTS + "   - The controller has a band of 5 degrees", "value"),
        (CHANGED, CONCEPTS + "   - The order store uses MySQL", "value"),
        (CHANGED, CONCEPTS + "   - The command is named `kiln-fire`", "value"),
        (CHANGED, PENDING + "   - Deadline: Friday", "value"),
        (CHANGED, CONCEPTS + "   - The dashboard has the red theme", "value"),
        (CHANGED, CONCEPTS + "   - Timeout: 30 seconds", "value"),
        (CLEAN, CURRENT + "   `kiln/axis.py` has not been committed yet.", "git"),
        (CLEAN, PENDING + "   - The changes are uncommitted", "git"),
        (CLEAN, CURRENT + "   We are currently on branch `main`.", "git"),
        (DIRTY, CURRENT + "   All changes are committed.", "git"),
        (DIRTY, CURRENT + "   The working tree is clean.", "git"),
        (RULES, CONCEPTS + "   - You may push to the main branch", "rule"),
        (RULES, CONCEPTS + "   - The user is fine with pushing to the main branch", "rule"),
        (RULES, CONCEPTS + "   - Functions must stay under 60 lines", "rule"),
        (RULES, CONCEPTS + "   - The user wants all times reported in CET", "rule"),
        (RULES, CONCEPTS + "   - Log messages should always be written in English", "rule"),
        (RULES, CONCEPTS + "   - Never write log messages in Danish", "rule"),
        (RULES, CONCEPTS + "   - You can touch the legacy folder", "rule"),
        (RULES, PENDING + "   - Analyse the curve; the user required TEXT ONLY, no tools", "rule"),
    ],
)  # fmt: skip
def test_what_the_record_contradicts_is_found(state: State, summary: str, kind: str) -> None:
    found = find_contradictions(state, summary)
    assert [one.kind for one in found] == [kind]
    assert found[0].at.row or kind == "rule" or state.git_seen


@pytest.mark.parametrize(
    ("state", "summary"),
    [
        (TASKS, PENDING + "   - Translate the manual into Danish"),
        (TASKS, PENDING + "   - Write the parser for cone charts: DONE"),
        (TASKS, PENDING + "   - Run the test suite"),
        (TASKS, PENDING + "   - Write the parser for cone charts of other makers, in inches"),
        (TASKS, PENDING + "   - Reopened: draw the firing curve as SVG"),
        (TASKS, "1. Primary Request:\n   - Write the parser for cone charts"),
        (TASKS, '6. All user messages:\n   - "Write the parser for cone charts"'),
        (TASKS, PENDING + "   - Merge PR #2 after review"),
        (RED, CURRENT + "   `test_dst` still fails."),
        (RED, CURRENT + "   Run pytest until all tests pass."),
        (RED, CURRENT + "   11 tests pass, 1 fails."),
        (RED, PENDING + "   - Make sure all tests pass"),
        (RED, "5. Problem Solving:\n   - all tests passed before the clock was changed"),
        (MENDED, CURRENT + "   All 12 tests pass."),
        (MENDED, "4. Errors and fixes:\n   - `test_dst` failed: fixed by rounding up"),
        (MENDED, PENDING + "   - `test_dst` was failing; fixed"),
        (COMMITTED, CURRENT + "   Commit 4c1f2aa is not pushed yet."),
        (COMMITTED, PENDING + "   - Push 4c1f2aa once the user agrees"),
        (COMMITTED, CURRENT + "   Commit 9b1e0d2 was pushed yesterday."),
        (PUSHED, CURRENT + "   Commit 4c1f2aa was pushed."),
        (UP_TO_DATE, CURRENT + "   Commit 4c1f2aa was pushed."),
        (FILES, FILES_PART + "   - `kiln/legend.py`: created, then deleted again"),
        (FILES, FILES_PART + "   - Removed `kiln/legend.py`"),
        (FILES, FILES_PART + "   - `kiln/chart.py` (created)"),
        (FILES, FILES_PART + "   - `docs/legend.py` contains the colours"),
        (FILES, PENDING + "   - `kiln/other.py` must be created"),
        (FILES, CURRENT + "   Tried to create `kiln/legend.py` with both imports."),
        (VALUES, CONCEPTS + "   - The controller has a band of 8 degrees"),
        (VALUES, CONCEPTS + "   - The band of the controller was 5 degrees, now 8 degrees"),
        (VALUES, '6. All user messages:\n   - "The band of the controller is 5 degrees."'),
        (VALUES, CONCEPTS + "   - 5 charts of the controller were drawn"),
        (CHANGED, CONCEPTS + "   - The order store uses Postgres"),
        (CHANGED, CONCEPTS + "   - The order store uses Postgres, not MySQL"),
        (CHANGED, CONCEPTS + "   - The order store used MySQL at first"),
        (CHANGED, CONCEPTS + "   - The import reads dumps of MySQL"),
        (CHANGED, "4. Errors:\n   - The order store of MySQL lost a row"),
        (CHANGED, '6. All user messages:\n   - "Use MySQL for the order store."'),
        (CHANGED, CONCEPTS + "   - The deadline is Monday"),
        (CHANGED, CONCEPTS + "   - The red lamp on the dashboard blinks when the kiln is hot"),
        (CHANGED, CONCEPTS + "   - The first firing is sure to be logged"),
        (CLEAN, CURRENT + "   All changes are committed on branch `draw-axis`."),
        (CLEAN, CURRENT + "   We are now on `draw-axis`; `main` comes later."),
        (CLEAN, CURRENT + "   `vendor/other.py` is not committed there."),
        (CLEAN, CURRENT + "   Commit when it is not yet committed."),
        (DIRTY, CURRENT + "   `kiln/axis.py` is uncommitted."),
        (DIRTY, "1. Primary Request:\n   - Make sure that all changes are committed"),
        (NOT_OURS, CURRENT + "   All changes of this session are committed."),
        (RULES, CONCEPTS + "   - Never push to the main branch"),
        (RULES, CONCEPTS + "   - The user said not to push to the main branch"),
        (RULES, CONCEPTS + "   - The main branch is protected by the host"),
        (RULES, CONCEPTS + "   - Functions must stay under 40 lines"),
        (RULES, CONCEPTS + "   - All times are reported in UTC"),
        (RULES, CONCEPTS + "   - The legacy folder must stay untouched"),
        (RULES, "4. Errors:\n   - I pushed to the main branch once and the user objected"),
        (RULES, CONCEPTS + "   - Log messages are written in Danish, user text in English"),
        (State(), CURRENT + "   All tests pass and everything was pushed."),
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_left_alone(state: State, summary: str) -> None:
    assert find_contradictions(state, summary) == []


def test_the_agent_is_told_in_a_line_each_with_the_id_that_opens_the_row() -> None:
    summary = f"{CURRENT}   All tests pass.\n{PENDING}   - nothing"
    assert format_contradictions(find_contradictions(RED, summary)).splitlines()[1:] == [
        '- the summary says "All tests pass."; [v1] the last run failed: `pytest`'
        " (tests/test_clock.py::test_dst)"
    ]
    assert format_contradictions(find_contradictions(RED, "")) == ""


def test_a_contradiction_names_its_row() -> None:
    found = find_contradictions(PUSHED, CURRENT + "   Commit `4c1f2aa` was not pushed.")
    assert found == [
        Contradiction(
            "git", "Commit `4c1f2aa` was not pushed.", "commit 4c1f2aa was pushed", "g1", at(2)
        )
    ]


def test_a_thinking_part_and_code_are_no_summary() -> None:
    thinking = f"Analysis:\n{CURRENT}   All tests pass.\n\nSummary:\n{CURRENT}   `test_dst` fails."
    assert find_contradictions(RED, thinking) == []
    assert find_contradictions(RED, f"{CURRENT}```\nAll tests pass.\n```") == []


@pytest.mark.parametrize(
    ("line", "absent", "told"),
    [
        ("Created `kiln/units.py` with the conversions", True, True),
        ("Created `kiln/units.py` with the conversions", False, False),
        ("`kiln/units.py` must still be created", True, False),
        ("`kiln/axis.py` (modified)", True, False),
        ("`kiln/units.py` was created and then removed", True, False),
    ],
)
def test_a_file_that_nobody_made_is_not_told_as_made(line: str, absent: bool, told: bool) -> None:
    found = find_contradictions(FILES, f"{FILES_PART}   - {line}", lambda _: absent)
    assert [one.kind for one in found] == ["file"] * told
