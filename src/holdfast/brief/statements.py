"""Statements: everything a brief could quote, each with its speaker, its source and its weight.

Owns what may be quoted and how much one statement counts beside another; `choose` takes the best
of them for a room, `compose` writes them down. The weights are round numbers with a reason: on
real sessions halving or doubling any one of them changes what is told by less than .01, and
weights learnt on some repositories did worse on others. Pure.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from holdfast.brief.corrections import find_corrections
from holdfast.brief.lines import (
    content_words,
    format_whole_command,
    sentences_of,
    shorten_path,
    split_pieces,
)
from holdfast.brief.lines import format_command as shown
from holdfast.brief.task_focus import find_focus
from holdfast.events import Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.state.dead_ends import DeadEnd
from holdfast.state.facts import OPEN
from holdfast.state.git_work import Commit, list_commits
from holdfast.state.identifiers import Identifier
from holdfast.state.model import State
from holdfast.state.replies import Reply
from holdfast.state.requests import Request
from holdfast.state.touched_files import TouchedFile
from holdfast.text import collapse_whitespace, truncate_words

# What a speaker's words count. The user's are demands; the words that close a turn say what
# came of it; a subagent's report or a plan is told again by the agent as far as it matters.
USER_WEIGHT = 3.0
CLOSING_WEIGHT = 2.0
AGENT_WEIGHT = 1.0
COMMIT_WEIGHT = 2.0  # as closing words: written when the work was done
SUMMARY_WEIGHT = 1.0
PLAN_WEIGHT = 0.7
SUBAGENT_WEIGHT = 0.3
WORKAROUND_WEIGHT = 1.5  # a command that failed beside the form that worked
COMMAND_WEIGHT = 0.6
FAILED_WEIGHT = 0.6
EDITED_FILE_WEIGHT = 0.4
READ_FILE_WEIGHT = 0.1
VALUE_WEIGHT = 0.3
_SPEAKER_WEIGHTS = {
    "user": USER_WEIGHT,
    "agent": AGENT_WEIGHT,
    "commit": COMMIT_WEIGHT,
    "summary": SUMMARY_WEIGHT,
}
MAX_COMMAND_CHARS = 240  # characters up to which a command is told, whole, to be run again
MAX_SYMBOLS_PER_FILE = 6  # names of symbols beside an edited file
# Pasted lines are somebody else's words that the user only showed.
PASTED_FACTOR = 0.25
ANNOUNCEMENT_FACTOR = 0.4  # "Now let me fix the tests:"
HALF_LIFE_MESSAGES = 12.0  # messages after which a statement counts half as much as the latest
MIN_RECENCY = 0.15  # ... and what it counts at least
# Of a long message, what stands between these many first and last pieces is taken for a paste.
TYPED_END_PIECES = 4
LONG_MESSAGE_CHARS = 1500
# A prompt of the user up to this long is quoted whole or not at all.
SHORT_PROMPT_CHARS = 240

LEFT_OUT = "…"

SPOKEN_KINDS = frozenset(("user", "agent", "commit", "summary"))

# How pasted lines begin; what else shows them, in `_is_pasted`, is looked for without a pattern.
_PASTED = lazy_compile(
    r"[+>│╭╰├|$@%]|-{2,}\s|\s{4,}\S|\t|\S+\.\w{1,5}:\d+|\d{4}-\d\d-\d\d[T ]\d\d:"
    r"|\s*(?:def|class|func|import|from|return|const|let|var|if|for)\b.*[:({]\s*$"
)
# A line of a commit's message that goes on in the next, as those are wrapped at about 72.
_WRAPPED = lazy_compile(r"(?m)^([^\n]{50,}[^\n:])\n(?![\s*#•-]|\d+[.)])")
_AT_LINE = lazy_compile(r"\bat line \d+")


_ANNOUNCES = lazy_compile(
    r"(?:(?:now|ok(?:ay)?|good|great|perfect|first|next|then|alright|right|so)[,.!: ]+(?:and )?)*"
    r"(?:let me|let's|i'll|i will|i'm going to|i am going to|i need to)\b",
    re.I,
)


class Statement(NamedTuple):
    kind: str  # one of those in `_MAKERS`
    fact: str  # the id that opens all of it
    text: str
    words: frozenset[str]
    weight: float
    turn: int
    message_index: (
        int  # of its message among all messages: statements of one message stand together
    )
    piece: int  # within its message
    recency: float = 1.0
    pasted: bool = False
    replaced: str = ""  # words that these took the place of, quoted
    about: str = ""  # what they answer: the question that was asked, the call that was refused


class Message(NamedTuple):
    """What the user or the agent said at once."""

    kind: str
    fact: str
    text: str
    turn: int
    closing: bool
    about: str = ""


def list_messages(state: State) -> list[Message]:
    """The conversation in the order in which it was had."""
    said: list[Request | Reply] = [*state.requests.values(), *state.replies.values()]
    # By where it stands in the transcript; what only a payload told so far stands at its end.
    said.sort(key=lambda one: (one.epoch, _place(one.at), one.turn, one.step))
    commits = sorted(
        (one for one in list_commits(state) if one.body), key=lambda one: -one.at.start
    )
    found: list[Message] = []
    for number, one in enumerate(said):
        while commits and commits[-1].at.start < _place(one.at):
            found.append(_commit_message(commits.pop(), found[-1].turn if found else one.turn))
        if isinstance(one, Request):
            found.append(
                Message("user", f"q{one.number}", one.text, one.turn, False, _about(one, state))
            )
            continue
        following = said[number + 1] if number + 1 < len(said) else None
        closing = following is None or isinstance(following, Request)
        kind = "agent" if one.by == "agent" else "summary"
        found.append(Message(kind, f"a{one.number}", one.text, one.turn, closing))
    found += [_commit_message(one, state.position.turn) for one in reversed(commits)]
    return found


def _commit_message(commit: Commit, turn: int) -> Message:
    """What the agent wrote down of its work when it committed; the first line is git's to tell."""
    text = _WRAPPED.sub(r"\1 ", commit.body)
    return Message("commit", f"g{commit.number}", text, turn, False, commit.id)


