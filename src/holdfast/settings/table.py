"""Every setting: its name, kind, default, bounds and meaning. The one place where they stand.

Owns what a value must look like. Must not open a file or read the environment (`reading` does).
Imported by the heavy hooks, so the standard library's cheap parts only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

NUMBER, FLAG, CHOICE, TEXT, NUMBERS, WORDS, PATTERNS = (
    "number",
    "flag",
    "choice",
    "text",
    "numbers",
    "words",
    "patterns",
)
MOST_ITEMS = 50
LONGEST = 500  # characters of one word or pattern


class Setting(NamedTuple):
    name: str
    kind: str
    default: Any
    about: str
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    # A repository may choose it for whoever works in it: only what touches no file, no pattern
    # and no limit, says nothing for the user, and loses nothing.
    project: bool = False

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.kind == NUMBER:
            return f"a whole number from {self.low} to {self.high}"
        if self.kind == FLAG:
            return "true or false"
        if self.kind == CHOICE:
            return "one of " + ", ".join(self.choices)
        if self.kind == TEXT:
            return f"a text of at most {self.high} characters"
        if self.kind == NUMBERS:
            return f"a list of whole numbers from {self.low} to {self.high}"
        if self.kind == WORDS:
            return "a list of texts"
        return "an object of names and regular expressions"


class WrongValue(ValueError):
    """A value that the setting does not take; the message says what it takes."""


TABLE = (
    Setting(
        "brief_chars",
        NUMBER,
        6_000,
        "Length of the brief after a compaction, in characters.",
        1_000,
        9_500,
    ),
    Setting(
        "gap_chars",
        NUMBER,
        4_000,
        "Length of what is put back when a summary lost it, in characters.",
        500,
        9_500,
    ),
    Setting(
        "steering_chars",
        NUMBER,
        4_000,
        "Length of the facts that the summariser is given, in characters; 0 gives none.",
        0,
        8_000,
    ),
    Setting(
        "instructions",
        FLAG,
        True,
        "Give the compact instructions to every compaction.",
        project=True,
    ),
    Setting(
        "command_rules",
        FLAG,
        True,
        "Put back the rules of commands and skills in force after a compaction.",
        project=True,
    ),
    Setting(
        "command_rules_chars",
        NUMBER,
        9_500,
        "Length of all such rules together, in characters; the brief keeps at least 3,000 of the"
        " client's 10,000.",
        300,
        9_500,
    ),
    Setting(
        "command_search",
        WORDS,
        (),
        "Folders looked through first for a command's file, before the client's own places;"
        " relative ones are of the project.",
    ),
    Setting(
        "command_state_files",
        WORDS,
        (),
        "More files of the project that list active commands (JSON with `active_commands`), beside"
        " those named session-state.json that are found.",
    ),
    Setting(
        "checkpoint_first_tokens",
        NUMBER,
        50_000,
        "Context size of the first checkpoint by tokens; 0 makes none.",
        0,
        10_000_000,
    ),
    Setting(
        "checkpoint_every_tokens",
        NUMBER,
        10_000,
        "Tokens between the checkpoints after it.",
        1_000,
        10_000_000,
    ),
    Setting(
        "checkpoint_percents",
        NUMBERS,
        (30, 15, 5),
        "Percent of context left before compaction at which a checkpoint is made.",
        1,
        99,
    ),
    Setting(
        "low_context_percent",
        NUMBER,
        15,
        "Percent of context left at which it counts as low; 0 never tells.",
        0,
        90,
    ),
    Setting(
        "low_context_tell",
        CHOICE,
        "both",
        "Who is told, once between two compactions, that context is low.",
        choices=("both", "user", "agent", "nobody"),
        project=True,
    ),
    Setting(
        "handoff",
        FLAG,
        True,
        "Offer an unfinished session to the next one of the same folder.",
        project=True,
    ),
    Setting(
        "handoff_days",
        NUMBER,
        7,
        "Age in days beyond which an unfinished session is not offered.",
        1,
        365,
    ),
    Setting(
        "handoff_in_tree",
        FLAG,
        False,
        "Keep handoff pages in the project, under .holdfast/handoffs/, not in the data folder.",
    ),
    Setting(
        "notes",
        FLAG,
        True,
        "Keep a page of notes for each session.",
        project=True,
    ),
    Setting(
        "notes_in_tree",
        FLAG,
        False,
        "Keep that page in the project, under .claude/sessions/, with CURRENT_SESSION beside it.",
    ),
    Setting(
        "task_cold_turns",
        NUMBER,
        20,
        "Turns of the agent without a word on a finished task after which it is summarised.",
        1,
        10_000,
    ),
    Setting(
        "task_summary_percent",
        NUMBER,
        70,
        "Percent of the context window in use from which such tasks are looked for.",
        0,
        100,
    ),
    Setting(
        "task_check_turns",
        NUMBER,
        10,
        "Turns of the agent between two such looks.",
        1,
        10_000,
    ),
    Setting(
        "archive",
        FLAG,
        True,
        "Keep the rows that leave the context at a compaction.",
    ),
    Setting(
        "retention_days",
        NUMBER,
        0,
        "Forget sessions untouched for so many days when a session ends; 0 keeps all.",
        0,
        36_500,
    ),
    Setting(
        "retention_checkpoints",
        NUMBER,
        20,
        "Checkpoints of a session that stay when older ones are forgotten.",
        1,
        10_000,
    ),
    Setting(
        "retention_megabytes",
        NUMBER,
        0,
        "Size beyond which `holdfast prune` forgets the oldest sessions; 0 sets no limit.",
        0,
        10_000_000,
    ),
    Setting(
        "redact_patterns",
        PATTERNS,
        {},
        'More to redact: names and regular expressions, as {"ticket": "TCK-[0-9]+"}.',
    ),
    Setting(
        "compaction",
        CHOICE,
        "augment",
        "The plugin's part in a compaction: augment adds to the summary, instant replaces it"
        " without a model request, off leaves it to the hooks.",
        choices=("augment", "instant", "off"),
    ),
    Setting(
        "right_moment",
        FLAG,
        False,
        "The plugin compacts between two tasks once context is past right_moment_percent.",
    ),
    Setting(
        "right_moment_percent",
        NUMBER,
        60,
        "Percent of context in use from which such a moment is looked for.",
        1,
        99,
    ),
    Setting(
        "project_name",
        TEXT,
        "",
        "What a team calls this project, on every machine; else its remote `origin` says it.",
        high=200,
    ),
    Setting(
        "agent_role",
        TEXT,
        "",
        "The role under which sessions get messages of the team, as `reviewer`.",
        high=200,
    ),
    Setting(
        "message_chars",
        NUMBER,
        2_000,
        "Length of the messages of other agents that come with one prompt or tool batch, in"
        " characters; 0 brings none.",
        0,
        8_000,
    ),
    Setting(
        "other_projects",
        FLAG,
        False,
        "Recall may look beyond the project.",
    ),
)
BY_NAME = {setting.name: setting for setting in TABLE}

_YES = ("true", "on", "yes", "1")
_NO = ("false", "off", "no", "0")


def checked(setting: Setting, value: Any) -> Any:
    """A value from a settings file as the product uses it; raises WrongValue."""
    good = _CHECKS[setting.kind](setting, value)
    if good is None:
        raise WrongValue(f"{setting.name} takes {setting.allowed}")
    return good


def spoken(setting: Setting, text: str) -> Any:
    """A value typed by a person or standing in the environment; raises WrongValue."""
    said: Any = text.strip()
    if setting.kind == NUMBER:
        digits = said.replace("_", "").replace(",", "")
        said = int(digits) if digits.isdecimal() and len(digits) < 12 else said
    elif setting.kind == FLAG:
        lowered = said.lower()
        said = True if lowered in _YES else False if lowered in _NO else said
    elif setting.kind not in (CHOICE, TEXT):
        said = _listed(setting, said)
    return checked(setting, said)


def _listed(setting: Setting, text: str) -> Any:
    """JSON where it looks like it, else words with commas between."""
    if text.startswith(("[", "{")):
        import json

        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if setting.kind == NUMBERS:
        return [int(p) if p.isdecimal() and len(p) < 12 else p for p in parts]
    return parts if setting.kind == WORDS else None


def _number(setting: Setting, value: Any) -> int | None:
    good = type(value) is int and setting.low <= value <= setting.high
    return value if good else None


def _flag(_: Setting, value: Any) -> bool | None:
    return value if type(value) is bool else None


def _choice(setting: Setting, value: Any) -> str | None:
    return value if type(value) is str and value in setting.choices else None


def _text(setting: Setting, value: Any) -> str | None:
    good = type(value) is str and len(value) <= setting.high and value.isprintable()
    return value.strip() if good else None


def _numbers(setting: Setting, value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list | tuple) or len(value) > MOST_ITEMS:
        return None
    good = all(_number(setting, item) is not None for item in value)
    return tuple(value) if good else None


def _words(_: Setting, value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or len(value) > MOST_ITEMS:
        return None
    good = all(type(item) is str and item and len(item) <= LONGEST for item in value)
    return tuple(value) if good else None


def _patterns(setting: Setting, value: Any) -> dict[str, str] | None:
    if not isinstance(value, dict) or len(value) > MOST_ITEMS:
        return None
    if not all(type(v) is str and v and len(v) <= LONGEST for v in value.values()):
        return None
    if value:
        from holdfast.redact import BadPattern, Redactor

        try:
            Redactor(list(value.items()))
        except BadPattern as error:
            raise WrongValue(f"{setting.name}: {error}") from error
    return dict(value)


_CHECKS = {
    NUMBER: _number,
    FLAG: _flag,
    CHOICE: _choice,
    TEXT: _text,
    NUMBERS: _numbers,
    WORDS: _words,
    PATTERNS: _patterns,
}
