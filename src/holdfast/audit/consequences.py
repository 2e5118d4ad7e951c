"""What happened after a compaction and should not have: things said again, tried again, redone.

Listens to the events of one epoch with the state before it in mind. Cautious: only the same
command failing again, the same subject reopened, or the user's own words count.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from holdfast.audit.results import Consequence
from holdfast.events import CommandRan, Event, TaskChanged, TaskCreated, TodosSet, UserSaid
from holdfast.redact import redact
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import State
from holdfast.state.dead_ends import MAX_TRIED_CHARS
from holdfast.state.facts import DONE, OPEN
from holdfast.state.prose import split_sentences, subject_words, word_overlap
from holdfast.state.shell import normalise_command
from holdfast.text import truncate

MAX_QUOTE_CHARS = 320
# Of the words of a rule, how many the user must use again; fewer than three prove nothing.
MIN_RULE_OVERLAP = 0.6
MIN_SHARED_WORDS = 3
# Beyond this a message is a paste or a new request, and shares words with anything.
MAX_REMINDER_CHARS = 500
REMINDER_PATTERN = re.compile(
    r"\b(?:(?:i|we) already (?:told|said|asked|mentioned|explained|did|fixed|discussed|decided"
    r"|agreed)|(?:as|like) i (?:already )?(?:said|mentioned) (?:before|earlier)|i told you"
    r"|you forgot|did you forget|you already (?:did|fixed|read|checked|know|implemented|changed)"
    r"|we (?:talked|spoke) about (?:this|that)|how many times)\b",
    re.I,
)

# A fact's id -> (whether the summary tells it, whether the brief or the summary does)
Judge = Callable[[str], tuple[bool, bool]]


class ConsequenceFinder:
    """Hears the events after one boundary, until the next."""

    def __init__(self, state: State, start: int, judge: Judge) -> None:
        self._start = start
        self._judge = judge
        self._rules = [
            (f"r{rule.number}", rule.text, subject_words(rule.text))
            for rule in state.rules.values()
            if rule.status == OPEN
        ]
        self._dead_ends = {
            key: (f"x{one.number}", one)
            for key, one in state.dead_ends.items()
            if one.status == OPEN and one.source == "command"
        }
        self._done = {
            _folded(task.subject): (key, task.subject)
            for key, task in state.tasks.items()
            if task.status == DONE
        }
        self._done_ids = {
            task.task: _folded(task.subject) for task in state.tasks.values() if task.status == DONE
        }
        self._found: dict[tuple[str, str], Consequence] = {}

    def apply(self, event: Event) -> None:
        # A rewound transcript is folded, and heard, from its start.
        if event.at.start < self._start or event.at.agent:
            return
        if isinstance(event, UserSaid):
            self._user_said(event)
        elif isinstance(event, CommandRan):
            self._command_ran(event)
        elif isinstance(event, TaskCreated):
            self._reopened(_folded(event.subject), event.at.time, "created again")
        elif isinstance(event, TaskChanged):
            if event.status in ("pending", "in_progress"):
                subject = self._done_ids.get(event.task, "")
                self._reopened(subject, event.at.time, f"set to {event.status} again")
        elif isinstance(event, TodosSet):
            for todo in event.todos:
                if todo.status in ("pending", "in_progress"):
                    subject = _folded(todo.content)
                    self._reopened(subject, event.at.time, "back on the to-do list")

    def found(self) -> tuple[Consequence, ...]:
        return tuple(self._found.values())

    def _user_said(self, event: UserSaid) -> None:
        if len(event.text) > MAX_REMINDER_CHARS * 4:
            return
        for sentence in split_sentences(event.text):
            words = subject_words(sentence)
            if not sentence.endswith("?"):
                for name, text, rule in self._rules:
                    enough = len(words & rule) >= MIN_SHARED_WORDS
                    if enough and word_overlap(words, rule) >= MIN_RULE_OVERLAP:
                        self._note("said_again", name, text, sentence, event.at.time)
            if len(event.text) <= MAX_REMINDER_CHARS and REMINDER_PATTERN.search(sentence):
                self._note("reminded", "", "", sentence, event.at.time)

    def _command_ran(self, event: CommandRan) -> None:
        if event.ok or event.interrupted:
            return
        known = self._dead_ends.get(
            truncate_safely(normalise_command(event.command[:4000]), MAX_TRIED_CHARS)
        )
        if known is not None:
            name, dead_end = known
            said = f"{dead_end.attempt}: {dead_end.failure}"
            self._note("retried", name, said, _last_line(event.output), event.at.time)

    def _reopened(self, subject: str, time: str, how: str) -> None:
        if subject in self._done:
            name, text = self._done[subject]
            self._note("redone", name, text, how, time)

    def _note(self, kind: str, name: str, known: str, then: str, time: str) -> None:
        in_summary, kept = self._judge(name) if name else (False, False)
        key = (kind, name or then)
        if key not in self._found:
            self._found[key] = Consequence(
                kind, format_quote(known), format_quote(then), time, in_summary, kept
            )


def format_quote(text: str) -> str:
    """On one line, without secrets, short."""
    return truncate(redact(" ".join(text[: MAX_QUOTE_CHARS * 8].split())), MAX_QUOTE_CHARS)


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output[-4000:].splitlines() if line.strip()]
    return lines[-1] if lines else "it failed again"


def _folded(text: str) -> str:
    return " ".join(text.lower().split())
