"""What was true at a boundary: tasks, edits, the last test, open errors, branch, rules.

Owns the state that a brief is held against, from the rows themselves. It must never look at how
the product keeps its state.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchmarks.measure.brief_lines import plain_words
from benchmarks.measure.knowledge import (
    EDIT_TOOLS,
    Knowledge,
    SessionText,
    created_task_id,
    normalize_text,
    read_file_field,
    task_subjects,
)
from benchmarks.measure.session_files import USER, Call
from benchmarks.measure.shell_commands import (
    command_family,
    is_read_only,
    is_test,
    normalise,
    split_command,
)

MAX_EDITS = 20
MAX_RULES = 10
MAX_OPEN_ERRORS = 5

_FAILED = re.compile(
    r"(?m)^(?:--- )?FAIL\b|^FAILED\b|\b\d+ failed\b|^(?:E\s+|error[:\[]|Error:)|\bpanic: |"
    r"Traceback \(most recent|^make: \*\*\*|ERROR task failed|exit (?:status|code) [1-9]"
)
_ERROR_LINE = re.compile(
    r"(?i)\b(?:error|exception|failed|fail|failure|fatal|panic|undefined|cannot|not found|denied)\b"
)
_RULE = re.compile(
    r"(?i)(?:\b(?:always|never|must|make sure|from now on|prefer|only use|remember to|"
    r"stop (?:using|doing)|shouldn'?t|should not|ensure)\b|"
    r"(?<!\bi )(?<!\bwe )(?<!\byou )(?<!\bthey )(?<!\bit )(?<!\bstill )\b(?:don'?t|do not)\b"
    r"(?! (?:know|think|see|understand|have|get|really|seem|exist|work)))"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_MARKUP = re.compile(r"<(command-|local-command|bash-|user-|task-)|^\[Request interrupted|^Caveat:")
_INTERRUPTED = re.compile(
    r"(?i)doesn't want to (?:proceed|take this action)|tool use was rejected|sibling tool call"
)


@dataclass(slots=True)
class Failure:
    """A command that failed, and the words its error was told in."""

    command: str
    words: frozenset[str]
    line: str


@dataclass(slots=True)
class Truth:
    """The state at a boundary."""

    open_tasks: list[str] = field(default_factory=list)
    closed_tasks: set[str] = field(default_factory=set)
    edited: list[str] = field(default_factory=list)
    deleted: set[str] = field(default_factory=set)
    test: str = ""
    test_passed: bool | None = None
    open_errors: list[Failure] = field(default_factory=list)
    fixed_errors: list[Failure] = field(default_factory=list)
    failed_commands: set[str] = field(default_factory=set)
    branch: str = ""
    rules: list[frozenset[str]] = field(default_factory=list)


def build_truth(text: SessionText, index: int, knowledge: Knowledge) -> Truth:
    """The state after the last row before a boundary."""
    truth = Truth()
    calls = [c for c in text.reading.calls if c.row < index]
    _tasks(calls, truth)
    _files(calls, knowledge, text.roots, truth)
    _outcomes(calls, text, truth)
    for row in reversed(text.session.rows[:index]):
        if isinstance(row.get("gitBranch"), str) and row["gitBranch"]:
            truth.branch = row["gitBranch"]
            break
    _rules(text, index, truth)
    return truth


def _tasks(calls: list[Call], truth: Truth) -> None:
    subjects: dict[str, str] = {}
    status: dict[str, str] = {}
    todos: dict[str, str] = {}
    for call in calls:
        if call.error:
            continue
        if call.tool == "TaskCreate" and (number := created_task_id(call)):
            names = task_subjects(call)
            if names:
                subjects[number], status[number] = normalize_text(names[0]), "pending"
        elif call.tool == "TaskUpdate":
            number = str(call.input.get("taskId", ""))
            if isinstance(call.input.get("status"), str):
                status[number] = call.input["status"]
            if isinstance(call.input.get("subject"), str) and number in subjects:
                subjects[number] = normalize_text(call.input["subject"])
        elif call.tool == "TodoWrite" and isinstance(call.input.get("todos"), list):
            gone = dict.fromkeys(todos, "cancelled")
            todos = gone | {
                normalize_text(str(t.get("content", ""))): str(t.get("status", "pending"))
                for t in call.input["todos"]
                if isinstance(t, dict)
            }
    states = [(subjects[n], status.get(n, "pending")) for n in subjects] + list(todos.items())
    live = {"pending", "in_progress"}
    truth.open_tasks = list(dict.fromkeys(s for s, state in states if state in live and s))
    truth.closed_tasks = {s for s, state in states if state not in live} - set(truth.open_tasks)


def _files(calls: list[Call], knowledge: Knowledge, roots: list[str], truth: Truth) -> None:
    edited: dict[str, None] = {}
    for call in calls:
        if call.error:
            continue
        name = read_file_field(call)
        path = knowledge.paths.resolve(name) if name else ""
        if path:
            truth.deleted.discard(path)
            if call.tool in EDIT_TOOLS:
                edited.pop(path, None)
                edited[path] = None
        command = call.input.get("command")
        if call.tool == "Bash" and isinstance(command, str):
            for gone in _removed(command, roots):
                if path := knowledge.paths.resolve(gone):
                    truth.deleted.add(path)
    truth.edited = [p for p in edited if p not in truth.deleted][-MAX_EDITS:]


def _removed(command: str, roots: list[str]) -> list[str]:
    """Files a shell line deletes or moves away, by name. Globs and folders are not followed."""
    gone: list[str] = []
    for simple in split_command(command):
        words = normalise(simple, roots).split(" ")
        if words[:2] in (["git", "rm"], ["git", "mv"]):
            words = words[1:]
        if words[0] == "rm" and "--cached" not in words:
            gone.extend(w.strip("\"'") for w in words[1:] if not w.startswith("-"))
        elif words[0] == "mv":
            named = [w.strip("\"'") for w in words[1:] if not w.startswith("-")]
            gone.extend(named[:-1])
    return [g for g in gone if "*" not in g]


def _outcomes(calls: list[Call], text: SessionText, truth: Truth) -> None:
    """The last test and its verdict; failures, open until their like succeeds."""
    open_failures: dict[str, Failure] = {}
    for call in calls:
        commands = text.commands_of(call)
        if not commands or call.result is None or _INTERRUPTED.search(call.result):
            continue
        failed = call.error or bool(_FAILED.search(call.result))
        for command in commands:
            if is_read_only(command):
                continue
            if is_test(command):
                truth.test, truth.test_passed = command, not failed
            if not failed:
                truth.failed_commands.discard(command)
                if fixed := open_failures.pop(command_family(command), None):
                    truth.fixed_errors.append(fixed)
        if failed:
            command = commands[-1]
            truth.failed_commands.add(command)
            line = _error_line(call.result)
            again = open_failures.pop(command_family(command), None)
            if again is not None and again.words != plain_words(line):
                truth.fixed_errors.append(again)
            open_failures[command_family(command)] = Failure(command, plain_words(line), line)
    truth.open_errors = list(open_failures.values())[-MAX_OPEN_ERRORS:]
    lines = {f.line for f in open_failures.values()}
    truth.fixed_errors = [f for f in truth.fixed_errors if f.line not in lines]


def _error_line(result: str) -> str:
    """The line that tells what went wrong: the first that says so, else the last."""
    lines = [line.strip() for line in result.splitlines() if line.strip()]
    said = [line for line in lines if _ERROR_LINE.search(line) and not line.startswith("Exit code")]
    chosen = said[0] if said else (lines[-1] if lines else "")
    return chosen[:300]


def _rules(text: SessionText, index: int, truth: Truth) -> None:
    """Sentences of the user that ask for something to hold from then on."""
    rows = text.session.rows
    found: list[frozenset[str]] = []
    for piece in text.reading.pieces:
        if piece.row >= index or piece.source != USER or rows[piece.row].get("isMeta"):
            continue
        if len(piece.text) > 4000 or _MARKUP.search(piece.text):
            continue  # pasted documents and client markup are not the user's own rules
        for sentence in _SENTENCE.split(piece.text):
            if len(sentence) <= 400 and _RULE.search(sentence):
                words = plain_words(sentence)
                if len(words) >= 3:
                    found.append(words)
    truth.rules = list(dict.fromkeys(found))[-MAX_RULES:]


def list_error_lines(calls: list[Call]) -> list[str]:
    """Lines of failed results: what an error label may truly stand over."""
    lines: list[str] = []
    for call in calls:
        if call.result and (call.error or (call.tool == "Bash" and _FAILED.search(call.result))):
            lines.extend(line for line in call.result.splitlines() if len(line) <= 2000)
    return lines
