"""A bot that is killed at any moment goes on: no answered prompt is lost, and none asked again."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.sdk import Keeper
from support.claude import Client, Lane, Reply, Request, ScriptedApi, bash, text, wait_until

from .bakery import everything, make_options, typed

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.faults]

KILLS = int(os.environ.get("HOLDFAST_KILLS", "8"))


@pytest.mark.timeout(1_800)
def test_kills_at_random_moments(api: ScriptedApi, client: Client, tmp_path: Path) -> None:
    count = iter(range(1, 100_000))

    def model(request: Request) -> Reply:
        number = next(count)
        used = 60_000 + 20_000 * (number % 6)  # some turns come to a reset
        if number % 3 == 0:
            return bash(f"echo step {number}").filling(used)
        return text(f"Answer {number}.").filling(used)

    api.script(Lane.MAIN, model)
    options = make_options(client)
    database, progress = tmp_path / "chats.db", tmp_path / "progress"
    prompts = [f"Order {number}: {number + 3} rolls." for number in range(2_000)]
    prompts[0] = "Never sell rye on Mondays."
    given = {
        "options": {
            name: getattr(options, name)
            for name in ("env", "cwd", "model", "permission_mode", "setting_sources")
        },
        "progress": str(progress),
        "database": str(database),
        "prompts": prompts,
    }
    config = tmp_path / "config.json"
    config.write_text(json.dumps(given))
    rnd = random.Random(7)
    for _ in range(KILLS):
        _run_and_kill(config, api, rnd, tmp_path)
        answered = progress.read_text().splitlines() if progress.exists() else []
        assert answered == prompts[: len(answered)]
        with Keeper(str(database)) as keeper:
            chat = keeper.chat("bot")
            known = [fact.text for fact in chat.facts("request")]
            # As new as the last result, and nothing twice but what was in flight at a kill.
            assert not answered or answered[-1] in known
            if answered:
                assert prompts[0] in chat.brief(9_000)
    assert len(answered) > 0
    for prompt in answered[:-1]:
        assert typed(api, prompt) >= 1
    sent_again = [prompt for prompt in answered if typed(api, prompt) > 1]
    assert len(sent_again) <= KILLS  # only one that was in flight can be
    assert prompts[0] in everything(api.main_requests[-1])


def _run_and_kill(config: Path, api: ScriptedApi, rnd: random.Random, home: Path) -> None:
    """Mostly while it talks, sometimes while it starts."""
    asked = len(api.main_requests)
    bot = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("killed_bot.py")), str(config)],
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        if rnd.random() < 0.8:
            wait_until(lambda: len(api.main_requests) > asked)
        time.sleep(rnd.uniform(0, 1.5))
    finally:
        os.killpg(bot.pid, signal.SIGKILL)
        bot.wait()
