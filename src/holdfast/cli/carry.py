"""`holdfast carry`: bring what this machine knows up to the team's service, now."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, console, one_line, printable

if TYPE_CHECKING:
    from holdfast.lifecycle.carrying.standing import NotWanted

SHOWN = 10
LONGEST_LINE = 400


def carry(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="URL",
            envvar="HOLDFAST_SERVICE",
            help="Where the service is. Default: the one you are connected to.",
        ),
    ] = "",
    again: Annotated[
        bool,
        typer.Option("--again", help="Everything once more: for a service that lost what it had."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Carry what was saved here up to the team's service, and fetch messages; what it has is not
    sent again. The hooks do this by themselves once you are connected.

    The token comes from the connection or `$HOLDFAST_TOKEN`, never from the command line, where
    others see it.

    Example: `holdfast carry`
    """
    from holdfast.cli.opening import foreseen
    from holdfast.lifecycle.carrying import service
    from holdfast.lifecycle.carrying.ledger import Ledger
    from holdfast.lifecycle.carrying.outbox import Carrier
    from holdfast.lifecycle.carrying.outbox import carry as carry_up
    from holdfast.lifecycle.carrying.standing import not_wanted
    from holdfast.lifecycle.carrying.wire import caller
    from holdfast.lifecycle.places import data_folder, store_path

    if to and not service.is_address(to):
        raise Trouble(f"{to!r} is no address", "Write it as https://holdfast.example.")
    data = data_folder()
    named = {**os.environ, "HOLDFAST_SERVICE": to} if to else dict(os.environ)
    try:
        connected = service.chosen(data, named)
    except service.Unsafe as error:
        raise Trouble(str(error), "`holdfast connect` writes it anew.") from error
    if connected is None:
        raise Trouble("No service is named", "`holdfast connect URL`, or --to URL for once.")
    if not os.path.exists(store_path()):
        raise Trouble("Nothing is stored yet", "Run `holdfast ingest` to index your transcripts.")
    call = caller(connected.url, connected.token)
    with foreseen():
        if again:
            ledger = Ledger(data)
            ledger.renew()
            ledger.close()
        done = carry_up(Carrier(store_path(), data, connected.url, call, patient=False))
        refused = not_wanted(data)
        why = ""
        if done.waiting:
            ledger = Ledger(data)
            why = ledger.get("failure") if ledger.number("failures") else ""
            ledger.close()
    if as_json:
        told = [one._asdict() for one in refused]
        answer({**done._asdict(), "refused": told, "failure": why})
        return
    out = console()
    out.print(f"Carried {done.sessions:,} session{'s' if done.sessions != 1 else ''}.")
    if done.sent or done.fetched:
        out.print(f"Messages: {done.sent:,} sent, {done.fetched:,} fetched.")
    _tell_refused(refused)
    if done.waiting:
        out.print(why or "Another carrier is at work; the rest waits.", markup=False)


def _tell_refused(refused: list[NotWanted]) -> None:
    """The reasons are the service's words, and a topic somebody else's: no markup."""
    out = console()
    for one in refused[:SHOWN]:
        which = f'message "{one.about}"' if one.what == "message" else f"session {one.name}"
        words = f"Refused: {which}: {one.reason or 'no reason given'}"
        out.print(one_line(words, LONGEST_LINE), markup=False, soft_wrap=True)
    if len(refused) > SHOWN:
        out.print(f"And {len(refused) - SHOWN:,} more; --json names them all.")
    kept = [one for one in refused if one.what == "message"]
    if kept:
        folder = os.path.dirname(kept[0].name)
        words = f"Refused messages are kept in {printable(folder)} until you remove them."
        out.print(words, markup=False, soft_wrap=True)
