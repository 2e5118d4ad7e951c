"""Context that runs low: who is told, once, and what is kept."""

import json

import pytest

from support.claude import SMALL_WINDOW, ScriptedApi, text, wait_until

from .conftest import MakeStage
from .stage import BRIEF, Stage, injected

pytestmark = pytest.mark.client

LOW = "Holdfast: 9 % of the context is left"


def test_user_and_agent_are_told_once_with_a_focus_for_compacting(
    make_stage: MakeStage, api: ScriptedApi
) -> None:
    stage = make_stage(env=SMALL_WINDOW)
    api.say(*stage.work(), text("Begun.").filling(61_000))
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123. Never use float for money.")
        stage.settled(live)
        wait_until((stage.session_dir(live.session_id) / "low-user").exists)
        api.say(text("On.").filling(61_100))
        turn = live.ask("go on")
        (agent,) = injected(api.last, LOW)
        (user,) = turn.shown_to_the_user
        assert user.startswith(LOW)
        assert "61,000 of 67,000 tokens" in user
        assert "/compact keep Wire the cart to checkout" in user
        assert "go on as before" in agent
        stage.settled(live)
        api.say(text("And on.").filling(61_200))
        again = live.ask("and on")
        assert injected(api.last, LOW) == [agent]
        assert again.shown_to_the_user == []
    with stage.store() as store:
        causes = [c.cause for c in store.checkpoints(live.session_id)]
    assert "left:15" in causes
    assert stage.log() == ""


@pytest.mark.parametrize("model", ["opus", "claude-sonnet-4-6[1m]", "a-model-of-tomorrow"])
def test_a_window_of_a_million_tokens_is_no_reason_to_warn_before_it_is_full(
    stage: Stage, api: ScriptedApi, model: str
) -> None:
    stage.client.model = model
    api.say(text("Begun.").filling(152_000))
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123.")
        stage.settled(live)
        api.say(text("On.").filling(900_000))
        early = live.ask("go on")
        assert early.shown_to_the_user == []
        assert injected(api.last, "Holdfast: ") == []
        stage.settled(live)
        wait_until((stage.session_dir(live.session_id) / "low-user").exists)
        (user,) = live.ask("and on").shown_to_the_user
    assert "900,000 of 967,000 tokens" in user
    assert injected(api.last, "Holdfast: 7 % of the context is left")


def test_a_window_of_the_usual_size_is_known_by_the_requested_model(
    stage: Stage, api: ScriptedApi
) -> None:
    api.say(text("Begun.").filling(152_000))
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123.")
        wait_until((stage.session_dir(live.session_id) / "low-user").exists)
        (user,) = live.ask("go on").shown_to_the_user
    assert "152,000 of 167,000 tokens" in user


def test_a_compaction_starts_the_count_anew(make_stage: MakeStage, api: ScriptedApi) -> None:
    stage = make_stage(env=SMALL_WINDOW)
    api.say(*stage.work(), text("Begun.").filling(61_000))
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123.")
        session_dir = stage.session_dir(live.session_id)
        wait_until((session_dir / "low-user").exists)
        live.compact()
        wait_until((session_dir / "verified.0").exists)
        assert not (session_dir / "low-user").exists()
        api.say(text("Fresh.").filling(20_000))
        turn = live.ask("go on")
        assert injected(api.last, "Holdfast: 9 %") == []
        assert turn.shown_to_the_user == []
        stage.settled(live)
        api.say(text("Full.").filling(61_000))
        live.ask("fill it again")
        wait_until((session_dir / "low.1").exists)


def test_nobody_is_told_who_does_not_want_to(make_stage: MakeStage, api: ScriptedApi) -> None:
    stage = make_stage(env={**SMALL_WINDOW, "HOLDFAST_LOW_CONTEXT_NOTIFY": "user"})
    api.say(*stage.work(), text("Begun.").filling(61_000))
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123.")
        wait_until((stage.session_dir(live.session_id) / "low-user").exists)
        turn = live.ask("go on")
    assert len(turn.shown_to_the_user) == 1
    assert injected(api.last, "Holdfast: 9 %") == []


def test_the_client_compacts_where_we_say(make_stage: MakeStage, api: ScriptedApi) -> None:
    # Below the point nothing happens; beyond it the client compacts before the next request.
    stage = make_stage(env=SMALL_WINDOW)
    api.say(*stage.work(), text("Begun.").filling(66_000))
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123.")
        below = live.ask("go on")
        api.say(text("More.").filling(68_000))
        live.ask("more")
        beyond = live.ask("go on")
    assert below.compactions == []
    assert len(beyond.compactions) == 1


def test_wrong_settings_break_no_hook_and_the_user_is_told_once(
    stage: Stage, api: ScriptedApi
) -> None:
    config = stage.client.home / ".config/holdfast/settings.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"brief_chars": "wide", "gap_chars": 2000}')
    api.say(*stage.work(), "Begun.")
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123.")
        wait_until((stage.session_dir(live.session_id) / "tell-user").exists)
        turn = live.ask("go on")
        live.compact()
        after = live.ask("go on")
    (told,) = turn.shown_to_the_user
    assert "brief_chars must be a whole number from 1000 to 9500; 9500 is used" in told
    assert after.shown_to_the_user == []
    (brief,) = injected(api.last, BRIEF)
    assert "Wire the cart to checkout" in brief
    assert stage.log().count("brief_chars must be") == 1


def test_what_the_user_chose_for_the_project_is_in_effect_and_what_the_project_chose_is_not(
    stage: Stage, api: ScriptedApi
) -> None:
    folder = stage.client.project / ".holdfast"
    folder.mkdir()
    (folder / "settings.json").write_text('{"brief_chars": 3000, "archive": true}')
    chosen = {str(stage.client.project): {"brief_chars": 1000, "archive": False}}
    stage.data.mkdir(parents=True, exist_ok=True)
    (stage.data / "settings.json").write_text(json.dumps({"projects": chosen}))
    api.say(*stage.work(), "Begun.")
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123. Never use float for money.")
        live.compact()
        live.ask("go on")
    (brief,) = injected(api.last, BRIEF)
    assert len(brief) <= 1_000
    with stage.store() as store:
        assert list(store.read_archive(live.session_id)) == []


def test_another_model_is_counted_for_its_own_window_before_it_is_asked(
    stage: Stage, api: ScriptedApi
) -> None:
    """152,000 tokens are little of a million, and nearly all of the usual window."""
    stage.client.model = "claude-sonnet-4-5[1m]"
    api.say(text("Begun.").filling(152_000))
    with stage.client.session() as live:
        live.ask("Build the shop on port 8123.")
        stage.settled(live)
        live.switch_model("claude-sonnet-4-5")
        live.ask("go on")
        assert len(injected(api.last, "Holdfast: 9 % of the context is left")) == 1
        live.ask("and on")
    assert len(injected(api.last, "Holdfast: 9 % of the context is left")) == 1
    assert stage.log() == ""
