"""Every hook ends by itself, with 0, whatever it is in: proved on the hooks as they are wired."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.hooks import watchdog
from holdfast.install.claude_code import HOOKS
from holdfast.install.installation import HookSpec

from .world import SESSION, World, clean

pytestmark = pytest.mark.slow

ENDLESS = {"redact_patterns": {"slow": "(a+)+$"}}
FOOD = "a" * 60 + "!"


@pytest.mark.parametrize("spec", HOOKS, ids=lambda spec: spec.event)
def test_we_end_before_the_client_ends_us(spec: HookSpec) -> None:
    assert watchdog.seconds_for(spec.event) + 0.5 < spec.timeout_seconds


def never_end(world: World) -> None:
    world.choose(**ENDLESS)
    lines = world.transcript.read_bytes().splitlines(keepends=True)
    row = json.loads(next(line for line in lines if b'"type":"user"' in line))
    row |= {"uuid": "f" * 36, "timestamp": "2027-01-01T00:00:00.000Z"}
    row["message"] = {"role": "user", "content": FOOD}
    world.transcript.write_bytes(b"".join(lines) + json.dumps(row).encode() + b"\n")


@pytest.mark.parametrize("event", ["PreCompact", "UserPromptSubmit", "SessionEnd"])
def test_a_pattern_of_the_users_own_that_never_ends(world: World, event: str) -> None:
    """On the full path, on the fast path, and in what goes on after the client was let go."""
    never_end(world)
    if event == "UserPromptSubmit":
        world.data.mkdir(parents=True)
        (world.data / "patterns.json").write_text(json.dumps(ENDLESS["redact_patterns"]))
    ran = world.hook(event, prompt=FOOD, trigger="manual")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert ran.seconds < 3 * watchdog.DEFAULT_SECONDS
    if event != "SessionEnd":
        log = (world.data / "holdfast.log").read_text()
        assert "stopped after its time limit of 8 s" in log
        assert (world.data / watchdog.TIMEOUT_MARK).exists()


@pytest.mark.parametrize(("age", "limit"), [(5, 1), (watchdog.REMEMBERED_SECONDS + 5, 8)])
def test_the_hooks_behind_one_that_was_stopped_get_little_time(
    world: World, age: float, limit: int
) -> None:
    never_end(world)
    world.data.mkdir(parents=True)
    mark = world.data / watchdog.TIMEOUT_MARK
    mark.touch()
    os.utime(mark, (time.time() - age,) * 2)
    ran = world.hook("PreCompact", trigger="manual")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    log = (world.data / "holdfast.log").read_text()
    assert f"stopped after its time limit of {limit} s" in log


def test_a_client_that_never_says_anything(world: World) -> None:
    begun = time.monotonic()
    process = subprocess.Popen(
        world.hooks["SessionEnd"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"HOME": str(world.home)},
    )
    assert process.wait(timeout=60) == 0
    assert time.monotonic() - begun >= watchdog.seconds_for("SessionEnd") - 0.5
    assert process.stdout is not None
    assert process.stdout.read() == b""
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def test_what_goes_on_afterwards_has_a_limit_as_well(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    program = (
        "import os, re\n"
        "from holdfast.hooks import detach, watchdog\n"
        "watchdog.DETACHED_SECONDS = 1.0\n"
        "def work():\n"
        f"    open({str(mark)!r}, 'w').write(str(os.getpid()))\n"
        f"    re.search('(a+)+$', {FOOD!r})\n"
        "detach.run_detached(work)\n"
    )
    subprocess.run([sys.executable, "-c", program], env=clean(tmp_path), check=True)
    end = time.monotonic() + 60
    while time.monotonic() < end and not (mark.exists() and _is_gone(mark.read_text())):
        time.sleep(0.1)
    assert _is_gone(mark.read_text())


def _is_gone(pid: str) -> bool:
    return bool(pid) and not Path(f"/proc/{pid}").exists()


def test_the_kernel_ends_what_does_not_hear_us(tmp_path: Path) -> None:
    """A loop in C that looks for no signals: by the processor's time, without the interpreter."""
    program = (
        "from holdfast.hooks import watchdog\n"
        "watchdog.GRACE_SECONDS = 0.5\n"
        "watchdog.start_watchdog('Stop', 0.5)\n"
        "sum(range(10**15))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=clean(tmp_path), timeout=120, check=False
    )
    assert done.returncode < 0


def test_the_names_of_sessions_lead_nowhere(world: World) -> None:
    before = world.outside()
    for name in ("../../../../.ssh/x", "/etc/passwd", "a\nb", "..", "x" * 5000, f"{SESSION}/../y"):
        ran = world.hook("PreCompact", name, trigger="manual")
        assert (ran.code, ran.err) == (0, "")
    assert world.outside() == before
    assert os.listdir(world.home / ".ssh") == ["id_key"]
