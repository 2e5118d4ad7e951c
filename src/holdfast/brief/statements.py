"""Statements: everything a brief could quote, each with its speaker, its source and its weight.

Owns what may be quoted and how much one statement counts beside another; `choose` takes the best
of them for a room, `compose` writes them down. The weights are round numbers with a reason: on
real sessions halving or doubling any one of them changes what is told by less than .01, and
weights learnt on some repositories did worse on others. Pure.
"""

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator

from holdfast.brief.corrections import find_corrections
from holdfast.brief.lines import (
    BEFORE_COMMAND,
    content_words,
    cut_pastes,
    find_output,
    format_whole_command,
    is_pasted,
    sentences_of,
    shorten_path,
    split_pieces,
)
from holdfast.brief.lines import format_command as shown
from holdfast.brief.sections.current_work import plan_status, tells_outside
from holdfast.brief.sections.environment import list_asked
from holdfast.brief.sections.verification import ends_silently
from holdfast.brief.task_focus import find_focus
from holdfast.events import Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state.commands import Command
from holdfast.state.dead_ends import DeadEnd
from holdfast.state.facts import OPEN
from holdfast.state.git_printed import GitLine, list_commits
from holdfast.state.identifiers import Identifier
from holdfast.state.lookups import Lookup
from holdfast.state.model import State
from holdfast.state.replies import Reply
from holdfast.state.requests import Request
from holdfast.state.touched_files import TouchedFile
from holdfast.text import collapse_whitespace, truncate_words

# What a speaker's words count. The user's are demands; the words that close a turn say what
# came of it, as a commit does; a subagent's report or a plan is told again by the agent as far as
# it matters.
_SPEAKER_WEIGHTS = {"user": 3, "lead": 3, "peer": 1, "agent": 1, "commit": 2, "summary": 0.5}
CLOSING_WEIGHT = 2.0
PLAN_WEIGHT = 0.7
SUBAGENT_WEIGHT = 0.3
MIN_REPORT_WORDS = 3
MAX_SILENT = 12  # subagents that only said that they are done
WORKAROUND_WEIGHT = 1.5  # a command that failed beside the form that worked
COMMAND_WEIGHT = 0.6
FAILED_WEIGHT = 0.6
EDITED_FILE_WEIGHT = 0.4
READ_FILE_WEIGHT = 0.1
VALUE_WEIGHT = 0.3
MAX_COMMAND_CHARS = 240  # characters up to which a command is told, whole, to be run again
MAX_TRIED_CHARS = 150
MAX_VALUE_CONTEXT = 110
MAX_FAILURE_CHARS = 200
JOB = "job"  # the role of a background command among the subagents
MAX_SYMBOLS_PER_FILE = 3  # names of symbols beside an edited file
# Pasted lines are somebody else's words that the user only showed.
PASTED_FACTOR = 0.25
ANNOUNCEMENT_FACTOR = 0.4  # "Now let me fix the tests:", in any language
SCRATCH_FACTOR = 0.3  # what was tried in a folder for the moment says little of the project
LOOK_FACTOR = 0.4  # a command that only asked how something was, beside one that did something
DOUBT_FACTOR = 0.5  # "But wait, this might be the cache": thought on the way
HALF_LIFE_MESSAGES = 12.0  # messages after which a statement counts half as much as the latest
MIN_RECENCY = 0.15  # ... and what it counts at least
# A prompt of the user up to this long is quoted whole or not at all.
SHORT_PROMPT_CHARS = 240

LEFT_OUT = "…"

SPOKEN_KINDS = frozenset(("user", "lead", "peer", "agent", "commit", "summary"))

# What clients write below each message.
_CO_AUTHOR = lazy_compile(r"(?im)^(?:co-authored-by: .*<noreply@.*>|.{0,4}generated with \[.*)$")
# A line of a commit's message that goes on in the next, as those are wrapped at about 72.
_WRAPPED = lazy_compile(r"(?m)^([^\n]{50,}[^\n:])\n(?![\s*#•-]|\d+[.)])")
# Commands that say nothing of how things are done here, or whose outcome git's lines tell.
_CHORE = lazy_compile(
    rf"^{BEFORE_COMMAND}(?:git (?:-C \S+ )?"
    r"(?:add|commit|mv|rm|checkout|restore|reset|stash|push|pull|fetch)\b|(?:mkdir|rm|rmdir|cp|mv"
    r"|touch|chmod|kill|pkill|sed|cat|echo|printf|tee|true)\b)|\$\("
)

