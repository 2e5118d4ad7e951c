"""Words for the moment when context runs low: one line each for the user and for the agent.

With a focus text for `/compact`, drafted from what the state knows, so that compacting now loses
less than being compacted later. Pure.
"""

from __future__ import annotations

from holdfast.brief.lines import one_line
from holdfast.brief.paths import shorten
from holdfast.state.facts import OPEN
from holdfast.state.model import State

FOCUS = 320
RULES, FILES, TASKS = 2, 4, 2


def focus_text(state: State, max_chars: int = FOCUS) -> str:
    """What a summary should dwell on, most important first; "" when nothing is known."""
    text = ""
    for piece in _pieces(state):
        longer = f"{text}; {piece}" if text else piece
        if len(longer) <= max_chars:
            text = longer
    return text


def user_line(left: int, tokens: int, point: int, focus: str) -> str:
    return (
        f"Holdfast: {left} % of the context is left before it is compacted ({tokens:,} of"
        f" {point:,} tokens). The state is saved. To compact now, with a focus:"
        f" /compact {focus}".rstrip()
    )


def agent_line(left: int, focus: str) -> str:
    offered = f' The user was offered: "/compact {focus}".' if focus else ""
    return (
        f"Holdfast: {left} % of the context is left before it is compacted. The state of this"
        f" session is saved and is put back afterwards; a good point to stop at is after the"
        f" current step.{offered}"
    )


def _pieces(state: State) -> list[str]:
    found = []
    tasks = [task for task in state.tasks.values() if task.standing == OPEN]
    tasks.sort(key=lambda task: task.status != "in_progress")
    if tasks:
        found.append("keep " + ", ".join(one_line(task.subject, 70) for task in tasks[:TASKS]))
    else:
        asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
        if asked:
            found.append(f'keep the request "{one_line(asked[-1].text, 90)}"')
    failing = [run for run in state.tests.values() if run.result == "failed"]
    if failing:
        names = ", ".join(failing[-1].failing[:2]) or failing[-1].command
        found.append(f"failing: {one_line(names, 90)}")
    changed = [f for f in state.files.values() if (f.changed or f.created) and f.standing == OPEN]
    latest = sorted(changed, key=lambda file: -file.changed_step)[:FILES]
    if latest:
        found.append(
            "files " + ", ".join(shorten(file.path, state.place.folders) for file in latest)
        )
    rules = [rule for rule in state.rules.values() if rule.standing == OPEN]
    found += [f'rule "{one_line(rule.text, 80)}"' for rule in rules[::-1][:RULES]]
    return found
