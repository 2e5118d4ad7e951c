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
MAX_TEXT_CHARS = 200
MAX_ITEM_CHARS = 500  # characters of one word or pattern


class Setting(NamedTuple):
    name: str
    kind: str
    default: Any
    bounds: tuple[Any, ...]  # the least and the most, or the choices
    description: str
    owner: str = USERS

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        span = " to ".join(map(str, self.bounds))
        return {
            NUMBER: f"a whole number from {span}",
            FLAG: "true or false",
            CHOICE: "one of " + ", ".join(map(str, self.bounds)),
            TEXT: f"a string of at most {MAX_TEXT_CHARS} characters",
            NUMBERS: f"a list of whole numbers from {span}",
            WORDS: "a list of strings",
            PATTERNS: "an object that maps names to regular expressions",
        }[self.kind]


class InvalidValue(ValueError):
    """A value that the setting does not take; the message says what it takes."""


# fmt: off
SETTINGS = (
    Setting("brief_chars", NUMBER, 9_500, (1_000, 9_500),
        "Maximum length of the brief after a compaction, in characters."),
    Setting("gap_chars", NUMBER, 4_000, (500, 9_500),
        "Maximum length of the gap (facts a summary lost), in characters."),
    Setting("steering_chars", NUMBER, 4_000, (0, 8_000),
        "Maximum length of the facts given to the summariser, in characters; four lines where "
        "Claude Code prints them on your screen, under a /compact. 0 disables it."),
    Setting("instructions", FLAG, True, (),
        "Pass the compact instructions to every compaction.", owner=BOTH),
    Setting("command_rules", FLAG, True, (),
        "Restore the rules of active commands and skills after a compaction.", owner=BOTH),
    Setting("command_rules_chars", NUMBER, 9_500, (300, 9_500),
        "Maximum length of these rules right after a compaction, in characters; the brief "
        "keeps at least 3,000 of the client's 10,000. The rest follows with the next prompts "
        "and tools."),
    Setting("command_paths", WORDS, (), (),
        "Folders searched for command files before the client's own; relative paths start at "
        "the project."),
    Setting("brief_commands", WORDS, (), (),
        "Shell commands of yours whose output is added to the brief, run after a turn in the "
        "project's folder, at most 5 seconds each; beside the project's "
        "`.holdfast/brief.d/*.md`."),
    Setting("active_command_files", WORDS, (), (),
        "Additional project files that list active commands (JSON with `active_commands`), "
        "besides any session-state.json."),
    Setting("checkpoint_first_tokens", NUMBER, 50_000, (0, 10_000_000),
        "Context size in tokens at which the first checkpoint is made; 0 makes none."),
    Setting("checkpoint_every_tokens", NUMBER, 10_000, (1_000, 10_000_000),
        "Tokens between further checkpoints."),
    Setting("checkpoint_percents", NUMBERS, (30, 15, 5), (1, 99),
        "Percentages of context left before compaction at which checkpoints are made."),
    Setting("low_context_percent", NUMBER, 15, (0, 90),
        "Percentage of context left that counts as low; 0 disables the notice."),
    Setting("low_context_notify", CHOICE, "both", ("both", "user", "agent", "nobody"),
        "Who is notified, once per epoch, that context is low.", owner=BOTH),
    Setting("handoff", FLAG, True, (),
        "Offer an unfinished session to the next one in the same folder.", owner=BOTH),
    Setting("handoff_days", NUMBER, 7, (1, 365),
        "Maximum age in days of an unfinished session to offer."),
    Setting("handoff_inject", FLAG, False, (),
        "Give a new session the whole handoff page at its start instead of an offer."),
    Setting("handoff_in_repo", FLAG, False, (),
        "Store handoff pages in the project, under .holdfast/handoffs/, not in the data "
        "folder.", owner=ALLOWED),
    Setting("handoff_dir", TEXT, ".holdfast/handoffs", (),
        "Folder of the project that handoff_in_repo stores the pages in; relative, without "
        "`..`.", owner=ALLOWED),
    Setting("notes", FLAG, True, (), "Keep a notes page for each session.", owner=BOTH),
    Setting("notes_in_repo", FLAG, False, (),
        "Store the notes page in the project, under .claude/sessions/, along with "
        "CURRENT_SESSION.", owner=ALLOWED),
    Setting("announce", CHOICE, "auto", ("auto", "on", "off"),
        "Whether the agent is asked to say in one sentence that a compaction happened and "
        "what it goes on with; auto: where the notes are in the repository.", owner=BOTH),
    Setting("task_summary_idle_turns", NUMBER, 20, (1, 10_000),
        "Agent turns without mention of a finished task after which it is summarised."),
    Setting("task_summary_percent", NUMBER, 70, (0, 100),
        "Percentage of context used above which finished tasks are summarised."),
    Setting("task_check_turns", NUMBER, 10, (1, 10_000), "Agent turns between two such passes."),
    Setting("archive", FLAG, True, (),
        "Keep the rows of each session, without secrets, after the client deletes its "
        "transcript."),
    Setting("archive_megabytes", NUMBER, 2_000, (0, 10_000_000),
        "Size in MB above which the archived rows of the oldest sessions go when a session "
        "ends; 0 is no limit."),
    Setting("retention_days", NUMBER, 0, (0, 36_500),
        "When a session ends, delete sessions inactive for this many days; 0 keeps all."),
    Setting("retention_checkpoints", NUMBER, 20, (1, 10_000),
        "Checkpoints to keep per session when older ones are deleted."),
    Setting("retention_megabytes", NUMBER, 0, (0, 10_000_000),
        "Size in MB above which `holdfast session prune` deletes old sessions; 0 is no limit."),
    Setting("redact_patterns", PATTERNS, {}, (),
        'Additional patterns to redact, as {"ticket": "TCK-[0-9]+"}.'),
    Setting("recall", CHOICE, "all", ("all", "prompts", "off"),
        "What comes by itself after a compaction, of what was said and run before it: prompts "
        "brings what a prompt speaks of, all also what a tool call touches."),
    Setting("guard", CHOICE, "remind", ("remind", "ask", "off"),
        "What happens when a tool call goes against a rule of yours that it can be checked "
        "against: remind quotes it to the agent, ask also has the client ask you each time "
        "(Claude Code)."),
    Setting("compaction", CHOICE, "augment", ("augment", "instant", "off"),
        "What the plugin does at a compaction: augment adds to the summary, instant replaces "
        "it without a model request, off leaves it to the hooks."),
    Setting("project_name", TEXT, "", (),
        "Team name of this project, the same on every machine. Default: from the remote "
        "`origin`."),
    Setting("agent_role", TEXT, "", (),
        "Role under which sessions receive team messages, for example `reviewer`."),
    Setting("message_chars", NUMBER, 2_000, (0, 8_000),
        "Maximum length of other agents' messages delivered with one prompt or tool batch, in "
        "characters; 0 disables them."),
    Setting("other_projects", FLAG, False, (), "Allow recall to search other projects."),
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
        from holdfast.redact.redactor import InvalidPattern, Redactor

        try:
            Redactor(list(value.items()))
        except InvalidPattern as error:
            raise InvalidValue(f"{setting.name}: {error}") from error
    if setting.kind == TEXT:
        return value.strip()
    return tuple(value) if setting.kind in (NUMBERS, WORDS) else value


def _fits_one(setting: Setting, value: Any) -> bool:
    if setting.kind in (NUMBER, NUMBERS):
        return type(value) is int and setting.bounds[0] <= value <= setting.bounds[1]
    if setting.kind == FLAG:
        return type(value) is bool
    if type(value) is not str:
        return False
    if setting.kind == CHOICE:
        return value in setting.bounds
    if setting.kind == TEXT:
        return len(value) <= MAX_TEXT_CHARS and value.isprintable()
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
