"""What an agent can still answer after a compaction: the texts that readers answer questions from.

    python -m benchmarks.probes rooms OUT [--corpus DIR --corpus DIR --questions DIR]

A case is a JSON file: the name of a session's file, the id of its boundary row, and questions with
an id each. Without options it is the sample that comes with Holdfast. Writes
`OUT/ask/<case>.json`, the questions without their answers, and `OUT/room/<condition>/<case>.txt`:

    A   the client's summary alone
    B   with the brief, as the product's command makes it
    R   B, and behind it for each question what the prompt's hook prints if that is what the user
        asks next: the hooks run as the client runs them, all questions from the same moment
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.quality.hook_deliveries import HookClient, compact, install_client
from benchmarks.quality.product_command import Product, find_product, run_briefs
from benchmarks.quality.transcripts import Row, find_transcripts, read_rows, read_summary

SAMPLES = Path(__file__).parents[1] / "src" / "holdfast" / "samples"
QUESTIONS = Path(__file__).parent / "probe_questions"
BRIEF_CHARS = 9_500  # as the hooks deliver it
WORKERS = 2
BACKGROUND_SECONDS = 90.0
TRIES = 4
ASKED = "=== WITH QUESTION {} ==="


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probes")
    rooms = parser.add_subparsers(required=True).add_parser("rooms")
    rooms.add_argument("out", type=Path)
    rooms.add_argument("--corpus", type=Path, action="append", help="default: the sample's folder")
    rooms.add_argument("--questions", type=Path, default=QUESTIONS)
    rooms.add_argument("--case", action="append", default=[], help="only these; repeatable")
    asked = parser.parse_args(arguments)
    transcripts = {one.session: one.path for one in find_transcripts(asked.corpus or [SAMPLES], {})}
    product = find_product()
    cases = [one for one in sorted(asked.questions.glob("*.json"))
             if not asked.case or one.stem in asked.case]  # fmt: skip

    def write(case: Path) -> str:
        probe = json.loads(case.read_text("utf-8"))
        write_rooms(asked.out, case.stem, probe, transcripts[probe["session"]], product)
        return case.stem

    with ThreadPoolExecutor(WORKERS) as pool:
        for name in pool.map(write, cases):
            print(name, flush=True)
    return 0


def write_rooms(out: Path, case: str, probe: Row, transcript: Path, product: Product) -> None:
    rows = read_rows(transcript)
    cut = next(i for i, row in enumerate(rows) if row.get("uuid") == probe["boundary"])
    made = run_briefs(product, transcript, (BRIEF_CHARS,), trace=False)
    brief = next(one["text"] for one in made if one["boundary_uuid"] == probe["boundary"])
    alone = f"=== SUMMARY OF THE CONVERSATION SO FAR ===\n{read_summary(rows, cut)}\n"
    with_brief = f"{alone}\n=== ADDITIONAL NOTES ===\n{brief}\n"
    recalled = [
        f"\n{ASKED.format(question)}\n{text}\n"
        for question, text in recall_each(product, rows, cut, probe["questions"])
    ]
    for condition, text in ("A", alone), ("B", with_brief), ("R", with_brief + "".join(recalled)):
        _write(out / "room" / condition / f"{case}.txt", text)
    plain = [{name: one[name] for name in ("id", "question")} for one in probe["questions"]]
    _write(out / "ask" / f"{case}.json", json.dumps(plain, indent=1, ensure_ascii=False) + "\n")


def recall_each(
    product: Product, rows: list[Row], cut: int, questions: list[dict[str, Any]]
) -> Iterator[tuple[str, str]]:
    """The id of each question, and what its hook printed where it is the first prompt."""
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory(prefix="probes-", ignore_cleanup_errors=True) as folder:
            home = Path(folder, "home")
            home.mkdir()
            client = install_client(product, rows, home)
            compact(client, rows, cut, after_each=partial(wait_for_background, home))
            log = home / "holdfast" / "holdfast.log"
            if log.exists() and "TimeoutError" in log.read_text("utf-8"):
                continue  # the machine was busy: nothing of that is the product's text
            yield from ask_each(client, questions)
            return
    raise TimeoutError("the hooks of a compaction reached their time limit each time")


def ask_each(client: HookClient, questions: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    start = client.home.with_name("start")
    data = client.home / "holdfast" / "sessions"
    shutil.copytree(data, start)
    for question in questions:
        yield question["id"], client.call("UserPromptSubmit", prompt=question["question"])
        wait_for_background(client.home)
        shutil.rmtree(data)
        shutil.copytree(start, data)


def wait_for_background(home: Path) -> None:
    """Until no process works for this home any more: hooks go on behind the client's back."""
    mark = f"HOLDFAST_HOME={home}/".encode()
    until = time.monotonic() + BACKGROUND_SECONDS
    while any(mark in environment for environment in _environments()):
        if time.monotonic() > until:
            raise TimeoutError(f"a hook of {home} works for more than {BACKGROUND_SECONDS:.0f} s")
        time.sleep(0.02)


def _environments() -> Iterator[bytes]:
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            yield place.read_bytes()
        except OSError:
            continue


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
