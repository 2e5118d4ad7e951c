"""Plants secrets in sessions, lives them with the real hooks, and looks for what came through.

    python -m benchmarks.secrets --n 3000 --seed random
    python -m benchmarks.secrets --innocent FOLDER ...   # what would be redacted in real sessions

The first leaks are shown with their kind and place; the exit code says whether there were any.
"""

import argparse
import gzip
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.secrets.leak_run import LeakReport, run_sessions
from holdfast.redact import redact_bytes

SHOWN = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.secrets", description=__doc__)
    parser.add_argument("--n", type=int, default=3000, help="secrets to plant")
    parser.add_argument("--seed", default="random", help="a number, to repeat a run")
    parser.add_argument("--innocent", nargs="+", metavar="FOLDER", help="folders of transcripts")
    chosen = parser.parse_args()
    if chosen.innocent:
        return _innocent(chosen.innocent)
    seed = random.SystemRandom().randrange(10**9) if chosen.seed == "random" else int(chosen.seed)
    return _report(run_sessions(chosen.n, seed), seed)


def _report(result: LeakReport, seed: int) -> int:
    print(f"seed {seed}")
    print(f"planted {result.planted}: {result.kinds} kinds in {result.places} places")
    print(
        f"looked through {result.texts} texts, {result.size / 1e6:.1f} MB, written or handed over"
    )
    print(f"came through: {len(result.leaks)} of {result.planted}")
    for kind, place, where, part in result.leaks[:SHOWN]:
        print(f"  {kind} | {place} | {where} | {part}")
    for (kind, place), count in Counter(leak[:2] for leak in result.leaks).most_common(SHOWN):
        print(f"  {count} x {kind} | {place}")
    return 1 if result.leaks else 0


def _innocent(folders: list[str]) -> int:
    """Every string that would be redacted, to be looked at by eye."""
    size = files = found = 0
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.jsonl*")):
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            size, files = size + len(data), files + 1
            clean = redact_bytes(data)
            if clean == data:
                continue
            for before, after in zip(data.split(b"\n"), clean.split(b"\n"), strict=False):
                for context in _replaced(before, after):
                    found += 1
                    print(f"  {path.name}: {context}")
    print(f"{found} strings redacted in {files} sessions, {size / 1e6:.1f} MB")
    return 1 if found else 0


def _replaced(before: bytes, after: bytes) -> Iterator[str]:
    """What was replaced in this row, with what stands around it; not the labels of earlier runs."""
    at = 0
    pieces = re.split(rb"(\[redacted:[a-z0-9\-]+\])", after)
    for kept, label, following in zip(pieces[::2], pieces[1::2], pieces[2::2], strict=False):
        at += len(kept)
        end = before.find(following, at) if following else len(before)
        if before[at:end] != label:
            yield before[max(0, at - 60) : end + 40].decode("utf-8", "replace")
        at = end


if __name__ == "__main__":
    sys.exit(main())
