"""The client's task list: its four tools, and the files it keeps on disk.

Owns what a task looks like to the client. Must not decide what a task means to us.
"""

from __future__ import annotations

import json
import os
from typing import Any

from holdfast.clients.claude_code.transcript.json_fields import (
    as_id,
    as_object,
    as_objects,
    as_text,
    as_texts,
)
from holdfast.events import Event, Origin, TaskChanged, TaskCreated, TasksListed

MAX_FILES = 2000
MAX_FILE_BYTES = 1_000_000


def on_task_create(
    at: Origin, asked: dict[str, Any], data: dict[str, Any], shown: str
) -> list[Event]:
    task = as_object(data.get("task"))
    number = as_id(task.get("id")) or _number_in(shown)
    if not number:
        return []
    subject = as_text(task.get("subject")) or as_text(asked.get("subject"))
    description = as_text(asked.get("description")) or as_text(task.get("description"))
    return [TaskCreated(at, number, subject, description, as_text(asked.get("activeForm")))]


def on_task_update(
    at: Origin, asked: dict[str, Any], data: dict[str, Any], shown: str
) -> list[Event]:
    number = as_id(asked.get("taskId")) or as_id(data.get("taskId")) or _number_in(shown)
    if not number:
        return []
    status = _said(asked.get("status")) or _said(as_object(data.get("statusChange")).get("to"))
    return [
        TaskChanged(
            at,
            number,
            status,
            _said(asked.get("subject")),
            _said(asked.get("description")),
            _said(asked.get("owner")),
            as_texts(asked.get("addBlocks")),
            as_texts(asked.get("addBlockedBy")),
        )
    ]


def on_task_list(at: Origin, data: dict[str, Any], shown: str) -> list[Event]:
    found = data.get("tasks")
    if isinstance(found, list):
        return [TasksListed(at, tuple(parse_tasks(at, found)))]
    return [TasksListed(at, tuple(_lines(at, shown)))]


def parse_tasks(at: Origin, found: object) -> list[TaskChanged]:
    """Tasks as the client writes them, in a result, a reminder or a file."""
    out = []
    for task in as_objects(found):
        number = as_id(task.get("id"))
        if number:
            out.append(
                TaskChanged(
                    at,
                    number,
                    _said(task.get("status")),
                    _said(task.get("subject")),
                    _said(task.get("description")),
                    _said(task.get("owner")),
                    as_texts(task.get("blocks")),
                    as_texts(task.get("blockedBy")),
                )
            )
    return out


def read_task_files(folder: str, time: str = "") -> TasksListed:
    """The tasks in `<config>/tasks/<list>/`; files that are none are passed over."""
    at = Origin("", 0, 0, time)
    found = []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        names = []
    for name in [name for name in names if name.endswith(".json")][:MAX_FILES]:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                task = json.loads(file.read(MAX_FILE_BYTES))
        except (OSError, ValueError, RecursionError):
            continue
        found.append(task)
    tasks = parse_tasks(at, found)
    tasks.sort(key=lambda task: (len(task.task), task.task))
    return TasksListed(at, tuple(tasks))


def _lines(at: Origin, shown: str) -> list[TaskChanged]:
    """From the text of a list: `#1 [pending] Subject (owner) [blocked by #2, #3]`."""
    out = []
    for line in shown.splitlines():
        number, _, rest = line.strip().partition(" ")
        if not number.startswith("#") or not rest.startswith("["):
            continue
        status, _, subject = rest[1:].partition("] ")
        subject, _, blockers = subject.partition(" [blocked by ")
        blocked_by = tuple(b.strip(" #]") for b in blockers.split(",") if b.strip(" #]"))
        out.append(TaskChanged(at, number[1:], status, subject, blocked_by=blocked_by))
    return out


def _number_in(shown: str) -> str:
    """N of `Task #N created successfully` or `Updated task #N status`."""
    _, _, rest = shown[:200].partition("ask #")
    number = rest.split(None, 1)[0] if rest else ""
    return number.rstrip(":")


def _said(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
