"""Facts that neither summary nor brief carries come with the prompt that needs them, once."""

import pytest

from holdfast.fastpath.session_dir import INDEX_FILE
from support.claude import ScriptedApi, bash, text, wait_until

from .stage import Stage, injected

pytestmark = pytest.mark.client

RECALLED = "Holdfast: from earlier in this session"
OWNER = "backups of the staging cluster belong to Ines Pereira in Lisbon"
ASKED = "Who looks after the backups of the staging cluster?"
# What the user typed since fills the brief; the fact is the oldest of all.
FILLER = [
    f"Number {n}: the {what} page shows its {what} totals with the {what} badge, above the fold."
    for n, what in enumerate(
        "invoice receipt parcel voucher refund basket pallet courier scanner drawer printer ledger"
        " coupon catalogue barcode warehouse kiosk terminal customs leaflet".split()
    )
]


def test_a_fact_that_brief_and_summary_leave_out_comes_with_the_prompt_that_needs_it_once(
    stage: Stage, api: ScriptedApi
) -> None:
    stage.data.mkdir(parents=True)
    (stage.data / "settings.json").write_text('{"brief_chars": 1000, "gap_chars": 500}')
    api.summarise_with("The user is building a shop.")
    with stage.client.session() as live:
        api.say(bash(f"echo '{OWNER}'"), text("Noted."))
        live.ask("Read the notes.")
        for line in FILLER:
            live.ask(line)
        assert injected(api.last, RECALLED) == []
        live.compact()
        wait_until(lambda: (stage.session_dir(live.session_id) / INDEX_FILE).exists(), 20)
        live.ask("Paint the bicycle green.")
        assert injected(api.last, RECALLED) == []
        live.ask(ASKED)
        (recalled,) = injected(api.last, RECALLED)
        assert "Ines Pereira" in recalled
        assert len(recalled) <= 1_200
        live.ask(ASKED)
        assert injected(api.last, RECALLED) == [recalled]
        stage.settled(live)
    with stage.store() as store:
        kinds = [d.kind.partition(":")[0] for d in store.deliveries(live.session_id)]
    assert kinds.count("recall") == 1
    assert stage.log() == ""
