"""Every setting: its name, kind, default, bounds and meaning. The one place where they stand.

Owns what a value must look like. Must not open a file or read the environment (`reading` does).
Imported by the heavy hooks, so the standard library's cheap parts only.
"""

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
MAX_ITEMS = 50
MAX_ITEM_CHARS = 500  # characters of one word or pattern


class Setting(NamedTuple):
    name: str
    kind: str
    default: Any
    description: str
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    # A repository may choose it for everyone who works in it: only what touches no file, no pattern
    # and no limit, says nothing for the user, and loses nothing.
    project_may_set: bool = False

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
            return f"a string of at most {self.high} characters"
        if self.kind == NUMBERS:
            return f"a list of whole numbers from {self.low} to {self.high}"
        if self.kind == WORDS:
            return "a list of strings"
        return "an object that maps names to regular expressions"


class InvalidValue(ValueError):
    """A value that the setting does not take; the message says what it takes."""


SETTINGS = (
    Setting(
        "brief_chars",
        NUMBER,
        6_000,
        "Maximum length of the brief after a compaction, in characters.",
        1_000,
        9_500,
    ),
    Setting(
        "gap_chars",
        NUMBER,
        4_000,
        "Maximum length of the gap (facts a summary lost), in characters.",
        500,
        9_500,
    ),
    Setting(
        "steering_chars",
        NUMBER,
        4_000,
        "Maximum length of the facts given to the summariser, in characters; at most 1,500 where "
        "the client shows them, after a /compact of yours. 0 disables it.",
        0,
        8_000,
    ),
    Setting(
        "instructions",
        FLAG,
        True,
        "Pass the compact instructions to every compaction.",
        project_may_set=True,
    ),
    Setting(
        "command_rules",
        FLAG,
        True,
        "Restore the rules of active commands and skills after a compaction.",
        project_may_set=True,
    ),
    Setting(
        "command_rules_chars",
        NUMBER,
        9_500,
        "Maximum total length of these rules, in characters; the brief keeps at least 3,000 of the "
        "client's 10,000.",
        300,
        9_500,
    ),
    Setting(
        "command_paths",
        WORDS,
        (),
        "Folders searched for command files before the client's own; relative paths start at the "
        "project.",
    ),
    Setting(
        "active_command_files",
        WORDS,
        (),
        "Additional project files that list active commands (JSON with `active_commands`), besides "
        "any session-state.json.",
    ),
    Setting(
        "checkpoint_first_tokens",
        NUMBER,
        50_000,
        "Context size in tokens at which the first checkpoint is made; 0 makes none.",
        0,
        10_000_000,
    ),
    Setting(
        "checkpoint_every_tokens",
        NUMBER,
        10_000,
        "Tokens between further checkpoints.",
        1_000,
        10_000_000,
    ),
    Setting(
        "checkpoint_percents",
        NUMBERS,
        (30, 15, 5),
        "Percentages of context left before compaction at which checkpoints are made.",
        1,
        99,
    ),
    Setting(
        "low_context_percent",
        NUMBER,
        15,
        "Percentage of context left that counts as low; 0 disables the notice.",
        0,
        90,
    ),
    Setting(
        "low_context_notify",
        CHOICE,
        "both",
        "Who is notified, once per epoch, that context is low.",
        choices=("both", "user", "agent", "nobody"),
        project_may_set=True,
    ),
    Setting(
        "handoff",
        FLAG,
        True,
        "Offer an unfinished session to the next one in the same folder.",
        project_may_set=True,
    ),
    Setting(
        "handoff_days",
        NUMBER,
        7,
        "Maximum age in days of an unfinished session to offer.",
        1,
        365,
    ),
    Setting(
        "handoff_in_repo",
        FLAG,
        False,
        "Store handoff pages in the project, under .holdfast/handoffs/, not in the data folder.",
    ),
    Setting(
        "notes",
        FLAG,
        True,
        "Keep a notes page for each session.",
        project_may_set=True,
    ),
    Setting(
        "notes_in_repo",
        FLAG,
        False,
        "Store the notes page in the project, under .claude/sessions/, along with CURRENT_SESSION.",
    ),
    Setting(
        "task_summary_idle_turns",
        NUMBER,
        20,
        "Agent turns without mention of a finished task after which it is summarised.",
        1,
        10_000,
    ),
    Setting(
        "task_summary_percent",
        NUMBER,
        70,
        "Percentage of context used above which finished tasks are summarised.",
        0,
        100,
    ),
    Setting(
        "task_check_turns",
        NUMBER,
        10,
        "Agent turns between two such passes.",
        1,
        10_000,
    ),
    Setting(
        "archive",
        FLAG,
        True,
        "Archive the rows that leave the context at a compaction.",
    ),
    Setting(
        "retention_days",
        NUMBER,
        0,
        "When a session ends, delete sessions inactive for this many days; 0 keeps all.",
        0,
        36_500,
    ),
    Setting(
        "retention_checkpoints",
        NUMBER,
        20,
        "Checkpoints to keep per session when older ones are deleted.",
        1,
        10_000,
    ),
    Setting(
        "retention_megabytes",
        NUMBER,
        0,
        "Size in MB above which `holdfast session prune` deletes old sessions; 0 is no limit.",
        0,
        10_000_000,
    ),
    Setting(
        "redact_patterns",
        PATTERNS,
        {},
        'Additional patterns to redact, as {"ticket": "TCK-[0-9]+"}.',
    ),
    Setting(
        "compaction",
        CHOICE,
        "augment",
        "What the plugin does at a compaction: augment adds to the summary, instant replaces it "
        "without a model request, off leaves it to the hooks.",
        choices=("augment", "instant", "off"),
    ),
    Setting(
        "compact_between_tasks",
        FLAG,
        False,
        "Let the plugin compact between two tasks once context use exceeds "
        "compact_between_tasks_at_percent.",
    ),
    Setting(
        "compact_between_tasks_at_percent",
        NUMBER,
        60,
        "Percentage of context used above which the plugin may compact between tasks.",
        1,
        99,
    ),
    Setting(
        "project_name",
        TEXT,
        "",
        "Team name of this project, the same on every machine. Default: from the remote `origin`.",
        high=200,
    ),
    Setting(
        "agent_role",
        TEXT,
        "",
        "Role under which sessions receive team messages, for example `reviewer`.",
        high=200,
    ),
    Setting(
        "message_chars",
        NUMBER,
        2_000,
        "Maximum length of other agents' messages delivered with one prompt or tool batch, in "
        "characters; 0 disables them.",
        0,
        8_000,
    ),
    Setting(
        "other_projects",
        FLAG,
        False,
        "Allow recall to search other projects.",
    ),
)
SETTINGS_BY_NAME = {setting.name: setting for setting in SETTINGS}

