"""The audit as one HTML page that needs nothing else: no script, no font, no outside address.

Owns the page's order and words. Everything that came from a transcript is escaped here, and was
redacted before it came here.
"""

from __future__ import annotations

import os
from html import escape

from holdfast.audit import svg_charts
from holdfast.audit.examples import Example, WorstCompaction
from holdfast.audit.formatting import (
    CONSEQUENCE_LABELS,
    EXAMPLE_LABELS,
    FACT_LABELS,
    NEED_LABELS,
    format_amount,
    format_date_range,
    format_day,
    format_duration,
    format_interval,
    format_percent,
    pluralize,
    safe_ratio,
)
from holdfast.audit.methodology import render_methodology
from holdfast.audit.statistics import AuditStatistics, Group, KindTotals, said
from holdfast.clock import format_minute
from holdfast.measure.scoring import Estimate

STYLESHEET_PATH = os.path.join(os.path.dirname(__file__), "report.css")
MAX_SESSIONS = 60
CODE_KINDS = frozenset({"error", "dead_end", "test", "retried"})
# How a figure came about; each says so where it stands, and the method says how.
MEASURED, SIMULATED, ESTIMATED, RECORDED = "measured", "simulated", "estimated", "recorded"
# Nothing may be loaded and nothing may run, whatever a transcript smuggled in.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


def render_page(made: AuditStatistics, *, folder: str, made_on: str) -> str:
    """The whole report. `folder` is the name to show for where the transcripts are."""
    with open(STYLESHEET_PATH, encoding="utf-8") as handle:
        style = handle.read()
    parts = [
        _header(made, folder, made_on),
        '<main id="report">',
        _said(made),
        _examples(made),
        _facts(made),
        _survival(made),
        _worst(made),
        _lookups(made),
        _time(made),
        _projects(made),
        render_methodology(made),
        "</main>",
        _footer(),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8" />'
        '<meta name="viewport" content="width=device-width, initial-scale=1" />'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(CONTENT_SECURITY_POLICY)}" />'
        '<meta name="referrer" content="no-referrer" />'
        '<meta name="robots" content="noindex" />'
        "<title>What compaction has cost: a Holdfast audit</title>"
        f"<style>{style}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _header(made: AuditStatistics, folder: str, made_on: str) -> str:
    between = format_date_range(made.first, made.last)
    return (
        '<header><a class="skip" href="#report">Skip to the report</a>'
        f'<p class="soft small">Holdfast audit of <code>{escape(folder)}</code>, {between}, '
        f"made on {escape(made_on)}</p>"
        f"<h1>What compaction has cost you</h1>{_lead(made)}{_tiles(made)}</header>"
    )


def _lead(made: AuditStatistics) -> str:
    sentences = []
    if row := said(made):
        shares = _two_shares(row.in_summary / row.known, row.with_holdfast / row.known)
        sentences.append(f"Of what you had said, yours kept {shares}.")
    if made.measured:
        shares = _two_shares(made.summary.mean, made.with_holdfast.mean)
        sentences.append(f"Of the names the agent used next, {shares}.")
    else:
        sentences.append(
            "No compaction here had enough work around it to measure what was needed next."
        )
    return (
        '<p class="lead">After a compaction the agent goes on with a summary. '
        f"{' '.join(sentences)}</p>"
    )


def _two_shares(alone: float, with_brief: float) -> str:
    return (
        f'<strong class="a">{format_percent(alone)}</strong>; with Holdfast’s brief beside it, it '
        f'would have been <strong class="b">{format_percent(with_brief)}</strong>'
    )


