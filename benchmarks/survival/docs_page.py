"""Write the results in docs/survival.md from docs/survival.json: `make survival`.

Owns the two tables between the marks of that page. The numbers come from the file that
`python -m benchmarks.survival --docs` wrote, so that the page cannot say anything else.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

BEGIN = "<!-- results: written by `make survival`, from survival.json -->"
END = "<!-- end of results -->"
DOCS = Path(__file__).parents[2] / "docs"


def build_results(document: dict[str, Any]) -> str:
    """Both tables and the sentence around them, as Markdown."""
    counts = document["counts"]
    small, large = document["budgets"]
    repositories = (
        "1 repository" if counts["repositories"] == 1 else f"{counts['repositories']} repositories"
    )
    lines = [
        f"n = {counts['boundaries']} compactions in {counts['sessions']} sessions of "
        f"{repositories} ({counts['sessions_read']} sessions read). In brackets: 95 % intervals "
        "over sessions.",
        "",
        "![What survives a compaction, by brief](survival.png)",
        "",
        f"| brief | S@{small} | S@{large} | need@{large} | recovered@{large} | state@{large} "
        f"| precision@{large} | stale@{small}, @{large} |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    alone = document["summary_alone"]
    told = _interval(alone["survival"])
    lines.append(
        f"| none: the summary alone ({alone['tokens']:,.0f} tokens) | {told} | {told} | - | 0 "
        f"| ({alone['state']['mean']:.2f}) | - "
        f"| ({alone['stale']}) |"
    )
    every = document["contestants"]
    for name in dict.fromkeys(one["name"] for one in every):
        first, last = (one for one in every if one["name"] == name)
        shown = f"**{name}**" if name == "Holdfast" else name
        lines.append(
            f"| {shown} | {_interval(first['survival'])} | {_interval(last['survival'])} "
            f"| {_bare(last['grounded_need']['mean'])} | {_bare(last['recovered']['mean'])} "
            f"| {last['state']['mean']:.2f} | {last['precision']['mean']:.2f} "
            f"| {first['stale']}, {last['stale']} |"
        )
    lines += ["", *_stand_alone(document["stand_alone"]), "", *_missing(document, large)]
    return "\n".join(lines)


def _stand_alone(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "In place of the summary, need recall at equal tokens (a mention is enough, for both):",
        "",
        "| tokens | Holdfast | it used | summary, cut | its best part | the whole summary |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for row in rows:
        whole = row.get("whole_summary")
        told = f"{_interval(whole)}, {row['summary_tokens']:,.0f} tokens" if whole else ""
        lines.append(
            f"| {row['tokens']} | {_interval(row['brief'])} | {row['brief_tokens']:,.0f} "
            f"| {_interval(row.get('summary_from_its_start'))} "
            f"| {_interval(row.get('summary_at_its_best'))} | {told} |"
        )
    return lines


def _missing(document: dict[str, Any], budget: int) -> list[str]:
    own = next(
        one
        for one in document["contestants"]
        if one["name"] == "Holdfast" and one["budget"] == budget
    )
    told = ", ".join(
        f"{kind['kind']} {kind['missing']} of {kind['needed']} ({kind['weight']:.1%} of the need)"
        for kind in own["missing"]
        if kind["missing"]
    )
    return [f"What Holdfast still misses at {budget} tokens, by kind: {told}."]


def _interval(value: dict[str, Any] | None) -> str:
    if value is None:
        return ""
    return f"{_bare(value['mean'])} ({_bare(value['low'], 2)} to {_bare(value['high'], 2)})"


def _bare(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".removeprefix("0")


def replace_results(page: str, document: dict[str, Any]) -> str:
    head, _, rest = page.partition(BEGIN)
    _, found, tail = rest.partition(END)
    if not found:
        raise SystemExit(f"docs/survival.md has lost its marks: {BEGIN} ... {END}")
    return f"{head}{BEGIN}\n\n{build_results(document)}\n\n{END}{tail}"


def main() -> int:
    page = DOCS / "survival.md"
    document = json.loads((DOCS / "survival.json").read_text("utf-8"))
    page.write_text(replace_results(page.read_text("utf-8"), document), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
