"""Where the work stood: the last request and what it answers, the agent's last words, what ran."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.brief.path_display import shorten_path
from holdfast.brief.quotable_pieces import format_command as shown
from holdfast.brief.quotable_pieces import split_pieces
from holdfast.brief.section_lines import Line, SizeLimits, shorten_paths
from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.state.replies import Reply
from holdfast.state.requests import Request, list_prompts
from holdfast.text import collapse_whitespace, truncate_line, truncate_middle_words, truncate_words

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
