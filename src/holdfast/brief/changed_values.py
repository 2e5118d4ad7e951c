"""What the user changed from one sentence to a later one, and whether words still say the old one.

"Use MySQL for the order store", then "Postgres instead": of the order store MySQL no longer holds.
Owns which words are the value and which say what it is of; where that is unclear there is none.
Which sentence corrects which is `corrections`' to say. Pure.
"""

from holdfast.brief.lines import content_words
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state.demand_sentences import stem

# Beside what was changed and what it is of; with more, a sentence tells other things.
MORE_WORDS = 2
_TURNED_DOWN = lazy_compile(r"(?i)\b(?:not|instead of|rather than|no longer)\s+(\S+(?:\s+\S+)?)")
# What is to be done with a value, and not what it is.
_VERBS = frozenset(
    "use used uses using put write written make made set call called name named keep store stored"
    " serve served run runs deploy build built change plan want need now should must please go goes"
    " actually instead sorry mind changed wait".split()
)


class ChangedValue(NamedTuple):
    about: frozenset[str]  # the stems of what both sentences speak of
    earlier: frozenset[str]
    later: frozenset[str]

    def is_stale(self, text: str, around: str) -> bool:
        """Whether a sentence still says the earlier value, and nothing around it the later one."""
        words = content_words(text) - _VERBS
        return (
            self.earlier <= words
            and self.about <= set(map(stem, words - self.earlier))
            and len(words) <= len(self.about | self.earlier) + MORE_WORDS
            and self.later.isdisjoint(content_words(around))
        )


def read_changed_value(old: str, new: str) -> ChangedValue | None:
    """Of a sentence and the later one that corrects it."""
    before, after = content_words(old), content_words(new)
    denied, denied_before = (content_words(" ".join(_TURNED_DOWN.findall(t))) for t in (new, old))
    denied -= denied_before
    about = {stem(word) for word in before & after - denied - _VERBS if not word[0].isdigit()}
    gone, given = before - after - _VERBS | before & denied, after - before - denied - _VERBS
    numbers = {word for word in gone if word[0].isdigit()}
    named = {word for word in gone if word in denied or _is_name(word, old)}
    value = numbers or named or gone
    if not about or not given or len(value) != 1:
        return None
    if numbers and not any(word[0].isdigit() for word in given):
        return None
    return ChangedValue(frozenset(about), frozenset(value), frozenset(given))


def _is_name(word: str, sentence: str) -> bool:
    """Spelled as a name, and not only because the sentence begins with it."""
    at = sentence.lower().find(word.lower())
    spelled = sentence[at : at + len(word)]
    return at > 0 and (spelled != spelled.lower() or not word.isalpha())
