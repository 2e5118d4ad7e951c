"""Every setting: its name, kind, default, bounds and meaning. The one place where they stand.

Owns what a value must look like. Must not open a file or read the environment (`reading` does).
Imported by the heavy hooks, so the standard library's cheap parts only.
"""

from holdfast.records import Any, NamedTuple

NUMBER, FLAG, CHOICE, TEXT = "number", "flag", "choice", "text"
NUMBERS, WORDS, PATTERNS = "numbers", "words", "patterns"
# Who may choose it. BOTH: a repository, too, for everyone who works in it: only what touches no
# file, no pattern and no limit, says nothing for the user, and loses nothing. ALLOWED: a repository
# in which the user once allowed it (`holdfast config allow`).
USERS, BOTH, ALLOWED = "yours", "both", "yours, or the project's where you allow it"
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
    owner: str = USERS

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        return {
            NUMBER: f"a whole number from {self.low} to {self.high}",
            FLAG: "true or false",
            CHOICE: "one of " + ", ".join(self.choices),
            TEXT: f"a string of at most {self.high} characters",
            NUMBERS: f"a list of whole numbers from {self.low} to {self.high}",
            WORDS: "a list of strings",
            PATTERNS: "an object that maps names to regular expressions",
        }[self.kind]


class InvalidValue(ValueError):
    """A value that the setting does not take; the message says what it takes."""


def _number_row(name: str, default: int, low: int, high: int, about: str) -> Setting:
    return Setting(name, NUMBER, default, about, low, high)


def _flag_row(name: str, default: bool, about: str, owner: str = USERS) -> Setting:
    return Setting(name, FLAG, default, about, owner=owner)


def _choice_row(name: str, choices: tuple[str, ...], about: str, owner: str = USERS) -> Setting:
    """The first is the default."""
    return Setting(name, CHOICE, choices[0], about, choices=choices, owner=owner)


def _text_row(name: str, default: str, about: str, owner: str = USERS) -> Setting:
    return Setting(name, TEXT, default, about, high=200, owner=owner)


