"""The text that gives the agent back what a compaction took: the one place that makes it.

It is made from the state, from what the compaction left in context, and from the room there is.
When that is known and who prints the text differs by client; `handlers` has the moments in order.
Must not deliver anything: `fastpath.delivery` does.
"""

from collections.abc import Sequence
from contextlib import suppress

from holdfast.brief.compose import Brief
from holdfast.brief.contradictions import Contradiction
from holdfast.brief.hook_texts import (
    MAX_HOOK_CHARS,
    MIN_SPARE_CHARS,
    MIN_STATE_CHARS,
    compose_restore_brief,
)
from holdfast.clients.client_protocol import LeftInContext
from holdfast.compaction.active_commands import registry
from holdfast.compaction.own_sections import compose_own_sections, describe_project
from holdfast.compaction.report import find_wrong
from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.records import NamedTuple
from holdfast.redact import redact
from holdfast.session.context import SessionContext
from holdfast.session.update import SessionView

# Of a brief with no summary beside it: twice what the user chose, and no more than this.
MAX_LONE_BRIEF_CHARS = 12_000
MAX_SUMMARY_CHARS = 60_000  # characters of a summary that are kept and compared


ANNOUNCEMENT = (
    "The user's settings ask that the next reply begin with one sentence: that the context was"
    " compacted, and what the work goes on with."
)


class Left(NamedTuple):
    """What a compaction left in context, as far as it can be read."""

    text: str  # summary and messages; "" where all of it is encrypted
    epoch: int  # the one that it ended
    is_in_transcript: bool = False
    was_summarised: bool = True
    summary: str = ""  # of `text`


class Room(NamedTuple):
    state: int  # characters
    whole: int = 0  # with the rules of commands in force, which 0 does not limit


def find_left(ctx: SessionContext, view: SessionView) -> Left | None:
    """None: not known, or the compaction has not come yet."""
    in_transcript = ctx.client.row_probe.last_compaction(ctx.session.transcript)
    if in_transcript is not None:
        return read_left(view, in_transcript)
    summary = read_current_summary(ctx, view)
    return Left(summary, view.epoch, summary=summary) if summary else None


def read_left(view: SessionView, left: LeftInContext) -> Left:
    """Of a compaction whose row was read: it has ended an epoch."""
    summary = redact(left.summary[:MAX_SUMMARY_CHARS])
    text = "\n".join([summary, *map(redact, left.kept)]).strip()
    return Left(text, max(0, view.epoch - 1), True, left.was_summarised, summary)


def read_current_summary(ctx: SessionContext, view: SessionView) -> str:
    """The summary of the compaction that is ending; "" where it is not known."""
    found = ctx.session_dir.read_summary()
    # The row that ends the epoch may or may not be on disk yet.
    epoch = view.epoch
    return found.text if found is not None and epoch - 1 <= found.epoch <= epoch else ""


def make_brief(
    ctx: SessionContext, view: SessionView, left: Left | None = None
) -> PrebuiltText | None:
    """What the state knows and `left` does not tell, which may be nothing.

    Where it is not known what is left, or only the beginning of the session was read, the brief
    that is kept ready for that. None: nothing is known.
    """
    if left is None or not view.is_complete:
        return _keep_brief_ready(ctx, view)
    most = ctx.config.settings.number("brief_chars")
    if not left.was_summarised:
        most = max(most, min(2 * most, MAX_LONE_BRIEF_CHARS))
    wrong = find_wrong(view.display, left.summary)
    made = compose(ctx, view, left.text, Room(most, MAX_HOOK_CHARS), wrong=wrong)
    return to_prebuilt(ctx, view, made)._replace(epoch=left.epoch)


def _keep_brief_ready(ctx: SessionContext, view: SessionView) -> PrebuiltText | None:
    """In the session's directory. Another hook's brief stays where it knows more, and where we
    only know the beginning."""
    generation, offset = view.followed.revision
    there = ctx.session_dir.read_brief()
    ahead = there is not None and there.generation == generation and there.offset > offset
    if ahead or not view.is_complete:
        return there
    made = compose(ctx, view)
    if not made.text:
        return None
    prepared = to_prebuilt(ctx, view, made)
    with suppress(OSError):  # nowhere to keep it: the hook that delivers makes it again
        ctx.session_dir.write_brief(prepared)
    return prepared


def to_prebuilt(ctx: SessionContext, view: SessionView, made: Brief) -> PrebuiltText:
    """A text made from this view, with how much of the transcript it knows."""
    followed = view.followed
    epoch, facts = followed.state.position.epoch, ",".join(made.fact_ids)
    return PrebuiltText(epoch, *followed.revision, ctx.now.text, facts, made.text)


def compose(
    ctx: SessionContext,
    view: SessionView,
    left: str = "",
    room: Room | None = None,
    title: str = "",
    wrong: Sequence[Contradiction] = (),
) -> Brief:
    """The state and the rules of commands in force; by default what the client shows of one hook.

    What the summary says wrongly comes first. Rules go before all but the core of the state; what
    the state leaves free is theirs as well.
    """
    room = room or Room(ctx.config.settings.number("brief_chars"), MAX_HOOK_CHARS)
    state, now, project = view.display, ctx.now.text, describe_project(ctx.session.cwd)
    own = _join_texts(_ask_for_announcement(ctx), compose_own_sections(ctx))
    most_rules = room.whole - MIN_STATE_CHARS - len(own) if room.whole else None
    rules = registry.compose_active_rules(ctx, state, most_rules)

    def with_rules(rules: str) -> Brief:
        rules = _join_texts(own, rules)
        limited = rules and room.whole
        most = min(room.state, room.whole - len(rules) - 1) if limited else room.state
        return compose_restore_brief(
            state, now, most, rules, left, title=title, project=project, wrong=wrong
        )

    made = with_rules(rules)
    spare = room.whole - len(made.text)
    if rules and spare > MIN_SPARE_CHARS:
        more = registry.compose_active_rules(ctx, state, len(rules) + spare)
        if len(more) > len(rules):
            made = with_rules(more)
    return made


def _ask_for_announcement(ctx: SessionContext) -> str:
    """A wish of the user, so that it is seen where the work was taken up."""
    settings = ctx.config.settings
    wanted = settings.text("announce")
    if wanted == "off" or (wanted == "auto" and not settings.flag("notes_in_repo")):
        return ""
    return ANNOUNCEMENT


def count_rules_room(ctx: SessionContext) -> int:
    """The characters that rules of commands in force are sure to have after a compaction."""
    return MAX_HOOK_CHARS - MIN_STATE_CHARS - len(compose_own_sections(ctx))


def _join_texts(own: str, rules: str) -> str:
    return f"{own}\n{rules}" if own and rules else own or rules
