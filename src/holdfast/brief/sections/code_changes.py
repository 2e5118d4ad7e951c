"""For a reader who writes code: the current task, changes with their last hunks, the tools."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.lines import Line, SizeLimits, decision_line, shorten_path, shorten_paths
from holdfast.brief.task_focus import TaskFocus, find_focus
from holdfast.brief.task_focus import find_current_task as begun_last
from holdfast.state.dead_ends import DeadEnd
from holdfast.state.errors import Error
from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.state.next_step import find_intention
from holdfast.state.prose import subject_words
from holdfast.state.tasks import list_waves
from holdfast.state.touched_files import TouchedFile
from holdfast.text import truncate, truncate_line

LANGUAGES = {
    "py": "Python", "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript",
    "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript", "go": "Go", "rs": "Rust",
    "java": "Java", "kt": "Kotlin", "swift": "Swift", "rb": "Ruby", "php": "PHP", "c": "C",
    "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++", "cs": "C#", "scala": "Scala",
    "ex": "Elixir", "exs": "Elixir", "dart": "Dart", "lua": "Lua", "sh": "Shell", "sql": "SQL",
    "vue": "Vue", "svelte": "Svelte", "zig": "Zig", "hs": "Haskell", "ml": "OCaml",
    "r": "R", "jl": "Julia", "tf": "Terraform", "css": "CSS", "html": "HTML",
}  # fmt: skip


def current_task(state: State, size: SizeLimits) -> Iterator[Line]:
    found = begun_last(state)
    if found is not None:
        key, task = found
        yield Line(
            f"Current task: #{task.task} {truncate_line(task.subject, 160)} (in progress)", key
        )
        if task.description:
            yield Line(f'Its description: "{truncate_line(task.description, size.request)}"', key)
        return
    ready = list_waves(state.tasks).ready
    if ready:
        task = state.tasks[ready[0]]
        yield Line(
            f"No task is in progress; next open one: #{task.task}"
            f" {truncate_line(task.subject, 160)}",
            ready[0],
        )


def changes(state: State, size: SizeLimits) -> Iterator[Line]:
    """The files changed last, latest first, each with the last stretch that was changed."""
    return changes_in(state, size, None)


def changes_in(state: State, size: SizeLimits, paths: frozenset[str] | None) -> Iterator[Line]:
    changed = [
        file
        for file in state.files.values()
        if file.changed and file.status == OPEN and (paths is None or file.path in paths)
    ]
    changed.sort(key=lambda file: -file.changed_step)
    for file in changed[: 3 if size.tight else size.open_tasks]:
        yield from _change(state, file, size)


def _change(state: State, file: TouchedFile, size: SizeLimits) -> Iterator[Line]:
    how = "created" if file.created else "changed"
    often = f" {file.changed}x" if file.changed > 1 else ""
    path = shorten_path(file.path, state.session.folders)
    yield Line(f"- {path} ({how}{often})", f"f{file.number}")
    if file.hunks:
        first, lines = file.hunks[-1]
        shown = lines[: 2 if size.tight else 4 if size.line < 150 else 8]
        below = tuple(f"  {truncate(line.rstrip(), size.line + 40)}" for line in shown)
        yield Line(f"  at line {first}:", f"f{file.number}", below)


def code(state: State, size: SizeLimits) -> Iterator[Line]:
    """Language, and the commands that test, lint and build."""
    counts: dict[str, int] = {}
    for path, file in state.files.items():
        language = LANGUAGES.get(path.rpartition(".")[2].lower())
        if language and (file.changed or file.read):
            counts[language] = counts.get(language, 0) + 1 + file.changed
    if counts:
        most = sorted(counts, key=lambda name: (-counts[name], name))[:3]
        yield Line(f"- language: {', '.join(most)}")
    for of in ("test", "lint", "build"):
        runs = [command for command in state.commands.values() if command.check == of]
        if runs:
            # The one that is run most is the project's own; a single odd run is not.
            usual = max(runs, key=lambda command: (command.times, command.step))
            text = truncate_line(shorten_paths(usual.text, state), size.line + 60)
            yield Line(f"- {of} command: `{text}` ({usual.times}x)", f"c{usual.number}")
    if state.session.branch:
        yield Line(f"- branch: {state.session.branch}")


def next_action(state: State, size: SizeLimits) -> Iterator[Line]:
    return intended_step(state, size)


def intended_step(state: State, size: SizeLimits) -> Iterator[Line]:
    """What the agent said it would do, unless the user has spoken since."""
    said = state.next_step.get("next")
    asked = [item for item in state.requests.items() if item[1].how in ("prompt", "queued")]
    if asked and (said is None or said.at.start < asked[-1][1].at.start):
        yield Line("- the agent has not answered the last request yet", asked[-1][0])
    elif said is not None and (intended := find_intention(said)):
        yield Line(f'- the agent said: "{truncate_line(intended, size.line + 90)}"', "n1")
    elif said is not None:
        words = truncate_line(said.last_words, size.line + 90)
        yield Line(f'- the agent\'s last words: "{words}"', "n1")


# For a reader with one thing to do: errors, changes and notes around the current task.


def near_errors(state: State, size: SizeLimits) -> Iterator[Line]:
    """Open errors, those in the files of the task first and with more of their words."""
    names = {path.rpartition("/")[2] for path in find_focus(state).paths}
    still_open = [error for error in state.errors.values() if error.status == OPEN]
    still_open.sort(key=lambda error: (_names_one(error, names), error.step))
    for error in still_open[::-1][: size.errors]:
        shown = error.lines[: 4 if _names_one(error, names) and not size.tight else 1]
        text = shorten_paths(f"- `{truncate_line(error.deed, 90)}`: {' / '.join(shown)}", state)
        yield Line(truncate_line(text, 2 * size.line + 60), f"e{error.number}")


def _names_one(error: Error, names: set[str]) -> bool:
    text = " ".join((error.deed, *error.lines, *error.failing))
    return any(name in text for name in names)


def near_changes(state: State, size: SizeLimits) -> Iterator[Line]:
    return changes_in(state, size, find_focus(state).paths)


def near_notes(state: State, size: SizeLimits) -> Iterator[Line]:
    """Decisions and dead ends that speak of the task or of its files."""
    around = find_focus(state)
    notes = [
        (d.step, f"- decided: {decision_line(d, size.line + 60)}", key, d.text)
        for key, d in state.decisions.items()
        if d.status == OPEN
    ] + [
        (d.step, truncate_line(_failure(d), size.line + 60), f"x{d.number}", d.attempt)
        for d in state.dead_ends.values()
        if d.status == OPEN
    ]
    near = sorted(note for note in notes if _speaks_of(note[3], around))
    for _, text, fact, _ in near[::-1][: 2 if size.tight else size.dead_ends]:
        yield Line(shorten_paths(text, state), fact)


def _failure(end: DeadEnd) -> str:
    return f"- failed: {end.attempt} → {end.failure}".rstrip("→ ")


def _speaks_of(text: str, around: TaskFocus) -> bool:
    if len(subject_words(text) & subject_words(around.text)) >= 2:
        return True
    return any(path.rpartition("/")[2] in text for path in around.paths)
