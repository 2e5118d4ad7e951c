"""What a transcript proves at a cut: an independent reading, to check stated lines against.

Owns who said what, which commands ran and how they ended, what became of tasks, what git did.
It must not know the product, nor any layout of a text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from benchmarks.quality.transcripts import Row, blocks, content, read_text

EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_PEOPLE = frozenset({"", "human", "person", "composer", "voice-call", "remote", "suggestion"})
_NOT_TYPED_TURNS = frozenset(
    {"scheduled", "task_notification", "auto_continuation", "peer", "system", "host_synthetic"}
)
_FLAGS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isVirtual")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_COMMAND_NAME = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_SHELL = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_REFUSAL = re.compile(r"the user said:\s*(.*)", re.DOTALL)
_ANSWER = re.compile(r'"=\s*"(.*?)"(?:[.,]|\s|$)', re.DOTALL)
_NOTES = re.compile(r"user notes: (.*?)(?:, \"|\. You can now|$)", re.DOTALL)
_NOT_TYPED = ("<", "[Request interrupted", "Caveat:", "This session is being continued")
_TASK_NUMBER = re.compile(r"Task #(\d+) created")
_COMMIT_LINE = re.compile(r"^\[([^\]\s]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\]", re.MULTILINE)
_SPACE = re.compile(r"\s+")


def to_one_line(text: str) -> str:
    """One line: how a text may be told without being changed."""
    return _SPACE.sub(" ", text).strip()


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text with its speaker's row."""

    row: str
    at: int
    text: str
    plain: str  # flat, without what the speaker only quoted: fences, quotations
    how: str  # prompt, arguments, answer, refusal, queued, shell


@dataclass(slots=True)
class CommandRun:
    """One shell command, and how it ended; `failed` is None while it has not."""

    row: str
    at: int
    command: str
    failed: bool | None = None
    output: str = ""
    refused: bool = False
    background: bool = False


@dataclass(slots=True)
class TaskRecord:
    subject: str
    status: str
    number: str = ""


@dataclass(slots=True)
class Evidence:
    """Everything before a cut that a stated line can be checked against."""

    user: list[Utterance] = field(default_factory=list)
    agent: list[Utterance] = field(default_factory=list)
    runs: list[CommandRun] = field(default_factory=list)
    tasks: list[TaskRecord] = field(default_factory=list)
    edited: dict[str, int] = field(default_factory=dict)  # path: position of its last edit
    paths: set[str] = field(default_factory=set)  # every path that a tool was called with
    commits: list[tuple[int, str, str]] = field(default_factory=list)  # at, branch, hash
    branches: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)
    everything: str = ""  # all that stands in the rows


def collect_evidence(rows: list[Row]) -> Evidence:
    """Read the rows before a cut, main chain only."""
    found = Evidence()
    reader = _Reader(found)
    for at, row in enumerate(rows):
        if row.get("isSidechain"):
            continue
        reader.read(at, row)
    found.everything = "\n".join(reader.texts)
    return found


