"""Words for the moment when context runs low: one line each for the user and for the agent.

With a focus text for `/compact`, drafted from what the state knows, so that compacting now loses
less than being compacted later. Pure.
"""

from __future__ import annotations

from holdfast.brief.path_display import shorten_path
from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.text import truncate_line

MAX_FOCUS_CHARS = 320
MAX_RULES, MAX_FILES, MAX_TASKS = 2, 4, 2


def build_focus_text(state: State, max_chars: int = MAX_FOCUS_CHARS) -> str:
    """What a summary should dwell on, most important first; "" when nothing is known."""
    text = ""
    for piece in _pieces(state):
        longer = f"{text}; {piece}" if text else piece
        if len(longer) <= max_chars:
            text = longer
    return text


def format_user_notice(left: int, tokens: int, point: int, focus: str) -> str:
    return (
        f"Holdfast: {left} % of the context is left before it is compacted ({tokens:,} of"
        f" {point:,} tokens). The state is saved. To compact now, with a focus:"
        f" /compact {focus}".rstrip()
    )


def format_agent_notice(left: int, focus: str) -> str:
    offered = f' The user was offered: "/compact {focus}".' if focus else ""
    return (
        f"Holdfast: {left} % of the context is left before it is compacted. The state of this "
        "session is saved and will be restored afterwards; the end of the current step is a good "
        f"point to stop.{offered}"
    )


def _pieces(state: State) -> list[str]:
    found = []
    tasks = [task for task in state.tasks.values() if task.status == OPEN]
    tasks.sort(key=lambda task: task.client_status != "in_progress")
    if tasks:
        found.append(
            "keep " + ", ".join(truncate_line(task.subject, 70) for task in tasks[:MAX_TASKS])
        )
    else:
        asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
        if asked:
            found.append(f'keep the request "{truncate_line(asked[-1].text, 90)}"')
    failing = [run for run in state.suite_runs.values() if run.result == "failed"]
    if failing:
        names = ", ".join(failing[-1].failing[:2]) or failing[-1].command
        found.append(f"failing: {truncate_line(names, 90)}")
    changed = [f for f in state.files.values() if (f.changed or f.created) and f.status == OPEN]
    latest = sorted(changed, key=lambda file: -file.changed_step)[:MAX_FILES]
    if latest:
        found.append(
            "files " + ", ".join(shorten_path(file.path, state.session.folders) for file in latest)
        )
    rules = [rule for rule in state.rules.values() if rule.status == OPEN]
    found += [f'rule "{truncate_line(rule.text, 80)}"' for rule in rules[::-1][:MAX_RULES]]
    return found