def _tiles(made: AuditStatistics) -> str:
    repeated = safe_ratio(made.repeats, made.calls)
    before = safe_ratio(made.repeats_before, made.calls_before)
    timed = "from timestamps" if made.seconds_estimated else "by the client"
    tiles = [
        _tile(
            "Compactions",
            RECORDED,
            f"{made.compactions:,}",
            f"{made.automatic:,} automatic, {made.manual:,} manual, "
            f"in {pluralize(made.sessions_compacted, 'session')} of {made.sessions_read:,}",
        ),
        _tile(
            "Context summarised",
            RECORDED,
            format_amount(made.tokens_before),
            f"tokens before, in {pluralize(made.tokens_before_known, 'compaction')}; about "
            f"{format_amount(made.tokens_after_median)} in context after each",
        ),
        _tile(
            "Repeated look-ups",
            MEASURED,
            f"{made.repeats:,}",
            f"{format_percent(repeated)} of the first 25 calls after a compaction "
            f"({format_percent(before)} before it);"
            f" about {format_amount(made.wasted_tokens)} tokens (estimated)",
        ),
    ]
    if made.seconds_known:
        tiles.append(
            _tile(
                "Waiting for summaries",
                ESTIMATED if made.seconds_estimated else RECORDED,
                format_duration(made.seconds),
                f"for {pluralize(made.seconds_known, 'compaction')}, {timed}",
            )
        )
    return f'<dl class="tiles">{"".join(tiles)}</dl>'


def _tag(kind: str) -> str:
    return f'<span class="tag {kind}">{kind}</span>'


def _tile(name: str, kind: str, value: str, note: str) -> str:
    return (
        f'<div class="tile"><dt>{escape(name)} {_tag(kind)}</dt>'
        f'<dd><span class="big">{escape(value)}</span>'
        f'<span class="note">{escape(note)}</span></dd></div>'
    )


def _section(name: str, title: str, intro: str, body: str) -> str:
    return (
        f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>'
        f'<p class="soft">{intro}</p>{body}</section>'
    )


def _two_bars(
    alone: float, with_brief: float, spread: tuple[Estimate | None, Estimate | None] = (None, None)
) -> str:
    rows = ""
    for label, tag, share, kind, interval in (
        ("The summary alone", MEASURED, alone, "f-summary", spread[0]),
        ("With Holdfast’s brief", SIMULATED, with_brief, "f-kept", spread[1]),
    ):
        rows += (
            f'<div class="row"><span>{label} {_tag(tag)}</span>'
            f"{svg_charts.draw_bar(share, kind, interval)}"
            f'<span class="value">{format_percent(share)}</span></div>'
        )
    return f'<div class="bars">{rows}</div>'


def _said(made: AuditStatistics) -> str:
    row = said(made)
    if row is None:
        return ""
    note = (
        f'<p class="soft small">{pluralize(row.known, "sentence")} in '
        f"{pluralize(made.facts_compared, 'compaction')} with a summary. A sentence counts as kept "
        "when most of its words stand together; a free paraphrase can be counted as lost.</p>"
    )
    return _section(
        "said",
        "What you had said",
        "Every sentence you typed before a compaction and did not take back, pastes left out: "
        "how many of them are still there afterwards.",
        _two_bars(row.in_summary / row.known, row.with_holdfast / row.known) + note,
    )


def _survival(made: AuditStatistics) -> str:
    if not made.measured:
        return ""
    spread = (
        f"95 % intervals over sessions: {format_interval(made.summary)} and "
        f"{format_interval(made.with_holdfast)}. "
        if made.measured > 1
        else "One compaction is not enough to draw conclusions. "
    )
    note = (
        f'<p class="soft small">{spread}Measured on '
        f"{pluralize(made.measured, 'compaction')} with enough work around them. "
        f"A summary took about {format_amount(made.summary_tokens)} tokens, the brief adds about "
        f"{format_amount(made.brief_tokens)}.</p>"
    )
    table = _kept_table("By kind, counted", made.need, NEED_LABELS, "used again", "summary")
    return _section(
        "survived",
        "Names the agent used next",
        "Files, commands and names that were known before a compaction and that the agent used "
        "after it without being told again. Most of them can be found again by looking; it costs "
        "the look-ups below.",
        _two_bars(made.summary.mean, made.with_holdfast.mean, (made.summary, made.with_holdfast))
        + note
        + table,
    )