_ASIDE = lazy_compile(
    r"^sleep \d+ *(?:&&|;)|[12]?>(?:&[12]|\s*/dev/null)|\|\s*(?:tail|head|cat)\b[^|;&]*|(?:&&|\|\|"
    r"|;)\s*(?:echo|true)\b.*|\s(?:-q|--quiet)\b"
)
_DOUBTS = lazy_compile(  # looked for in small letters
    r"^(?:but )?(?:wait|actually|hmm|hold on)\b|\?$|\b(?:might|maybe|perhaps|i think|probably"
    r"|possibly|could be|seems?)\b"
)
_SCRATCH = lazy_compile(r"^cd \S*(?:/tmp/|/tmp |/var/folders/|/scratch)")
_PROBES = lazy_compile(
    rf"{BEFORE_COMMAND}(?:curl(?! .*(?:-X ?(?:P|DEL)|--data|-d |-F ))|nc|ping|lsof|pgrep|ps|ss"
    r"|netstat|which|command -v|\S*docker ps)\b"
)
_SETS = lazy_compile(r"(?:\w+=\S*(?: && |\s+|$))+")
_VARIABLE = lazy_compile(r"\$\{?([A-Za-z_]\w*)")
_SINGLE_QUOTED = lazy_compile(r"'[^']*'")
_ENVIRONMENT = frozenset("HOME PATH PWD USER SHELL TMPDIR LANG EDITOR HOSTNAME".split())
_LEFTOVER = lazy_compile(rf"{BEFORE_COMMAND}[)}}\]]")  # the end of a block: nothing to run again
_ADVERT = lazy_compile(r"^https://(?:claude\.(?:ai|com)/(?:claude-)?code|chatgpt\.com/codex)\b")
_ENDED = lazy_compile(r'^Background command ".*?" (?=\w)')


class Statement(NamedTuple):
    kind: str  # one of those in `_MAKERS`
    fact: str  # the id that opens all of it
    text: str
    words: frozenset[str]
    weight: float
    turn: int = 0
    message_index: int = 0  # among all messages: statements of one message stand together
    piece: int = 0  # within its message
    recency: float = 1.0
    pasted: bool = False
    whole: bool = False  # a short prompt of the user, all of it
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
    said.sort(key=lambda one: (one.epoch, _place_of_row(one.at), one.turn, one.step))
    commits = sorted(
        (one for one in list_commits(state.git_printed) if one.body), key=lambda one: -one.at.start
    )
    found: list[Message] = []
    for number, one in enumerate(said):
        while commits and commits[-1].at.start < _place_of_row(one.at):
            found.append(_commit_message(commits.pop(), found[-1].turn if found else one.turn))
        if isinstance(one, Request):
            kind = one.how if one.how in ("lead", "peer") else "user"
            cause = _describe_cause(one, state)
            found.append(Message(kind, one.fact_id, one.text, one.turn, False, cause))
            continue
        following = said[number + 1] if number + 1 < len(said) else None
        closing = following is None or isinstance(following, Request)
        kind = "agent" if one.by == "agent" else "summary"
        found.append(Message(kind, one.fact_id, one.text, one.turn, closing))
    found += [_commit_message(one, state.position.turn) for one in reversed(commits)]
    return found


def _commit_message(commit: GitLine, turn: int) -> Message:
    """What the agent wrote down of its work when it committed; the first line is git's to tell."""
    text = _WRAPPED.sub(r"\1 ", _CO_AUTHOR.sub("", commit.body))
    return Message("commit", commit.fact_id, text, turn, False, commit.id)


def _place_of_row(at: Origin) -> float:
    """Where a row begins; the first of a file begins at 0, and a payload has no row."""
    return at.start if at.end else math.inf


def _describe_cause(request: Request, state: State) -> str:
    """What an answer or a refusal was given to: not the user's words, so not quoted as such."""
    if request.how in ("lead", "peer"):
        return request.about
    if request.how == "answer" and request.about:
        return f'asked "{truncate_words(collapse_whitespace(request.about), 160)}"'
    if request.how == "refusal" and request.about:
        tool, _, call = request.about.partition(": ")
        return f"refusing {tool}: {shown(shorten_path(call, state.session.folders), 80)}"
    return ""