_YES = ("true", "on", "yes", "1")
_NO = ("false", "off", "no", "0")


def validate_value(setting: Setting, value: Any) -> Any:
    """A value from a settings file as the product uses it; raises InvalidValue."""
    good = _CHECKS[setting.kind](setting, value)
    if good is None:
        raise InvalidValue(f"{setting.name} must be {setting.allowed}")
    return good


def parse_value(setting: Setting, text: str) -> Any:
    """A value typed by a person or standing in the environment; raises InvalidValue."""
    said: Any = text.strip()
    if setting.kind == NUMBER:
        digits = said.replace("_", "").replace(",", "")
        said = int(digits) if digits.isdecimal() and len(digits) < 12 else said
    elif setting.kind == FLAG:
        lowered = said.lower()
        said = True if lowered in _YES else False if lowered in _NO else said
    elif setting.kind not in (CHOICE, TEXT):
        said = _listed(setting, said)
    return validate_value(setting, said)


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
    if not isinstance(value, list | tuple) or len(value) > MAX_ITEMS:
        return None
    good = all(_number(setting, item) is not None for item in value)
    return tuple(value) if good else None


def _words(_: Setting, value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or len(value) > MAX_ITEMS:
        return None
    good = all(type(item) is str and item and len(item) <= MAX_ITEM_CHARS for item in value)
    return tuple(value) if good else None


def _patterns(setting: Setting, value: Any) -> dict[str, str] | None:
    if not isinstance(value, dict) or len(value) > MAX_ITEMS:
        return None
    if not all(type(v) is str and v and len(v) <= MAX_ITEM_CHARS for v in value.values()):
        return None
    if value:
        from holdfast.redact import InvalidPattern, Redactor

        try:
            Redactor(list(value.items()))
        except InvalidPattern as error:
            raise InvalidValue(f"{setting.name}: {error}") from error
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
