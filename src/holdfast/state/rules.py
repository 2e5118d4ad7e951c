"""Rules: standing demands of the user that are in force, word for word.

A request is not a rule: "add a test" is done once, "always add a test" holds. Everything the user
typed is kept and quoted anyway (`requests`), so only a sentence that plainly says it holds
from now on is called a rule; when in doubt it is not. It has to be the user's own sentence: what is
quoted, pasted or reported is somebody else's. A limit on the work at hand ("don't commit yet")
ends with its request. A later sentence that corrects a rule supersedes it, clause by clause, so
that a withdrawn rule is never given again.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from holdfast.events import Origin, UserSaid
from holdfast.lazy_regex import lazy_any_word, lazy_compile
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.facts import OPEN, SUPERSEDED, Fact, Position, next_number, put_record
from holdfast.state.prose import (
    has_any,
    lower_ascii_apostrophes,
    split_sentences,
    strip_code,
    subject_words,
    word_overlap,
)

MAX_RULES = 60
MAX_RULE_CHARS = 400
# A pasted log or document is not a list of rules, whatever words stand in it.
MAX_SCANNED_CHARS = 6000
MAX_SENTENCE_CHARS = 330

# The patterns and words below are for small letters (`wording.small`).

# A cue for standing force, said to the agent: where a sentence begins, or after a comma or
# a word such as "please". The same words in the middle of a description ("it always returns
# 0", "deterministic rather than heuristic") rule nothing.
_SAID = r"(?:^|[,;:.–—-] ?|\b(?:please|and|but|so|also|then|you|must|should|just) )"
_FIRST = r"^(?:(?:and|also|but|so|please|just|oh|ok|okay|again)[, ]+)*"
_STANDING = lazy_compile(
    rf"{_SAID}(?:always|never)\b(?= \w)"
    # What is forbidden without saying for how long: only as a sentence of its own.
    rf"|{_FIRST}(?:do not|don't|dont|avoid|refrain from|prefer)\b(?= \w)"
    rf"|{_SAID}(?:do not|don't|dont) (?:ever|under any)\b"
    r"|^(?:(?:and|also|note that|here) )*we (?:always|never|only|use|don't|do not)\b"
    r"|\b(?:"
    r"(?:i|we) (?:really |generally |always |usually )?prefer\b"
    r"|from now on\b|going forward\b|in (?:the )?future\b(?! \w)|at all times\b|no more\b"
    r"|(?:every time|whenever) (?:you|we)\b|(?:before|after) (?:every|each)\b"
    r"|remember (?:to|that)\b|keep in mind\b"
    r"|you (?:must|mustn't|may not|can't|cannot|should never|should always)\b"
    r"|not allowed\b|forbidden\b|rule:|important:)"
)
# It ends with what is being done: not a rule, however firmly it is said.
_ONE_OFF = lazy_compile(
    r"\b(?:yet|for now|right now|at the moment|for the moment|this time|just this once|today"
    r"|(?:in|for|with) this (?:pr|commit|change|task|step|session|turn|one|case)|until|till|so far"
    r"|not now|anything else|but just|is now|(?:does|do|would) seem|(?:don't|do not) \w+ it)\b"
    r"|\bnow\b[.!]?$"
)
_TELLING = lazy_compile(r"\b(?:where|which|when|because|since) (?:we|it|they|i)\b[^,;.]*$")
_CORRECTION = lazy_compile(
    r"\b(?:actually|instead|no longer|no more|not .{1,40} any ?more|scrap (?:that|the)"
    r"|forget (?:that|the|about)"
    r"|change of plan|changed my mind|on second thoughts?|correction|ignore (?:that|the|my)|rather"
    r"|i was wrong|that's wrong|not what i|revert|drop (?:that|the rule)|you (?:can|may) (?:now )?)"
    r"|^(?:no|nope|wait|hmm|sorry)\b"
)
_WITHDRAWAL = lazy_compile(
    r"\b(?:forget|scrap|drop|ignore|no longer|not .{1,40} any ?more|never ?mind|lift)\b"
)
# One of these stands in every sentence that _STANDING or _CORRECTION matches.
_CUES = lazy_any_word(
    "always", "never", "do not", "don't", "dont", "avoid", "refrain", "prefer", "we only",
    "no more", "remember", "keep in mind", "we use", "from now on", "going forward", "every",
    "future", "at all times", "whenever", "must", "you ca", "you may", "you should", "each",
    "not allowed", "forbidden", "rule:", "important:", "actually", "instead", "no longer",
    "any more", "anymore", "scrap", "forget", "change", "second thought", "correction", "ignore",
    "rather", "wrong", "not what i", "revert", "drop ",
)  # fmt: skip
_BEGINNINGS = ("no", "wait", "hmm", "sorry")
# "don't know / don't think / can't find" speak of the speaker, not of the agent's conduct.
_SPEAKER = lazy_compile(
    r"\b(?:i|we|it|he|she|they|that|this|which|you)\s+(?:really |just |still |probably )?"
    r"(?:do not|don't|dont|cannot|can't|should not|shouldn't|didn't|doesn't|won't)\b"
    r"|\b(?:don't|do not|dont) (?:know|think|see|understand|have|mean|worry|mind|get)\b"
    r"|\bif (?:you|we|it|i) (?:don't|can't|cannot|do not)\b"
)


# Diffs, tables, logs and places in files: words of a tool, not of the user.
_PASTED = lazy_compile(
    r"^[+│╭╰├|$@%]|\S\.\w{1,5}:\d+|\blines? \d+|/(?:var|tmp|usr)/|[{};]\s*$|\w\(\w*\)|:=|=="
)
# "House rules: ..." says of everything in its paragraph that it holds.
_HEADINGS = ("rule", "convention", "guideline", "constraint", "principles")
_ANNOUNCED = lazy_compile(
    r"^\W*(?:\w+ ){0,4}(?:rules?|conventions?|guidelines?|constraints?|principles)\b"
    r"[^.!?\n:]{0,60}:"
)
_PARAGRAPH = lazy_compile(r"\n\s*\n")
# Words of others in a message of the user: Markdown quotes, headings and comments, fenced and
# indented blocks, markup, lines of a log, what stands in quotation marks, and what is said to
# stand in a file.
_QUOTED_LINES = lazy_compile(
    r"^[ \t]*(?:>|//|#+ (?![^\n]*:[ \t]*$)).*$|^(?: {4,}|\t).*$"
    r"|^[ \t]*\[?\d{4}-\d\d-\d\d.*$|^[ \t]*\[?(?:ERROR|FATAL)\b.*$"
    r"|^[ \t]*\[?\d\S{0,60}[ \t]+\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b.*$"
    r"|^(?:Traceback\b|\w+(?:Error|Exception):).*$",
    re.M,
)
_FENCED = lazy_compile(r"^~~~.*?(?:^~~~[^\n]*$|\Z)", re.M | re.S)
_OPENING_TAG = lazy_compile(r"<([a-zA-Z][\w-]*)(?: [^<>\n]*)?>")
_IN_MARKS = lazy_compile(
    r"(?<!\w)\"(?=\S)[^\"]{12,}(?<=\S)\"(?!\w)|“[^“”]{12,}”|„[^„“”]{12,}[“”]|«[^«»]{12,}»"
    r"|‘[^‘]{12,}?’(?!\w)|(?<!\w)'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){12,}(?<=\S)'(?!\w)"
)
MAX_HEADING_CHARS = 200
MAX_TAGS = 200  # each that nothing closes is looked for to the text's end
_FILE = r"\S+\.\w{1,5}\b"
# A line that ends in a colon and says whose words the next paragraph holds ...
_REPORTS = lazy_compile(
    r"\b(?:says|said|reads|states|according to|quoting|copied from|pasted from"
    rf"|from (?:the )?{_FILE})",
    re.I,
)
# ... or that a document follows: where it ends, nobody can tell.
_DOCUMENT = lazy_compile(
    rf"\b(?:here(?:'s| is| are)|this is|contents?|paste[ds]?|below|following)\b.* {_FILE}"
    rf"|^\W*{_FILE}\W*$|\b(?:wrote|writes|replied|posted)\W*$"
    r"|\b(?:\w+'s|his|her|their|following|this) (?:\w+ )?"
    r"(?:(?:e-?)?mail|message|note|review|comment|ticket|issue|post|article|page|letter)\W*$",
    re.I,
)
# Where a paragraph says at its end that it comes from: "(from CONTRIBUTING.md)".
_SOURCE = lazy_compile(
    rf"[(\[—–-] ?(?:from|source:|taken from|copied from) (?:the )?{_FILE}[)\]]?\s*$", re.I
)
# What somebody else is said to have said, before the words themselves.
_REPORTED_SPEECH = lazy_compile(
    r"(?<!\bi )(?<!\bwe )\b(?:says|said|states|stated|reads|wrote|writes|claims|claimed|insists"
    r"|warns|warned|complains|demands|tells (?:me|us|you|people))\b|\baccording to\b"
    r"|\b(?:this|the|an?|following|gets?|got) (?:\w+ ){0,2}(?<!commit )"
    r"(?:error|warning|exception|message|output|hint|notice)s?:"
)
# A sentence may hold two demands; each stands or falls by itself.
_CLAUSES = lazy_compile(r"[,;]?\s+(?:and|but)\s+(?=(?:always|never|do not|don't|please)\b)", re.I)


class Rule(NamedTuple):
    number: int
    text: str
    status: str
    superseded_by: str  # id of the rule or request that took its place
    turn: int
    at: Origin


def is_rule(sentence: str) -> bool:
    if len(sentence) > MAX_SENTENCE_CHARS or _asks(sentence):
        return False
    heard = lower_ascii_apostrophes(sentence)
    if _STANDING.search(heard) is None or _PASTED.search(sentence) or _ONE_OFF.search(heard):
        return False
    if _is_reported(heard):
        return False
    # "I don't think we should" has a cue only in the speaker's own verb.
    return _SPEAKER.search(heard) is None or _STANDING.search(_SPEAKER.sub(" ", heard)) is not None


def _is_reported(heard: str) -> bool:
    """Whether the cue stands behind words such as "the readme says": then it is the readme's."""
    reported, cue = _REPORTED_SPEECH.search(heard), _STANDING.search(heard)
    return reported is not None and cue is not None and reported.end() <= cue.end()


