"""COMPINT's protocol (arXiv 2608.11242): side constraints planted into real sessions.

Thirty constraints in words of our own, of the paper's five kinds and half of them about coding, in
four framings and three places. Each is planted by itself: a session is read once, and for each
plant the prompts are given to the rules again. Kept: four fifths of its words in one line.
"""

import gzip
import itertools
import json
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from holdfast.brief.compose import compose
from holdfast.events import UserSaid
from holdfast.session.follow import follow_transcript
from holdfast.session.replay import scan_boundaries
from holdfast.state import State
from holdfast.state import rules as rules_of
from holdfast.state.facts import Position

SIZES = (2_000, 4_000, 6_000)
FRAMINGS = (
    "{}",
    "For the rest of this session: {}",
    "From now on: {}",
    "One thing to keep in mind while you work: {}",
)
PLACES = ("own prompt first", "before the first prompt", "after the middle prompt")
KEPT_SHARE = 0.8
CONSTRAINTS = Path(__file__).parents[2] / "tests" / "state" / "banks" / "constraints.json"


def read_states(corpus: Path, most: int) -> Iterator[State]:
    """Real sessions at their last compaction, with at least two prompts."""
    for path in itertools.islice(sorted(corpus.glob("*.jsonl.gz")), most):
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as copy:
            copy.write(gzip.decompress(path.read_bytes()))
            copy.flush()
            boundaries = scan_boundaries(copy.name)
            if not boundaries:
                continue
            state = follow_transcript(copy.name, until=boundaries[-1].start, final=True).state
        if len(state.requests) > 1:
            yield state


def plant(state: State, text: str, place: str) -> State:
    """The state as it would be, had the user typed this too."""
    requests = dict(state.requests)
    keys = list(requests)
    key = keys[len(keys) // 2] if place == PLACES[2] else keys[0]
    old = requests[key]
    if place == PLACES[0]:
        requests = {"q0": old._replace(number=0, text=text, status="done"), **requests}
    elif place == PLACES[1]:
        requests[key] = old._replace(text=f"{text} {old.text}")
    else:
        requests[key] = old._replace(text=f"{old.text.rstrip()}{_stop(old.text)} {text}")
    table: dict[str, rules_of.Rule] = {}
    for one in requests.values():
        said = UserSaid(one.at, one.text, one.how, one.about)
        table = rules_of.on_user_said(table, said, Position(one.turn, one.step, one.epoch))
    return state._replace(requests=requests, rules=table)


def _stop(text: str) -> str:
    return "" if text.rstrip().endswith((".", "!", "?", "`")) else "."


def is_kept(text: str, brief: str) -> bool:
    words = set(re.findall(r"\w+", text.lower()))
    return any(
        len(words & set(re.findall(r"\w+", line.lower()))) >= KEPT_SHARE * len(words)
        for line in brief.split("\n")
    )


def main() -> None:
    corpus = Path(os.environ["HOLDFAST_CORPUS"])
    states = list(read_states(corpus, most=37))
    constraints = [one["text"] for one in json.loads(CONSTRAINTS.read_text("utf-8"))]
    kept: defaultdict[tuple[str, int], list[bool]] = defaultdict(list)
    demanded: defaultdict[str, list[bool]] = defaultdict(list)
    runs = itertools.product(PLACES, FRAMINGS, enumerate(constraints))
    for number, (place, framing, (_, text)) in enumerate(runs):
        planted = plant(states[number % len(states)], framing.format(text), place)
        standing = rules_of.list_standing(planted.rules)
        found = "\n".join(text for _, text, later in standing if not later)
        demanded[place].append(is_kept(text, found))
        for size in SIZES:
            kept[place, size].append(is_kept(text, compose(planted, size).text))
    print(f"{len(states)} sessions, {len(constraints)} constraints, {len(FRAMINGS)} framings")
    print(f"{'place':26}" + "".join(f"{size:>8,}" for size in SIZES) + "  in force")
    for place in PLACES:
        shares = [sum(kept[place, size]) / len(kept[place, size]) for size in SIZES]
        forced = sum(demanded[place]) / len(demanded[place])
        print(f"{place:26}" + "".join(f"{share:8.3f}" for share in shares) + f"{forced:10.3f}")


if __name__ == "__main__":
    main()
