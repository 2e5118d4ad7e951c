"""For the readers of other roles: who writes code (the current task, changes with their last
hunks, the tools), and who leads others (progress, waves, subagents, blockers, what next).
"""

from collections.abc import Iterator

from holdfast.brief.lines import Line, SizeLimits, decision_line, shorten_path, shorten_paths
from holdfast.brief.sections.current_work import describe_task
from holdfast.brief.task_focus import find_current_task
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.model import State
from holdfast.state.next_step import find_intention
from holdfast.state.subagents import Subagent
from holdfast.state.tasks import list_planned_waves
from holdfast.state.tasks import list_waves as waves_of
from holdfast.text import truncate, truncate_line

MAX_DECISION = 220  # so that the reason, which stands behind, is not cut
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
    found = find_current_task(state)
    if found is not None:
        key, task = found
        named = f"#{task.task} {truncate_line(task.subject, 160)}"
        yield Line(f"Current task: {named} (in progress)", key)
        if task.description:
            yield Line(f'Its description: "{truncate_line(task.description, size.request)}"', key)
        return
    ready = waves_of(state.tasks).ready
    if ready:
        task = state.tasks[ready[0]]
        named = f"#{task.task} {truncate_line(task.subject, 160)}"
        yield Line(f"No task is in progress; next open one: {named}", ready[0])


def changes(state: State, size: SizeLimits) -> Iterator[Line]:
    """The files changed last, latest first, each with the last stretch that was changed."""
    changed = [f for f in state.files.values() if f.changed and f.status == OPEN]
    changed.sort(key=lambda file: -file.changed_step)
    for file in changed[: 3 if size.tight else size.open_tasks]:
        how = "created" if file.created else "changed"
        often = f" {file.changed}x" if file.changed > 1 else ""
        below: tuple[str, ...] = ()
        if file.hunks:
            first, lines = file.hunks[-1]
            kept = lines[: 2 if size.tight else 4 if size.line < 150 else 8]
            shown = (f"  {truncate(line.rstrip(), size.line + 40)}" for line in kept)
            below = (f"  at line {first}:", *shown)
        path = shorten_path(file.path, state.session.folders)
        yield Line(f"- {path} ({how}{often})", file.fact_id, below)


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
            yield Line(f"- {of} command: `{text}` ({usual.times}x)", usual.fact_id)
    if state.session.branch:
        yield Line(f"- branch: {state.session.branch}")


def next_action(state: State, size: SizeLimits) -> Iterator[Line]:
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


def progress(state: State, _: SizeLimits) -> Iterator[Line]:
    standings = [task.status for task in state.tasks.values()]
    counted = len(standings) - standings.count(CANCELLED)
    if not counted:
        return
    done = standings.count(DONE)
    begun = sum(task.in_progress for task in state.tasks.values())
    parts = [f"{done} of {counted} tasks done ({100 * done // counted} %)"]
    if begun:
        parts.append(f"{begun} in progress")
    if dropped := standings.count(CANCELLED):
        parts.append(f"{dropped} cancelled")
    if state.position.epoch:
        times = "once" if state.position.epoch == 1 else f"{state.position.epoch} times"
        parts.append(f"compacted {times} so far")
    yield Line("Progress: " + ", ".join(parts))