def users_sentences(state: State) -> Iterator[tuple[str, str]]:
    """(request, sentence) of all that the user said and did not take back; no pastes."""
    for one in _list_spoken(state, by_user=True):
        if not one.pasted:
            for sentence in sentences_of(one.text):
                yield one.fact, sentence


def list_withdrawn(state: State, offered: list[Statement]) -> str:
    """What the user took back, quoted: the same for every text, whatever it quotes besides, and
    known where the user's words are `offered`."""
    by_user = [one for one in offered if one.kind == "user"]
    said = by_user or _list_spoken(state, by_user=True)
    return " ".join(one.replaced for one in said if one.replaced)


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


def _list_spoken(state: State, *, by_user: bool = False) -> list[Statement]:
    """What was said; `by_user` the user's words alone, not weighed, which are soon cut up."""
    said = list_messages(state)
    later = sum(message.kind != "commit" for message in said)  # a commit makes nothing older
    found = []
    for place, message in enumerate(said):
        later -= message.kind != "commit"
        if by_user and message.kind != "user":
            continue
        recency = MIN_RECENCY + (1 - MIN_RECENCY) * 0.5 ** (later / HALF_LIFE_MESSAGES)
        whole = message.kind == "user" and len(message.text) <= SHORT_PROMPT_CHARS
        text = message.text if whole else cut_pastes(message.text)
        parts = (collapse_whitespace(text),) if whole else split_pieces(text)
        printed = find_output(text) if message.kind == "user" and not whole else ""
        for number, part in enumerate(parts):
            words = frozenset[str]() if by_user else content_words(part)
            if message.about and not number and not by_user:
                words |= content_words(message.about)
            weight = _SPEAKER_WEIGHTS[message.kind] * recency
            if message.closing and message.kind == "agent":
                weight *= CLOSING_WEIGHT
            # Before a call stands what comes, not what came; at the end of a turn the next step.
            before_call = not message.closing and number == len(parts) - 1
            empty = len(words) < MIN_REPORT_WORDS  # "Strategy code"
            if message.kind == "agent" and (before_call or empty or part.endswith(":")):
                weight *= ANNOUNCEMENT_FACTOR
            elif message.kind == "agent" and later and _DOUBTS.search(part.lower()):
                weight *= DOUBT_FACTOR
            pasted = message.kind == "user" and is_pasted(part, printed)
            if pasted:
                weight *= PASTED_FACTOR
            found.append(
                Statement(
                    message.kind,
                    message.fact,
                    part,
                    words,
                    weight,
                    message.turn,
                    place,
                    number,
                    recency,
                    pasted,
                    whole,
                    # A commit is known by its hash, whatever of its message is quoted.
                    about=message.about if not number or message.kind == "commit" else "",
                )
            )
    return _leave_out_replaced(_apply_corrections(found), state)


def _leave_out_replaced(found: list[Statement], state: State) -> list[Statement]:
    """Without demands of which the rules in force know what took their place."""
    gone = [
        one.text
        for one in state.rules.values()
        if one.superseded_by in state.rules and not one.unsure
    ]
    for place, one in enumerate(found) if gone else ():
        for text in gone if one.kind == "user" else ():
            if text in one.text:
                left = one.text.replace(text, LEFT_OUT).removeprefix(LEFT_OUT)
                left = left.removesuffix(LEFT_OUT).strip()
                found[place] = one = one._replace(text=left, words=content_words(left))
    return [one for one in found if one.text]


def _apply_corrections(found: list[Statement]) -> list[Statement]:
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


def _list_plans(state: State) -> Iterator[Statement]:
    for key, plan in state.plans.items():
        if plan.status != OPEN or not plan_status(state, plan)[1]:
            continue
        for number, part in enumerate(split_pieces(plan.text)):
            if part[-1] != ":":  # "In `main()`:"
                words = content_words(part)
                yield Statement("plan", key, part, words, PLAN_WEIGHT * 0.5, piece=number)