class _Reader:
    def __init__(self, found: Evidence) -> None:
        self.found = found
        self.texts: list[str] = []
        self.calls: dict[str, tuple[str, dict[str, Any]]] = {}
        self.by_call: dict[str, CommandRun] = {}
        self.edits: dict[str, tuple[str, int]] = {}
        self.made: dict[str, TaskRecord] = {}
        self.todos: dict[str, TaskRecord] = {}

    def read(self, at: int, row: Row) -> None:
        uuid = str(row.get("uuid") or "")
        if uuid:
            self.found.rows[uuid] = at
        if isinstance(row.get("cwd"), str):
            self.found.folders[row["cwd"].rstrip("/")] = None
        branch = row.get("gitBranch")
        if isinstance(branch, str) and branch:
            self.found.branches.append(branch)
        kind = row.get("type")
        if kind == "user":
            self._user(at, uuid, row)
        elif kind == "assistant":
            said = read_text(content(row))
            if said.strip():
                self.texts.append(said)
                self.found.agent.append(Utterance(uuid, at, said, to_one_line(said), "said"))
            for block in blocks(row, "tool_use"):
                self._call(at, uuid, block)
        elif kind == "attachment":
            self._attachment(at, uuid, row)
        elif kind == "queue-operation" and row.get("operation") == "enqueue":
            self.texts.append(str(row.get("content")))
            self._typed(at, uuid, row.get("content"), "queued")

    def _user(self, at: int, uuid: str, row: Row) -> None:
        for block in blocks(row, "tool_result"):
            self._result(at, uuid, block, row)
        text = read_text(content(row))
        if text:
            self.texts.append(text)
        if any(row.get(flag) is True for flag in _FLAGS) or not _from_a_person(row):
            return
        if name := _COMMAND_NAME.search(text):
            for args in _ARGUMENTS.findall(text):
                self._typed(at, uuid, f"{name[1].strip()} {args}", "arguments")
                self._typed(at, uuid, args, "arguments")
            self._typed(at, uuid, name[1], "arguments")
        for command in _SHELL.findall(text):
            self._typed(at, uuid, command, "shell")
            run = CommandRun(uuid, at, command, failed=False)
            self.found.runs.append(run)
        text = _REMINDER.sub("", text).strip()
        if text and not text.startswith(_NOT_TYPED):
            self._typed(at, uuid, text, "prompt")

    def _typed(self, at: int, uuid: str, text: object, how: str) -> None:
        if isinstance(text, str) and text.strip() and not text.lstrip().startswith(_NOT_TYPED):
            self.found.user.append(
                Utterance(uuid, at, text, to_one_line(strip_quotations(text)), how)
            )

    def _attachment(self, at: int, uuid: str, row: Row) -> None:
        held = row.get("attachment")
        if isinstance(held, dict) and held.get("type") == "queued_command":
            origin = held.get("origin")
            who = str(origin.get("kind") or "") if isinstance(origin, dict) else ""
            prompt = held.get("prompt")
            text = prompt if isinstance(prompt, str) else read_text(prompt)
            if who in _PEOPLE and held.get("commandMode") in (None, "prompt"):
                self._typed(at, uuid, text, "queued")

    def _call(self, at: int, uuid: str, block: Row) -> None:
        given = block.get("input")
        given = given if isinstance(given, dict) else {}
        name, call = str(block.get("name")), str(block.get("id"))
        self.calls[call] = (name, given)
        for value in given.values():
            self.texts.append(value if isinstance(value, str) else str(value))
        path = given.get("file_path") or given.get("notebook_path") or given.get("path")
        if isinstance(path, str):
            self.found.paths.add(path)
            if name in EDITS:
                self.edits[call] = (path, at)
        if name == "Bash" and isinstance(given.get("command"), str):
            run = CommandRun(
                uuid, at, given["command"], background=bool(given.get("run_in_background"))
            )
            self.by_call[call] = run
            self.found.runs.append(run)
        elif name == "TodoWrite":
            self._todos(given)
        elif name == "TaskUpdate":
            task = self.made.get(str(given.get("taskId")))
            if task is not None:
                task.status = str(given.get("status") or task.status)
                task.subject = str(given.get("subject") or task.subject)

    def _todos(self, given: dict[str, Any]) -> None:
        listed = given.get("todos")
        now: dict[str, TaskRecord] = {}
        for todo in listed if isinstance(listed, list) else []:
            if isinstance(todo, dict) and isinstance(todo.get("content"), str):
                task = self.todos.get(todo["content"]) or TaskRecord(todo["content"], "")
                task.status = str(todo.get("status"))
                now[task.subject] = task
        for subject, task in self.todos.items():
            if subject not in now and task.status != "completed":
                task.status = "dropped"
        for subject, task in now.items():
            if subject not in self.todos:
                self.found.tasks.append(task)
        self.todos |= now

    def _result(self, at: int, uuid: str, block: Row, row: Row) -> None:
        text = read_text(block.get("content"))
        self.texts.append(text)
        told = row.get("toolUseResult")
        self.texts += _strings(told) if isinstance(told, dict) else ()
        call = str(block.get("tool_use_id"))
        name, given = self.calls.get(call, ("", {}))
        bad = bool(block.get("is_error"))
        if "doesn't want to proceed" in text and (said := _REFUSAL.search(text)):
            self._typed(at, uuid, said[1], "refusal")
        if name == "AskUserQuestion":
            for answer in [*_ANSWER.findall(text), *_NOTES.findall(text)]:
                self._typed(at, uuid, answer, "answer")
            self._structured_answers(at, uuid, row)
        if call in self.edits and not bad:  # without a result nobody knows whether it was made
            path, made = self.edits[call]
            self.found.edited[path] = made
        if run := self.by_call.get(call):
            run.failed, run.output = bad, text
            run.refused = "doesn't want to proceed" in text or "[Request interrupted" in text
            if not bad:
                self.found.commits += [(run.at, b, h) for b, h in _COMMIT_LINE.findall(text)]
        if name == "TaskCreate":
            number = ""
            if isinstance(told, dict) and isinstance(told.get("task"), dict):
                number = str(told["task"].get("id") or "")
            if not number and (found := _TASK_NUMBER.search(text)):
                number = found[1]
            if number:
                task = TaskRecord(str(given.get("subject") or ""), "pending", number)
                self.made[number] = task
                self.found.tasks.append(task)

    def _structured_answers(self, at: int, uuid: str, row: Row) -> None:
        told = row.get("toolUseResult")
        answers = told.get("answers") if isinstance(told, dict) else None
        for answer in answers.values() if isinstance(answers, dict) else ():
            self._typed(at, uuid, answer, "answer")


def _strings(held: Any) -> list[str]:
    """Every text of a structured result: a subagent's report stands in there."""
    if isinstance(held, str):
        return [held]
    inside = held.values() if isinstance(held, dict) else held if isinstance(held, list) else ()
    return [text for one in inside for text in _strings(one)]


def _from_a_person(row: Row) -> bool:
    origin = row.get("origin")
    kind = str(origin.get("kind") or "") if isinstance(origin, dict) else ""
    if kind not in _PEOPLE or row.get("promptSource") == "system":
        return False
    return row.get("turnOrigin") not in _NOT_TYPED_TURNS or kind == "voice-call"


_FENCE = re.compile(r"^\s*(?:```|~~~)")
_QUOTATION = re.compile(r"^\s*>")


def strip_quotations(text: str) -> str:
    """What somebody wrote himself: without fenced blocks and quoted lines."""
    kept, fenced = [], False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not _QUOTATION.match(line):
            kept.append(line)
    return "\n".join(kept)