def _place(at: Origin) -> float:
    """Where a row begins; the first of a file begins at 0, and a payload has no row."""
    return at.start if at.end else math.inf


def _about(request: Request, state: State) -> str:
    """What an answer or a refusal was given to: not the user's words, so not quoted as such."""
    if request.how == "answer" and request.about:
        return f'asked "{truncate_words(collapse_whitespace(request.about), 160)}"'
    if request.how == "refusal" and request.about:
        tool, _, call = request.about.partition(": ")
        return f"refusing {tool}: {shown(shorten_path(call, state.session.folders), 80)}"
    return ""


def users_sentences(state: State) -> Iterator[tuple[str, str]]:
    """(request, sentence) of all that the user said and did not take back; no pastes."""
    for one in _conversation(state):
        if one.kind == "user" and not one.pasted:
            for sentence in sentences_of(one.text):
                yield one.fact, sentence


def list_statements(state: State, kinds: Container[str]) -> list[Statement]:
    """Everything of these kinds that could be told, in the order in which it would be read.

    Only those are made: a long conversation takes longer to cut up and to search for corrections
    than all the rest, and the summariser is told nothing of it.
    """
    found: list[Statement] = []
    for made, its_kinds in _MAKERS:
        if any(kind in kinds for kind in its_kinds):
            found += [one for one in made(state) if one.kind in kinds]
    return found


def _conversation(state: State) -> list[Statement]:
    said = list_messages(state)
    later = sum(message.kind != "commit" for message in said)  # a commit makes nothing older
    found = []
    for place, message in enumerate(said):
        later -= message.kind != "commit"
        recency = MIN_RECENCY + (1 - MIN_RECENCY) * 0.5 ** (later / HALF_LIFE_MESSAGES)
        parts = split_pieces(message.text)
        if message.kind == "user" and len(message.text) <= SHORT_PROMPT_CHARS:
            parts = (collapse_whitespace(message.text),)
        for number, part in enumerate(parts):
            weight = _SPEAKER_WEIGHTS[message.kind] * recency
            if message.closing and message.kind == "agent":
                weight *= CLOSING_WEIGHT
            if message.kind == "agent" and _announces(part, message.closing):
                weight *= ANNOUNCEMENT_FACTOR
            pasted = message.kind == "user" and _is_pasted(message.text, part, number, len(parts))
            if pasted:
                weight *= PASTED_FACTOR
            found.append(
                Statement(
                    message.kind,
                    message.fact,
                    part,
                    content_words(part)
                    | (content_words(message.about) if not number else frozenset()),
                    weight,
                    message.turn,
                    place,
                    number,
                    recency,
                    pasted,
                    # A commit is known by its hash, whatever of its message is quoted.
                    about=message.about if not number or message.kind == "commit" else "",
                )
            )
    return _corrected(found)


