"""What of a message is the user's own: not quoted, not pasted, not said to be somebody else's.

A mail, a chat, a ticket or a text that is only to be translated is the user's to show and not to
demand. Where it is not plain that words are the user's own they are left out here; the message is
kept and quoted whole anyway. Pure.
"""

import re
from collections.abc import Iterator
from itertools import islice

from holdfast.lazy_regex import lazy_compile
from holdfast.state.prose import strip_code

MAX_HEADING_CHARS = 200
MAX_TAGS = 200  # each that nothing closes is looked for to the text's end

PARAGRAPH = lazy_compile(r"\n\s*\n")
# Markdown quotes, headings and comments, fenced and indented blocks, links, lines of a log.
_QUOTED_LINES = lazy_compile(
    r"^[ \t]*(?:[-*] )?(?:>|//|#+ (?![^\n]*:[ \t]*$)).*$|^(?: {4,}|\t).*$|^[ \t]*\[\d+\]:? .*$"
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
_FILE = r"\S+\.\w{1,5}\b"
# A line that ends in a colon and says whose words the next paragraph holds ...
_REPORTS = lazy_compile(
    r"\b(?:says|said|reads|states|according to|quoting|copied from|pasted from"
    rf"|from (?:the )?{_FILE})",
    re.I,
)
_TEXTS = (
    r"(?:(?:e-?)?mail|message|note|review|comment|ticket|issue|post|article|page|letter|text|prompt"
    r"|thread|chat|transcript|log|output|readme|docs?|document|description|paragraph|section"
    r"|excerpt|quote|report|answer|reply|bug|story|spec|policy|instructions?|draft|version)s?"
)
# ... or that a document follows: where it ends, nobody can tell.
_DOCUMENT = lazy_compile(
    rf"\b(?:here(?:'s| is| are)|this is|contents?|paste[ds]?|below|following)\b.* {_FILE}"
    rf"|^\W*{_FILE}\W*$|\b(?:wrote|writes|replied|posted)\W*$|\b(?:\w+'s|his|her|their|following"
    rf"|this|the|an?|here is|here's|their bot) (?:[\w-]+ )*?{_TEXTS}(?: (?:is|was|says|text|reads"
    rf"|of|from|for|body)\b[^:\n]*)?\W*$",
    re.I,
)
# Lines from which on a message shows somebody else's text.
_OPENS_TEXT = lazy_compile(
    r"^[ \t]*(?:(?:[-=_*#~]{3,})[ \t]*(?:begin|start|original|forwarded|message|mail|snip|cut|file"
    r"|\S+\.\w{1,5}\b).*|={5,}[ \t]*|(?:from|subject|to|cc|sent|date|betreff|von)[ \t]*:[ \t]?\S.*"
    r"|\[pasted text.*|-{5,}[ \t]*|(?:description|summary|steps to reproduce|acceptance criteria"
    r"|expected(?: behaviou?r)?|actual(?: behaviou?r)?|title|body|ticket|issue|story)[ \t]*:.*"
    r"|[\w.-]+(?: [\w.-]+)?[ \t]+(?:\(?\d{1,2}:\d\d.*|commented\b.*|wrote\b.*)|on .{6,60} wrote:.*"
    r"|(?:user|human|assistant|system|ai|bot|agent|customer|client|q|a)[ \t]*:.*|@\w+[ \t]*:?.*"
    r"|\[\d{1,2}:\d\d(?::\d\d)?\].*|#{1,6} (?!(?:[\w ]+ )?(?:rules?|constraints?|conventions?"
    r"|guidelines?|notes?|important|preferences)\b)[^\n:]*)$",
    re.M | re.I,
)
# A speaker's name before a colon, and on its line what was said: a chat.
_SPEAKER_LINE = lazy_compile(
    r"^[ \t]*(?:<?@?[^\W\d]\w{1,20}>?|[A-Z]\w+ [A-Z][\w.]+)[ \t]*:[ \t]+\S.*$", re.M
)
# What may stand before a colon and is the user's own.
_OWN_LABELS = lazy_compile(
    r"^\W*(?!(?:retro\w*|meeting|release|call|standup|review"
    r"|interview) notes)(?:(?:\w+ ){0,4}(?:rules?|constraints?|conventions?|guidelines?|principles"
    r"|preferences?|facts?|notes?|important|regel\w*|r[èe]gles?|reglas?|regras?|regol[ae]"
    r"|zasad[ay]|правил[ао]|kural(?:lar)?|wichtig|critical|heads up|fyi|important[ei]?|importante"
    r"|belangrijk|ważne|важно|önemli|hinweis|nota|goal state|state|nb|ps|p\.s|edit|update"
    r"|correction|also|and|but|so|ok|okay|btw|please|then|remember|reminder|warning|attention"
    r"|always|never|no|yes|wait|sorry|actually|instead|oh|hm+|(?:\w+ ){0,3}(?:things?|points"
    r"|requirements|remarks|wishes)|one (?:more )?thing|(?:one|another) (?:more |last "
    r"|other )?thing(?: [\w']+){0,8}|from now on|style|tests?|testing|code|coding|commits?|docs"
    r"|documentation|naming|formatting|language|generally|in general|on principle|grundsätzlich"
    r"|generell|en general|en principe|por norma|und (?:\w+ )?grundsätzlich|und generell|output"
    r"|(?:things )?to[- ]?dos?|task|tasks|question|request|keep in mind|mind you|\w+ing|for (?:the"
    r"|this|all)\b.*|in (?:this|the|all)\b.*))\W*$",
    re.I,
)
# A label of some words is the user's own, where none of them says whose words follow.
_SAYS = lazy_compile(
    rf"\b(?:{_TEXTS}|says?|said|told|tells?|wrote|writes|asked|asks|replied|reads|states|from|by"
    rf"|per"
    r"|according|quot\w+|slack|jira|email|channel|customer|client|boss|lead|team|bot|them|he|she"
    r"|they|people|everyone)\b",
    re.I,
)
# What is only to be worked on as a text, or not to be followed.
_ONLY_SHOWN = lazy_compile(
    r"(?<![/:])\b(?:translat\w*|rewrit\w*|rephras\w*|reword\w*|proofread\w*|paraphras\w*"
    r"|summari[sz]e\w*|shorten\w*|spell-?check|correct|improve|polish|fix|check|explain|review"
    r"|quote|simplify|what does|what do you think|übersetz\w*|traduis\w*|traduci\w*|traduz\w*"
    r"|vertaal\w*)\b[^:\n]{0,60}:[ \t]*(?=\S)|\b(?:do not|don't|never) (?:follow|obey|do"
    r"|use)\b(?: (?:this|that|these|the following|what follows))[^:\n]{0,40}:[ \t]*(?=\S)"
    r"|\b(?:prompt|instructions?|message|sentence|text|line|comment|error|wording|phrase|string"
    r"|title|label|heading|placeholder|tooltip) (?:\w+ ){0,4}(?:is|was|reads|says)[ \t]*:"
    r"|\b(?:(?:re)?viewer|review|customer|client|qa|team) (?:comments?|feedback|notes?"
    r"|messages?)[ \t]*:|^\W*\w+(?: \w+)? (?:from|by|of) (?-i:[A-Z])\w+[ \t]*:"
    r"|翻译[^:：\n]{0,12}[:：]"
    r"|翻訳[^:：\n]{0,12}[:：]",
    re.I,
)
# "Summarise the following:", "Ignore the text below.": all that comes is another's.
_POINTS_DOWN = lazy_compile(
    r"^[^\n]*\b(?:summari[sz]e|translate|rewrite|rephrase|proofread|review|ignore|explain|improve"
    r"|quote|what about|look at)\b[^.!?\n]{0,50}\b(?:following|below|that follows"
    r"|this)\b[^.!?\n]{0,20}[:.]\s*$",
    re.M | re.I,
)
# Where a paragraph says at its end that it comes from: "(from CONTRIBUTING.md)".
_SOURCE = lazy_compile(
    rf"[(\[—–-] ?(?:from|source:|taken from|copied from) (?:the )?{_FILE}[)\]]?\s*$", re.I
)


def strip_quoted_text(text: str) -> str:
    """A message without the words of others in it."""
    text = strip_code(text)
    if "~~~" in text:
        text = _FENCED.sub("\n", text)
    if "</" in text:
        text = _strip_markup(text)
    for opens in (_OPENS_TEXT, _POINTS_DOWN):
        if opened := opens.search(text):
            text = text[: opened.start()]
    text = _QUOTED_LINES.sub("", _strip_documents(text))
    if ":" in text or "：" in text:
        text = "\n".join(_own_lines(text))
    return blank_quoted(text)


def blank_quoted(text: str) -> str:
    """Longer quotations are gone, their marks stay."""
    return _IN_MARKS.sub('""', text)


def _own_lines(text: str) -> Iterator[str]:
    """Lines up to where somebody else speaks; of a line, what stands before a shown text."""
    skipped = 0  # paragraphs that a heading before them calls something to look at
    for paragraph in PARAGRAPH.split(text):
        if skipped:
            skipped -= 1
            continue
        lines = paragraph.split("\n")
        for number, line in enumerate(lines):
            head, colon, rest = line.replace("：", ":", 1).partition(":")
            start = max(head.rfind(stop) for stop in (". ", "! ", "? ")) + 1
            before, head = head[:start], head[start:]
            own = not colon or rest.startswith("//") or _OWN_LABELS.match(head) is not None
            own = own or (len(head.split()) > 3 and not _SAYS.search(head))
            shown = _ONLY_SHOWN.search(line, start)
            if shown is not None and not (own and shown.start() > start + len(head)):
                yield line[: shown.start()]
                return  # what is to be worked on may go on in the lines below
            if not own and not before and _SPEAKER_LINE.match(line):
                return
            if own:
                yield line
            elif not rest.strip():
                yield before
                skipped = int(number == len(lines) - 1)
                break
            else:
                # "the lead told me: Never ..." is the lead's; "use 8123: it is free" goes on.
                yield before if rest.strip()[:1].isupper() else line
        yield ""


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
    for paragraph in PARAGRAPH.split(text):
        if reported:
            reported = False
            continue
        lines = paragraph.rstrip().split("\n")
        own = len(lines)
        for number, line in enumerate(lines):
            heading = line.rstrip()
            if not heading.endswith(":") or len(heading) > MAX_HEADING_CHARS:
                continue
            if _DOCUMENT.search(heading[:-1]) and not _OWN_LABELS.match(heading[:-1]):
                return "\n\n".join((*told, *lines[:number]))
            if _REPORTS.search(heading):
                own, reported = number, number == len(lines) - 1
                break
        words = "\n".join(lines[:own])
        if not _SOURCE.search(words[-MAX_HEADING_CHARS:]):
            told.append(words)
    return "\n\n".join(told)
