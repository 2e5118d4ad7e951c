"""The part of the page that says how it was measured, and what it does not say.

Owns those words. A number that is an estimate is called one here and where it stands.
"""

from __future__ import annotations

from html import escape

from holdfast.audit.statistics import AuditStatistics
from holdfast.text import CHARS_PER_TOKEN


def render_methodology(made: AuditStatistics) -> str:
    said = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in _entries(made))
    return (
        '<section aria-labelledby="method"><h2 id="method">How this was measured</h2>'
        '<p class="soft">Without any language model: the same transcripts always give the same '
        f'numbers.</p><dl class="method">{said}</dl>{_unread(made)}</section>'
    )


def _entries(made: AuditStatistics) -> list[tuple[str, str]]:
    not_measured = made.compactions - made.measured
    return [
        (
            "What you had said (measured, by words)",
            f"n = {made.facts_compared}. Every sentence of at least three uncommon words that you "
            "typed before the cut and did not take back, pastes left out. It counts as kept when "
            "60 % of its words stand together, or when the client kept the message.",
        ),
        (
            "The state of the work (measured, by words)",
            f"n = {made.facts_compared}. What was still valid at the cut, as Holdfast parsed the "
            "transcript. Exact values and files count by name, sentences when most of their words "
            "appear together in the summary. A free paraphrase can be counted as lost. Commands "
            "that failed count when the session never saw them work, before the cut or after it, "
            "and said how they failed; calls you turned down, when you did not allow them later.",
        ),
        (
            "Names used next (measured)",
            f"n = {made.measured} of {made.compactions} compactions. An item is needed when it was "
            "known before the cut and the agent used it within the next 150 tool calls, unless "
            "you repeated it first. Rare names count more than common ones. A bare mention in the "
            "summary counts as kept; in Holdfast’s brief it must appear in its correct context. "
            f"The other {not_measured} had fewer than 15 tool calls before, 8 after, or 5 needed "
            "items.",
        ),
        (
            "With Holdfast (simulated)",
            "The brief that this version would have delivered, made from the rows before each "
            "compaction and chosen against its summary, as on a client that hands the summary to "
            "its hooks. Whether the agent would have used it cannot be known from a transcript.",
        ),
        (
            "Repeated look-ups (measured) and their tokens (estimated)",
            "The same file, search or read-only command as before, among the first 25 calls. "
            f"Tokens are estimated as characters returned / {CHARS_PER_TOKEN}. Not every repeat is "
            "waste: a file may have changed.",
        ),
        (
            "Waiting (partly estimated)",
            f"{made.seconds_known - made.seconds_estimated} as the client recorded them, "
            f"{made.seconds_estimated} from the time between the last row and the boundary, for "
            "automatic compactions only; pauses over ten minutes are left out.",
        ),
        (
            "Tokens before and after (as recorded)",
            "Before: the client’s own figure. After: its figure where it gives one, else the "
            "context of the first answer after the compaction.",
        ),
    ]


def _unread(made: AuditStatistics) -> str:
    notes = []
    if made.unreadable:
        files = "".join(
            f"<li><code>{escape(path.rsplit('/', 1)[-1])}</code>: {escape(error)}</li>"
            for path, error in made.unreadable[:20]
        )
        notes.append(f'<p class="small">Not read:</p><ul class="small">{files}</ul>')
    if made.too_large:
        notes.append(
            f'<p class="small">{made.too_large} very large sessions: need and look-ups were not '
            "measured there.</p>"
        )
    return "".join(notes)