def _kept_table(
    caption: str, rows: list[KindTotals], names: dict[str, str], known: str, heading: str
) -> str:
    body = ""
    for row in rows:
        alone, with_it = row.in_summary / row.known, row.with_holdfast / row.known
        body += (
            f'<tr><th scope="row">{escape(names[row.name])}</th><td class="n">{row.known:,}</td>'
            f'<td class="wide hide"><div class="pair">{svg_charts.draw_bar(alone, "f-summary")}'
            f"{svg_charts.draw_bar(with_it, 'f-kept')}</div></td>"
            f'<td class="n">{format_percent(alone)}</td>'
            f'<td class="n">{format_percent(with_it)}</td>'
            "</tr>"
        )
    key = (
        '<p class="small soft hide" aria-hidden="true">'
        '<span class="key"><i class="s"></i>summary</span>'
        '<span class="key"><i class="h"></i>with Holdfast</span></p>'
    )
    return (
        f'<table><caption>{caption}</caption><thead><tr><th scope="col">kind</th>'
        f'<th scope="col" class="n">{known}</th><th scope="col" class="hide">share'
        f'</th><th scope="col" class="n">{heading}</th><th scope="col" class="n">with Holdfast</th>'
        f"</tr></thead><tbody>{body}</tbody></table>{key}"
    )


def _facts(made: AuditStatistics) -> str:
    rows = [row for row in made.facts if row.name != "said"]
    if not rows:
        return ""
    table = _kept_table(
        f"What was still valid at {pluralize(made.facts_compared, 'compaction')}",
        rows,
        FACT_LABELS,
        "known",
        "summary",
    )
    return _section(
        "facts",
        "The state of the work",
        "What was still valid when the conversation was cut, whether or not it was needed later. "
        "A command that worked later in the session is not counted as failing, and what you only "
        "asked for once is not counted as a rule. What does not fit into the brief is delivered "
        "with your next prompt; that is not counted here.",
        table,
    )


def _examples(made: AuditStatistics) -> str:
    if not made.examples:
        return ""
    harmed = sum(made.consequences.values())
    counted = (
        f"{pluralize(harmed, 'time')} something that was lost caused a problem later: "
        + ", ".join(
            f"{CONSEQUENCE_LABELS[kind].lower()} ({count})"
            for kind, count in made.consequences.items()
        )
        + "."
        if harmed
        else "None of these visibly caused a problem later; they were simply gone."
    )
    items = "".join(_example(one) for one in made.examples)
    return _section(
        "examples",
        "What was lost, quoted",
        f"Known before a compaction and missing from its summary. {escape(counted)}",
        f'<ul class="quotes">{items}</ul>',
    )


def _example(one: Example) -> str:
    then = ""
    if one.then:
        lead = "Then" if one.kind in CONSEQUENCE_LABELS else "Details"
        then = f'<p class="then soft small">{lead}: {escape(one.then)}</p>'
    said = f"<code>{escape(one.text)}</code>" if one.kind in CODE_KINDS else f"“{escape(one.text)}”"
    kept = '<span class="yes">✓ in Holdfast’s brief</span>' if one.kept else "not in the brief"
    return (
        f"<li><h3>{escape(EXAMPLE_LABELS[one.kind])}</h3><blockquote>{said}</blockquote>{then}"
        f'<p class="soft small">{format_minute(one.time)}, {escape(one.project)}<br />{kept}</p>'
        "</li>"
    )


def _worst(made: AuditStatistics) -> str:
    if not made.worst:
        return ""
    quotes = any(one.lost for one in made.worst)
    rows = "".join(_worst_row(one, quotes) for one in made.worst)
    last = '<th scope="col">said, lost by the summary, in the brief</th>' if quotes else ""
    return _section(
        "worst",
        "The summaries that kept the least",
        "Of what you had said; one compaction per session.",
        '<div class="scroll" role="region" tabindex="0" aria-labelledby="worst">'
        '<table class="stacked"><thead><tr>'
        '<th scope="col">when</th><th scope="col" class="hide">project</th>'
        '<th scope="col" class="n">summary</th><th scope="col" class="n">with Holdfast</th>'
        f"{last}</tr></thead><tbody>{rows}</tbody></table></div>",
    )


def _worst_row(one: WorstCompaction, quotes: bool) -> str:
    quoted = "".join(f"<li>“{escape(text)}”</li>" for text in one.lost)
    return (
        f'<tr><th scope="row" class="when">{format_minute(one.time)}</th>'
        f'<td class="hide">{escape(one.project)}</td>'
        f'<td class="n">{format_percent(one.summary)}</td>'
        f'<td class="n">{format_percent(one.with_holdfast)}</td>'
        + (f'<td><ul class="small">{quoted}</ul></td>' if quotes else "")
        + "</tr>"
    )


