"""Writes what recall searches: what was said, run, printed and edited before a compaction.

Made where nobody waits, from what the store keeps of the session; once for each compaction, and
beside it, at the end of every turn, a few words on the work at hand. `fastpath.cue_index` owns the
format and reads it. What summary and brief told is left out. An older statement says what became of
it: words that the user took back stand beside those that took their place, and a command that
failed says that it worked later.
"""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from holdfast.brief.corrections import find_corrections
from holdfast.brief.lines import cut_pastes
from holdfast.fastpath import cue_index
from holdfast.fastpath.recall import WORKED_LATER
from holdfast.fastpath.session_dir import INDEX_FILE, WORK_FILE
from holdfast.files import remove
from holdfast.records import NamedTuple
from holdfast.session.context import SessionContext
from holdfast.state import State
from holdfast.store.protocol import Compaction, Message
from holdfast.store.sql_store import Store
from holdfast.text import BAR, keep_in_line, sanitize_line, truncate_words

MAX_MESSAGES = 8_000  # latest ones of the store that are looked at
MAX_PASSAGES = 12_000
PASSAGE_CHARS = 240
MAX_TOLD_CHARS = 120_000
MAX_WORK_CHARS = 1_500
MAX_LATER_CHARS = 160
ALREADY_TOLD = 0.7  # share of a passage's pairs of words that the agent has in front of it
TOLD_DISCOUNT = 0.5  # of the weight of a passage that is told so far in part
WHOLE = frozenset(("ran", "failed", "edited", "task"))
TELLING = ("brief", "gap")  # kinds of deliveries that stand in front of the agent
SPEAKER_WEIGHTS = {
    "user": 1.5, "failed": 1.1, "summary": 0.8, "task": 0.8, "subagent": 0.7, "edited": 0.5,
}  # fmt: skip
OLDEST_WEIGHT = 0.7  # of a passage at the very start, where one at the end has 1
USUAL_WORDS = 50
QUANTUM = 40  # steps of a posting's weight per unit
NAME_WEIGHT = 1.3  # of a word that looks like a name in code: it means one thing
NAME_CHARS = 11
LEAD_WEIGHT = 0.6  # of the words that announced a command, where its own words have 1
MAX_LEAD_CHARS = 240
# An edit that the client refused tells of the edit, and nothing of the file.
FILE_FAILURES = ("read ", "changed ", "created ")
# How an agent announces what it does next: nothing to tell by itself.
ANNOUNCEMENTS = ("let me", "now let me", "let's", "now let's", "i'll", "i will", "now i'll")


class Passage(NamedTuple):
    speaker: str
    text: str
    when: str = ""  # shown with it
    later: str = ""  # what became of it: shown behind it
    lead: str = ""  # what the agent said before it ran this: searched, not shown


def update_index(ctx: SessionContext, state: State) -> None:
    """After a compaction: the index of what it took away, and what is being worked on."""
    mode = ctx.config.settings.text("recall")
    if ctx.store is None:
        return
    if mode == "off":
        forget_index(ctx)
        return
    compactions = ctx.store.compactions(ctx.session.id, 1)
    if not compactions:
        return
    built = f"{compactions[0].epoch + 1}:{mode}"
    with suppress(OSError):  # no space: nothing is recalled
        # The index last: a prompt that finds it finds the work at hand beside it.
        ctx.session_dir.write(WORK_FILE, describe_work(state).encode("utf-8", "replace"))
        if cue_index.read_built(f"{ctx.session_dir.path}/{INDEX_FILE}") != built:
            waiting = ctx.session_dir.pending.read_prebuilt("gap")
            coming = waiting.text if waiting is not None else ""
            ctx.session_dir.write(INDEX_FILE, _build(ctx.store, compactions[0], built, coming))


def forget_index(ctx: SessionContext) -> None:
    """The index of the compaction before does not know what the brief of this one said."""
    remove(f"{ctx.session_dir.path}/{INDEX_FILE}")


