"""Rules in force become guards, before any compaction; withdrawn ones and switched off none."""

import json
from pathlib import Path

from holdfast.compaction import handlers
from holdfast.fastpath.session_dir import GUARDS_FILE
from holdfast.settings.loader import Settings, SettingValue
from support.growing_session import Follow


def say(follow: Follow, *prompts: str) -> None:
    rows = [
        {
            "type": "user", "uuid": f"u{n}", "sessionId": follow.session_id, "cwd": "/shop",
            "timestamp": f"2026-11-16T08:0{n}:00.000Z", "version": "2.1.200",
            "message": {"role": "user", "content": prompt},
        }
        for n, prompt in enumerate(prompts)
    ]  # fmt: skip
    follow.transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))


def guards(follow: Follow) -> str:
    path = Path(follow.session_dir.path, GUARDS_FILE)
    return path.read_text() if path.exists() else ""


def test_a_rule_becomes_a_guard_at_the_end_of_the_turn(follow: Follow) -> None:
    say(follow, "Never push to main.")
    handlers.on_progress(follow.ctx, client=1, turn_ended=True)
    first, line = guards(follow).split("\n")
    assert first.startswith("remind 0 ")
    assert line == "run\tgit+push+~main\tr1\tNever push to main."


def test_a_rule_that_was_taken_back_no_longer_is(follow: Follow) -> None:
    say(follow, "Never push to main.")
    handlers.on_progress(follow.ctx, client=1)
    say(follow, "Never push to main.", "Forget that rule, you may push to main now.")
    handlers.on_progress(follow.ctx, client=1)
    assert guards(follow) == ""


def test_switched_off_nothing_is_a_guard(follow: Follow) -> None:
    say(follow, "Never push to main.")
    handlers.on_progress(follow.ctx, client=1)
    off = follow.ctx.config._replace(settings=Settings({"guard": SettingValue("off")}))
    handlers.on_progress(follow.ctx._replace(config=off), client=1)
    assert guards(follow) == ""