def _asks(sentence: str) -> bool:
    """A question does not rule. "can you make sure ...?" is still a request for once."""
    return sentence.rstrip().endswith("?")


def on_user_said(table: dict[str, Rule], event: UserSaid, position: Position) -> dict[str, Rule]:
    if len(event.text) > MAX_SCANNED_CHARS:
        return table
    own = strip_quoted_text(event.text)
    lowered = lower_ascii_apostrophes(own)
    if not (_CUES.search(lowered) or has_any(lowered, (*_BEGINNINGS, *_HEADINGS))):
        return table
    for sentence, announced in _with_announcements(own):
        lowered = lower_ascii_apostrophes(sentence)
        cued = announced or _CUES.search(lowered) or lowered.startswith(_BEGINNINGS)
        if not cued or _asks(sentence):
            continue
        corrects = _CORRECTION.search(lowered) is not None
        ruling = announced or is_rule(sentence)
        if not (ruling or corrects):
            continue
        text = truncate_safely(sentence, MAX_RULE_CHARS)
        key = f"r{next_number(table)}"
        subject = subject_words(sentence)
        withdraws = corrects and _WITHDRAWAL.search(lowered) is not None
        if any(rule.text == text and rule.status == OPEN for rule in table.values()):
            continue
        replaced = [
            old
            for old, rule in table.items()
            if rule.status == OPEN and _replaces(subject, corrects, subject_words(rule.text))
        ]
        if replaced:
            table = {
                name: rule._replace(status=SUPERSEDED, superseded_by=key)
                if name in replaced
                else rule
                for name, rule in table.items()
            }
        # A correction of a rule is itself the rule now, unless it only lifts the old one.
        if ruling or (replaced and not withdraws):
            rule = Rule(int(key[1:]), text, OPEN, "", position.turn, event.at)
            table = put_record(table, key, rule, MAX_RULES, lambda r: r.status != OPEN)
    return table