def _list_reports(state: State) -> Iterator[Statement]:
    """What subagents reported, and which only said that they are done."""
    latest = [one for one in state.subagents.values() if one.result and one.role != JOB]
    silent = [one for one in latest if ends_silently(one)]
    if silent:
        named = "; ".join(truncate_words(one.about, 60) for one in silent[-MAX_SILENT:])
        words = content_words(named)
        yield Statement("subagent", silent[-1].fact_id, f"Done: {named}", words, SUBAGENT_WEIGHT)
    for back, one in enumerate(one for one in reversed(latest) if one not in silent):
        recency = MIN_RECENCY + (1 - MIN_RECENCY) * 0.5 ** (back / 3)
        for number, part in enumerate(split_pieces(one.result)):
            words = content_words(part)
            if len(words) >= MIN_REPORT_WORDS and part[-1] != ":":
                weight = SUBAGENT_WEIGHT * recency
                yield Statement("subagent", one.fact_id, part, words, weight, 0, one.number, number)


def _list_commands(state: State) -> Iterator[Statement]:
    """What works here: failed attempts with what then worked, and commands with their outcome."""
    now = state.position.step
    for end in state.dead_ends.values():
        if end.source == "refused" and end.status == OPEN:
            text = f"refused by the user: {truncate_words(collapse_whitespace(end.attempt), 160)}"
            weight = FAILED_WEIGHT * _recency_of_step(now - end.step)
            yield _make_fact("instead", end.fact_id, text, weight, end.step)
        if end.source not in ("command", "tool"):
            continue
        worked = format_whole_command(end.workaround, MAX_COMMAND_CHARS)
        if not worked and end.status != OPEN:
            continue
        if worked and _reads_alike(end.line or end.attempt, worked):
            continue  # it worked later, as it was
        printed = end.failure.split(" / ")
        echoed = end.failure and all(collapse_whitespace(part) in end.line for part in printed)
        if not worked and echoed:
            continue  # `... || echo DOWN`: what was so at that moment, and no reason
        text = failed_attempt(end)
        weight = (WORKAROUND_WEIGHT if worked else FAILED_WEIGHT) * _recency_of_step(now - end.step)
        one = _make_fact("instead", end.fact_id, text, weight, end.step)
        scratch = _SCRATCH.search(end.line or end.attempt) is not None
        yield one._replace(recency=SCRATCH_FACTOR**2) if scratch else one
    for command in state.commands.values():
        # How it ended is often not shown, behind a pipe for one: it was run all the same.
        if command.ok is not False and not _CHORE.search(command.text):
            yield from _make_command(command.fact_id, command, command.text, command.outcome, now)
    for job in state.subagents.values():
        if job.role == JOB:
            run = Command(0, job.about, "", 1, 0, None, "", "", job.step, job.at)
            how = f"in the background: {_ENDED.sub('', job.result) or job.status}"
            yield from _make_command(job.fact_id, run, job.about, how, now)
    for text, asked in dict(list_asked(state)).items():
        yield from _make_command("", asked, text, "", now)


def _make_command(
    fact: str, command: Command | Lookup, typed: str, outcome: str, now: int
) -> Iterator[Statement]:
    """A command as it can be run again, and how it came out; nothing where it would be cut."""
    line = format_whole_command(typed, MAX_COMMAND_CHARS)
    if not line or _LEFTOVER.match(line) or not can_run_again(line) or tells_outside(line):
        return
    text = f"`{line}`"
    recency = _recency_of_step(now - command.step)
    if outcome:
        text += f" → {truncate_words(collapse_whitespace(outcome), 110)}"
    words = content_words(f"`{line}`")
    use = math.log2(1 + command.times) * recency
    if _SCRATCH.search(line):
        use *= SCRATCH_FACTOR
    if not fact or _PROBES.match(line):
        use *= LOOK_FACTOR
    yield Statement("command", fact, text, words, COMMAND_WEIGHT * recency, 0, command.step, 0, use)


def can_run_again(line: str) -> bool:
    """Whether a command says all that it needs: not where it only keeps something in a variable,
    or uses one that was set elsewhere."""
    if "$(" in line or _SETS.fullmatch(line):
        return False
    plain = _SINGLE_QUOTED.sub("", line)
    used = set(_VARIABLE.findall(plain)) - _ENVIRONMENT
    return all(f"{name}=" in plain or ("_" in name and name.isupper()) for name in used)


