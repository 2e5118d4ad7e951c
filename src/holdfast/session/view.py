"""A session as it is shown: brought up to date, with what its transcript does not say yet.

Owns the order of what is laid on top: prompts and commands from the spool, the agent's last words,
then the session's documents. Saves what was read; must not deliver anything.
"""

from __future__ import annotations

from holdfast.session import documents, pending_input
from holdfast.session.context import SessionContext
from holdfast.session.update import SessionView, update_session


def load_view(ctx: SessionContext, seconds: float, last_words: str = "") -> SessionView:
    """For a hook: with what the fast hooks left in the spool, and `last_words` of the payload."""
    spooled = store_spool(ctx)
    saved = update_session(ctx.store, ctx.session, seconds=seconds, on_error=ctx.on_error)
    waiting = pending_input.list_unconfirmed_prompts(spooled, saved.followed)
    state = pending_input.apply_prompts(saved.followed.state, waiting)
    state = pending_input.apply_commands(state, spooled)
    if last_words:
        state = pending_input.apply_last_message(state, last_words, ctx.now.text)
    return SessionView(saved, documents.overlay_documents(ctx, saved.session, state))


def load_saved_view(ctx: SessionContext, seconds: float) -> SessionView:
    """For commands and recall, which leave the spool to the hooks."""
    saved = update_session(ctx.store, ctx.session, seconds=seconds, on_error=ctx.on_error)
    return SessionView(saved, documents.overlay_documents(ctx, saved.session, saved.followed.state))


def store_spool(ctx: SessionContext) -> pending_input.SpooledInput:
    """What the fast hooks noted since; the deliveries among it go to the store."""
    lines = ctx.session_dir.drain_spool(ctx.now.seconds, forget=ctx.store is not None)
    spooled = pending_input.parse_spool(lines, ctx.session.id)
    if ctx.store is not None:
        for delivery in spooled.deliveries:
            ctx.store.record_delivery(delivery)
    return spooled