def _build(store: Store, compaction: Compaction, built: str, coming: str) -> bytes:
    """`coming`: a text that waits for the next prompt, and tells what it tells."""
    found = store.messages(compaction.session_id, MAX_MESSAGES)
    known = [message for message in found if message.time <= compaction.time]
    given = [
        delivery.text
        for delivery in store.deliveries(compaction.session_id, 20)
        if delivery.epoch == compaction.epoch and delivery.kind in TELLING
    ]
    summary = compaction.summary or next(
        (one.text for one in reversed(found) if one.speaker == "summary"), ""
    )
    told = "\n".join([summary, coming, *given])[:MAX_TOLD_CHARS]
    return encode_index(read_passages(known), built=built, told=told)


def describe_work(state: State) -> str:
    """The last request, the open task, the last files and commands: asked about where a prompt
    says little.
    """
    said = [request.text[:400] for request in list(state.requests.values())[-1:]]
    doing = [task for task in state.tasks.values() if task.client_status == "in_progress"]
    said += [task.subject for task in doing[-2:]]
    said += [file.path.rpartition("/")[2] for file in list(state.files.values())[-4:]]
    said += [command.text[:160] for command in list(state.commands.values())[-3:]]
    return "\n".join(said)[:MAX_WORK_CHARS]


def read_passages(messages: Sequence[Message]) -> list[Passage]:
    """In their order; of what was said or run again word for word, the last."""
    found: dict[tuple[str, str], Passage] = {}
    failed: dict[str, tuple[str, str]] = {}  # a command to its passage, until it works
    edited: list[str] = []
    lead = ""  # what the agent said last
    for message in messages:
        if message.speaker == "failed" and message.text.startswith(FILE_FAILURES):
            continue
        when = message.time[5:16].replace("T", " ")
        if message.speaker not in WHOLE:
            typed = message.speaker == "user"
            lead = ""
            for piece in cut_passages(cut_pastes(message.text) if typed else message.text):
                lead = piece if message.speaker == "agent" else ""
                if not lead.endswith(":") and not lead.lower().startswith(ANNOUNCEMENTS):
                    _put(
                        found, (message.speaker, piece[:120]), Passage(message.speaker, piece, when)
                    )
            continue
        command = " ".join(message.text.partition("\n")[0].split())
        key = message.speaker, message.text[:120] if message.speaker == "edited" else command
        passage = Passage(message.speaker, message.text, when)
        if message.speaker in ("ran", "failed"):
            passage = passage._replace(lead=lead[-MAX_LEAD_CHARS:])
        _put(found, key, passage)
        if message.speaker == "edited":
            edited.append(message.text.partition(": ")[0].rpartition("/")[2])
        elif message.speaker == "failed":
            failed[command], edited = key, []
        elif message.speaker == "ran" and command in failed:
            after = ", ".join(dict.fromkeys(edited[-4:]))
            later = f"{WORKED_LATER} {when}" + (f" after edits of {after}" if after else "")
            place = failed.pop(command)
            found[place] = found[place]._replace(later=later)
    return _mark_taken_back(list(found.values()))


def _put(found: dict[tuple[str, str], Passage], key: tuple[str, str], passage: Passage) -> None:
    found.pop(key, None)  # what comes again goes to the end
    found[key] = passage


def _mark_taken_back(passages: list[Passage]) -> list[Passage]:
    """Words of the user that a later sentence takes the place of are shown with that sentence."""
    places, said = [], []
    moments: dict[str, int] = {}  # what was said at once is a list, no correction
    for place, passage in enumerate(passages):
        if passage.speaker == "user":
            for sentence in _sentences(passage.text):
                places.append(place)
                said.append(sentence)
                moments.setdefault(passage.when, len(moments))
    when = [moments[passages[place].when] for place in places]
    for correction in find_corrections(said, when):
        place, later = places[correction.earlier], said[correction.later]
        shown = f'the user said later: "{truncate_words(later, MAX_LATER_CHARS)}"'
        passages[place] = passages[place]._replace(later=shown)
    return passages


