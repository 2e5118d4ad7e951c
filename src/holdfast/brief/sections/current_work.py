"""Where the work stood: the last request, the agent's last words, rules, tasks, plan and notes."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.lines import Line, SizeLimits, shorten_path, shorten_paths, split_pieces
from holdfast.brief.lines import format_command as shown
from holdfast.state.facts import CANCELLED, DONE, OPEN, kind_name
from holdfast.state.model import State
from holdfast.state.notes import Note, list_open_notes
from holdfast.state.replies import Reply
from holdfast.state.requests import Request, list_prompts
from holdfast.state.task_summary import format_summary
from holdfast.state.tasks import Task
from holdfast.text import collapse_whitespace, truncate_line, truncate_middle_words, truncate_words

# What was asked: the last request and what it answers, the agent's last words, what ran.

# A prompt of fewer characters leans on what was said before it ("yes", "2", "go on").
MAX_ELLIPTIC_CHARS = 60


def request(state: State, size: SizeLimits) -> Iterator[Line]:
    """The last request whole, as far as there is room, and the words it answers."""
    typed = list_prompts(state.requests)
    if not typed:
        return
    last = typed[-1]
    text = truncate_middle_words(collapse_whitespace(last.text), size.request)
    yield Line(f'The user\'s last request [q{last.number}]: "{text}"', f"q{last.number}")
    answered = _answered(state, last)
    if len(last.text) < MAX_ELLIPTIC_CHARS and last.how != "command" and answered is not None:
        said = _closing(answered.text, size.request // 2)
        key = f"a{answered.number}"
        if said:
            yield Line(f'Before that the agent had said [{key}]: "{said}"', key)


def _answered(state: State, request: Request) -> Reply | None:
    """What the agent had said last when the user typed this."""
    before = [
        reply
        for reply in state.replies.values()
        if reply.by == "agent" and reply.turn < request.turn
    ]
    return before[-1] if before else None


def _closing(text: str, limit: int) -> str:
    """The last sentences: a question or an offer stands at the end."""
    taken: list[str] = []
    used = 0
    for piece in reversed(split_pieces(text)):
        if taken and used + len(piece) + 3 > limit:
            break
        taken.insert(0, truncate_words(piece, limit))
        used += len(piece) + 3
    return " … ".join(taken)


def last_words(state: State, size: SizeLimits) -> Iterator[Line]:
    """What the agent said last, if it has spoken since the last request."""
    typed = list_prompts(state.requests)
    spoken = [reply for reply in state.replies.values() if reply.by == "agent"]
    if not spoken:
        return
    last = spoken[-1]
    if typed and last.turn < typed[-1].turn:
        return
    said = _closing(last.text, size.last_words)
    if said:
        yield Line(f'The agent\'s last words [a{last.number}]: "{said}"', f"a{last.number}")


def last_done(state: State, size: SizeLimits) -> Iterator[Line]:
    """The last thing that was done, and how it came out."""
    command = max(state.commands.values(), key=lambda c: (c.step, c.number), default=None)
    changed = [file for file in state.files.values() if file.changed_step >= 0]
    file = max(changed, key=lambda f: f.changed_step, default=None)
    if file is not None and (command is None or file.changed_step > command.step):
        how = "created" if file.created and file.changed <= 1 else "edited"
        path = shorten_path(file.path, state.session.folders)
        yield Line(f"Last done: {how} {path} [f{file.number}]", f"f{file.number}")
    elif command is not None and not command.check:  # a check is told with its verdict
        text = shorten_paths(shown(command.text, size.line + 40), state)
        outcome = "ok" if command.ok else "failed"
        said = (
            f": {truncate_words(collapse_whitespace(command.outcome), 90)}"
            if command.outcome
            else ""
        )
        yield Line(f"Last run: `{text}` {outcome}{said} [c{command.number}]", f"c{command.number}")


# The rules that the user gave and that are in force. Word for word.


def rules(state: State, size: SizeLimits) -> Iterator[Line]:
    still_open = [(key, rule) for key, rule in state.rules.items() if rule.status == OPEN]
    for key, rule in reversed(still_open[-size.rules :]):
        yield Line(f'- [{key}] "{truncate_line(rule.text, size.rule)}"', key)


# The work itself: tasks with their status, the plan, what runs beside it.


def finished(state: State, size: SizeLimits) -> Iterator[Line]:
    """What is done or was dropped, so that it is not taken up again."""
    done = [item for item in state.tasks.items() if item[1].status == DONE]
    if done and size.done_tasks:
        latest = sorted(done, key=lambda item: item[1].step)[-size.done_tasks :]
        subjects = "; ".join(_titled(task) for _, task in reversed(latest))
        more = f" and {len(done) - len(latest)} more" if len(done) > len(latest) else ""
        yield Line(f"Done, not to be redone: {subjects}{more}", latest[-1][0])
    dropped = [item for item in state.tasks.items() if item[1].status == CANCELLED]
    if dropped and not size.tight:
        subjects = "; ".join(_titled(task) for _, task in dropped[-4:])
        yield Line(f"Cancelled: {subjects}", dropped[-1][0])


def _titled(task: Task) -> str:
    return f"#{task.task} {truncate_line(task.subject, 60)}"


def tasks(state: State, size: SizeLimits) -> Iterator[Line]:
    still_open = [(key, task) for key, task in state.tasks.items() if task.status == OPEN]
    still_open.sort(key=lambda item: item[1].client_status != "in_progress")
    for key, task in still_open[: size.open_tasks]:
        notes = ["in progress"] if task.client_status == "in_progress" else []
        blocking = [b for b in task.blocked_by if _is_open(state, b)]
        if blocking:
            notes.append("blocked by " + ", ".join("#" + b for b in blocking))
        if task.owner:
            notes.append(task.owner)
        note = f" ({'; '.join(notes)})" if notes else ""
        yield Line(f"- #{task.task} {truncate_line(task.subject, 120)}{note}", key)


def _is_open(state: State, task: str) -> bool:
    known = state.tasks.get("t" + task)
    return known is not None and known.status == OPEN


def plan(state: State, _: SizeLimits) -> Iterator[Line]:
    plans = [(key, plan) for key, plan in state.plans.items() if plan.status == OPEN]
    for key, plan in plans[-1:]:
        where = f" (file: {shorten_path(plan.path, state.session.folders)})" if plan.path else ""
        title = next((line for line in plan.text.split("\n") if line.strip()), "")
        yield Line(f'Approved plan: "{truncate_line(title.strip("# "), 90)}"{where}', key)


def running(state: State, _: SizeLimits) -> Iterator[Line]:
    beside = [s for s in state.subagents.values() if s.status == OPEN]
    for one in beside[-4:]:
        about = truncate_line(one.about, 90)
        # Until it reports, only the call that started it may be known.
        name = "" if one.agent.startswith("toolu_") else f" {one.agent}"
        yield Line(f"- {one.role or 'subagent'}{name}: {about}", f"s{one.number}")


# What was written down on purpose: notes of the user and the agent, summaries of finished work.


def notes(state: State, size: SizeLimits) -> Iterator[Line]:
    """Latest first, the user's before the agent's."""
    found = list_open_notes(state)
    found.sort(key=lambda item: (item[1].by == "user", item[1].number))
    for key, note in reversed(found):
        yield Line(f"- {format_note(note, 60 if size.tight else 260)}", key)


def format_note(note: Note, limit: int) -> str:
    who = {"user": "the user", "agent": "the agent"}.get(note.by, "the notes file")
    when = f" {note.at.time[11:16]}" if len(note.at.time) >= 16 else ""
    label = "next" if note.kind == "next_step" else kind_name(note.kind)
    return f'{label}, by {who}{when}: "{truncate_line(note.text, limit)}"'


def summaries(state: State, size: SizeLimits) -> Iterator[Line]:
    """One line for each finished task that went cold, in the words in which it was kept."""
    for one in reversed(state.task_summaries.values()):
        yield Line(
            f"- {format_summary(one, 140) if size.tight else format_summary(one)}", f"t{one.task}"
        )
