"""Decisions: what was chosen, with its reason where the sentence gives one.

From the answers the user gave to the agent's questions, from notes, and from sentences in which the
agent itself says that it was decided. Anything less plain is only quoted (`requests`,
`replies`), since no pattern tells a decision from a thought. Sentences are kept whole.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from holdfast.events import AgentSaid, NoteTaken, Origin, UserSaid
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.facts import OPEN, SUPERSEDED, Fact, FactKind, Position
from holdfast.state.prose import (
    lower_ascii_apostrophes,
    split_sentences,
    subject_words,
    word_overlap,
)

MAX_DECISIONS = 50
MAX_DECISION_CHARS = 320
QUESTION = 160  # so that a long question leaves room for its answer

ANSWERED = " → "

# How a sentence says that something was chosen: by a verb of choice; by what is done, with a reason
# or with what it is done instead of; by how something will be, and what for. Sentences about what
# the agent looks at, and about what a program does, have reasons too and choose nothing.
_LOOKS = (
    r"(?!.*\b(?:agents?|subagents?|\w+ tool|grep|ripgrep|rg|breakpoint|debugger|stash|mistake"
    r"|by accident)\b)"
)
_FIRST = (
    r"(?:(?:so|and|but|ok|okay|then|finally|here|deliberately),? )?(?:(?:for|in|on|as|after|given"
    r"|with|because|since|at|it is|it's)\b[^?!;:]{2,110}?(?:,(?: so| and)?|(?= (?:we"
    r"|i)\b)) )?(?:\*\*)?"
)
_BY = (
    r"(?:(?:we|i)(?:'ve|'re|'m|'ll| have| are| am| will)?(?: (?:now|just|also|therefore"
    r"|deliberately|simply|only|always|never))? |let's )"
)
_CHOICE = (
    r"(?:decid(?:ed|ing)\b(?! (?:whether|between))|chose\b|choosing\b|picked\b(?! up)|settl(?:ed"
    r"|ing) (?:on|for)\b|opt(?:ed|ing) (?:for|to|against|out of)\b|ended up with\b|(?:going|go"
    r"|went) (?:with|for)\b(?! the flow| a | it\b)|st(?:ick|icking|uck) (?:with|to)\b|stay(?:ed"
    r"|ing)? with\b|agreed (?:on|to|with|that)\b|favou?r(?:ed|ing)?\b|rul(?:ed|ing) out\b"
    r"|standardi[sz](?:ed|ing) on\b|prefer(?:red|ring)?\b(?=.{3,100}\b(?:over|to|rather than)\b))"
)
# What shapes the work, and is not only looked at or tried.
_SHAPES = (
    r"(?:ma[dk]|split|buil[dt]|put|cap|pin|limit|set|skip|drop|ship|keep|kept|us|stor|hash|sign"
    r"|sort|wrap|turn|mov|cach|renam|remov|replac|extract|introduc|merg|reject|avoid|reus|encod"
    r"|switch|chang|support|combin|delegat|inlin|bundl|expos|requir|accept|treat|return|disabl"
    r"|enabl|defer|postpon|round|normali[sz]|compil|hard-?cod|version|serv|generat|leav|driv|send"
    r"|sent|shard|rewr[io]t|mak)"
)
_NOT_ON = r"(?! on\b| into the debugger| (?:a |the )?breakpoint| \w+ing\b)"
_DEED = (
    rf"(?:not )?(?:{_SHAPES}(?:[a-z]?(?:ed|ing)|e[ds]?|s)?|left (?=.*\b(?:out|alone|as[ -]is|in"
    rf"|off|unchanged)\b))\b{_NOT_ON}"
)
_DONE = (
    rf"(?:{_SHAPES}[a-z]?(?:ed|ing)|made|split|kept|rewrote|left (?=.*\b(?:out|alone|as[ -]is|in"
    rf"|off|unchanged)\b))\b{_NOT_ON}"
)
# What "we" do not choose by doing it.
_TRIES = (
    r"(?:look|read|run|check|see|try|open|start|search|ask|wait|need|have|get|find|test|continue"
    r"|begin|fix|debug|investigate|know|can|could|should|might|must|do|did|don't|were|was|are|also"
    r"|still)\b"
)
# Nor what is felt, found or had to be done.
_FEELS = (
    r"(?:think|believe|see|saw|notice|found|got|suspect|assume|expect|want|hope|guess|wonder|like"
    r"|love|stop|stopped|wait|fail|miss|forgot|re-?ran|re-?run|verif|confirm|ask|suggest|recommend"
    r"|propose|would|had|couldn|couldn't|can't|cannot|didn't|wasn't|noticed|observed|realis|realiz"
    r"|understand|understood|remember|feel|felt|sure|unsure|not sure|happy|glad|sorry|going"
    r"|use grep|restart|add a|added a (?:print|log|breakpoint|debug)|print|log|grep|list|show"
    r"|explain|said|mention|told|expected|assumed|guessed|wanted|hoped|looked|checked|tried|tested"
    r"|asked|suggested|saw|just ran|ran|hit|spent|done|able|about|afraid|aware|curious|ready"
    r"|in the|at the|on the|to be|if|the|a|an)\w*\b"
)
_REASONS = (
    r"\b(?:because|since|so that|instead of|rather than|in favou?r of|otherwise|to avoid|owing to"
    r"|on account of)\b"
)
_WHY = rf"(?:{_REASONS}|, (?:as|so|which|not) (?=\w+ \w+)|[:;] (?=\w+ \w+ \w+))"
# Of how it will be: a purpose, or a reason set apart. A bare "because" explains what was seen.
_FOR = r"(?:\b(?:so that|owing to|instead of|rather than)\b|, (?:because|since|as|formatted)\b)"
_THING = (
    r"(?!.{0,40}\b(?:tests?|builds?|suite|functions?|errors?|process|script|logs?|output|docs|code"
    r"|readme|users?|method|question|run|it|this|that|there|which|if|when|was|were|did|had|could"
    r"|should|might)\b)[^,;:?!]{3,80}?\b"
)
_SHAPED = (
    r"(?:stored|kept|saved|hashed|signed|encrypted|written|validated|cached|named|generated|served"
    r"|formatted|logged|queued|sorted|rounded|returned|sized|set|pinned|capped|limited|compared"
    r"|versioned|encoded|split|grouped|keyed|retried|replayed|sent|deleted|merged|loaded)"
)
_STATES = (
    rf"(?:(?:is|are|gets?|will be|stays?) (?:(?:only|always|never|now) )?{_SHAPED}\b"
    r"|are going (?:straight |directly )?(?:to|into|through)\b|(?:lives?|belongs?|go(?:es)?|sits?"
    r"|ends?|expires?) (?=in|on|at|to|out|off|with|inside|after)|will (?:not )?(?:return|use|store"
    r"|keep|send|accept|reject|hold|live|stay|go|own|read|write|support|default|serve|emit|log"
    r"|retry|expire)\b)"
)
# In small letters.
_CHOSEN = (
    lazy_compile(
        _LOOKS + _FIRST + rf"(?:{_BY}?{_CHOICE}"
        r"|chosen:|(?:it(?:'s| is| was|)|has been) (?:decided|settled|agreed)\b|(?:(?:the|key|main"
        r"|final|design) )*decision(?:\*\*)?(?: noted)?(?: is(?! yours| up| not| still| open)|:)"
        r"|(?!(?:here|there|as|now|what|how|that|whatever|if|when|where|who"
        r"|but)\b)[\w +/.#`-]{2,60} it is[.;,:]|(?:(?:we|i) )?(?:changed"
        r"|switched)\b.{0,80}\bfrom\b.{1,60}\bto\b"
        rf"|{_BY}{_DEED}.*?{_WHY}|{_DONE}.*?(?:{_REASONS}|, as\b)"
        r"|(?:dropped|removed|rejected|skipped)\b.*?: \w+ \w+ \w+"
        rf"|(?:we|i) (?:won't|don't|do not|will not) (?=(?:even )?{_DEED}).*?{_WHY}"
        r"|we(?:'re| are) not going to\b|[^?!;:]{3,80}, decided (?:against|on|to)\b"
        rf"|(?:we'll|we will|let's) (?!{_TRIES}|(?:be|see) )\w+ .*?{_REASONS})",
    ),
    lazy_compile(
        _LOOKS + r"(?:instead of|rather than|to (?!find|see|check|debug|understand|verify|reproduce"
        r"|test|look|read|run|confirm|compare|be|do|get)\w+)\b[^?!;:]{2,110}?,? "
        rf"(?:we|i)(?:'ve|'ll)? {_DEED}",
    ),
    lazy_compile(
        rf"{_THING}(?:{_STATES}.*?{_FOR}"
        r"|(?:lives|belongs?|sits) (?:in|on|at|to|with|inside)\b.*, not\b|now (?!fail|pass|show"
        r"|say|print|run|work|carries)\w+s\b[^(]*?(?:\bso that\b|, not\b)|(?:is|are) (?:set|pinned"
        r"|capped|limited) (?:to|at)\b.*?\bbecause\b|stays? (?:at|on|out|off|with"
        r"|inside)\b[^;:]*[;:] \w+ \w+ \w+)",
    ),
    lazy_compile(
        rf"(?:rather than|instead of) [^,?!]{{3,80}}, {_THING}(?:go(?:es)?|lives?|is|are|will)\b"
        r"|(?:my|our) (?:choice|pick|preference|decision) is\b",
    ),
    # The reason comes first.
    lazy_compile(
        _LOOKS + r"(?:since|because|given(?: that)?|seeing (?:how|that)|as|with)\b[^?!;:]{3,110}, "
        rf"(?:so )?{_BY}(?:{_CHOICE}|target(?:ed|ing)\b|{_DEED}(?! sure\b))|(?!i was |if |once "
        rf"|when )[^?!;:]{{3,110}}, so {_BY}(?:{_CHOICE}|kept\b|dropped\b)|(?:rather than"
        rf"|instead of) [^?!;:]{{3,90}} (?:we|i)(?:'ve|'ll)? add(?:ed)?\b",
    ),
    lazy_compile(
        _LOOKS
        + r"[^?!:]{3,80}[;,] [\w +/.#`-]{2,60} it is[.!]?$|(?!that|it|this)[\w -]{3,40} wins[:,.;]"
        r"|(?:(?:ok(?:ay)?|so|then),? )*the (?:approach|plan|design|direction|format|scheme"
        r"|interface|layout) is (?:fixed|settled|set)[:.,]|i(?:'m| am) not going to (?!be\b)\w+"
        r"|(?:dropping|keeping|using|going with|switching to|sticking with|pinning|leaving"
        r"|skipping) (?!it\b|this\b|that\b|the tests?\b).{3,110}?, (?:it|they|which|since|because"
        r"|as)\b|(?:we'll|we will|let's) (?:use|store|keep|default|cap|drop|split|treat|expose"
        r"|reject) (?!going|in mind|an eye|track|working|it\b|this\b|that\b|the (?:same )?(?:tool"
        r"|command|script|output|log))\w",
    ),
    # Whatever was done, for a reason that shapes things: not what was looked at, tried or felt.
    lazy_compile(
        _LOOKS
        + _FIRST
        + rf"{_BY}(?!{_TRIES}|{_FEELS})\w+\b(?!.*\b(?:again|error|fails?|failed|broken"
        r"|crash\w*|flaky|slower)\b).*?(?:\b(?:instead of|rather than|and not|so that|otherwise)\b"
        r"| so (?=\w+ \w+ \w+)| to (?:keep|avoid|save|let|match|preserve|prevent|reduce|simplify"
        r"|stay)\b|, (?:since|because|as|which) \w+ \w+)",
    ),
    # In other languages, by the plain words for a choice.
    lazy_compile(
        r"(?:ich|wir) (?:nehme\w*|verwende\w*|nutze\w*|bleibe\w*|behalte\w*) .*\b(?:statt|weil"
        r"|damit|denn|da)\b|(?:ich|wir) (?:habe\w* (?:mich|uns) (?:für|gegen)"
        r"|entscheide\w* (?:mich|uns))\b|(?:j'ai|nous avons|on a) (?:retenu|choisi|opté"
        r"|décidé de)\b|(?:je|on|nous) (?:garde|prends|choisi|reste)\w* .*\b(?:car|parce que"
        r"|plutôt que|au lieu)\b|(?:(?:he|hemos) (?:elegido|optado|decidido)|elegí|elegimos|opté"
        r"|optamos|decidí|decidimos|me quedo con|nos quedamos con|escolhi|escolhemos|optei|decidi"
        r"|decidimos|(?:ho|abbiamo) (?:scelto|deciso|optato))\b|(?:ik|we) (?:kies|kiezen"
        r"|heb\w* gekozen)\b",
    ),
)
# By the name of what is used, which is written with capitals.
_NAMED = lazy_compile(
    _LOOKS + r"(?:Using|Use) (?=\S*[A-Z]{2}|\S*[A-Z]\S*\d)[\w.+/#-]+"
    r" (?:for|as|to|over|with|because)\b"
)
# A list under this heading is one of decisions, whatever its sentences say.
_LIST = lazy_compile(
    r"(?im)^\W*(?:(?:key|recent|main|design|technical) )*decisions(?: made| taken"
    r"| so far)?\W*$\n((?:[ \t]*(?:[-*•]|\d+[.)]) .+\n?)+)"
)
# A sentence that gives the reason for the one before it.
_REASON = lazy_compile(
    r"(?:because|since|otherwise|that way|this way|the reason|reason:|why:)", re.I
)
_BULLET = "-*•> "
# How it will be, where the sentence behind it says why.
_SETTLED = lazy_compile(
    rf"{_THING}(?:{_STATES}|stays?\b|happens?\b|remains?\b)(?! unclear| open| to be| the same)",
)
_EXPLAINS = lazy_compile(
    r"(?:otherwise|that way|this way|the reason|reason:|why:)|.*\b(?:otherwise|would (?!you"
    r"|like))\b",
)
_HAS_REASON = lazy_compile(
    rf"{_REASONS}|, (?:as|so|which|not|it|they)\b|[:;] \w+ \w+ \w+|\b(?:given|seeing|keeps?|weil"
    rf"|damit"
    r"|car|porque|parce|perché)\b",
    re.I,
)
# What goes on to the work, and gives no reason.
_GOES_ON = lazy_compile(
    r"(?:next|now|then|i|i'[a-z]+|let me|let's|we|we'[a-z]+|also|after|first|finally|running"
    r"|reading|should|shall|do|does|is|are|would|als nächstes|jetzt|nun|ensuite|ahora|tests?|all"
    r"|done|the (?:tests?|build|next|suite|worker))\b|.*\?$|\W",
    re.I,
)


class Decision(NamedTuple):
    number: int
    text: str
    by: str  # "user" | "agent" | "note": what the agent asked us to keep
    status: str
    step: int
    at: Origin
    question: str = ""  # the agent's, which the user answered; the text begins with it

    @property
    def answer(self) -> str:
        """What was decided, without the question."""
        return self.text[len(self.question) + len(ANSWERED) :] if self.question else self.text


Table = dict[str, Decision]


def _put_decision(
    table: Table, text: str, by: str, position: Position, at: Origin, question: str = ""
) -> Table:
    said = truncate_safely(text, MAX_DECISION_CHARS)
    text = f"{question}{ANSWERED}{said}" if question else said
    subject = subject_words(text)
    new: Table = {}
    for key, old in table.items():
        if old.text == text:
            return table
        if old.status == OPEN and word_overlap(subject, subject_words(old.text)) >= 0.7:
            old = old._replace(status=SUPERSEDED)  # the same choice, made again
        new[key] = old
    number = facts.next_number(table)
    decision = Decision(number, text, by, OPEN, position.step, at, question)
    return facts.put_record(new, KIND.fact_id(number), decision, MAX_DECISIONS, facts.is_past)


# What stands before a note that is no decision.
NOTED = {"decision": "", "rule": "A rule, in the agent's words: ", "next_step": "Next step: "}


def on_note_taken(table: Table, event: NoteTaken, position: Position) -> Table:
    """A rule that the agent notes is no word of the user, so it stands here."""
    label = NOTED.get(event.kind)
    if label is None:
        return table
    return _put_decision(table, label + event.text, "note", position, event.at)


def on_agent_said(table: Table, event: AgentSaid, position: Position) -> Table:
    listed = "\n".join(_LIST.findall(event.text)) if "ecisions" in event.text else ""
    sentences = [sentence.lstrip(_BULLET) for sentence in split_sentences(event.text)]
    heard = map(lower_ascii_apostrophes, [*sentences, ""])
    for (sentence, behind), (low, low_behind) in zip(
        pairwise([*sentences, ""]), pairwise(heard), strict=True
    ):
        if sentence.endswith(("?", ":")):
            continue
        chosen = _NAMED.match(sentence) or any(pattern.match(low) for pattern in _CHOSEN)
        settled = _EXPLAINS.match(low_behind) is not None and _SETTLED.match(low) is not None
        if chosen or settled or sentence in listed:
            # What stands behind it is most often the reason, and else is quoted all the same.
            gives = not _HAS_REASON.search(sentence) and not _GOES_ON.match(behind or "?")
            beside = (gives or _REASON.match(behind)) and f"{sentence} {behind}" in event.text
            sentence += f" {behind}" if beside else ""
            table = _put_decision(table, sentence, "agent", position, event.at)
    return table


def on_user_said(table: Table, event: UserSaid, position: Position) -> Table:
    """An answer to a question that the agent asked, with the question: it decides something."""
    if event.source != "answer":
        return table
    question = truncate_safely(event.about, QUESTION)
    return _put_decision(table, event.text, "user", position, event.at, question)


def list_facts(table: Table) -> Iterator[Fact]:
    for key, decision in table.items():
        by = f"by the {decision.by}"
        yield Fact(key, KIND.name, decision.text, decision.status, decision.at, by)


KIND = FactKind(
    "decision",
    "d",
    Decision,
    list_facts,
    gap=facts.AskedInGap("Decided", most=6, rank=13),
    main=True,
    status_words={OPEN: "in force"},
)