def strip_quoted_text(text: str) -> str:
    """A message without the words of others in it."""
    text = strip_code(text)
    if "~~~" in text:
        text = _FENCED.sub("\n", text)
    if "</" in text:
        text = _strip_markup(text)
    text = _QUOTED_LINES.sub("", _strip_documents(text))
    return _IN_MARKS.sub('""', text)


def _strip_markup(text: str) -> str:
    """Without `<document> ... </document>`; a tag that nothing closes opens nothing."""
    kept, position = [], 0
    for tag in islice(_OPENING_TAG.finditer(text), MAX_TAGS):
        end = text.find(f"</{tag[1]}>", tag.end()) if tag.start() >= position else -1
        if end >= 0:
            kept.append(text[position : tag.start()])
            position = end + len(tag[1]) + 3
    return "\n".join((*kept, text[position:]))


def _strip_documents(text: str) -> str:
    """Without what a line before it, or the last line of its paragraph, calls another's."""
    told: list[str] = []
    reported = False  # the paragraph before ended with a line that says whose words this holds
    for paragraph in _PARAGRAPH.split(text):
        if reported:
            reported = False
            continue
        lines = paragraph.rstrip().split("\n")
        own = len(lines)
        for number, line in enumerate(lines):
            heading = line.rstrip()
            if not heading.endswith(":") or len(heading) > MAX_HEADING_CHARS:
                continue
            if _DOCUMENT.search(heading[:-1]):
                return "\n\n".join((*told, *lines[:number]))
            if _REPORTS.search(heading):
                own, reported = number, number == len(lines) - 1
                break
        words = "\n".join(lines[:own])
        if not _SOURCE.search(words[-MAX_HEADING_CHARS:]):
            told.append(words)
    return "\n\n".join(told)