def cut_passages(text: str, limit: int = PASSAGE_CHARS) -> Iterator[str]:
    """Pieces of about `limit` characters that end where a sentence or a line does."""
    piece = ""
    for sentence in _sentences(text):
        if piece and len(piece) + len(sentence) > limit:
            yield piece
            piece = ""
        piece = f"{piece} {sentence[: cue_index.MAX_LINE_CHARS]}".strip()
    if piece:
        yield piece


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        rest = " ".join(line.split())
        while rest:
            ends = [at for at in map(rest.find, (". ", "! ", "? ")) if at > 0]
            cut = min(ends) + 1 if ends else len(rest)
            yield rest[:cut]
            rest = rest[cut:].lstrip()


def encode_index(passages: Iterable[Passage], *, built: str, told: str = "") -> bytes:
    """`built` says what it was made for, `told` what the agent has in front of it."""
    pairs = {pair for line in told.splitlines() for pair in pairwise(cue_index.split_words(line))}
    new: list[tuple[Passage, float]] = []
    for one in passages:
        own = list(pairwise(cue_index.split_words(one.text)))
        share = sum(pair in pairs for pair in own) / len(own) if own else 0.0
        if share < ALREADY_TOLD:
            new.append((one, share))
    new = new[-MAX_PASSAGES:]
    kept = [one for one, _ in new]
    spread: Counter[str] = Counter()
    postings: dict[str, list[int]] = defaultdict(list)
    for number, (passage, share) in enumerate(new):
        base = SPEAKER_WEIGHTS.get(passage.speaker, 1.0) * (1 - TOLD_DISCOUNT * share)
        base *= OLDEST_WEIGHT + (1 - OLDEST_WEIGHT) * number / len(kept)
        words: dict[str, float] = {**Counter(cue_index.split_words(passage.text))}
        length = 0.25 + 0.75 * (sum(words.values()) or 1) / USUAL_WORDS
        for word in cue_index.split_words(passage.lead):
            words[word] = words.get(word, 0) + LEAD_WEIGHT
        spread.update(words.keys())
        for word, count in words.items():
            strength = base * count * 2.2 / (count + 1.2 * length)
            postings[word].append(number << 8 | min(255, max(1, round(strength * QUANTUM))))
        for key in _list_keys(passage):
            postings[key].append(number << 8)
    spread[cue_index.RAREST], postings[cue_index.RAREST] = 1, []
    lines, numbers = [], array("I")
    for encoded, word in sorted((word.encode("utf-8", "replace"), word) for word in postings):
        weight = cue_index.WORD_WEIGHT * math.log(1 + len(kept) / (1 + spread[word]))
        if not word.isalpha() or len(word) > NAME_CHARS:
            weight *= NAME_WEIGHT
        lines.append(b"%s %d %d %d\n" % (encoded, round(weight), len(numbers), len(postings[word])))
        numbers.extend(postings[word])
    places, texts = array("I"), bytearray()
    for passage in kept:
        shown = _show(passage).encode("utf-8", "replace")
        places.extend((len(texts), len(shown)))
        texts += shown
    parts = (b"".join(lines), numbers.tobytes(), places.tobytes(), bytes(texts))
    header = " ".join([cue_index.FILE_HEADER, built or "-", *(str(len(part)) for part in parts)])
    return header.encode() + b"\n" + b"".join(parts)


def _list_keys(passage: Passage) -> list[str]:
    """By which a hook finds a command that was run, its other forms, and an error seen before."""
    if passage.speaker not in ("ran", "failed") or not passage.text.startswith("$ "):
        return []
    command, _, output = passage.text[2:].partition("\n")
    keys = [cue_index.command_key(command), cue_index.program_key(command)]
    error = cue_index.find_error_line(output) if passage.speaker == "failed" else ""
    return [*keys, cue_index.error_key(error)] if error else keys


def _show(passage: Passage) -> str:
    """The first line says whose words these are; what a tool printed stands behind bars."""
    label = f"{passage.speaker}, {passage.when}" if passage.when else passage.speaker
    first, *rest = passage.text.splitlines() or [""]
    later = f" ({passage.later})" if passage.later else ""
    lines = [keep_in_line(f"{label}: {first}{later}"), *(BAR + sanitize_line(one) for one in rest)]
    return "\n".join(lines)
