"""Reading prose: sentences, the plain words in them, and the cues that mark a statement.

Shared by the kinds of facts that come from words (requests, rules, decisions, dead ends,
next steps), so that what counts as a sentence is decided once.
"""

import re
from functools import lru_cache

from holdfast.lazy_regex import lazy_compile

# A sentence ends at a stop followed by space, at a line end, or at a bullet. Users write
# without capitals, so a small letter may begin the next; "e.g." and "v1.2" end none.
# It begins with a space, so that `re` skips everything else quickly; what stands before it is
# checked backwards.
_SENTENCE_END = lazy_compile(
    r"\s(?:(?<=[!?]\s)\s*"
    r"|(?<=[^\s.…(\[]\.\s)(?<![ (]e\.g\.\s)(?<![ (]i\.e\.\s)(?<!\betc\.\s)(?<!\bvs\.\s)\s*"
    r"|(?<=\.\.\.\s)(?=[A-Z])|(?<=\n)\n*\s*(?:[-*•]\s+|\d+[.)]\s+|#+\s*)?)"
)
_CODE_BLOCK = lazy_compile(r"```.*?(?:```|\Z)|\"\"\".*?\"\"\"", re.S)
_WORD = lazy_compile(r"[a-z][a-z0-9_'-]{2,}")

# Words that say nothing about the subject of a sentence.
EMPTY_WORDS = frozenset(
    """
    about above actually after again all also always and any anymore are because been before being
    but can cannot could did does doesn done don't each ever every fine for forget forward from
    going had has have here how however i'll i'm important instead into its it's just keep later
    let's like longer make making may maybe might more must need never new not note now off okay
    only other our out over please prefer rather really remember rule same scrap second should
    since some still sure than that the their them then there these they thing this those though
    thought through too under until use used using very want was way well were what when where
    whether which while who why will with within without won't would yes yet you your you're
    whatever anything nothing something avoid ensure stick don
    """.split()
)


def strip_code(text: str) -> str:
    """The text without fenced code and triple-quoted pastes."""
    if '"""' in text:
        return _CODE_BLOCK.sub("\n", text)
    if "```" in text:  # as above, without a step for every letter of the code
        parts = text.split("```")
        return "\n".join(parts[::2]) + ("" if len(parts) % 2 else "\n")
    return text


@lru_cache(maxsize=8)  # several kinds of facts read the same words
def split_sentences(text: str, limit: int = 400) -> tuple[str, ...]:
    """Sentences of prose, code blocks left out, in order; each at most `limit` characters."""
    text = strip_code(text)
    found = []
    for part in _SENTENCE_END.split(text):
        part = part.strip().lstrip("#*-•> ").strip()
        if len(part) > 2 and not part.startswith(("//", "/*")):  # a comment in pasted code
            found.append(part[:limit])
    return tuple(found)


def lower_ascii_apostrophes(text: str) -> str:
    """The text in small letters, each in its place, as `re.I` compares them; apostrophes straight.

    A pattern finds in it what it finds with `re.I` in the text, in a third of the time.
    """
    if text.isascii():
        return text.lower()
    lowered = text.replace("İ", "i").lower()
    return lowered.replace("ı", "i").replace("ſ", "s").replace("’", "'")


def has_any(text: str, cues: tuple[str, ...]) -> bool:
    # Half the time of `any` over a generator, and this is asked of every line.
    for cue in cues:  # noqa: SIM110
        if cue in text:
            return True
    return False


@lru_cache(maxsize=512)  # each new sentence is compared with all that are known
def subject_words(text: str) -> frozenset[str]:
    """The words that carry a sentence's subject, lower case, without plural s and -ing."""
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in EMPTY_WORDS)


def _stem(word: str) -> str:
    if len(word) > 6 and word.endswith("ing"):
        return word[:-3]
    return word.rstrip("s") if len(word) > 4 else word


def word_overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """How much of the smaller subject the two share, 0 to 1."""
    if not a or not b:
        return 0.0
    return len(a & b) / min(len(a), len(b))
