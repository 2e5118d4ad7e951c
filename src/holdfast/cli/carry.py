"""`holdfast carry`: bring what this machine knows up to the team's service, now."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, console


def carry(
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="URL", envvar="HOLDFAST_SERVICE", help="Where the service is."
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Carry what was saved here up to the team's service; what it has is not sent again.

    The token comes from `$HOLDFAST_TOKEN`, never from the command line, where others see it.

    Example: `holdfast carry --to https://holdfast.example`
    """
    from holdfast.cli.opening import foreseen
    from holdfast.lifecycle.outbox import carry as carry_up
    from holdfast.lifecycle.outbox import poster
    from holdfast.lifecycle.places import data_folder, store_path

    if not to.startswith(("http://", "https://")):
        raise Trouble("No service is named", "Give its address with --to or $HOLDFAST_SERVICE.")
    if not os.path.exists(store_path()):
        raise Trouble("Nothing is stored yet", "Run `holdfast ingest` to index your transcripts.")
    with foreseen():
        done = carry_up(
            store_path(), data_folder(), poster(to, os.environ.get("HOLDFAST_TOKEN", ""))
        )
    if as_json:
        answer(done._asdict())
        return
    out = console()
    out.print(f"Carried {done.sessions:,} session{'s' if done.sessions != 1 else ''}.")
    if done.refused:
        out.print(f"The service does not want {', '.join(done.refused)}.")
    if done.waiting:
        out.print("The service was away, or another carrier is at work; the rest waits.")
