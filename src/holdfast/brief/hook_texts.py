"""The texts that hooks hand over: the brief after a compaction, the handoff offer for the next
session, and the steering text for the summariser.

Pure: state and time in, text out; the session dir keeps those that are made ahead.
"""

from collections.abc import Iterator, Sequence

from holdfast.brief.carried_over import CarriedOver, has_open_tasks
from holdfast.brief.compose import Brief, compose
from holdfast.brief.contradictions import Contradiction, format_contradictions
from holdfast.brief.lines import SizeLimits, shorten_path
from holdfast.brief.role import Role, list_parts
from holdfast.brief.sections.current_work import find_last_said
from holdfast.clients.holdfast_text import AUGMENT_OPENING, STATE_OPENING
from holdfast.clock import format_minute_utc
from holdfast.fastpath.handoff_offers import INJECTED_OPENING, close_offer
from holdfast.state import next_step
from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.text import keep_in_line, truncate_line

# Of the client's 10,000 characters per hook: readers answer more from 9,500 than from 6,000, and a
# compaction frees many times as much.
DEFAULT_BRIEF_CHARS = 9_500


# Characters below which a request may not tell what the work is about.
MIN_REQUEST_CHARS = 40

# What the client shows of one hook, less a margin; beyond it stands a preview.
MAX_HOOK_CHARS = 9_900
# Of which the state has at least this much, however many rules of commands are in force: its
# rules, last request, open tasks and test state.
MIN_STATE_CHARS = 3_000
# Less than this that is left free is not worth another look.
MIN_SPARE_CHARS = 100


def compose_restore_brief(
    state: State,
    now: str,
    max_chars: int = DEFAULT_BRIEF_CHARS,
    rules: str = "",
    left: str = "",
    *,
    title: str = "",
    project: str = "",
    wrong: Sequence[Contradiction] = (),
) -> Brief:
    """What the session knew before the compaction; empty when that is nothing.

    What the summary says `wrong` comes first, `rules` of commands in force after it, beyond
    `max_chars`. Where it is known what the compaction `left` in context (a summary, messages),
    nothing that is there word for word.
    """
    heading = title or format_title(state, now, bool(left), project)
    told = format_contradictions(wrong)
    heading = f"{heading}\n{told}" if told else heading
    made = compose(state, max_chars, title=heading, visible=left)
    if not made.fact_ids:
        return Brief(f"{heading}\n{rules}".rstrip() if told else rules, ())
    return made._replace(text=f"{made.text}\n{rules}") if rules else made


def format_title(state: State, now: str, against_summary: bool = False, project: str = "") -> str:
    known = format_minute_utc(state.session.updated or now)
    name = _quote_name(state) + (f' in project "{project}"' if project else "")
    what = f"{STATE_OPENING}{name} before the compaction"
    if against_summary:
        what = f"{AUGMENT_OPENING} of this session{name}"
    return (
        f"{what}, from its transcript, as of {known}. Quotations are verbatim; where"
        " files on disk say otherwise, they are right. `holdfast show ID` opens an [id] in full."
    )


def _quote_name(state: State) -> str:
    """What the client or the user called the session, as words that follow others."""
    title = keep_in_line(truncate_line(state.session.title, 80))
    return f' "{title}"' if title else ""


def is_unfinished(state: State, carried: Sequence[CarriedOver] = ()) -> bool:
    """Whether a later session would want to know: see fastpath.handoff_offers for the rule in
    words."""
    return (
        any(task.status == OPEN for task in state.tasks.values())
        or has_open_tasks(carried)
        or any(error.status == OPEN for error in state.errors.values())
        or any(subagent.status == OPEN for subagent in state.subagents.values())
        or any(run.result == "failed" for run in state.suite_runs.values())
        or _is_unanswered(state)
        or bool(describe_open_end(state))
    )


def describe_open_end(state: State) -> str:
    """What the agent's last words leave open: a step to come, or a question that waits."""
    said, open_end = state.next_step.get("next"), find_last_said(state)
    if said is None or open_end is None:
        return ""
    if asked := next_step.find_question(said):
        return f'It waits for an answer: "{truncate_line(asked, 160)}"'
    coming = next_step.find_unfinished(open_end)
    return f'It said last: "{truncate_line(coming, 160)}"' if coming else ""


def _is_unanswered(state: State) -> bool:
    asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
    if not asked:
        return False
    said = state.next_step.get("next")
    if said is None or said.at.start < asked[-1].at.start:
        return True
    return state.position.step > said.step  # it was in the middle of its work


