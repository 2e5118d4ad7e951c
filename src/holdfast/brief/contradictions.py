"""Contradictions: sentences of a summary that the record of its session says otherwise.

A finished task told as open, a red check told as green and the other way round, a push or commit
that was not or was, another branch, a file told as missing or there, a value that was changed, a
rule turned round.
A sentence counts only where it speaks of now: what it tells of the past, quotes or marks as changed
is left alone, and so is what the record cannot know. Rather one missed than one wrong. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from holdfast.brief.changed_values import read_changed_value
from holdfast.brief.corrections import find_corrections
from holdfast.brief.lines import content_words, shorten_path
from holdfast.brief.sections.git_status import was_pushed
from holdfast.events import Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state import git_printed
from holdfast.state.demand_relations import find_clash
from holdfast.state.demand_sentences import HOLD, RULE, Sentence, hear, stem
from holdfast.state.facts import CANCELLED, DONE, OPEN, RESOLVED
from holdfast.state.model import State
from holdfast.state.prose import split_sentences
from holdfast.state.rules import list_demands
from holdfast.text import keep_in_line, truncate_line

HEADING = "The summary says otherwise than the record here; the record is right:"
MAX_TOLD = 6
MAX_SUMMARY_LINES = 2_000
MAX_QUOTED_CHARS = 200
MAX_DEMAND_CHARS = 300  # of a sentence that says what is demanded
# Of the words of a task, rule or value, how many a sentence must have to speak of it.
SAME_SHARE = 0.8
# And how many times as many it may have: more words narrow a task down to another one.
MORE_WORDS = 1.4
MIN_TEST_NAME = 8  # shorter ones are words, or names of packages
MIN_SUBJECT = 12  # characters of a task's subject that name it where they stand whole
# Of the words of a rule, where another value of the same kind stands in its place.
SAME_VALUE_SHARE = 0.6

NOWHERE = Origin("", 0, 0, "")

# What a part of the summary speaks of.
NOW, TODO, PAST, ELSEWHERE, QUOTED = "now", "todo", "past", "elsewhere", "quoted"
_PARTS = (
    (QUOTED, lazy_compile(r"user(?:'s)? messages|what the user said", re.I)),
    (TODO, lazy_compile(r"pending|remaining|outstanding|to[- ]?do|next step|open tasks", re.I)),
    (PAST, lazy_compile(r"errors?\b|problem|what went wrong", re.I)),
    (NOW, lazy_compile(r"current (?:work|state|status)|where (?:it|we) st|status", re.I)),
)
_HEADING = lazy_compile(
    r"^\s{0,2}(?:#{1,4}\s+)?(?:\d{1,2}\.\s+)?\*{0,2}([A-Z][^:*\n]{3,60})\*{0,2}:?\*{0,2}"
)
_CODE_FENCE = lazy_compile(r"^\s*```")
_QUOTATION = lazy_compile(r"\"[^\"\n]{12,}\"|“[^”\n]{12,}”")
_BULLET = lazy_compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?:\[.\]\s*)?")
_SENTENCE = lazy_compile(r"(?<=[.!?;])\s+(?=[A-Z`*\"(])")

_DONE = lazy_compile(
    r"\b(?:done|complete[ds]?|finished|resolved|closed|reopened|re-?opened|fixed|merged|again"
    r"|already|re-?run|re-?check|verify|confirm)\b|✅|✓|\[x\]",
    re.I,
)
_OPEN_WORDS = lazy_compile(
    r"\b(?:pending|in[ _-]progress|not (?:yet )?(?:started|done)|to ?do|remaining|outstanding"
    r"|still (?:open|to do|needs?))\b",
    re.I,
)
# Work that is done again and again: a finished one says nothing of the next.
_REPEATED = lazy_compile(
    r"^(?:re-?)?(?:run|verify|test|check|lint|commit|push|review|build|format|submit|deploy|ci\b)",
    re.I,
)
_PAST = lazy_compile(
    r"\b(?:was|were|had|initially|originally|first|earlier|previous(?:ly)?|before|used to|old"
    r"|instead|changed|replaced|corrected|renamed|moved|remov|delet|revert|no longer|rather than"
    r"|superseded|after|then|from|until|withdrawn|rejected|dropped|not)\w*\b|→|->",
    re.I,
)
_ALL_GREEN = lazy_compile(
    r"\ball (?:\S+ ){0,4}?tests? (?:(?:are|is|now|still|all) )*(?:pass|green)|\b(?:the )?(?:whole "
    r"|full |entire )?(?:test )?suite (?:is (?:now )?green|(?:now )?passes)|\btests? (?:are "
    r"|is )?(?:now )?(?:all )?(?:passing|green)\b|\ball tests (?:pass|green)",
    re.I,
)
_RED = lazy_compile(r"\b(?:fail(?:s|ing|ed|ures?)?|red|broken|breaks|errors?)\b", re.I)
_STILL_RED = lazy_compile(
    r"\b(?:fix|repair)\b.{0,40}\bfail|\b(?:is|are|still|currently|remains?) (?:\w+ )?fail(?:ing"
    r"|s)?|\bfailing (?:tests?|check)|\bfails\b|\bfailing$",
    re.I,
)
_IS_MENDED = lazy_compile(
    r"(?<!be )\b(?:fixed|mended|resolved|repaired|passe[sd]|passing|green)\b|\bwas\b|✅", re.I
)
_COMMIT_ID = lazy_compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")
_SAYS_PUSHED = lazy_compile(r"(?<!not )(?<!never )(?<!be )\b(?:pushed)\b(?! back)", re.I)
_NOT_PUSHED = lazy_compile(
    r"(?:\b(?:not|never)|n't)(?: \w+){0,3} (?:pushed|succeeded)\b|\bunpushed\b"
    r"|\bneeds? to be (?:\w+ )?pushed\b|\bpush (?:failed|may not)",
    re.I,
)
_NOT_COMMITTED = lazy_compile(
    r"(?:\b(?:not|never)|n't)(?: yet)?(?: been)? committed\b|\buncommitted\b"
    r"|\bneeds? to be (?:\w+ )?committed\b",
    re.I,
)
_ALL_COMMITTED = lazy_compile(
    r"\b(?:all|everything)\b(?: \S+){0,4} (?:is |are |was |were |been )?(?:now )?committed\b"
    r"|\b(?:working )?tree is clean\b|\bno(?:thing)? (?:is )?(?:left )?uncommitted\b",
    re.I,
)
_ON_BRANCH = lazy_compile(
    r"\b(?:(?:currently|now|still) on|(?:current|working) branch(?: is"
    r"|:)) (?:the )?(?:branch )?`?([\w.-]+(?:/[\w.-]+)*\w)`?",
    re.I,
)
_IT = lazy_compile(r"\b(?:the|this|that|last|latest) (?:\w+ )?(?:commit|branch|changes)\b", re.I)
_ASKS = lazy_compile(
    r"\b(?:if|when|once|until|will|would|should|to be|please|asked|wants?)\b|\?", re.I
)
_NOT_NOW = lazy_compile(
    r"\b(?:if|when|once|until|will|would|should|must|make sure|ensure|verify|confirm|before"
    r"|earlier|initially|previously|then|expect\w*|so that|goal)\b|\?",
    re.I,
)
_NARRATES = lazy_compile(
    r"\b(?:I|we|assistant|claude|tried|attempt\w*)\b|\b(?:may|might|can|could) (?:have|be|still)\b",
    re.I,
)
_NO_TOOLS = lazy_compile(
    r"\btext[- ]only\b|\bno tools?(?: calls?)?\b|\b(?:not|without) (?:call|us)(?:e"
    r"|ing)? (?:any )?tools?\b",
    re.I,
)
_NOT_THERE = lazy_compile(
    r"(?:\b(?:not|never)|n't)(?: yet)?(?: been)? (?:created|written|edited|modified|changed"
    r"|updated)\b|\bedit not (?:yet )?made\b",
    re.I,
)
_THERE = lazy_compile(
    r"\b(?:creat|add|new|modif|updat|edit|contain|implement|defin|hold|liv)\w*", re.I
)
_MADE = lazy_compile(r"\b(?:created?|added|wrote|written|new|implemented)\b", re.I)
_GONE = lazy_compile(
    r"\b(?:remov|delet|renam|mov|replac|drop|revert|temporar|clean|gone|unlink|archiv|rm)\w*\b"
    r"|no longer|→|->",
    re.I,
)
_PATH = lazy_compile(r"(?<![\w/.:])[\w.@~-]*(?:/[\w.@-]+)+\.\w{1,8}\b|(?<=`)[\w.-]+\.\w{1,8}(?=`)")
_NUMBER = lazy_compile(r"(?<![\w.#/-])\d[\d,.]*\d|(?<![\w.#/-])\d(?![\w.])")
_NEGATED = lazy_compile(
    r"\b(?:not|never|no|none|without|avoid|n't|cannot|stop|skip|unnecessary|refrain)\b|n't\b", re.I
)
_DIRECTS = lazy_compile(
    r"\b(?:user|rules?|constraints?|prefer\w*|must|should|always|never|may|can|allowed|fine|okay?"
    r"|free|wants?|required?|needs?|instruct\w*|convention|do not|don't|use)\b",
    re.I,
)


class Contradiction(NamedTuple):
    """Words of the summary, and what the record has instead."""

    kind: str  # task | check | git | file | value | rule
    said: str
    known: str
    fact: str  # the id that opens what is known; "" for words that have none
    at: Origin


# What a finder says of one: the sentence, what is known, the id of that, where it is from.
_Found = tuple[str, str, str, Origin]


class _Said(NamedTuple):
    text: str
    part: str
    around: str  # the line before and the line after it


def find_contradictions(
    state: State, summary: str, is_absent: Callable[[str], bool] | None = None
) -> list[Contradiction]:
    """In the order of weight, each fact once. `is_absent` knows whether a path is not on disk."""
    said = list(_read_sentences(summary)) if summary.strip() else []
    found: dict[str, Contradiction] = {}
    for kind, finder in _FINDERS:
        for one in finder(state, said):
            found.setdefault(one[2] or one[0], Contradiction(kind, *one))
    for one in _find_unheard_of(state, said, is_absent) if is_absent else ():
        found.setdefault(one[0], Contradiction("file", *one))
    return list(found.values())


def format_contradictions(found: Sequence[Contradiction]) -> str:
    """The lines that an agent is given; "" where the summary says nothing wrong."""
    lines = []
    for one in found[:MAX_TOLD]:
        name = f"[{one.fact}] " if one.fact else ""
        said = truncate_line(one.said, MAX_QUOTED_CHARS)
        lines.append(keep_in_line(f'- the summary says "{said}"; {name}{one.known}'))
    return "\n".join([HEADING, *lines]) if lines else ""


def _read_sentences(summary: str) -> Iterator[_Said]:
    """Sentences outside of code, quotations and the list of what the user said."""
    text = summary
    if (at := text.rfind("\nSummary:")) > 0 and "Analysis:" in text[:at]:
        text = text[at:]  # the thinking before it is no part of the summary
    text = text.rpartition("</analysis>")[2]
    lines = text.split("\n")[:MAX_SUMMARY_LINES]
    part, in_code = ELSEWHERE, False
    for at, line in enumerate(lines):
        if _CODE_FENCE.match(line):
            in_code = not in_code
        if in_code or not line.strip():
            continue
        heading = _HEADING.match(line)
        if heading and ":" in line[heading.start(1) :] and not line.startswith("   "):
            part = next((n for n, words in _PARTS if words.search(heading[1])), ELSEWHERE)
        if part == QUOTED:
            continue
        around = "\n".join(lines[max(0, at - 1) : at + 2])
        for sentence in _SENTENCE.split(_BULLET.sub("", line)):
            bare = " ".join(_QUOTATION.sub(" ", sentence).replace("**", "").split())
            if len(bare) > 8:
                yield _Said(bare, part, around)


def _find_tasks(state: State, said: list[_Said]) -> Iterator[_Found]:
    """Finished, and told as open."""
    done = {key: task for key, task in state.tasks.items() if task.status == DONE}
    open_words = (content_words(t.subject) for t in state.tasks.values() if t.status == OPEN)
    unfinished = [words for words in open_words if words]
    for one in said:
        if one.part not in (TODO, NOW) or _DONE.search(one.text):
            continue
        if one.part == NOW and not _OPEN_WORDS.search(one.text):
            continue
        words = content_words(one.text)
        for key, task in done.items():
            wanted = content_words(task.subject)
            if _REPEATED.match(task.subject) or not wanted:
                continue
            share = len(wanted & words) / len(wanted)
            whole = task.subject.lower() in one.text.lower() and len(task.subject) >= MIN_SUBJECT
            alike = whole or (share >= SAME_SHARE and len(wanted) >= 3)
            alike = alike and len(words) <= max(3, MORE_WORDS * len(wanted))
            again = any(len(other & words) >= SAME_SHARE * len(other) for other in unfinished)
            named = share >= 0.5 and re.search(rf"#{re.escape(task.task)}\b", one.text)
            if (alike and not again) or named:
                what = f"#{task.task} was finished: {truncate_line(task.subject, 100)}"
                yield one.text, what, key, task.at


def _find_checks(state: State, said: list[_Said]) -> Iterator[_Found]:
    """Red told as green, and a failure that was mended told as one."""
    runs = sorted(state.suite_runs.values(), key=lambda run: run.step)
    present = [one for one in said if one.part in (NOW, TODO)]
    last = runs[-1] if runs else None
    if last is not None and last.result == "failed":
        tells = " ".join(one.text for one in said if _RED.search(one.text))
        told = any(_plain(name) in tells for name in last.failing)
        told = told or any(_RED.search(one.text) for one in present)
        for one in said if not told else ():
            if one.part != TODO and _ALL_GREEN.search(one.text) and not _NOT_NOW.search(one.text):
                what = f"the last run failed: `{truncate_line(last.command, 80)}`"
                shown = ", ".join(last.failing[:2]) or last.summary
                what += f" ({truncate_line(shown, 90)})" if shown else ""
                yield one.text, what, last.fact_id, last.at
                break
    red = {name for run in runs if run.result == "failed" for name in run.failing}
    red |= {n for e in state.errors.values() if e.status == OPEN for n in e.failing}
    mended = {
        _plain(name): error
        for error in state.errors.values()
        for name in error.failing
        if error.status == RESOLVED and name not in red and len(_plain(name)) >= MIN_TEST_NAME
    }
    for one in present:
        if _STILL_RED.search(one.text) and not _IS_MENDED.search(one.text):
            for name, error in mended.items():
                if name in one.text:
                    yield one.text, f"{name} passed in a later run", error.fact_id, error.at


def _plain(name: str) -> str:
    return name.rpartition("::")[2].rpartition("/")[2] or name


def _find_git(state: State, said: list[_Said]) -> Iterator[_Found]:
    """A push that was not, or was."""
    commits = git_printed.list_commits(state.git_printed)
    if not commits:
        return
    for one in said:
        ids = [found[0] for found in _COMMIT_ID.finditer(one.text)]
        named = [c for c in commits if any(c.id[:7] == name[:7] for name in ids)]
        denied = _NOT_PUSHED.search(one.text)
        if not ids and denied and one.part in (NOW, TODO) and _IT.search(one.text):
            named = commits[-1:]
        if len(named) != 1:
            continue
        commit = named[0]
        pushed = was_pushed(state, commit)
        says = not denied and not _ASKS.search(one.text) and _SAYS_PUSHED.search(one.text)
        if pushed is False and says:
            what = f"no push was seen after commit {commit.id}"
            yield one.text, what, commit.fact_id, commit.at
        elif pushed and denied:
            yield one.text, f"commit {commit.id} was pushed", commit.fact_id, commit.at


def _find_work_tree(state: State, said: list[_Said]) -> Iterator[_Found]:
    """What git answered when the summary was made, where a hook asked it."""
    seen = state.git_seen
    if seen is None:
        return
    edited = {path for path, file in state.files.items() if file.changed}
    ours = [
        one.path for one in seen.files if one.how != "new" and f"{seen.root}/{one.path}" in edited
    ]
    at = NOWHERE._replace(time=seen.time)
    for one in said:
        if one.part not in (NOW, TODO) or _ASKS.search(one.text):
            continue
        paths = [found[0].lstrip("./") for found in _PATH.finditer(one.text)]
        elsewhere = any(all(not known.endswith(path) for known in state.files) for path in paths)
        branch = _ON_BRANCH.search(one.text)
        if seen.is_clean and _NOT_COMMITTED.search(one.text) and not elsewhere:
            yield one.text, "git answered: nothing is uncommitted", "", at
        elif ours and _ALL_COMMITTED.search(one.text) and not _NOT_COMMITTED.search(one.text):
            what = f"git answered: {', '.join(ours[:3])} differ from the last commit"
            yield one.text, what, "", at
        elif branch and seen.branch and seen.branch not in one.around and branch[1] != seen.branch:
            yield one.text, f"git answered: the branch is {seen.branch}", "", at


def _find_files(state: State, said: list[_Said]) -> Iterator[_Found]:
    """Deleted and told as there; written and told as not yet."""
    by_name: dict[str, list[str]] = {}
    for path in state.files:
        by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    for one in said:
        for found in _PATH.finditer(one.text):
            ending = found[0].lstrip("./~")
            paths = [
                path
                for path in by_name.get(ending.rsplit("/", 1)[-1], ())
                if path == found[0] or path.endswith(f"/{ending}")
            ]
            if len(paths) != 1:
                continue
            file = state.files[paths[0]]
            name = shorten_path(file.path, state.session.folders)
            if file.status == CANCELLED and file.at.row:
                says = _THERE.search(one.text.replace(found[0], " "))
                other = _GONE.search(one.around) or _PAST.search(one.text)
                if says and not other and not _NARRATES.search(one.text):
                    yield one.text, f"{name} was deleted", file.fact_id, file.at
                continue
            since = max((r.step for r in state.requests.values()), default=0)
            if file.changed_step >= since and _NOT_THERE.search(one.text):
                how = "created" if file.created else "edited"
                what = f"{name} was {how} in this turn ({file.changed}x)"
                yield one.text, what, file.fact_id, file.at


def _find_unheard_of(
    state: State, said: list[_Said], is_absent: Callable[[str], bool]
) -> Iterator[_Found]:
    """Made, says the summary, and neither on disk nor named by anything in the session."""
    known = {path.rsplit("/", 1)[-1] for path in state.files}
    tables = (state.commands, state.requests, state.replies)
    spoken = [one.text for table in tables for one in table.values()]
    for one in said:
        other = _NOT_NOW.search(one.text) or _GONE.search(one.around) or _ASKS.search(one.text)
        if one.part in (TODO, PAST) or other or not _MADE.search(one.text):
            continue
        for path in (found[0] for found in _PATH.finditer(one.text) if "/" in found[0]):
            name = path.rsplit("/", 1)[-1]
            heard_of = name in known or any(name in text for text in spoken)
            if not heard_of and is_absent(path):
                what = f"{path} is not on disk, and no edit or command is known that names it"
                yield one.text, what, "", NOWHERE


def _find_values(state: State, said: list[_Said]) -> Iterator[_Found]:
    """A value that the user changed, told as it was."""
    spoken = [
        (key, sentence)
        for key, request in state.requests.items()
        if request.how in ("prompt", "queued")
        for sentence in split_sentences(request.text)
    ]
    words = set().union(*(content_words(one.text) for one in said))

    def may_be_told(sentence: str) -> bool:
        return not words.isdisjoint(content_words(sentence))

    for change in find_corrections([text for _, text in spoken], asked=may_be_told):
        (old_id, old), (new_id, new) = spoken[change.earlier], spoken[change.later]
        value = read_changed_value(change.taken or old, new) if old_id != new_id else None
        for one in said if value else ():
            told = (
                one.part != PAST and not _PAST.search(one.text) and not _NARRATES.search(one.text)
            )
            if value and told and value.is_stale(one.text, one.around):
                what = f'the user said later: "{truncate_line(new, 160)}"'
                yield one.text, what, new_id, state.requests[new_id].at
                break


def _find_rules(state: State, said: list[_Said]) -> Iterator[_Found]:
    """The opposite of what the user demands, or another value in the same words."""
    typed = [request.text for request in state.requests.values()]
    demands = [
        (one.id, hear(one.rule.text), one.rule) for one in list_demands(state.rules, HOLD, RULE)
    ]
    for one in said:
        if one.part == PAST or len(one.text) > MAX_DEMAND_CHARS or _NARRATES.search(one.text):
            continue
        if _NO_TOOLS.search(one.text) and not any(_NO_TOOLS.search(text) for text in typed):
            what = "the user said no such thing: it comes from the request for the summary"
            yield one.text, what, "", NOWHERE
        if one.text.endswith(":") or not _DIRECTS.search(one.text):
            continue
        heard = hear(one.text)
        for key, wanted, rule in demands:
            if _turns_round(heard, wanted):
                yield one.text, f'the user said: "{truncate_line(rule.text, 200)}"', key, rule.at


def _turns_round(heard: Sentence, wanted: Sentence) -> bool:
    """Whether a sentence allows what is forbidden, turns down what is demanded, or has another
    number or value in its words."""
    values = {stem(value) for value in wanted.values}
    subject = {word for word in wanted.subject - values if not word[0].isdigit()}
    shared = len(subject & heard.subject)
    if find_clash(heard, wanted) and not wanted.values & heard.values:
        return 0 < len(subject) <= shared / SAME_VALUE_SHARE
    if len(subject | values) < 2 or shared < SAME_SHARE * len(subject):
        return False
    numbers, others = (set(_NUMBER.findall(one.text)) for one in (wanted, heard))
    if numbers and others:
        return numbers.isdisjoint(others)
    turned = bool(_NEGATED.search(wanted.heard)) != bool(_NEGATED.search(heard.heard))
    return turned and not _PAST.search(_NEGATED.sub(" ", heard.text))


_FINDERS = (
    ("rule", _find_rules),
    ("task", _find_tasks),
    ("check", _find_checks),
    ("git", _find_git),
    ("git", _find_work_tree),
    ("value", _find_values),
    ("file", _find_files),
)