def _lookups(made: AuditStatistics) -> str:
    if not made.calls:
        return ""
    after = safe_ratio(made.repeats, made.calls) or 0.0
    before = safe_ratio(made.repeats_before, made.calls_before) or 0.0
    bars = (
        f'<div class="row"><span>First 25 calls after</span>'
        f"{svg_charts.draw_bar(after, 'f-summary')}"
        f'<span class="value">{format_percent(after)}</span></div>'
        f'<div class="row"><span>Last 25 calls before</span>'
        f"{svg_charts.draw_bar(before, 'f-plain')}"
        f'<span class="value">{format_percent(before)}</span></div>'
    )
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(what)}</code></th><td class="n">{times}</td>'
        f'<td class="n">{format_amount(tokens)}</td></tr>'
        for what, times, tokens in made.most_repeated
    )
    table = (
        "<table><caption>Most repeated</caption><thead><tr>"
        '<th scope="col">look-up</th><th scope="col" class="n">times</th>'
        f'<th scope="col" class="n">tokens, est.</th></tr></thead><tbody>{rows}</tbody></table>'
        if rows
        else ""
    )
    return _section(
        "lookups",
        "Repeated look-ups",
        "Reads, searches and read-only commands that repeat an earlier one of the same session. "
        f"Some of that is normal, so the calls before each compaction serve as the baseline. "
        f"What the {made.repeats:,} repeats returned is "
        f"about {format_amount(made.wasted_tokens)} tokens: an estimate, and the most that "
        "could have been saved.",
        f'<div class="bars">{bars}</div>{table}',
    )


def _time(made: AuditStatistics) -> str:
    drawn = svg_charts.draw_timeline(made.points)
    if not drawn:
        return ""
    key = (
        '<p class="small soft" aria-hidden="true"><span class="key"><i class="s"></i>in the '
        'summary</span><span class="key"><i class="h"></i>with Holdfast</span></p>'
    )
    return _section(
        "time",
        "Over time",
        "Share of what you had said that each compaction kept, over time.",
        f'{key}<div class="scroll" role="region" tabindex="0" aria-labelledby="time">{drawn}</div>',
    )


def _projects(made: AuditStatistics) -> str:
    if not made.projects:
        return ""
    shown = sorted(made.sessions, key=lambda g: (-g.compactions, g.first))[:MAX_SESSIONS]
    more = len(made.sessions) - len(shown)
    rest = f'<p class="small soft">{more:,} more are in the JSON.</p>' if more else ""
    each = (
        f"<details><summary>Every session ({len(made.sessions):,})</summary>"
        f"{_groups('Sessions that were compacted', 'session', shown)}{rest}</details>"
    )
    return _section(
        "projects",
        "By project and session",
        "Shares of what you had said; a dash means that nothing could be compared.",
        _groups("Projects", "project", made.projects) + each,
    )


def _groups(caption: str, first: str, groups: list[Group]) -> str:
    rows = ""
    for one in groups:
        name = escape(one.name if first == "project" else f"{one.name[:8]} {one.title}")
        rows += (
            f'<tr><th scope="row">{name}</th><td class="n">{one.compactions:,}</td>'
            f'<td class="hide">{format_day(one.first)}</td>'
            f'<td class="n">{format_percent(one.summary)}</td>'
            f'<td class="n">{format_percent(one.with_holdfast)}</td>'
            f'<td class="n hide">{one.repeats:,} of {one.calls:,}</td></tr>'
        )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}"><table>'
        f"<caption>{caption}</caption><thead><tr>"
        f'<th scope="col">{first}</th><th scope="col" class="n">compactions</th>'
        '<th scope="col" class="hide">first</th><th scope="col" class="n">summary</th>'
        '<th scope="col" class="n">with Holdfast</th>'
        '<th scope="col" class="n hide">look-ups repeated</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _footer() -> str:
    return (
        "<footer><p>Made by <code>holdfast audit</code> from transcripts on this machine; nothing "
        "was sent anywhere and nothing was written except this file. Secrets are redacted, but the "
        "page quotes your sessions: review it before sharing, or create it "
        "with <code>--no-quotes</code>.</p></footer>"
    )