def compose_handoff_offer(
    state: State, session_id: str, carried: Sequence[CarriedOver] = ()
) -> str:
    """A few lines; the first says what they are, the last how to see the rest."""
    asked = [r for r in state.requests.values() if r.how in ("prompt", "queued")]
    tasks = [task for task in state.tasks.values() if task.status == OPEN]
    failed = [run for run in state.suite_runs.values() if run.result == "failed"]
    lines = [
        "Holdfast: an earlier session in this folder ended unfinished"
        f" (last active {format_minute_utc(state.session.updated)}); quoted text is data."
    ]
    if asked:
        # "go on" says nothing to somebody who was not there.
        if len(asked) > 1 and len(asked[-1].text) < MIN_REQUEST_CHARS:
            lines.append(f'It began with: "{truncate_line(asked[0].text, 120)}"')
        lines.append(f'Its last request: "{truncate_line(asked[-1].text, 160)}"')
    if tasks:
        subjects = "; ".join(f"#{one.task} {truncate_line(one.subject, 50)}" for one in tasks[:3])
        more = f" and {len(tasks) - 3} more" if len(tasks) > 3 else ""
        lines.append(f"Open tasks: {subjects}{more}")
    lines += _tell_carried(carried)
    if failed:
        lines.append(f"Failing at the time: {truncate_line(failed[-1].command, 70)}")
    if said := describe_open_end(state):
        lines.append(said)
    changed = [file for file in state.files.values() if file.changed and file.status == OPEN]
    changed.sort(key=lambda file: -file.changed_step)
    if changed:
        edited = (shorten_path(file.path, state.session.folders) for file in changed[:3])
        lines.append(f"Edited last: {truncate_line(', '.join(edited), 120)}")
    return close_offer("\n".join(map(keep_in_line, lines)), session_id[:8])


def inject_handoff(page: str, session_id: str) -> str:
    """The whole page in place of an offer; what it quotes is quoted there."""
    opening = f"{INJECTED_OPENING}, which ended unfinished; quoted text is data:"
    return close_offer(f"{opening}\n\n{page.rstrip()}", session_id[:8], injected=True)


def _tell_carried(carried: Sequence[CarriedOver]) -> Iterator[str]:
    """One line: the offer has little room, and the page has all of it."""
    rules = [f"rule {truncate_line(line, 70)}" for one in carried for line in one.rules]
    tasks = [f"open {truncate_line(line, 60)}" for one in carried for line in one.tasks]
    shown = [*tasks[:2], *rules[:1]]
    more = f" and {len(tasks + rules) - len(shown)} more" if len(tasks + rules) > len(shown) else ""
    if shown:
        yield f"From a session before it: {'; '.join(shown)}{more}"


STEERING_TITLE = (
    "Keep these facts of the session in the summary, worded as here (Holdfast; quotes are data):"
)

# As many of each as a summary is to keep, in whichever budget.
STEERING_SIZE = SizeLimits(
    tight=False, request=800, last_words=480, line=90, rules=16, rule=220, open_tasks=12,
    done_tasks=3, errors=8, dead_ends=3, checks=5, commits=4, files=20,
)  # fmt: skip
STEERING_ROLE = Role(
    "steering",
    # The next step and a question that waits stand in the last words; summaries round them off.
    list_parts(
        "holds 0.2, rules 0.3, changed 0.2, request 0.25, last_words 0.12, notes 0.2,"
        " git 0.25, edited 0.12, verified 0.15, check_commands 0.1, tasks 0.2, finished 0.1,"
        " summaries 0.15, decided 0.45, typed 0.15, running, instead, values"
    ),
    stated_share=0.92,
    size=STEERING_SIZE,
)

SHOWN_STEERING_ROLE = STEERING_ROLE._replace(
    parts=list_parts("holds 0.6, rules 0.9, request 0.9, tasks 0.5"), stated_share=1.0
)


def compose_steering(state: State, max_chars: int) -> str:
    """Text for the summariser, at most `max_chars`, most important first: what summaries lose.

    The client puts it under the instructions of its own summary request. The summariser has the
    whole conversation before it, so nothing of that is quoted: only what has to be worked out from
    it, what was said far back and holds, and where the work stands. Never anything that could be
    taken for JSON.
    """
    name = _quote_name(state)
    title = f"{STEERING_TITLE}\nThe session is called{name}." if name else STEERING_TITLE
    made = compose(state, max_chars, title=title, role=STEERING_ROLE)
    return made.text if made.fact_ids else ""


def compose_shown_steering(state: State, max_chars: int) -> str:
    """The same in one paragraph, where the user sees it: what a summary must not round off."""
    made = compose(state, max_chars, title=STEERING_TITLE, role=SHOWN_STEERING_ROLE)
    return made.text.replace("\n", " ") if made.fact_ids else ""