def _with_announcements(text: str) -> list[tuple[str, bool]]:
    """Each sentence, and whether its paragraph said before that rules follow."""
    found: list[tuple[str, bool]] = []
    for paragraph in _PARAGRAPH.split(text):
        announced = False
        for sentence in split_sentences(paragraph):
            heading = _ANNOUNCED.match(lower_ascii_apostrophes(sentence))
            if heading is not None and heading.end() == len(sentence):
                announced = True
                continue
            announced = announced or heading is not None
            fits = len(sentence) <= MAX_SENTENCE_CHARS and not _asks(sentence)
            before = ""
            for clause in _CLAUSES.split(sentence):
                # "... branches where we add files but don't change the tree" tells, not rules.
                if not _TELLING.search(lower_ascii_apostrophes(before)):
                    found.append((clause, announced and fits))
                before = clause
    return found


def _replaces(subject: frozenset[str], corrects: bool, old: frozenset[str]) -> bool:
    shared = word_overlap(subject, old)
    if corrects:
        # "Actually, use spaces, not tabs" against "always indent with tabs": one shared
        # subject word of few is enough once the user says that they correct themselves.
        return shared >= 0.34 and bool(subject & old)
    # Two rules about one subject without a cue: only a near repetition replaces.
    return shared >= 0.75 and len(subject & old) >= 3


def list_facts(table: dict[str, Rule]) -> Iterator[Fact]:
    for key, rule in table.items():
        detail = f"superseded by {rule.superseded_by}" if rule.superseded_by else ""
        yield Fact(key, "rule", rule.text, rule.status, rule.at, detail)
