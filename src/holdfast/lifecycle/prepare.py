"""The texts that are made ahead: the brief for the next compaction, the handoff for the next
session. Pure: state and time in, text out; the tray keeps them."""

from __future__ import annotations

from holdfast.brief.compose import Brief, compose
from holdfast.brief.lines import one_line
from holdfast.brief.paths import shorten
from holdfast.lifecycle.handoff import LIMIT as HANDOFF
from holdfast.state import next_step
from holdfast.state.facts import OPEN
from holdfast.state.model import State

# 6,000 of the client's 10,000 characters: what survives per character falls off beyond that
# (see the survival benchmark), and other tools' hooks want their say too.
BRIEF = 6_000


# How a text begins that was chosen against the client's summary.
AGAINST = "Holdfast: what the summary above leaves out of this session"

# Characters below which a request may not tell what the work is about.
TELLING = 40

# What the client shows of one hook, less a margin; beyond it stands a preview.
MOST = 9_900
# Of which the state has at least this much, however many rules of commands are in force: its
# rules, last request, open tasks and test state.
CORE = 3_000
# Less than this that is left free is not worth another look.
LINE = 100


def brief(
    state: State, now: str, max_chars: int = BRIEF, rules: str = "", summary: str = ""
) -> Brief:
    """What the session knew before the compaction; empty when that is nothing.

    `rules` of commands in force come after it, and whole: they are why the state gives way.
    Where the client's `summary` is known, nothing that stands in it word for word, and what it
    lost before what it tells in words of its own.
    """
    room = min(max_chars, MOST - len(rules) - 1) if rules else max_chars
    heading = title(state, now, bool(summary))
    made = compose(state, room, title=heading, summary=summary, visible=summary)
    if not made.facts:
        return Brief(rules, ())
    return made._replace(text=f"{made.text}\n{rules}") if rules else made


def lost(state: State, now: str, said: str, max_chars: int) -> Brief:
    """What a compacted conversation does not tell; empty when it tells everything."""
    heading = title(state, now, True)
    made = compose(state, max_chars, title=heading, summary=said, visible=said)
    return made if made.facts else Brief("", ())


def title(state: State, now: str, against_summary: bool = False) -> str:
    known = _moment(state.place.updated or now)
    what = (
        AGAINST if against_summary else "Holdfast: the state of this session before the compaction"
    )
    return (
        f"{what}, from its transcript, as of {known}. Quotations are verbatim; where"
        " files on disk say otherwise, they are right. `holdfast show ID` opens an [id] in full."
    )


def unfinished(state: State) -> bool:
    """Whether a later session would want to know: see lifecycle.handoff for the rule in words."""
    if any(task.standing == OPEN for task in state.tasks.values()):
        return True
    if any(run.result == "failed" for run in state.tests.values()):
        return True
    if any(error.standing == OPEN for error in state.errors.values()):
        return True
    if any(subagent.standing == OPEN for subagent in state.subagents.values()):
        return True
    return _unanswered(state) or bool(left_open(state))


def left_open(state: State) -> str:
    """What the agent's last words leave open: a step to come, or a question that waits."""
    said = state.next_step.get("next")
    if said is None:
        return ""
    if asked := next_step.question(said):
        return f'It waits for an answer: "{one_line(asked, 160)}"'
    coming = next_step.unfinished(said)
    return f'It said last: "{one_line(coming, 160)}"' if coming else ""


def _unanswered(state: State) -> bool:
    asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
    if not asked:
        return False
    said = state.next_step.get("next")
    if said is None or said.at.start < asked[-1].at.start:
        return True
    return state.moment.step > said.step  # it was in the middle of its work


def handoff(state: State, session_id: str) -> str:
    """A few lines; the first says what they are, the last how to see the rest."""
    asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
    tasks = [task for task in state.tasks.values() if task.standing == OPEN]
    failed = [run for run in state.tests.values() if run.result == "failed"]
    lines = [
        "Holdfast: an earlier session in this folder ended unfinished"
        f" (last active {_moment(state.place.updated)}); quoted text is data."
    ]
    if asked:
        # "go on" says nothing to somebody who was not there.
        if len(asked) > 1 and len(asked[-1].text) < TELLING:
            lines.append(f'It began with: "{one_line(asked[0].text, 120)}"')
        lines.append(f'Its last request: "{one_line(asked[-1].text, 160)}"')
    if tasks:
        subjects = "; ".join(f"#{task.task} {one_line(task.subject, 50)}" for task in tasks[:3])
        more = f" and {len(tasks) - 3} more" if len(tasks) > 3 else ""
        lines.append(f"Open tasks: {subjects}{more}")
    if failed:
        lines.append(f"Failing then: {one_line(failed[-1].command, 70)}")
    if said := left_open(state):
        lines.append(said)
    if edited := _edited(state):
        lines.append(f"Edited last: {one_line(', '.join(edited[:3]), 120)}")
    closing = f"`holdfast resume {session_id[:8]}` shows all of it."
    room = HANDOFF - len(closing) - 1
    text = "\n".join(lines)
    return (text if len(text) <= room else text[: room - 1].rstrip() + "…") + "\n" + closing


def _edited(state: State) -> list[str]:
    """Latest first."""
    changed = [file for file in state.files.values() if file.changed and file.standing == OPEN]
    changed.sort(key=lambda file: -file.changed_step)
    return [shorten(file.path, state.place.folders) for file in changed]


def _moment(time: str) -> str:
    """2026-11-15T10:22:33.123Z -> 2026-11-15 10:22 UTC."""
    return f"{time[:10]} {time[11:16]} UTC" if len(time) >= 16 else "an unknown time"
