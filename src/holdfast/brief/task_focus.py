"""What lies around the current task: the files that it touched, names, or is failing in.

For readers who do one thing. Pure.
"""

from holdfast.brief.lines import content_words
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.state.tasks import Task

# Without a task that was begun, the work of the last few steps is what is being done.
RECENT_STEPS = 25
MIN_STEM_CHARS = 4

_NAMES = lazy_compile(r"[\w./-]+")


class TaskFocus(NamedTuple):
    text: str  # the task in words; "" when nothing was asked
    paths: frozenset[str]  # keys of the files' table

    def is_in(self, text: str) -> bool:
        """Whether a text speaks of the task or of one of its files."""
        shared = content_words(text) & content_words(self.text)
        return len(shared) >= 2 or any(path.rpartition("/")[2] in text for path in self.paths)


def find_current_task(state: State) -> tuple[str, Task] | None:
    """The task that was begun last and is not finished."""
    begun = [item for item in state.tasks.items() if item[1].in_progress]
    return max(begun, key=lambda item: item[1].started_step) if begun else None


def find_focus(state: State) -> TaskFocus:
    found = find_current_task(state)
    if found is not None:
        task = found[1]
        text, since = f"{task.subject}\n{task.description}", task.started_step
    else:
        asked = [r.text for r in state.requests.values() if r.how in ("prompt", "queued")]
        text, since = asked[-1] if asked else "", state.position.step - RECENT_STEPS
    red = [error for error in state.errors.values() if error.status == OPEN]
    shown = " ".join(" ".join((*error.lines, *error.failing)) for error in red)
    failing = {name.rpartition("/")[2] for name in _NAMES.findall(shown)}
    named = set(_NAMES.findall(text))
    paths = frozenset(
        path
        for path, file in state.files.items()
        if file.status == OPEN
        and (
            ((file.changed or file.read) and file.step >= since)
            or _is_named(path, named)
            or path.rpartition("/")[2] in failing
        )
    )
    return TaskFocus(text, paths)


def _is_named(path: str, names: set[str]) -> bool:
    name = path.rpartition("/")[2]
    stem = name.partition(".")[0]
    return (
        name in names
        or (len(stem) >= MIN_STEM_CHARS and stem in names)
        or any("/" in one and path.endswith(one.rstrip("./")) for one in names)
    )