def _make_fact(kind: str, fact: str, text: str, weight: float, place: int) -> Statement:
    return Statement(kind, fact, text, content_words(text), weight, message_index=place)


def failed_attempt(end: DeadEnd) -> str:
    """A command that failed, how, and the form of it that then worked."""
    # Where the line is a script, what failed in it says more than how the script begins.
    tried = shown(
        end.line if 0 < len(end.line) <= MAX_TRIED_CHARS else end.attempt, MAX_TRIED_CHARS
    )
    parts = dict.fromkeys(part.strip() for part in end.failure.split(" / "))
    said = truncate_words(collapse_whitespace(" / ".join(parts)), MAX_FAILURE_CHARS)
    how = f" ({said})" if said else ""
    worked = format_whole_command(end.workaround, MAX_COMMAND_CHARS)
    return f"`{tried}` failed{how}" + (f"; worked: `{worked}`" if worked else "")


def _reads_alike(failed: str, worked: str) -> bool:
    """Whether two commands differ in nothing but what they wait for and what they print."""
    first, second = (" ".join(_ASIDE.sub(" ", text).split()) for text in (failed, worked))
    return first == second


def value_line(item: Identifier) -> str:
    """An exact value, and where it was seen."""
    context = truncate_words(collapse_whitespace(item.context), MAX_VALUE_CONTEXT)
    named = f"{item.category} {item.value}"
    return f"{named}: {context}" if context.strip("… ") not in ("", item.value) else named


def _list_files(state: State) -> Iterator[Statement]:
    """Files with what was done to them, and the few names in them that were worked on."""
    now = state.position.step
    for file in sorted(state.files.values(), key=lambda file: -file.step):
        if file.status != OPEN or not (file.changed or file.created or file.read):
            continue
        weight = EDITED_FILE_WEIGHT if file.changed or file.created else READ_FILE_WEIGHT
        names = _names_in(state, file) if weight == EDITED_FILE_WEIGHT else ()
        path = shorten_path(file.path, state.session.folders)
        text = f"{path} ({_done_to(file)})" + (f": {' '.join(names)}" if names else "")
        weight *= _recency_of_step(now - max(file.changed_step, file.step))
        yield _make_fact("file", file.fact_id, text, weight, now - file.step)


def _done_to(file: TouchedFile) -> str:
    if file.created:
        return "created" if file.changed <= 1 else f"created, edited {file.changed - 1}x"
    return f"edited {file.changed}x" if file.changed else f"read {file.read}x"


def _names_in(state: State, file: TouchedFile) -> list[str]:
    """The names the agent typed most lately, of those that stand in this file."""
    typed = [(state.symbols[name][0], name) for name in file.symbols if name in state.symbols]
    return [name for heat, name in sorted(typed, reverse=True)[:MAX_SYMBOLS_PER_FILE] if heat]


def _list_values(state: State) -> Iterator[Statement]:
    now, asked = state.position.step, "\n".join(one.text for one in state.requests.values())
    for item in state.identifiers.values():
        if not item.typed:
            continue
        if item.category == "ticket" and item.value not in asked:
            continue
        # Addresses pass by in every second command: those were typed more than once.
        if item.category == "url" and (item.typed < 2 or _ADVERT.search(item.value)):
            continue
        text = value_line(item)
        weight = VALUE_WEIGHT * _recency_of_step(now - item.step)
        yield _make_fact("value", item.fact_id, text, weight, item.step)


_MAKERS: tuple[tuple[Callable[[State], Iterable[Statement]], tuple[str, ...]], ...] = (
    (_list_spoken, tuple(SPOKEN_KINDS)),
    (_list_plans, ("plan",)),
    (_list_reports, ("subagent",)),
    (_list_commands, ("instead", "command")),
    (_list_files, ("file",)),
    (_list_values, ("value",)),
)


def _recency_of_step(steps: int) -> float:
    """A command or an edit ages by steps, of which a message takes about three."""
    left: float = 0.5 ** (max(0, steps) / (3 * HALF_LIFE_MESSAGES))
    return MIN_RECENCY + (1 - MIN_RECENCY) * left


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
    focus = find_focus(state)
    return [
        one._replace(weight=one.weight * factor) if focus.is_in(one.text) else one
        for one in offered
    ]