def _corrected(found: list[Statement]) -> list[Statement]:
    """Words that the user took back stand beside those that took their place."""
    # By sentences: a short prompt is quoted whole, and one sentence of it may be taken back.
    own = [
        (place, sentence)
        for place, one in enumerate(found)
        if one.kind == "user" and not one.pasted
        for sentence in sentences_of(one.text)
    ]
    said = [sentence for _, sentence in own]
    for correction in find_corrections(said, [found[place].message_index for place, _ in own]):
        (earlier, sentence), (later, _) = own[correction.earlier], own[correction.later]
        old, new = found[earlier], found[later]
        before = f'(said before that: "{truncate_words(correction.taken, 160)}")'
        found[later] = new._replace(replaced=f"{new.replaced} {before}".strip())
        left = correction.left or LEFT_OUT
        text = old.text.replace(sentence, left, 1).removeprefix(LEFT_OUT).removesuffix(LEFT_OUT)
        found[earlier] = old._replace(text=text.strip(), words=content_words(text))
    return [one for one in found if one.text]


def _announces(part: str, closing: bool) -> bool:
    """Says that something comes, not what came; at the end of a turn that is the next step."""
    return part.endswith(":") or (not closing and _ANNOUNCES.match(part) is not None)


def _is_pasted(message: str, part: str, number: int, count: int) -> bool:
    if part.rstrip().endswith(("{", "}", ";")) or _PASTED.match(part):
        return True
    if "at line " in part and _AT_LINE.search(part):
        return True
    return (
        len(message) > LONG_MESSAGE_CHARS and TYPED_END_PIECES <= number < count - TYPED_END_PIECES
    )


def _plans(state: State) -> Iterator[Statement]:
    for key, plan in state.plans.items():
        if plan.status != OPEN:
            continue
        for number, part in enumerate(split_pieces(plan.text)):
            yield Statement("plan", key, part, content_words(part), PLAN_WEIGHT * 0.5, 0, 0, number)


def _subagents(state: State) -> Iterator[Statement]:
    latest = [one for one in state.subagents.values() if one.result]
    for back, one in enumerate(reversed(latest)):
        recency = MIN_RECENCY + (1 - MIN_RECENCY) * 0.5 ** (back / 3)
        for number, part in enumerate(split_pieces(one.result)):
            yield Statement(
                "subagent",
                f"s{one.number}",
                part,
                content_words(part),
                SUBAGENT_WEIGHT * recency,
                0,
                one.number,
                number,
            )


def _commands(state: State) -> Iterator[Statement]:
    """What works here: failed attempts with what then worked, and commands with their outcome."""
    now = state.position.step
    for end in state.dead_ends.values():
        if end.source == "refused" and end.status == OPEN:
            text = f"refused by the user: {truncate_words(collapse_whitespace(end.attempt), 160)}"
            weight = FAILED_WEIGHT * _recency_of_step(now - end.step)
            yield Statement(
                "instead", f"x{end.number}", text, content_words(text), weight, 0, end.step, 0
            )
        if end.source != "command":
            continue
        worked = format_whole_command(end.workaround, MAX_COMMAND_CHARS)
        if not worked and end.status != OPEN:
            continue
        text = failed_attempt(end)
        weight = (WORKAROUND_WEIGHT if worked else FAILED_WEIGHT) * _recency_of_step(now - end.step)
        yield Statement(
            "instead", f"x{end.number}", text, content_words(text), weight, 0, end.step, 0
        )
    for command in state.commands.values():
        line = format_whole_command(command.text, MAX_COMMAND_CHARS) if command.ok else ""
        if not line:
            continue
        text = f"`{line}`"
        outcome = (
            f" → {truncate_words(collapse_whitespace(command.outcome), 60)}"
            if command.outcome
            else ""
        )
        yield Statement(
            "command",
            f"c{command.number}",
            text + outcome,
            content_words(text),
            COMMAND_WEIGHT * _recency_of_step(now - command.step),
            0,
            command.step,
            0,
        )


def failed_attempt(end: DeadEnd) -> str:
    """A command that failed, how, and the form of it that then worked."""
    tried = shown(end.line or end.attempt, 150)
    how = f" ({truncate_words(collapse_whitespace(end.failure), 130)})" if end.failure else ""
    worked = format_whole_command(end.workaround, MAX_COMMAND_CHARS)
    return f"`{tried}` failed{how}" + (f"; worked: `{worked}`" if worked else "")


def value_line(item: Identifier) -> str:
    """An exact value, and where it was seen."""
    context = truncate_words(collapse_whitespace(item.context.replace(item.value, "…")), 80)
    return f"{item.category} {item.value}: {context}" if context.strip("… ") else item.value