# fmt: off
SETTINGS = (
    _number_row("brief_chars", 9_500, 1_000, 9_500,
        "Maximum length of the brief after a compaction, in characters."),
    _number_row("gap_chars", 4_000, 500, 9_500,
        "Maximum length of the gap (facts a summary lost), in characters."),
    _number_row("steering_chars", 4_000, 0, 8_000,
        "Maximum length of the facts given to the summariser, in characters; four lines where "
        "Claude Code prints them on your screen, under a /compact. 0 disables it."),
    _flag_row("instructions", True,
        "Pass the compact instructions to every compaction.", owner=BOTH),
    _flag_row("command_rules", True,
        "Restore the rules of active commands and skills after a compaction.", owner=BOTH),
    _number_row("command_rules_chars", 9_500, 300, 9_500,
        "Maximum length of these rules right after a compaction, in characters; the brief "
        "keeps at least 3,000 of the client's 10,000. The rest follows with the next prompts "
        "and tools."),
    Setting("command_paths", WORDS, (),
        "Folders searched for command files before the client's own; relative paths start at "
        "the project."),
    Setting("brief_commands", WORDS, (),
        "Shell commands of yours whose output is added to the brief, run after a turn in the "
        "project's folder, at most 5 seconds each; beside the project's "
        "`.holdfast/brief.d/*.md`."),
    Setting("active_command_files", WORDS, (),
        "Additional project files that list active commands (JSON with `active_commands`), "
        "besides any session-state.json."),
    _number_row("checkpoint_first_tokens", 50_000, 0, 10_000_000,
        "Context size in tokens at which the first checkpoint is made; 0 makes none."),
    _number_row("checkpoint_every_tokens", 10_000, 1_000, 10_000_000,
        "Tokens between further checkpoints."),
    Setting("checkpoint_percents", NUMBERS, (30, 15, 5),
        "Percentages of context left before compaction at which checkpoints are made.", 1, 99),
    _number_row("low_context_percent", 15, 0, 90,
        "Percentage of context left that counts as low; 0 disables the notice."),
    _choice_row("low_context_notify", ("both", "user", "agent", "nobody"),
        "Who is notified, once per epoch, that context is low.", owner=BOTH),
    _flag_row("handoff", True,
        "Offer an unfinished session to the next one in the same folder.", owner=BOTH),
    _number_row("handoff_days", 7, 1, 365,
        "Maximum age in days of an unfinished session to offer."),
    _flag_row("handoff_inject", False,
        "Give a new session the whole handoff page at its start instead of an offer."),
    _flag_row("handoff_in_repo", False,
        "Store handoff pages in the project, under .holdfast/handoffs/, not in the data "
        "folder.", owner=ALLOWED),
    _text_row("handoff_dir", ".holdfast/handoffs",
        "Folder of the project that handoff_in_repo stores the pages in; relative, without "
        "`..`.", owner=ALLOWED),
    _flag_row("notes", True, "Keep a notes page for each session.", owner=BOTH),
    _flag_row("notes_in_repo", False,
        "Store the notes page in the project, under .claude/sessions/, along with "
        "CURRENT_SESSION.", owner=ALLOWED),
    _choice_row("announce", ("auto", "on", "off"),
        "Whether the agent is asked to say in one sentence that a compaction happened and "
        "what it goes on with; auto: where the notes are in the repository.", owner=BOTH),
    _number_row("task_summary_idle_turns", 20, 1, 10_000,
        "Agent turns without mention of a finished task after which it is summarised."),
    _number_row("task_summary_percent", 70, 0, 100,
        "Percentage of context used above which finished tasks are summarised."),
    _number_row("task_check_turns", 10, 1, 10_000, "Agent turns between two such passes."),
    _flag_row("archive", True,
        "Keep the rows of each session, without secrets, after the client deletes its "
        "transcript."),
    _number_row("archive_megabytes", 2_000, 0, 10_000_000,
        "Size in MB above which the archived rows of the oldest sessions go when a session "
        "ends; 0 is no limit."),
    _number_row("retention_days", 0, 0, 36_500,
        "When a session ends, delete sessions inactive for this many days; 0 keeps all."),
    _number_row("retention_checkpoints", 20, 1, 10_000,
        "Checkpoints to keep per session when older ones are deleted."),
    _number_row("retention_megabytes", 0, 0, 10_000_000,
        "Size in MB above which `holdfast session prune` deletes old sessions; 0 is no limit."),
    Setting("redact_patterns", PATTERNS, {},
        'Additional patterns to redact, as {"ticket": "TCK-[0-9]+"}.'),
    _choice_row("recall", ("all", "prompts", "off"),
        "What comes by itself after a compaction, of what was said and run before it: prompts "
        "brings what a prompt speaks of, all also what a tool call touches."),
    _choice_row("guard", ("remind", "ask", "off"),
        "What happens when a tool call goes against a rule of yours that it can be checked "
        "against: remind quotes it to the agent, ask also has the client ask you each time "
        "(Claude Code)."),
    _choice_row("compaction", ("augment", "instant", "off"),
        "What the plugin does at a compaction: augment adds to the summary, instant replaces "
        "it without a model request, off leaves it to the hooks."),
    _text_row("project_name", "",
        "Team name of this project, the same on every machine. Default: from the remote "
        "`origin`."),
    _text_row("agent_role", "",
        "Role under which sessions receive team messages, for example `reviewer`."),
    _number_row("message_chars", 2_000, 0, 8_000,
        "Maximum length of other agents' messages delivered with one prompt or tool batch, in "
        "characters; 0 disables them."),
    _flag_row("other_projects", False, "Allow recall to search other projects."),
)
# fmt: on
SETTINGS_BY_NAME = {setting.name: setting for setting in SETTINGS}

_YES = ("true", "on", "yes", "1")
_NO = ("false", "off", "no", "0")


def validate_value(setting: Setting, value: Any) -> Any:
    """A value from a settings file as the product uses it; raises InvalidValue."""
    if setting.kind in (NUMBERS, WORDS):
        fits = isinstance(value, list | tuple) and len(value) <= MAX_ITEMS
        fits = fits and all(_fits_one(setting, item) for item in value)
    elif setting.kind == PATTERNS:
        fits = isinstance(value, dict) and len(value) <= MAX_ITEMS
        fits = fits and all(_fits_one(setting, item) for item in value.values())
    else:
        fits = _fits_one(setting, value)
    if not fits:
        raise InvalidValue(f"{setting.name} must be {setting.allowed}")
    if setting.kind == PATTERNS and value:
        from holdfast.redact import InvalidPattern, Redactor

        try:
            Redactor(list(value.items()))
        except InvalidPattern as error:
            raise InvalidValue(f"{setting.name}: {error}") from error
    if setting.kind == TEXT:
        return value.strip()
    return tuple(value) if setting.kind in (NUMBERS, WORDS) else value


def _fits_one(setting: Setting, value: Any) -> bool:
    if setting.kind in (NUMBER, NUMBERS):
        return type(value) is int and setting.low <= value <= setting.high
    if setting.kind == FLAG:
        return type(value) is bool
    if type(value) is not str:
        return False
    if setting.kind == CHOICE:
        return value in setting.choices
    if setting.kind == TEXT:
        return len(value) <= setting.high and value.isprintable()
    return 0 < len(value) <= MAX_ITEM_CHARS


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
        said = _parse_list(setting, said)
    return validate_value(setting, said)


def _parse_list(setting: Setting, text: str) -> Any:
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
