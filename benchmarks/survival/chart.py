"""The chart: survival by contestant, as one self-contained SVG.

Owns the drawing. No plotting library: bars, whiskers and two marks are plain shapes, and the
colours follow the reader's light or dark background.
"""

from __future__ import annotations

from html import escape

from benchmarks.measure.scoring import Estimate
from benchmarks.survival.candidate_scores import compute_scores, score_summary
from benchmarks.survival.runner import Run

LABEL_WIDTH, PLOT_WIDTH, RIGHT = 230, 470, 70
BAR, GAP, ROW_GAP, TOP, BOTTOM = 11, 2, 12, 74, 58

_STYLE = """
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#24292f}
.title{font-size:16px;font-weight:600}.small{font-size:11px;fill:#57606a}
.wide{fill:#1f6feb}.narrow{fill:#8cb8f5}.own .wide{fill:#1a7f37}.own .narrow{fill:#7bc58d}
.own text{font-weight:600}.whisker{stroke:#24292f;stroke-width:1.2;opacity:.75}
.grid{stroke:#8c959f;stroke-opacity:.25}.s0{stroke:#cf222e}.top{stroke:#8250df}
.mark{stroke-width:1.5;stroke-dasharray:5 4}.s0t{fill:#cf222e}.topt{fill:#8250df}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.small{fill:#9198a1}.wide{fill:#58a6ff}.narrow{fill:#2b5286}
.own .wide{fill:#3fb950}.own .narrow{fill:#25693a}.whisker{stroke:#e6edf3}
.s0{stroke:#ff7b72}.top{stroke:#bc8cff}.s0t{fill:#ff7b72}.topt{fill:#bc8cff}}
""".strip()


def survival_chart(
    run: Run, own: str = "", ceiling: str = "", leave_out: tuple[str, ...] = ()
) -> str:
    """Bars for every contestant, best on top; S0 and the ceiling as lines across."""
    names = [n for n in run.candidates if n != ceiling and n not in leave_out]
    small, large = run.budgets[0], run.budgets[-1]
    names.sort(key=lambda n: -compute_scores(run, n, large).survival.mean)
    step = 2 * BAR + GAP + ROW_GAP
    height = TOP + step * len(names) + BOTTOM
    width = LABEL_WIDTH + PLOT_WIDTH + RIGHT
    sessions = len({b.session_id for b in run.boundaries})
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="Survival by brief">',
        f"<style>{_STYLE}</style>",
        '<text x="12" y="24" class="title">What survives a compaction</text>',
        f'<text x="12" y="43" class="small">Share of what the agent uses next that the summary or '
        f"the brief tells; {len(run.boundaries)} compactions, {sessions} sessions; whiskers 95 %"
        "</text>",
    ]
    bottom = TOP + step * len(names)
    for tenth in range(0, 11, 2):
        x = _x(tenth / 10)
        out.append(f'<line x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{bottom}" class="grid"/>')
        out.append(
            f'<text x="{x}" y="{bottom + 14}" class="small" text-anchor="middle">'
            f"{tenth / 10:.1f}</text>"
        )
    for number, name in enumerate(names):
        y = TOP + number * step
        out.append('<g class="own">' if name == own else "<g>")
        out.append(
            f'<text x="{LABEL_WIDTH - 10}" y="{y + BAR + 5}" text-anchor="end">'
            f"{escape(name)}</text>"
        )
        out += _bar(compute_scores(run, name, large).survival, y, "wide")
        out += _bar(compute_scores(run, name, small).survival, y + BAR + GAP, "narrow")
        out.append("</g>")
    out += _mark(score_summary(run).survival.mean, bottom, "s0", "summary alone")
    if ceiling:
        out += _mark(
            compute_scores(run, ceiling, large).survival.mean, bottom, "top", "perfect foresight"
        )
    out.append(
        f'<g class="small"><rect x="{LABEL_WIDTH}" y="{bottom + 28}" width="14" height="9" '
        f'class="wide"/><text x="{LABEL_WIDTH + 20}" y="{bottom + 37}" class="small">{large} tokens'
        f'</text><rect x="{LABEL_WIDTH + 110}" y="{bottom + 28}" width="14" height="9" '
        f'class="narrow"/><text x="{LABEL_WIDTH + 130}" y="{bottom + 37}" class="small">{small} '
        "tokens</text></g>"
    )
    out.append("</svg>")
    return "\n".join(out) + "\n"


def _x(value: float) -> float:
    return round(LABEL_WIDTH + PLOT_WIDTH * min(max(value, 0.0), 1.0), 1)


def _bar(value: Estimate, y: int, kind: str) -> list[str]:
    middle = y + BAR / 2
    low, high = _x(value.low), _x(value.high)
    return [
        f'<rect x="{LABEL_WIDTH}" y="{y}" width="{_x(value.mean) - LABEL_WIDTH:.1f}" '
        f'height="{BAR}" rx="2" class="{kind}"/>',
        f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}" class="whisker"/>',
        f'<text x="{high + 6}" y="{middle + 4}" class="small">{value.mean:.2f}</text>',
    ]


def _mark(value: float, bottom: int, kind: str, label: str) -> list[str]:
    x = _x(value)
    return [
        f'<line x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{bottom}" class="mark {kind}"/>',
        f'<text x="{x}" y="{TOP - 13}" text-anchor="middle" class="small {kind}t">'
        f"{label} {value:.2f}</text>",
    ]
