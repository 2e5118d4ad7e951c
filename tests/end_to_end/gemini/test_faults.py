"""Hooks that are missing, broken, slow or killed: Gemini CLI's turns go on as if they were none."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.gemini import GeminiApi, Said

from .gemini_stage import FACTS, PROMPT, GeminiStage, run, work
from .test_restore import CALM, COMPACT_AT, FULL, check_facts, compress_in_a_turn

pytestmark = pytest.mark.client

SLOW = """#!/bin/sh
[ "$1" = gemini:BeforeModel ] && exec sleep 60
exec "$0.real" "$@"
"""
BROKEN = """#!/bin/sh
echo "Traceback: something is wrong" >&2
exit 1
"""
# Lets the hook begin, and kills it and itself after 10 to 265 ms: from before it has read its
# payload to after it has answered.
KILLED = """#!/bin/sh
exec 3<&0
"$0.real" "$@" <&3 &
hook=$!
ms=$(od -An -N1 -tu1 /dev/urandom)
sleep "$(printf '0.%03d' $((ms + 10)))"
kill -9 $hook $$
"""


def replace_launcher(stage: GeminiStage, text: str | None) -> Path:
    launcher = stage.data / "holdfast-hook"
    real = launcher.with_name("holdfast-hook.real")
    launcher.rename(real)
    if text is not None:
        launcher.write_text(text)
        launcher.chmod(0o700)
    return real


@pytest.mark.parametrize("launcher", [None, BROKEN, SLOW], ids=["missing", "broken", "slow"])
def test_the_turn_after_a_compression_is_unharmed(
    tmp_path: Path, model: GeminiApi, launcher: str | None
) -> None:
    stage = GeminiStage(tmp_path, model, compact_at=COMPACT_AT)
    stage.install()
    model.tokens = CALM
    model.say(*work())
    stage.gemini.start(PROMPT)
    replace_launcher(stage, launcher)
    model.tokens = FULL
    model.say([Said("First."), run("echo receipt")], [Said("The turn has come to its end.")])
    said = stage.gemini.resume("Now the receipt.")
    assert "The turn has come to its end." in said
    assert len(model.compressions) == 1
    assert model.steps == []
    assert "Now the receipt." in str(model.requests[-1]["contents"])


def test_hooks_that_are_killed_harm_no_turn_and_lose_nothing(
    tmp_path: Path, model: GeminiApi
) -> None:
    stage = GeminiStage(tmp_path, model, compact_at=COMPACT_AT)
    stage.install()
    real = replace_launcher(stage, KILLED)
    model.tokens = CALM
    model.say(*work())
    stage.gemini.start(PROMPT)
    for _ in range(2):
        stage.gemini.resume("Go on.")
    assert model.steps == []
    assert len(model.requests) == len(work()) + 2  # each turn went to its end
    real.rename(stage.data / "holdfast-hook")
    compress_in_a_turn(stage, "Now the receipt.")
    assert FACTS["id"] in check_facts(stage)


def test_a_repository_does_not_choose_where_the_state_lies(
    tmp_path: Path, model: GeminiApi
) -> None:
    """The client reads a project's `.env` before it starts hooks."""
    stage = GeminiStage(tmp_path, model)
    stage.install()
    planted = stage.gemini.project / "planted"
    (stage.gemini.project / ".env").write_text(f"HOLDFAST_HOME={planted}\n")
    model.tokens = CALM
    model.say(*work())
    stage.gemini.start(PROMPT)
    assert not planted.exists()
    assert list((stage.data / "sessions").iterdir())
