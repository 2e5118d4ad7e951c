"""The story of a recorded session: a weather station's import, compacted twice.

Owns the words, files and replies; `record_sample` plays it. The agent asks and the user decides, a
first attempt fails, an instruction is taken back, and the last turn ends with an open question.
"""

from pathlib import Path

from .compaction_scripts import fills_the_window
from .model_replies import Reply, bash, summary, text, tool

IMPORTER = '''"""Readings of the station, from its CSV files."""

import csv
import sys


def read(path):
    readings, skipped = [], 0
    with open(path, newline="") as file:
        for row in csv.DictReader(file, delimiter=";"):
            try:
                readings.append((row["time"], float(row["celsius"])))
            except ValueError:
                skipped += 1
    return readings, skipped


if __name__ == "__main__":
    readings, skipped = read(sys.argv[1])
    print(f"imported {len(readings)}, skipped {skipped}")
'''

MAY = """time;celsius
2024-05-01T05:50;9.4
2024-05-01T12:00;17,2
2024-05-02T05:50;-999
2024-05-02T12:00;18,0
2024-05-03T05:50;10.1
2024-05-03T12:00;18,4
"""

TESTS = """from station.importer import read


def test_every_row_of_may_is_imported():
    readings, skipped = read("data/may.csv")
    assert (len(readings), skipped) == (6, 0)
"""

PROJECT = {
    "station/__init__.py": "",
    "station/importer.py": IMPORTER,
    "data/may.csv": MAY,
    "tests/test_importer.py": TESTS,
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
}

PYTEST = "python -m pytest -q -p no:cacheprovider --no-header"

FIRST = (
    "python -m station.importer data/may.csv skips rows. Find out why and fix it. "
    "Never change the CSV files, they are kept as the station sent them. "
    "And stay within the standard library."
)
SECOND = (
    "Keep it as None, because the monthly report counts the gaps. Also print a line with the "
    "number of gaps after the import. Commit when the test is green."
)
THIRD = (
    "Now a report: python -m station.report data/may.csv prints the mean temperature of each day "
    "with one decimal, and the gaps. Forget the line with the gaps after the import, the report "
    "has them now."
)
FOURTH = "What is missing before I can send it to the station's owner?"

OLD_PARSE = '                readings.append((row["time"], float(row["celsius"])))\n'
LOCALE_PARSE = '                readings.append((row["time"], locale.atof(row["celsius"])))\n'
COMMA_PARSE = (
    '                readings.append((row["time"], float(row["celsius"].replace(",", "."))))\n'
)
NONE_PARSE = """                value = float(row["celsius"].replace(",", "."))
                readings.append((row["time"], None if value == MISSING else value))
"""

REPORT = '''"""The mean temperature and the gaps of each day."""

import sys
from collections import defaultdict

from station.importer import read


def by_day(readings):
    days = defaultdict(list)
    for time, celsius in readings:
        days[time[:10]].append(celsius)
    return days


def line(day, values):
    known = [value for value in values if value is not None]
    return f"{day} {sum(known) / len(known):.1f} gaps {len(values) - len(known)}"


if __name__ == "__main__":
    for day, values in sorted(by_day(read(sys.argv[1])[0]).items()):
        print(line(day, values))
'''

REPORT_TEST = """from station.report import line


def test_a_day_without_any_reading_has_no_mean():
    assert line("2024-05-04", [None]) == "2024-05-04 - gaps 1"
"""

SUMMARIES = (
    """1. Primary Request and Intent:
   The user asked to find out why the importer of a weather station skips rows and to fix it.

2. Files and Code Sections:
   - station/importer.py: read() now accepts decimal commas.

3. Current Work:
   The import is fixed and committed.""",
    """1. Primary Request and Intent:
   The user wants a daily report of a weather station's readings.

2. Files and Code Sections:
   - station/importer.py, station/report.py

3. Current Work:
   The report was written and prints a line for each day.""",
)


def turns(root: Path) -> list[tuple[str, list[Reply]]]:
    importer, report = str(root / "station/importer.py"), str(root / "station/report.py")
    first = [
        tool("Read", file_path=importer),
        bash("python -m station.importer data/may.csv && head -4 data/may.csv", "Run the import"),
        text("Some values have a decimal comma. The locale module reads those.")
        + tool("Edit", file_path=importer, old_string=OLD_PARSE, new_string=LOCALE_PARSE),
        bash(
            "python -c \"import locale; locale.setlocale(locale.LC_NUMERIC, 'de_DE.UTF-8')\"",
            "Is the locale installed",
        ),
        text("The German locale is not installed here, so I replace the comma instead.")
        + tool("Edit", file_path=importer, old_string=LOCALE_PARSE, new_string=COMMA_PARSE),
        bash(f"{PYTEST} tests/test_importer.py", "Run the test"),
        text(
            "Rows were skipped because of decimal commas; all six are imported now. One of them is "
            "-999, the station's mark for a missing reading. Shall I drop such rows or keep them "
            "as None?"
        ),
    ]
    second = [
        tool("Edit", file_path=importer, old_string=COMMA_PARSE, new_string=NONE_PARSE)
        + tool(
            "Edit",
            file_path=importer,
            old_string="import sys\n",
            new_string="import sys\n\nMISSING = -999.0\n",
        ),
        bash(f"{PYTEST} tests/test_importer.py", "Run the test"),
        bash(
            'git add -A && git commit -q -m "Import decimal commas and missing readings" '
            "&& git log --oneline -1",
            "Commit",
        ),
        # The client compacts after this call.
        fills_the_window(bash("python -m station.importer data/may.csv", "Run the import")),
        text("Committed: a missing reading is None. The line with the gaps is not printed yet."),
    ]
    third = [
        tool("TaskCreate", subject="Write station/report.py", description="Mean and gaps per day"),
        tool(
            "TaskCreate",
            subject="Handle a day without any reading",
            description="No mean, so print a dash",
        ),
        tool("TaskUpdate", taskId="1", status="in_progress"),
        tool("Write", file_path=report, content=REPORT),
        bash("python -m station.report data/may.csv", "Print the report"),
        tool("TaskUpdate", taskId="1", status="completed"),
        tool("Write", file_path=str(root / "tests/test_report.py"), content=REPORT_TEST),
        bash(f"{PYTEST}", "Run all tests"),
        text(
            "The report prints every day of May. A day with gaps only divides by zero: the new "
            "test shows it, and the fix is next. Is the mean of 2 May right when its morning "
            "reading is missing, or should such a day be marked?"
        ),
    ]
    fourth = [
        fills_the_window(bash("git status --short", "What is uncommitted")),
        text("The fix for a day without readings, and your answer about 2 May."),
    ]
    return [(FIRST, first), (SECOND, second), (THIRD, third), (FOURTH, fourth)]


def summaries() -> list[Reply]:
    return [summary(words) for words in SUMMARIES]
