"""The compact instructions of a project: the template fitted to it, and its own words.

Given to every compaction, and put into CLAUDE.md on request (`holdfast dev instructions`). Looks at
the names of a few files at the project's root; must not run anything.
"""

from collections.abc import Iterator

from holdfast.clients.json_fields import as_object, parse_json
from holdfast.files import File, read, stat
from holdfast.redact import redact
from holdfast.session.context import SessionContext, list_project_dirs
from holdfast.settings.loader import PROJECT_DIR_NAME
from holdfast.text import quote_block

TEMPLATE_OPENING = "When this conversation is compacted, the summary holds, in this order:"
MAX_CHECKS, MAX_PATHS = 4, 5
CUSTOM_OPENING = (
    "The project adds, in its .holdfast/compact.md (lines that start with a bar quote that file):"
)
USER_OPENING = "The user asks for this in every summary:"
CUSTOM_FILE = "compact.md"
MAX_CUSTOM_CHARS = 3_000
# The client cuts a hook's instructions at 10,000 characters.
MAX_INSTRUCTIONS_CHARS = 9_500
MAX_FILE_BYTES = 256 * 1024

_CHECK_COMMANDS = (
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("pyproject.toml", "pytest"),
    ("pytest.ini", "pytest"),
    ("tox.ini", "tox"),
    ("pom.xml", "mvn test"),
    ("build.gradle", "gradle test"),
    ("Gemfile", "bundle exec rake"),
    ("composer.json", "composer test"),
)
_TARGETS = ("test", "tests", "check", "lint")
_SCRIPTS = ("test", "lint", "typecheck", "build")
_READABLE = ("CLAUDE.md", "AGENTS.md", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs")


def build_project_instructions(cwd: str) -> str:
    """Template and the project's own words, as they stand in CLAUDE.md."""
    return "\n".join(filter(None, (_fit_template(cwd), read_custom_instructions(cwd))))


def _fit_template(cwd: str) -> str:
    """With the commands that tell good from bad here, and what can be read again."""
    folder = (list_project_dirs(cwd) or [""])[0]
    checks = list(dict.fromkeys(_list_check_commands(folder)))[:MAX_CHECKS]
    on_disk = [name for name in _READABLE if stat(f"{folder}/{name}", within=folder)][:MAX_PATHS]
    commands = ", ".join(f"`{command}`" for command in checks)
    verdicts = f" ({commands} and the like)" if commands else ""
    files = f" (on disk: {', '.join(on_disk)})" if on_disk else ""
    # One paragraph: the client shows a user who asks for a compaction what the summariser is told.
    return (
        f"{TEMPLATE_OPENING} standing rules,"
        " corrections and the last request, word for word; the next step, and questions that wait"
        " for the user; tasks by their standing; changed files, and what is not committed; checks"
        f" and their verdicts{verdicts}; decisions with reasons, and attempts that failed; exact"
        " values (ports, URLs, ids, versions); jobs that run."
        f" It leaves out what can be read again{files}, long tool output and finished detours."
    )


def read_custom_instructions(cwd: str, user_dir: str = "") -> str:
    """`compact.md` of the user, then `.holdfast/compact.md` of the worktree, else of the project,
    each as the text of that file."""
    own = _quote_file(f"{user_dir}/{CUSTOM_FILE}", "", USER_OPENING) if user_dir else ""
    for folder in list_project_dirs(cwd):
        path = f"{folder}/{PROJECT_DIR_NAME}/{CUSTOM_FILE}"
        if projects := _quote_file(path, folder, CUSTOM_OPENING):
            return f"{own}\n{projects}" if own else projects
    return own


def _quote_file(path: str, folder: str, opening: str) -> str:
    raw = read(path, within=folder, most=4 * MAX_CUSTOM_CHARS)
    text = raw.decode("utf-8", "replace").strip() if raw else ""
    quoted = quote_block(redact(text[:MAX_CUSTOM_CHARS]))
    return f"{opening}\n{quoted}"[:MAX_CUSTOM_CHARS] if text else ""


def append_instructions(ctx: SessionContext, facts: str, *, template: bool = True) -> str:
    """For the summariser: the facts first; nothing where nothing is known and nothing is asked.
    Without the `template` only what the user and the project ask for themselves."""
    if not ctx.config.settings.flag("instructions"):
        return facts
    own = read_custom_instructions(ctx.session.cwd, ctx.config.user_dir)
    if not facts and not own:
        return ""
    asked = "\n".join(filter(None, (_fit_template(ctx.session.cwd) if template else "", own)))
    whole = "\n\n".join(filter(None, (facts, asked)))
    if len(whole) <= MAX_INSTRUCTIONS_CHARS:
        return whole
    return whole[:MAX_INSTRUCTIONS_CHARS].rpartition("\n")[0]


def _list_check_commands(folder: str) -> Iterator[str]:
    lines = File(f"{folder}/Makefile", folder).text(MAX_FILE_BYTES).split("\n")
    for target in _TARGETS:
        if any(line.startswith(f"{target}:") for line in lines):
            yield f"make {target}"
    raw = read(f"{folder}/package.json", within=folder, most=MAX_FILE_BYTES)
    scripts = as_object(as_object(parse_json(raw)).get("scripts"))
    for script in _SCRIPTS:
        if script in scripts:
            yield f"npm run {script}" if script != "test" else "npm test"
    yield from (
        command for name, command in _CHECK_COMMANDS if stat(f"{folder}/{name}", within=folder)
    )
