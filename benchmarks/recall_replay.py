"""What recall brings in the calls that followed real compactions.

    python -m benchmarks.recall_replay GOLD CORPUS [CORPUS ...] [--calls 25] [--show]

Each annotated compaction is made again with the installed hooks; then what really followed is
replayed, prompt by prompt and call by call, and what the hooks print is collected. Prints for all
compactions, and for those of each repository:

    brief     must-know facts told by summary and the text after the compaction, in weight
    longer    the same of summary and a brief with as much more room as recall used
    recall    the same of summary, brief, and what came with prompts and calls
    touched   of the facts that neither tells and the replayed stretch speaks of: share recalled
    used      share of what came that names something the next five calls use, the one that it
              came with left out
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.probes import wait_for_background
from benchmarks.quality.hook_deliveries import RESTORED, HookClient, compact, install_client
from benchmarks.quality.must_know import Gold, Reader, read_gold
from benchmarks.quality.product_command import Product, find_product, run_briefs
from benchmarks.quality.transcripts import (
    Row,
    blocks,
    content,
    find_transcripts,
    is_boundary,
    main_chain,
    read_prompt,
    read_rows,
    read_text,
)

WORKERS = 2
NEXT_CALLS = 5
BRIEF_CHARS = 9_500
TOOLS = {
    "PreToolUse": ("Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "Grep"),
    "PostToolUseFailure": ("Bash",),
}
_NAME = re.compile(r"[\w.-]*(?:[._/-]\w|\d|[a-z][A-Z])[\w./-]*|`[^`]+`")


class Step(NamedTuple):
    """One thing that followed: a prompt, or a call with its result."""

    prompt: str = ""
    tool: str = ""
    given: Row | None = None
    error: str = ""  # of a call that failed

    @property
    def text(self) -> str:
        return self.prompt or " ".join(str(value) for value in (self.given or {}).values())


class Replay(NamedTuple):
    gold: Gold
    brief: str
    longer: str
    steps: list[Step]
    came: list[tuple[int, str]]  # the number of a step, and what its hooks printed


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall_replay")
    parser.add_argument("gold", type=Path)
    parser.add_argument("corpus", type=Path, nargs="+")
    parser.add_argument("--calls", type=int, default=25)
    parser.add_argument("--show", action="store_true", help="print what came, with its step")
    asked = parser.parse_args(arguments)
    transcripts = {one.session: one.path for one in find_transcripts(asked.corpus, {})}
    product = find_product()
    with ThreadPoolExecutor(WORKERS) as pool:
        done = list(pool.map(
            lambda gold: replay(product, gold, transcripts[gold.session], asked.calls),
            read_gold(asked.gold),
        ))  # fmt: skip
    if asked.show:
        for one in done:
            show(one)
    groups: dict[str, list[Replay]] = defaultdict(list)
    for one in done:
        groups[one.gold.repo].append(one)
    columns = f"{'brief':>8}{'longer':>8}{'recall':>8}{'touched':>9}{'used':>7}{'chars':>8}"
    print(f"{'':34}{'n':>4}{columns}")
    for name, some in [("all", done), *sorted(groups.items())]:
        print(f"{name:34}{len(some):4}" + format_figures(some))
    return 0


def replay(product: Product, gold: Gold, transcript: Path, calls: int) -> Replay:
    rows = read_rows(transcript)
    cut = next(i for i, row in enumerate(rows) if row.get("uuid") == gold.boundary)
    steps = list(list_steps(rows[cut + 1 :], calls))
    came: list[tuple[int, str]] = []
    with tempfile.TemporaryDirectory(prefix="replay-", ignore_cleanup_errors=True) as folder:
        home = Path(folder, "home")
        home.mkdir()
        client = install_client(product, rows, home)
        brief = compact(client, rows, cut, after_each=partial(wait_for_background, home))[RESTORED]
        for number, step in enumerate(steps):
            text = "\n".join(filter(None, ask_hooks(client, step)))
            wait_for_background(home)
            if text:
                came.append((number, text))
    room = BRIEF_CHARS + sum(len(text) for _, text in came)
    made = run_briefs(product, transcript, (room,), trace=False)
    longer = next(one["text"] for one in made if one["boundary_uuid"] == gold.boundary)
    return Replay(gold, brief, longer, steps, came)


def list_steps(rows: list[Row], calls: int) -> Iterator[Step]:
    """Until so many calls have been made, or the next compaction."""
    chain = main_chain(rows)
    failed = {
        block.get("tool_use_id"): read_text(block.get("content"))
        for row in chain for block in blocks(row, "tool_result") if block.get("is_error")
    }  # fmt: skip
    for row in chain:
        if is_boundary(row) or calls <= 0:
            return
        prompt = "" if row.get("isCompactSummary") else read_prompt(row)
        if prompt:
            yield Step(prompt=prompt)
        for block in blocks(row, "tool_use") if content(row) else ():
            given = block.get("input")
            tool, error = str(block.get("name")), failed.get(block.get("id"), "")
            yield Step(tool=tool, given=given if isinstance(given, dict) else {}, error=error)
            calls -= 1


def ask_hooks(client: HookClient, step: Step) -> Iterator[str]:
    if step.prompt:
        yield client.call("UserPromptSubmit", prompt=step.prompt)
        return
    call = {"tool_name": step.tool, "tool_input": step.given}
    if step.tool in TOOLS["PreToolUse"]:
        yield client.call("PreToolUse", **call)
    if step.error and step.tool in TOOLS["PostToolUseFailure"]:
        yield client.call("PostToolUseFailure", **call, error=step.error)


def format_figures(some: list[Replay]) -> str:
    weight = told = longer = recalled = touched = brought = used = came = chars = 0
    for one in some:
        brief, more = Reader(one.brief), Reader(one.longer)
        # A fact may be told by one text alone: what came is read piece by piece.
        pieces = [Reader(text) for _, text in one.came]
        work = Reader("\n".join(step.text for step in one.steps))
        for fact in one.gold.facts:
            in_brief = fact.in_summary or brief.tells(fact.words)
            in_pieces = any(piece.tells(fact.words) for piece in pieces)
            weight += fact.must
            told += fact.must * in_brief
            longer += fact.must * (fact.in_summary or more.tells(fact.words))
            recalled += fact.must * (in_brief or in_pieces)
            if not in_brief and touches(work, fact.words):
                touched += fact.must
                brought += fact.must * in_pieces
        for number, text in one.came:
            for line in re.findall(r"^- .*(?:\n  .*)*", text, flags=re.M):
                came += 1
                used += is_used(line, one.steps[number + 1 :][:NEXT_CALLS])
        chars += sum(len(text) for _, text in one.came)
    shares = (told / weight, longer / weight, recalled / weight)
    return (
        "".join(f"{share:8.3f}" for share in shares)
        + f"{brought / touched if touched else 0:9.3f}{used / came if came else 0:7.2f}"
        + f"{chars / len(some):8.0f}"
    )


def touches(work: Reader, telling: tuple[tuple[str, ...], ...]) -> bool:
    """Whether calls and prompts speak of it: two of its telling words, or all of fewer."""
    found = sum(any(word in work.text for word in words if word) for words in telling)
    return found >= min(2, len(telling))


def is_used(line: str, steps: list[Step]) -> bool:
    text = " ".join(step.text for step in steps)
    names = {name.strip("`.-/") for name in _NAME.findall(line.partition(": ")[2])}
    parts = {part for name in names for part in (name, name.rpartition("/")[2]) if len(part) > 3}
    return any(part in text for part in parts)


def show(one: Replay) -> None:
    print(f"### {one.gold.repo} {one.gold.session[:8]} {one.gold.boundary[:8]}")
    for number, text in one.came:
        step = one.steps[number]
        print(f"[{number}] {step.tool or 'prompt'}: {' '.join(step.text.split())[:200]}")
        print("    " + text.replace("\n", "\n    "))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