def _files(state: State) -> Iterator[Statement]:
    """Files with what was done to them, and the few names in them that were worked on."""
    now = state.position.step
    for file in sorted(state.files.values(), key=lambda file: -file.step):
        if file.status != OPEN or not (file.changed or file.created or file.read):
            continue
        weight = EDITED_FILE_WEIGHT if file.changed or file.created else READ_FILE_WEIGHT
        names = _names_in(state, file) if weight == EDITED_FILE_WEIGHT else ()
        path = shorten_path(file.path, state.session.folders)
        text = f"{path} ({_done_to(file)})" + (f": {' '.join(names)}" if names else "")
        yield Statement(
            "file",
            f"f{file.number}",
            text,
            content_words(text),
            weight * _recency_of_step(now - max(file.changed_step, file.step)),
            0,
            now - file.step,
            0,
        )


def _done_to(file: TouchedFile) -> str:
    if file.created:
        return "created" if file.changed <= 1 else f"created, edited {file.changed - 1}x"
    return f"edited {file.changed}x" if file.changed else f"read {file.read}x"


def _names_in(state: State, file: TouchedFile) -> list[str]:
    """The names the agent typed most lately, of those that stand in this file."""
    typed = [(state.symbols[name][0], name) for name in file.symbols if name in state.symbols]
    return [name for heat, name in sorted(typed, reverse=True)[:MAX_SYMBOLS_PER_FILE] if heat]


def _values(state: State) -> Iterator[Statement]:
    now = state.position.step
    for item in state.identifiers.values():
        # What git holds is told with git's own state.
        if item.status != OPEN or not item.typed or item.category in ("branch", "commit"):
            continue
        text = value_line(item)
        weight = VALUE_WEIGHT * _recency_of_step(now - item.step)
        yield Statement(
            "value", f"i{item.number}", text, content_words(text), weight, 0, item.step, 0
        )


_MAKERS: tuple[tuple[Callable[[State], Iterable[Statement]], tuple[str, ...]], ...] = (
    (_conversation, tuple(SPOKEN_KINDS)),
    (_plans, ("plan",)),
    (_subagents, ("subagent",)),
    (_commands, ("instead", "command")),
    (_files, ("file",)),
    (_values, ("value",)),
)


def _recency_of_step(steps: int) -> float:
    """A command or an edit ages by steps, of which a message takes about three."""
    return MIN_RECENCY + (1 - MIN_RECENCY) * float(
        0.5 ** (max(0, steps) / (3 * HALF_LIFE_MESSAGES))
    )


# What a name counts more that the agent typed in commands and edits: it is what was worked on.
TYPED_NAME_FACTOR = 3.0


def weigh_words(state: State, offered: list[Statement]) -> dict[str, float]:
    """How much it tells that a word stands in a statement: what the work is about, by name.

    A word counts by how often it was said times how rare it is among all that was said, so that
    neither what everybody says nor what was said once in passing wins.
    """
    spoken = [one for one in offered if one.kind in SPOKEN_KINDS]
    count: Counter[str] = Counter()
    for one in spoken:
        count.update(one.words)
    total = max(1, len(spoken))
    typed = _typed_names(state)
    weights = {}
    for one in offered:
        for word in one.words:
            if word not in weights:
                often = max(1, count[word])
                weight = often * math.log(1 + total / often)
                times = typed.get(word, 0)
                if times:
                    weight *= 1 + TYPED_NAME_FACTOR * min(1.0, math.log(1 + times) / 2)
                weights[word] = weight
    return weights


def _typed_names(state: State) -> Counter[str]:
    typed: Counter[str] = Counter()
    for name, heat in state.symbols.items():
        if heat[1]:
            typed[name.lower()] += 1 + heat[1] // 1000
    for command in state.commands.values():
        typed.update(content_words(command.text))
    for file in state.files.values():
        if file.changed or file.created:
            typed[file.path.rpartition("/")[2].lower()] += file.changed + 1
    for task in state.tasks.values():
        typed.update(content_words(task.subject))
    return typed


def weigh_by_focus(state: State, offered: list[Statement], factor: float) -> list[Statement]:
    """For a reader who does one thing: what speaks of it, or of its files, counts more."""
    near = find_focus(state)
    subject = content_words(near.text)
    names = {path.rpartition("/")[2].lower() for path in near.paths}
    return [
        one._replace(weight=one.weight * factor)
        if len(one.words & subject) >= 2 or any(name in one.text.lower() for name in names)
        else one
        for one in offered
    ]