def waves(state: State, size: SizeLimits) -> Iterator[Line]:
    """Every open task with its wave, what it waits for beside it; then how far each wave is, by
    the number that it keeps."""
    found = waves_of(state.tasks)
    for circle in found.cycles:
        names = " → ".join(f"#{state.tasks[key].task}" for key in (*circle, circle[0]))
        yield Line(f"- Dependency cycle, each waits for the next: {names}", circle[0])
    planned = list_planned_waves(state.tasks)
    still_open = [
        (number, key)
        for number, wave in enumerate(planned.waves)
        for key in sorted(wave, key=lambda key: state.tasks[key].client_status != "in_progress")
        if state.tasks[key].status == OPEN
    ]
    for number, key in still_open[: size.open_tasks]:
        when = f"wave {number}, now" if key in found.ready else f"wave {number}"
        waits_for = [state.tasks[one].task for one in found.blockers[key]]
        yield Line(f"- {when}: {describe_task(state.tasks[key], 'waits for', waits_for)}", key)
    if len(still_open) > size.open_tasks:
        yield Line(f"- and {len(still_open) - size.open_tasks} more")
    if len(planned.waves) > 1:
        standing = []
        for number, wave in enumerate(planned.waves):
            done = sum(state.tasks[key].status == DONE for key in wave)
            share = "done" if done == len(wave) else f"{100 * done // len(wave)} %"
            standing.append(f"wave {number}: {share}")
        yield Line(f"- {truncate_line(', '.join(standing), size.line + 60)}")


def subagents(state: State, size: SizeLimits) -> Iterator[Line]:
    """Running ones first, then what came back last."""
    known = list(state.subagents.values())
    beside = [one for one in known if one.status == OPEN]
    over = sorted((one for one in known if one.status != OPEN), key=lambda one: -one.step)
    for one in [*reversed(beside), *over[: 3 if size.tight else 12]]:
        yield Line(_format_status(state, one, size), one.fact_id)


def _format_status(state: State, one: Subagent, size: SizeLimits) -> str:
    word = {OPEN: "running", DONE: "done", CANCELLED: "failed"}.get(one.status, one.status)
    text = f"- {word}: {one.role or 'subagent'} {one.agent[:12]}: {truncate_line(one.about, 80)}"
    if one.changed:
        latest = ", ".join(shorten_path(p, state.session.folders) for p in one.changed[-3:])
        text += f" (changed {latest})"
    if one.result:
        # Without the pleasantries that stand before a report's first heading.
        start = one.result.find("\n#")
        result = one.result[start:].lstrip("\n# ") if 0 <= start < 300 else one.result
        text += f" → {truncate_line(result, size.line)}"
    return text


def blockers(state: State, size: SizeLimits) -> Iterator[Line]:
    """What keeps work from going on: red checks, and subagents that failed."""
    for run in reversed(state.suite_runs.values()):
        if run.result == "failed":
            names = f": {', '.join(run.failing[:4])}" if run.failing else ""
            line = f"- failing: `{truncate_line(run.command, 90)}`{names}"
            yield Line(truncate_line(line, size.line + 90), run.fact_id)
    errors = [e for e in state.errors.values() if e.status == OPEN and e.of != "test"]
    for error in errors[::-1][: size.errors]:
        shown = f": {error.lines[0]}" if error.lines else ""
        line = f"- {error.of} error: `{truncate_line(error.command, 90)}`{shown}"
        yield Line(truncate_line(shorten_paths(line, state), size.line + 60), error.fact_id)
    failed = [one for one in state.subagents.values() if one.status == CANCELLED]
    for one in failed[::-1][:3]:
        line = f"- {one.role or 'subagent'} failed: {one.about}"
        yield Line(truncate_line(line, size.line + 60), one.fact_id)


def decided(state: State, size: SizeLimits) -> Iterator[Line]:
    """The user's decisions first, then the latest of the agent's."""
    still_open = [(key, d) for key, d in state.decisions.items() if d.status == OPEN]
    still_open.sort(key=lambda item: (item[1].by == "user", item[1].step))
    for key, decision in still_open[::-1][: 3 if size.tight else 15]:
        yield Line(f"- {decision_line(decision, max(size.line + 60, MAX_DECISION))}", key)


def next_steps(state: State, size: SizeLimits) -> Iterator[Line]:
    yield from next_action(state, size)
    ready = [key for key in waves_of(state.tasks).ready if not state.tasks[key].in_progress]
    if ready:
        tasks = [state.tasks[key] for key in ready[:4]]
        names = "; ".join(f"#{task.task} {truncate_line(task.subject, 50)}" for task in tasks)
        yield Line(f"- not started, not blocked: {names}", ready[0])
